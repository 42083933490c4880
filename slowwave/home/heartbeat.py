"""Heartbeat of the hooks: last recall and last capture of each client, in a small file.

A failing hook leaves no visible trace. So each hook records here that it has done its work. `slowwave
doctor` reports a client whose sessions begin without being captured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from slowwave.common.shared_file import changing_rows, read_rows

FILE = "hooks.json"
CAPTURE_LOG = "capture.log"
"""Output of the last background capture."""
SILENT_AFTER = timedelta(days=3)
"""Time of sessions without a capture after which capture counts as silent."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Heartbeat of the hooks of one client.

    Attributes:
        namespace: Namespace of the client.
        principal: Name of the client.
        recalled: Last beginning of a session.
        captured: Last capture of a session.
        since: Beginning of the first session after that capture.
        saved: Notes ever handed to the save gate (count).
    """

    namespace: str
    principal: str
    recalled: datetime | None = None
    captured: datetime | None = None
    since: datetime | None = None
    saved: int = 0

    @property
    def silent(self) -> bool:
        """Whether sessions have begun for longer than `SILENT_AFTER` without a capture.

        One session that lasts for days does not count: a second one must have begun.
        """
        if self.recalled is None or self.since is None:
            return False
        return self.recalled - self.since > SILENT_AFTER


def beats(home: Path) -> list[Beat]:
    """Return the heartbeat of every client, by namespace and client; empty if no hook ever ran."""
    return [_beat(row) for _, row in sorted(read_rows(home / FILE).items())]


def note_recall(home: Path, namespace: str, principal: str, now: datetime) -> None:
    """Record that a session of a client began."""
    _change(home, namespace, principal, lambda beat: replace(beat, recalled=now, since=beat.since or now))


def note_capture(home: Path, namespace: str, principal: str, now: datetime, *, saved: int) -> None:
    """Record that a session of a client was captured; `saved` is its count of notes."""
    _change(
        home, namespace, principal,
        lambda beat: replace(beat, captured=now, since=None, saved=beat.saved + saved),
    )  # fmt: skip


def ago(then: datetime, now: datetime) -> str:
    """Return the age of a moment in words, in the largest fitting unit."""
    seconds = max((now - then).total_seconds(), 0.0)
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def describe_beat(beat: Beat, now: datetime) -> str:
    """Describe in words when a client last captured a session, and whether capture is silent."""
    last = f"last capture {ago(beat.captured, now)}" if beat.captured else "no capture yet"
    status = f"{beat.principal} in namespace {beat.namespace}: {last}"
    if not beat.silent:
        return status
    return f"capture has gone silent; {status}, last session {ago(beat.recalled or now, now)}"


def _change(home: Path, namespace: str, principal: str, change: Callable[[Beat], Beat]) -> None:
    """Replace the heartbeat of one client."""
    with changing_rows(home / FILE) as rows:
        row = rows.get(name := f"{namespace} {principal}")
        rows[name] = asdict(change(Beat(namespace, principal) if row is None else _beat(row)))


def _beat(row: dict[str, Any]) -> Beat:
    moments = {name: row.get(name) for name in ("recalled", "captured", "since")}
    read = {name: datetime.fromisoformat(text) if text else None for name, text in moments.items()}
    return Beat(row["namespace"], row["principal"], saved=row.get("saved", 0), **read)
