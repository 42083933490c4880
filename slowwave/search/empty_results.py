"""Reasons for an empty result: the first that applies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from slowwave.common.pluralize import counted
from slowwave.errors import NotFoundError
from slowwave.journal.entry import SOURCE_KINDS
from slowwave.quality.admission.statuses import HELD, LIVE
from slowwave.scoring.ranking.time_only import days_named
from slowwave.search.filters import Filters
from slowwave.search.signals import condition, signals_in
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.ranking.time_spans import TimeWords

Kind = Literal[
    "limit", "abstained", "unrelated", "past", "filtered", "time", "hidden", "refused", "waiting", "unknown",
    "empty", "given",
]  # fmt: skip
NOTHING_THERE: frozenset[Kind] = frozenset({"hidden", "refused", "waiting", "unknown", "empty"})
"""Kinds that hold for any query; an assistant gets no further detail."""


@dataclass(frozen=True, slots=True)
class NoResultsReason:
    """Reason for an empty result.

    Attributes:
        kind: ``limit``: the limit is 0. ``abstained``: nothing is near enough. ``unrelated``: nothing matches
            the query. ``past``: a past day. ``filtered``: no memory passes the filters. ``time``: none that
            passes them is of the days that the question asks for. ``hidden``: all are secret,
            superseded or forgotten. ``refused``: all are in quarantine. ``waiting``: saved notes are
            not ingested yet. ``unknown``: the home has other namespaces, but not this one. ``empty``: the
            home is empty. ``given``: the session has every result already.
        message: Text for the owner of the home; it names other namespaces.
    """

    kind: Kind
    message: str


def explain_no_results(
    space: Workspace,
    namespace: str,
    filters: Filters,
    *,
    limit: int,
    abstained: bool,
    weakly: bool = False,
    as_of: date | None,
    asked: TimeWords | None = None,
    given: int = 0,
) -> NoResultsReason:
    """Return the reason why a search has no results.

    Args:
        space: Workspace of the home.
        namespace: Searched namespace.
        filters: Filters of the search.
        limit: Requested results (count).
        abstained: Nothing is near enough.
        weakly: Something is near enough, and fits too weakly.
        as_of: Searched past day, if any.
        asked: Days of a question that holds only a time.
        given: Results that the session had already (count).
    """
    if given:
        return NoResultsReason("given", "Every result was already given in this session.")
    if limit == 0:
        return NoResultsReason("limit", "No results were requested: limit = 0.")
    if abstained and weakly:
        message = "The best result fits too weakly to be an answer (--include-weak returns it)."
        return NoResultsReason("abstained", message)
    if abstained:
        return NoResultsReason("abstained", "No memory is near enough to be an answer.")
    if as_of is not None:
        return NoResultsReason("past", f"Nothing in namespace {namespace!r} at the end of {as_of} matches.")
    if passing := space.store.count("memories", condition(signals_in(space), namespace, filters)):
        if asked is not None:
            return NoResultsReason("time", _none_of_time(namespace, filters, asked, passing))
        return NoResultsReason("unrelated", f"Nothing in namespace {namespace!r} matches the query.")
    if visible := space.store.count("memories", Filters().where(namespace)):
        message = f"No memory of namespace {namespace!r} passes {filters} ({visible:,} checked)."
        return NoResultsReason("filtered", message)
    return _empty_namespace(space, namespace)


def _none_of_time(namespace: str, filters: Filters, asked: TimeWords, passing: int) -> str:
    """Return the message that no memory is of the days asked for."""
    passes = f" that passes {filters}" if filters != Filters() else ""
    return f"No memory of namespace {namespace!r}{passes} is from {days_named(asked)} ({passing:,} checked)."


def require_known_filters(space: Workspace, namespace: str) -> None:
    """Raise unless the home has the namespace or has none at all.

    Raises:
        NotFoundError: it has other namespaces, which the message names.
    """
    live = within(namespace, f"status = {quote(LIVE)}")
    if space.store.count("memories", live):
        return
    reason = _empty_namespace(space, namespace)
    if reason.kind == "unknown":
        raise NotFoundError(reason.message)


def _empty_namespace(space: Workspace, namespace: str) -> NoResultsReason:
    where = within(namespace)
    if count := space.store.count("memories", where):
        return NoResultsReason(
            "hidden",
            f"None of {counted(count, 'memory', 'memories')} of namespace {namespace!r} may be shown: they "
            f"are secret (--sensitivity secret), superseded (--superseded) or forgotten.",
        )
    if refused := space.store.count("quarantine", f"{where} AND status = {quote(HELD)}"):
        return NoResultsReason(
            "refused",
            f"Namespace {namespace!r} has no memories yet: {counted(refused, 'note was', 'notes were')} "
            f"refused. `slowwave quarantine list` names the reasons.",
        )
    if space.journal.read(kinds=SOURCE_KINDS, namespace=namespace, limit=1).height:
        return NoResultsReason(
            "waiting",
            f"Notes of namespace {namespace!r} are in the journal and not ingested yet. "
            f"Run `slowwave night`.",
        )
    others = sorted(set(space.store.scan("memories", columns=["namespace"])["namespace"]))
    if others:
        return NoResultsReason(
            "unknown",
            f"namespace = {namespace!r} is unknown: nothing was saved in it. "
            f"Known namespaces: {_listed(others)}.",
        )
    return NoResultsReason(
        "empty",
        "This home is empty. Save a note with `slowwave save TEXT`, or ingest a folder with "
        "`slowwave ingest FOLDER` and `slowwave night`.",
    )


def _listed(names: list[str], max_names: int = 20) -> str:
    more = f" and {len(names) - max_names:,} more" if len(names) > max_names else ""
    return ", ".join(map(repr, names[:max_names])) + more
