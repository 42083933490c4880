"""What a hook keeps of a session that has ended: a few sentences of the person, handed to the save gate."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.connect.statements import statements
from slowwave.connect.transcript import Message, messages
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.home.tenant import Saved
    from slowwave.memory import Memory

MOST = 20  # notes of one session (count)
TAG = "captured"
"""Tag of every note that was taken from a session."""


@dataclass(frozen=True, slots=True)
class CapturedSession:
    """What a client says of a session to the hooks that it runs.

    Attributes:
        id: of the session.
        transcript: its file.
        project: name of the folder that it was in.
    """

    id: str
    transcript: Path
    project: str


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of a session.

    Attributes:
        messages: that the person wrote (count).
        known: statements that an earlier capture of this session has handed over (count).
        saved: what became of the others.
    """

    messages: int
    known: int
    saved: tuple[Saved, ...]


def session_of(document: str) -> CapturedSession:
    """The session that a hook's JSON is about.

    Raises:
        SlowwaveError: it is no JSON, or names no session and no transcript.
    """
    try:
        given = json.loads(document)
    except ValueError as error:
        raise SlowwaveError(
            f"Standard input is not the JSON that a hook is given ({error}). `slowwave capture` is for "
            f"hooks: `slowwave connect claude-code --hooks` has it run at the end of each session."
        ) from None
    name, transcript = (_text(given, key) for key in ("session_id", "transcript_path"))
    if not name or not transcript:
        raise SlowwaveError("The hook's JSON has no session_id or no transcript_path: nothing was captured.")
    return CapturedSession(name, Path(transcript).expanduser(), Path(_text(given, "cwd")).name)


def notes_of(session: CapturedSession, written: Iterable[Message]) -> list[dict[str, Any]]:
    """The notes of a session, at most `MOST`, as `Memory.save_many` takes them.

    Each has a key of session, message and place: a session that is captured again brings nothing twice.

    Args:
        session: that they are from.
        written: what the person wrote in it.
    """
    notes = []
    for message in written:
        for one in statements(message.text):
            note = {
                "content": one.text,
                "key": f"session:{session.id}/{message.id}/{one.number}",
                "memory_type": one.kind,
                "tags": [TAG],
                # Nobody chose these words for the memory: they are trusted less than what a person saves.
                "source_kind": "imported",
                "created_at": message.at,
                "metadata": {"session": session.id, "project": session.project},
            }
            notes.append({name: value for name, value in note.items() if value})
    return notes[:MOST]


def capture(memory: Memory, session: CapturedSession) -> Captured:
    """Hand what is worth keeping of a session to the save gate.

    Raises:
        SlowwaveError: its transcript is not there or cannot be read.
    """
    written = list(messages(_lines(session.transcript)))
    notes = notes_of(session, written)
    new = _new(memory, notes)
    saved = memory.save_many(new) if new else []
    return Captured(len(written), len(notes) - len(new), tuple(saved))


def _new(memory: Memory, notes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of which nothing is in the journal: what was forgotten or erased does not come back."""
    from slowwave.journal.entry import ERASED
    from slowwave.journal.erasure_tombstones import erased_name

    space, journal = memory.namespace, memory.journal
    known = journal.latest(space, [note["key"] for note in notes])
    erased = set(journal.read(kinds=[ERASED], namespace=space)["subject"]) if notes else set()
    return [
        note for note in notes if note["key"] not in known and erased_name(space, note["key"]) not in erased
    ]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        raise SlowwaveError(f"There is no transcript at {file}: nothing was captured.") from None
    except OSError as error:
        raise SlowwaveError(f"The transcript {file} cannot be read ({error.strerror}).") from None


def _text(given: object, key: str) -> str:
    value = given.get(key) if isinstance(given, Mapping) else None
    return value if isinstance(value, str) else ""
