"""How a memory stands when it is saved again under its key: what is not said anew stays as it was.

How important a memory is, whether it is canonical or a source of truth, its priority and who may see it are
said of the memory. Its type, tags and trigger phrases describe a text, and go with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from slowwave.notes.model import Note
from slowwave.quality.structure import KNOWN_WORDS

SENSITIVITY: Final = "sensitivity"
STANDING: Final = ("importance_tier", "retrieval_priority", "state", "source_of_truth")
"""Labels that a person gives a memory: they stay until another value is named, but under another's text."""

KEPT: Final = (*STANDING, SENSITIVITY)
"""Labels that stay until another value is named."""

_LEAST_CLOSED: Final = "public"
_DEFAULT: Final = "internal"
_MOST_CLOSED: Final = "secret"
_CLOSED: Final = (_LEAST_CLOSED, _DEFAULT, _MOST_CLOSED)


def leaves_open(labels: Mapping[str, Any], names: Collection[str] = KEPT) -> bool:
    """Whether a save says nothing of one of these labels."""
    return any(_is_open(labels, name) for name in names)


def in_turn(
    notes: Sequence[Note], labels: Sequence[Mapping[str, Any]], names: Collection[str] = KEPT
) -> Iterator[slice]:
    """The notes of one call in pieces; what becomes of a piece has to be known before the next one.

    A note that leaves open how its memory stands goes by an earlier one of the same key only if that was let
    in. So a call, its halves and single saves come to the same.
    """
    start, said = 0, set[str]()
    for at, (note, given) in enumerate(zip(notes, labels, strict=True)):
        if note.source in said and leaves_open(given, names):
            yield slice(start, at)
            start, said = at, set()
        said.add(note.source)
    if start < len(notes):
        yield slice(start, len(notes))


def as_they_stand(
    notes: Sequence[Note],
    labels: Sequence[Mapping[str, Any]],
    stands: Mapping[str, Mapping[str, Any]],
    names: Collection[str] = KEPT,
) -> list[Note]:
    """The notes of a piece with the labels that the memories of their keys have, where they name no other.

    Args:
        notes: as they were given, in their order.
        labels: of each, as it was given: what is missing, None or an empty text is not named; False is.
        stands: the labels of what is there, by source.
        names: of the labels that are kept.
    """
    done = []
    for note, given in zip(notes, labels, strict=True):
        had = stands.get(note.source, {})
        kept = {name: had[name] for name in names if _is_open(given, name) and _is_sound(name, had.get(name))}
        done.append(replace(note, **kept) if kept else note)
    return done


def most_closed(words: Iterable[str | None]) -> str:
    """The sensitivity that opens none of these: what was not said is internal, an unknown word is secret."""
    known = [_DEFAULT if not word else word if word in _CLOSED else _MOST_CLOSED for word in words]
    return max(known, key=_CLOSED.index)


def _is_open(labels: Mapping[str, Any], name: str) -> bool:
    value = labels.get(name)
    if isinstance(value, str):
        return not value.strip()
    return not value and not (name == "source_of_truth" and value is False)


def _is_sound(name: str, value: object) -> bool:
    """A word that nobody knows is not kept: it would be refused with every text."""
    words = KNOWN_WORDS.get(name)
    return isinstance(value, bool) if words is None else isinstance(value, str) and value in words
