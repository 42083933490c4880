"""How a memory stands when it is saved again under its key: what is not said anew stays as it was.

How important a memory is, whether it is canonical or a source of truth, and its priority are said of the
memory. Its type, tags and trigger phrases describe a text, and go with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from slowwave.notes.model import Note
from slowwave.quality.structure import KNOWN_WORDS

STANDING: Final = ("importance_tier", "retrieval_priority", "state", "source_of_truth")
"""Labels that stay until another value is named, as sensitivity does."""


def leaves_open(labels: Mapping[str, Any]) -> bool:
    """Whether a save says nothing of one of these labels."""
    return any(_is_open(labels, name) for name in STANDING)


def as_they_stand(
    notes: Sequence[Note], labels: Sequence[Mapping[str, Any]], said: Mapping[str, Mapping[str, Any]]
) -> list[Note]:
    """The notes of one call with the labels that those of the same keys had, where they name no other.

    Args:
        notes: as they were given, in their order.
        labels: of each, as it was given: what is missing, None or an empty text is not named; False is.
        said: what was said last of their sources before the call, by source.
    """
    before, done = dict(said), []
    for note, given in zip(notes, labels, strict=True):
        had = before.get(note.source, {})
        kept = {
            name: had[name] for name in STANDING if _is_open(given, name) and _is_sound(name, had.get(name))
        }
        done.append(replace(note, **kept) if kept else note)
        before[note.source] = {name: getattr(done[-1], name) for name in STANDING}
    return done


def _is_open(labels: Mapping[str, Any], name: str) -> bool:
    return labels.get(name) in (None, "")


def _is_sound(name: str, value: object) -> bool:
    """A word that nobody knows is not kept: it would be refused with every text."""
    words = KNOWN_WORDS.get(name)
    return isinstance(value, bool) if words is None else isinstance(value, str) and value in words
