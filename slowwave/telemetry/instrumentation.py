"""Instrumentation of searches, saves and feedback: a span, a measurement and a log line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol

from slowwave.telemetry.recording import OFF, count, note, span

Tell = Callable[..., None]


class HasStatus(Protocol):
    """Result of a save with its status."""

    @property
    def status(self) -> str:
        """Status of `home.tenant.Saved`."""


@contextmanager
def observe_search(now: Callable[[], datetime]) -> Iterator[Tell]:
    """Measure a search.

    Args:
        now: Returns the current time.

    Yields:
        Function that takes search_id, results (count) and whether it abstained.
    """
    with span("slowwave.search", metric="slowwave.search.duration") as open_:

        def tell(*, search_id: str, results: int, abstained: bool, seconds: float) -> None:
            outcome = "answered" if results else "abstained" if abstained else "nothing"
            open_.set(search_id=search_id, results=results, outcome=outcome)
            note(
                "search", search_id=search_id, results=results, outcome=outcome,
                seconds=round(seconds, 6), day=now().date().isoformat(),
            )  # fmt: skip

        yield _nothing if open_ is OFF else tell


@contextmanager
def observe_save(now: datetime, events: Iterable[str]) -> Iterator[Tell]:
    """Measure a call that saves notes.

    Args:
        now: Time of the call.
        events: Ids of the save events.

    Yields:
        Function that takes the result of each note.
    """
    with span("slowwave.save", metric="slowwave.save.duration") as open_:

        def tell(saved: list[HasStatus]) -> None:
            open_.set(notes=len(saved))
            for event, result in zip(events, saved, strict=True):
                count("slowwave.notes", outcome=result.status)
                note("save", event_id=event, outcome=result.status, day=now.date().isoformat())

        yield _nothing if open_ is OFF else tell


@contextmanager
def observe_feedback(act: str, now: datetime) -> Iterator[Tell]:
    """Measure a feedback call.

    Args:
        act: feedback, observation or outcome: the kind of its event.
        now: Time of the call.

    Yields:
        Function that takes event_id, whether it is new, and search_id if it has one.
    """
    with span("slowwave.feedback", metric="slowwave.feedback.duration", act=act) as open_:

        def tell(*, event_id: str, new: bool, search_id: str = "") -> None:
            about = {"search_id": search_id} if search_id else {}
            open_.set(event_id=event_id, **about)
            outcome = "new" if new else "known"
            note("feedback", act=act, event_id=event_id, **about, outcome=outcome, day=now.date().isoformat())

        yield _nothing if open_ is OFF else tell


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""
