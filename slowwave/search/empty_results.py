"""Why a search shows nothing: only what was looked at is said, the reason that comes first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from slowwave.common.pluralize import counted
from slowwave.errors import NotFoundError
from slowwave.journal.entry import SOURCE_KINDS
from slowwave.lifecycle.quarantine import HELD
from slowwave.quality.admission.types import LIVE
from slowwave.search.filters import Filters
from slowwave.search.signals import condition, signals_in
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

Kind = Literal[
    "limit", "abstained", "unrelated", "past", "filtered", "hidden", "refused", "waiting", "unknown", "empty"
]
NOTHING_THERE: frozenset[Kind] = frozenset({"hidden", "refused", "waiting", "unknown", "empty"})
"""Where there is nothing that may be shown, whatever is asked; an assistant is told no more than that."""


@dataclass(frozen=True, slots=True)
class NoResultsReason:
    """Why nothing is shown.

    Attributes:
        kind: ``limit``: nothing was asked for. ``abstained``: nothing is near enough. ``unrelated``: nothing
            has to do with the query. ``past``: of a past day. ``filtered``: no memory passes the filters.
            ``hidden``: all are secret, superseded or forgotten. ``refused``: all are in quarantine.
            ``waiting``: no night has taken in what there is. ``unknown``: the home has other namespaces, and
            not this one. ``empty``: the home has nothing.
        message: for the owner of the home: it names other namespaces.
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
    as_of: date | None,
) -> NoResultsReason:
    """The reason why a search has no results."""
    if limit == 0:
        return NoResultsReason("limit", "Nothing was asked for: the limit is 0.")
    if abstained:
        return NoResultsReason("abstained", "Nothing that was found is near enough to be an answer.")
    if as_of is not None:
        return NoResultsReason(
            "past", f"Nothing that namespace {namespace!r} held at the end of {as_of} matches."
        )
    if space.store.count("memories", condition(signals_in(space), namespace, filters)):
        return NoResultsReason("unrelated", f"Nothing in namespace {namespace!r} has to do with the query.")
    if shown := space.store.count("memories", Filters().where(namespace)):
        told = f"No memory of namespace {namespace!r} passes {filters} ({shown:,} looked at)."
        return NoResultsReason("filtered", told)
    return _empty_namespace(space, namespace)


def require_known_filters(space: Workspace, namespace: str) -> None:
    """See that the home has the namespace; one that has nothing at all is no mistake of the namespace.

    Raises:
        NotFoundError: it has others, which are named.
    """
    mine = within(namespace, f"status = {quote(LIVE)}")
    if space.store.count("memories", mine):
        return
    found = _empty_namespace(space, namespace)
    if found.kind == "unknown":
        raise NotFoundError(found.message)


def _empty_namespace(space: Workspace, namespace: str) -> NoResultsReason:
    mine = within(namespace)
    if there := space.store.count("memories", mine):
        return NoResultsReason(
            "hidden",
            f"None of {counted(there, 'memory', 'memories')} of namespace {namespace!r} may be shown: they "
            f"are secret (--sensitivity secret), superseded (--superseded) or forgotten.",
        )
    if refused := space.store.count("quarantine", f"{mine} AND status = {quote(HELD)}"):
        return NoResultsReason(
            "refused",
            f"Namespace {namespace!r} has no memories yet: {counted(refused, 'note was', 'notes were')} not "
            f"let in. `slowwave quarantine list` says why.",
        )
    if space.journal.read(kinds=SOURCE_KINDS, namespace=namespace, limit=1).height:
        return NoResultsReason(
            "waiting",
            f"Notes of namespace {namespace!r} are in the journal and not yet in the memory: "
            f"`slowwave night` takes them in.",
        )
    others = sorted(set(space.store.scan("memories", columns=["namespace"])["namespace"]))
    if others:
        return NoResultsReason(
            "unknown",
            f"namespace = {namespace!r} is unknown: nothing was saved in it. There are {_listed(others)}.",
        )
    return NoResultsReason(
        "empty",
        "Nothing is in this home yet: `slowwave save TEXT` saves a note, `slowwave ingest FOLDER` and "
        "`slowwave night` take in a folder of them.",
    )


def _listed(names: list[str], most: int = 20) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
