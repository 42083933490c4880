"""Deliveries of a session: which texts it was given, so that a later search leaves them out.

A session is a conversation of one user with one assistant. It is known by marks: digests of a memory and its
text with the session's id as key, so nobody reads a memory from them. A changed text has another mark and is
given again. Marks live in this process and in a small file of the home, for hooks and commands.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from slowwave.common import ids
from slowwave.common.permissions import file_mode, make_private
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.ranking import Ranking
    from slowwave.scoring.ranking.wakeup import Item
    from slowwave.search.interleaving import InterleavedRanking
    from slowwave.search.results import Result

FOLDER: Final = "sessions"
MAX_SESSION_CHARACTERS: Final = 200
MAX_GIVEN: Final = 50
"""Results that a search may leave out and replace by further ones (count)."""
MAX_OPEN: Final = 1_000
"""Sessions whose marks a process holds (count)."""
KEPT_SECONDS: Final = 7 * 86_400.0
"""Age after which the file of a session is removed."""
_MARK: Final = 16  # characters of a mark


@dataclass(slots=True)
class Deliveries:
    """Marks of one session of one user in one namespace.

    Attributes:
        session: Id of the session.
        path: File of the marks; None: they live in this process only.
    """

    session: str
    path: Path | None
    _marks: set[str] = field(default_factory=set)
    _size: int = 0  # of the file as it was read (bytes)

    def refresh(self) -> None:
        """Read what other processes have added; an unreadable file gives everything again."""
        if self.path is None:
            return
        try:
            if self.path.stat().st_size != self._size:
                text = self.path.read_text("ascii", errors="replace")
                self._size = len(text)
                self._marks = {line for line in text.split("\n") if len(line) == _MARK}
        except OSError:  # also after another process has begun the session again
            self._size = 0
            self._marks.clear()

    def asked(self, query: str) -> bool:
        """Whether the session has asked the same question before."""
        return self._mark("question", ids.normalised_query(query)) in self._marks

    def has(self, result: Result) -> bool:
        """Whether the session was given this text of this memory."""
        return self._mark(result.memory_id, _one_line(result.text)) in self._marks

    def depth(self, query: str, limit: int, *, repeat: bool) -> int:
        """Return how many results to rank so that `limit` are left (count)."""
        if repeat or not limit or self.asked(query):
            return limit
        return limit + min(len(self._marks), MAX_GIVEN)

    def given(self, query: str, results: Iterable[Result], limit: int, *, repeat: bool) -> tuple[Result, ...]:
        """Return the results to leave out: none if the session asks for them, or the same question again.

        Args:
            query: Of the search.
            results: Best first.
            limit: Results to return; what ranks below the last of these is not left out (count).
            repeat: Whether the session asks for them.
        """
        given: list[Result] = []
        if repeat or self.asked(query):
            return ()
        for place, result in enumerate(results):
            if place - len(given) == limit:
                break
            if self.has(result):
                given.append(result)
        return tuple(given)

    def add_search(self, query: str, results: Iterable[Result]) -> None:
        """Note a question and its returned results."""
        marks = [self._mark("question", ids.normalised_query(query))]
        self._add([*marks, *(self._mark(result.memory_id, _one_line(result.text)) for result in results)])

    def begin(self, items: Iterable[Item]) -> None:
        """Begin the session again with a wake-up packet: what was given before may be lost.

        Only whole items count: a search still returns what a cut one left out.
        """
        self._marks.clear()
        self._size = 0
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        whole = [item for item in items if not item.cut and not item.text.endswith(" …")]
        forms = [(item.memory_id, text) for item in whole for text in {item.said, item.text} if text]
        self._add([self._mark(memory_id, _one_line(text)) for memory_id, text in forms])

    def _mark(self, *parts: str) -> str:
        return ids.digest("delivered", self.session, *parts)[:_MARK]

    def _add(self, marks: Sequence[str]) -> None:
        new = [mark for mark in dict.fromkeys(marks) if mark not in self._marks]
        self._marks.update(new)
        if self.path is None or not new:
            return
        data = "".join(f"{mark}\n" for mark in new).encode()
        with suppress(OSError):  # a search answers whatever becomes of the file
            try:
                end = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            except FileNotFoundError:
                _make_room(self.path)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                end = os.open(self.path, flags, file_mode(self.path.parent))
            try:
                self._size += os.write(end, data)  # if others wrote, too, it differs, and all is read
            finally:
                os.close(end)


class OpenSessions:
    """Sessions of a process; the least recent is dropped first."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str, str], Deliveries] = OrderedDict()
        self._lock = Lock()

    def of(
        self, space: Workspace, namespace: str, principal: str, session: str, *, lasting: bool
    ) -> Deliveries:
        """Return the deliveries of a session; a reader's last as long as the process."""
        key = (namespace, principal, session)
        with self._lock:
            if key not in self._open:
                name = ids.digest("session", *key)[:26]
                path = space.settings.home / FOLDER / name if lasting else None
                self._open[key] = Deliveries(session, path)
                if len(self._open) > MAX_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
            found = self._open[key]
        found.refresh()
        return found


def deliveries_of(
    space: Workspace, namespace: str, principal: str, session: str, *, lasting: bool = True
) -> Deliveries | None:
    """Return the deliveries of a session; None without a session.

    Args:
        space: Workspace of the home.
        namespace: Of the session.
        principal: User of the session.
        session: Id of the session; empty: none.
        lasting: Keep the marks in the home, for other processes.

    Raises:
        SlowwaveError: The id is no text of at most `MAX_SESSION_CHARACTERS`.
    """
    session = session.strip() if isinstance(session, str) else session  # a script's ends in a line break
    if not isinstance(session, str) or len(session) > MAX_SESSION_CHARACTERS or "\0" in session:
        raise SlowwaveError(f"session = {session!r} is no id of at most {MAX_SESSION_CHARACTERS} characters.")
    if not session:
        return None
    sessions = space.part("sessions", OpenSessions)
    return sessions.of(space, namespace, principal, session, lasting=lasting)


def _one_line(text: str) -> str:
    """Return a text with single spaces: any other difference is a change of the memory."""
    return " ".join(text.split())


def without_given(
    given: Sequence[Result],
    results: Sequence[Result],
    ranking: Ranking,
    turns: InterleavedRanking | None,
    limit: int,
) -> tuple[tuple[Result, ...], Ranking, InterleavedRanking | None]:
    """Return `limit` results, their ranking and interleaving without the given results.

    Ranks count what is returned.
    """
    names = {result.memory_id for result in given}
    kept = [at for at, result in enumerate(results) if result.memory_id not in names][:limit]
    left = tuple(replace(results[at], rank=place) for place, at in enumerate(kept, start=1))
    ranked = tuple(replace(ranking.results[at], rank=place) for place, at in enumerate(kept, start=1))
    ranking = replace(ranking, results=ranked)
    if turns is not None:
        turns = replace(turns, ranking=ranking, teams=tuple(turns.teams[at] for at in kept))
    return left, ranking, turns


def _make_room(path: Path) -> None:
    """Create the folder of the sessions, and remove files that nobody needs any more."""
    home = path.parent.parent
    if not path.parent.is_dir():
        path.parent.mkdir(exist_ok=True)
        make_private(path.parent, home, folder=True)
    oldest = time.time() - KEPT_SECONDS
    for file in path.parent.iterdir():
        with suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()
