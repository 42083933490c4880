"""When hooks of assistants last recalled and captured: a small file in the home, one line of it per client.

A hook that fails does so where nobody looks. So each leaves a trace here when it has done its work, and
`slowwave doctor` tells when sessions begin and nothing of them arrives any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from slowwave.common.shared_file import changing_rows, read_rows

FILE = "hooks.json"
CAPTURE_LOG = "capture.log"
"""What the capture that ran last in the background said."""
SILENT_AFTER = timedelta(days=3)
"""Time over which sessions begin without one being captured, after which capture counts as silent."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What the hooks of one client did.

    Attributes:
        namespace: of the memory.
        principal: the client.
        recalled: when a session last began.
        captured: when what a person wrote in one was last looked at.
        since: when the first session after that began.
        saved: notes that were ever handed to the gate (count).
    """

    namespace: str
    principal: str
    recalled: datetime | None = None
    captured: datetime | None = None
    since: datetime | None = None
    saved: int = 0

    @property
    def silent(self) -> bool:
        """Whether sessions have begun for longer than `SILENT_AFTER` and none was captured.

        One session that lasts for days is none of that: a second one has to have begun.
        """
        if self.recalled is None or self.since is None:
            return False
        return self.recalled - self.since > SILENT_AFTER


def recalled(beat: Beat, now: datetime) -> Beat:
    """The same client after a session has begun."""
    return replace(beat, recalled=now, since=beat.since or now)


def captured(beat: Beat, now: datetime, saved: int) -> Beat:
    """The same client after a session was captured, with so many notes."""
    return replace(beat, captured=now, since=None, saved=beat.saved + saved)


def beats(home: Path) -> list[Beat]:
    """What the hooks of every client did, by namespace and client; none where no hook ever ran."""
    return [_beat(row) for _, row in sorted(read_rows(home / FILE).items())]


def note_recall(home: Path, namespace: str, principal: str, now: datetime) -> None:
    """Leave the trace of a session's beginning."""
    with changing_rows(home / FILE) as rows:
        _put(rows, recalled(_of(rows, namespace, principal), now))


def note_capture(home: Path, namespace: str, principal: str, now: datetime, *, saved: int) -> None:
    """Leave the trace of a session that was captured, with so many notes for the gate."""
    with changing_rows(home / FILE) as rows:
        _put(rows, captured(_of(rows, namespace, principal), now, saved))


def ago(then: datetime, now: datetime) -> str:
    """How long ago a moment was, in the largest unit of which it is one at least."""
    seconds = max((now - then).total_seconds(), 0.0)
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def told(beat: Beat, now: datetime) -> str:
    """When a client last captured a session, in words; that it has gone silent where it has."""
    last = f"last capture {ago(beat.captured, now)}" if beat.captured else "no capture yet"
    said = f"{beat.principal} in namespace {beat.namespace}: {last}"
    if not beat.silent:
        return said
    return f"capture has gone silent; {said}, last session {ago(beat.recalled or now, now)}"


def _of(rows: Mapping[str, dict[str, Any]], namespace: str, principal: str) -> Beat:
    row = rows.get(_name(namespace, principal))
    return Beat(namespace, principal) if row is None else _beat(row)


def _put(rows: dict[str, dict[str, Any]], beat: Beat) -> None:
    rows[_name(beat.namespace, beat.principal)] = asdict(beat)


def _name(namespace: str, principal: str) -> str:
    return f"{namespace} {principal}"


def _beat(row: dict[str, Any]) -> Beat:
    moments = {name: row.get(name) for name in ("recalled", "captured", "since")}
    read = {name: datetime.fromisoformat(text) if text else None for name, text in moments.items()}
    return Beat(row["namespace"], row["principal"], saved=row.get("saved", 0), **read)
