"""Capture of a session that has ended: statements of the user, saved through the save gate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.json_repair import parse
from slowwave.connect.statements import statements
from slowwave.connect.transcript import Losses, Message, messages
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.home.tenant import Saved
    from slowwave.memory import Memory

MAX_NOTES = 20  # of one session (count)
MAX_NAME = 200  # characters of an id that stays as it is
TAG = "captured"
"""Tag of every captured note."""


@dataclass(frozen=True, slots=True)
class CapturedSession:
    """Session as a client describes it to its hooks.

    Attributes:
        id: of the session.
        transcript: its file.
        project: name of its folder.
    """

    id: str
    transcript: Path
    project: str

    @property
    def place(self) -> str:
        """Return its id as a part of a key."""
        return safe_name(self.id)


def safe_name(name: str) -> str:
    """Return an id of a client as a part of a key; an odd or long one as its digest."""
    is_odd = len(name) > MAX_NAME or not name.isprintable() or ".." in re.split(r"[/\\]", name)
    return f"id-{ids.digest('session', name)}" if is_odd else name


@dataclass(frozen=True, slots=True)
class Captured:
    """Result of a capture.

    Attributes:
        messages: of the user (count).
        known: statements that an earlier capture of this session has saved (count).
        saved: outcomes of the others.
        broken: remarks on lines of the transcript that cannot be read.
        replaced: remarks on messages with characters that are not Unicode.
    """

    messages: int
    known: int
    saved: tuple[Saved, ...]
    broken: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


def session_of(document: str) -> CapturedSession:
    """Parse the session of a hook's JSON.

    Raises:
        SlowwaveError: invalid JSON, or without session and transcript.
    """
    try:
        payload = parse(document).value
    except ValueError as error:
        raise SlowwaveError(
            f"Standard input is not a hook's JSON ({error}). `slowwave capture` is for "
            f"hooks: `slowwave connect claude-code --hooks` runs it at the end of each session."
        ) from None
    name, transcript = (_text(payload, key) for key in ("session_id", "transcript_path"))
    if not name.strip() or not transcript:
        raise SlowwaveError("The hook's JSON has no session_id or transcript_path. Nothing was captured.")
    return CapturedSession(name.strip(), Path(transcript).expanduser(), Path(_text(payload, "cwd")).name)


def notes_of(session: CapturedSession, written: Iterable[Message]) -> list[dict[str, Any]]:
    """Return up to `MAX_NOTES` notes of a session, as `Memory.save_many` takes them.

    The key of each consists of session, message and position, so capturing a session twice is idempotent.

    Args:
        session: of the messages.
        written: messages of the user.
    """
    notes = []
    for message in written:
        for statement in statements(message.text):
            note = {
                "content": statement.text,
                "key": f"session:{session.place}/{safe_name(message.id)}/{statement.number}",
                "memory_type": statement.kind,
                "tags": [TAG],
                # Not chosen for saving, so trusted less than a person's save.
                "source_kind": "imported",
                "created_at": message.at,
                "metadata": {"session": session.place, "project": session.project},
            }
            notes.append({name: value for name, value in note.items() if value})
    return notes[:MAX_NOTES]


def capture(memory: Memory, session: CapturedSession) -> Captured:
    """Save the lasting statements of a session through the save gate.

    Raises:
        SlowwaveError: the transcript is missing or unreadable.
    """
    losses = Losses()
    written = list(messages(_lines(session.transcript), losses))
    notes = notes_of(session, written)
    new = _new(memory, notes)
    saved = memory.save_many(new) if new else []
    known = len(notes) - len(new)
    return Captured(len(written), known, tuple(saved), tuple(losses.broken), tuple(losses.replaced))


def _new(memory: Memory, notes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return notes without events in the journal, so that forgotten and erased ones stay away."""
    from slowwave.journal.entry import ERASED
    from slowwave.journal.erasure_tombstones import erased_name

    space, journal = memory.namespace, memory.journal
    existing = journal.latest(space, [note["key"] for note in notes])
    erased = set(journal.read(kinds=[ERASED], namespace=space)["subject"]) if notes else set()
    return [
        note
        for note in notes
        if note["key"] not in existing and erased_name(space, note["key"]) not in erased
    ]


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        raise SlowwaveError(f"There is no transcript at {file}. Nothing was captured.") from None
    except OSError as error:
        raise SlowwaveError(
            f"Cannot read the transcript {file}: {error.strerror}. Nothing was captured."
        ) from None


def _text(payload: object, key: str) -> str:
    value = payload.get(key) if isinstance(payload, Mapping) else None
    return value if isinstance(value, str) else ""
