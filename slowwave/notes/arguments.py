"""Notes given as arguments by an application: checked, typed, and merged with kept labels.

A memory saved again under its key keeps labels that are not given: importance, state, source of truth,
priority and sensitivity. Its type, tags and trigger phrases describe a text, and are replaced with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import orjson

from slowwave.common.arguments import (
    METADATA_BYTES,
    known_word,
    moment,
    one_line_text,
    shown,
    sound_text,
    within,
)
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.notes.conversation_context import first_words
from slowwave.notes.decoding import says_nothing
from slowwave.notes.model import Note
from slowwave.notes.reading import plain_fields
from slowwave.notes.sensitivity import CLOSING_TAGS, SENSITIVITIES, SENSITIVITY, closing_words
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.quality.titles import from_first_words

STANDING: Final = ("importance_tier", "retrieval_priority", "state", "source_of_truth")
"""Labels that a person gives a memory: kept until another is given, except under another user's text."""

KEPT: Final = (*STANDING, SENSITIVITY)
"""Labels that are kept until another value is given."""


def leaves_open(labels: Mapping[str, Any], names: Collection[str] = KEPT) -> bool:
    """Whether a save omits one of these labels."""
    return any(_is_open(labels, name) for name in names)


def in_turn(
    notes: Sequence[Note], labels: Sequence[Mapping[str, Any]], names: Collection[str] = KEPT
) -> list[slice]:
    """Split the notes of one call into batches that are saved one after the other.

    A note that omits a kept label takes it from an earlier one of the same key only if that was stored. So
    one call, its halves and single saves give the same result.
    """
    start, sources, pieces = 0, set[str](), list[slice]()
    for at, (note, given) in enumerate(zip(notes, labels, strict=True)):
        if note.source in sources and leaves_open(given, names):
            pieces.append(slice(start, at))
            start, sources = at, set()
        sources.add(note.source)
    if start < len(notes):
        pieces.append(slice(start, len(notes)))
    return pieces


def as_they_stand(
    notes: Sequence[Note],
    labels: Sequence[Mapping[str, Any]],
    stands: Mapping[str, Mapping[str, Any]],
    names: Collection[str] = KEPT,
) -> list[Note]:
    """Return the notes of a batch with the kept labels of their existing memories.

    Args:
        notes: As given, in order.
        labels: Of each, as given: missing, None and an empty text omit a label; False does not.
        stands: Labels of existing memories, by source.
        names: Labels that are kept.
    """
    done = []
    for note, given in zip(notes, labels, strict=True):
        had = stands.get(note.source)
        if not had:
            done.append(note)
            continue
        kept = {name: had[name] for name in names if _is_open(given, name) and _is_sound(name, had.get(name))}
        if note.sensitivity == SENSITIVITIES[-1]:  # its own text, metadata or tags close it
            kept.pop(SENSITIVITY, None)
        done.append(replace(note, **kept) if kept else note)
    return done


def _is_open(labels: Mapping[str, Any], name: str) -> bool:
    value = labels.get(name)
    if isinstance(value, str):
        return not value.strip()
    return not value and not (name == "source_of_truth" and value is False)


def _is_sound(name: str, value: object) -> bool:
    """Whether a kept label is valid; an unknown word is not kept, because every save would be refused."""
    words = KNOWN_WORDS.get(name)
    return isinstance(value, bool) if words is None else isinstance(value, str) and value in words


_GIVEN = frozenset(
    {part.name for part in fields(Note)} - {"source", "front_matter", "links", "unread"} | {"key"}
)


def note_of(labels: Mapping[str, Any], *, fallback_key: str, place: str = "") -> Note:
    """Build a note from the arguments of `Memory.save`.

    Args:
        labels: Content, title, key and the labels of a note.
        fallback_key: Key if none is given.
        place: Of one of several notes, with which errors begin: "Note 2: ".

    Raises:
        ArgumentError: It has no text.
        SlowwaveError: A label is unknown or has the wrong type; the message names it.
    """
    if not isinstance(labels, Mapping):
        raise SlowwaveError(f"{place}{shown(labels)} is no note. It has to be a mapping of labels.")
    if unknown := set(labels) - _GIVEN:
        names = sorted(name if isinstance(name, str) else shown(name) for name in unknown)
        raise SlowwaveError(f"{place}{names} are not labels of a note. Known: {sorted(_GIVEN)}.")
    content = _text(labels.get("content"), "content", place)
    if says_nothing(content):
        raise ArgumentError(
            f"{place}content = {shown(content)}: there is no text in it, so nothing was saved. "
            f"Say in a sentence what is to be remembered."
        )
    key = _text(labels.get("key") or fallback_key, "key", place)
    read = plain_fields(content)
    given = {name: value for name, value in labels.items() if name not in ("content", "key") and value}
    title = _text(given.pop("title", ""), "title", place) or read["title"]
    if not title or title == key:
        title = from_first_words(content)
    typed = _typed(given, place)
    stated = closing_words(typed.get("metadata", {}), typed.get("tags", ()), content)
    if not CLOSING_TAGS.isdisjoint(stated):  # other words, such as that of a microphone, close no save
        typed[SENSITIVITY] = SENSITIVITIES[-1]
    return Note(**{**read, "source_kind": "generated", **typed, "source": key, "title": title})


def _typed(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return labels with the types of a note."""
    typed: dict[str, Any] = {}
    for name, value in given.items():
        if name in ("tags", "trigger_phrases", "aliases"):
            typed[name] = _texts(value, name, place)
        elif name == "created_at":
            typed[name] = moment(f"{place}created_at", value)
        elif name == "context":
            typed[name] = first_words(_text(value, name, place))
        elif name == "follows":
            typed[name] = _text(value, name, place)
        elif name == "metadata":
            typed[name] = _json_mapping(value, place)
        elif name == "source_of_truth":
            if not isinstance(value, bool):
                raise SlowwaveError(f"{place}source_of_truth = {shown(value)} has to be True or False.")
            typed[name] = value
        else:
            typed[name] = _text(value, name, place).strip().lower()
    if tier := typed.get("importance_tier"):  # it decides the protection of a memory
        known_word(f"{place}importance_tier", tier, KNOWN_WORDS["importance_tier"])
    return typed


def _text(value: object, name: str, place: str) -> str:
    """Return the value, if it is text that can be stored."""
    if not isinstance(value, str):
        raise SlowwaveError(f"{place}{name} is {type(value).__name__}, it has to be text.")
    within(name, value, f"{place}{name}")
    return sound_text(f"{place}{name}", value)


def _texts(value: object, name: str, place: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Sequence | set | frozenset):
        raise SlowwaveError(f"{place}{name} = {shown(value)} has to be a list of texts.")
    within(name, value, f"{place}{name}")
    texts = [text for item in value if (text := _text(item, name, place).strip())]
    if name == "tags":
        texts = [one_line_text(f"{place}a tag", text) for text in texts]
    return tuple(texts)


def _json_mapping(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise SlowwaveError(f"{place}metadata = {shown(value)} has to be a mapping.")
    try:
        written = orjson.dumps(dict(value))
    except TypeError as error:
        raise SlowwaveError(f"{place}metadata cannot be written as JSON: {error}.") from None
    if len(written) > METADATA_BYTES:
        raise ArgumentError(
            f"{place}metadata has {len(written):,} bytes as JSON: give at most {METADATA_BYTES:,}."
        )
    return dict(orjson.loads(written))
