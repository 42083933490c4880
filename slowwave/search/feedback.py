"""Recording of feedback events, one journal entry each (rule 4).

Every call is idempotent: a repetition writes nothing. The only computation is what needs the moment: whether
an answer used its results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import shown as quoted
from slowwave.errors import NotFoundError
from slowwave.feedback.model import Concluded, FeedbackError, Observed, Rated, UsageVerdict
from slowwave.home.visibility import Viewer, access_view
from slowwave.journal import Entry, JournalConflictError
from slowwave.journal.entry import not_before
from slowwave.journal.kinds.feedback import (
    ObservationPayload,
    OutcomePayload,
    Rating,
    VerdictPayload,
    verdicts_in,
)
from slowwave.journal.kinds.search import ShownPayload, best_of, chunks_of, results_in
from slowwave.scoring.feedback.signals import CERTAINTY, OUTCOMES, RATINGS
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.search import Result


def rate(
    space: Workspace,
    namespace: str,
    search_id: str,
    result: str | int | Result,
    rating: str,
    *,
    principal: str,
    now: datetime,
    viewer: Viewer | None = None,
) -> Rated:
    """Record a rating of one result; see `slowwave.Memory.feedback`."""
    _require_known("rating", rating, RATINGS)
    payload = _search(space, namespace, search_id, viewer)
    row, chunk = _result(payload, search_id, result)
    ratings = [
        entry
        for entry in space.journal.feedback_on(namespace, search_id)
        if entry.kind == "feedback"
        and entry.principal == principal
        and entry.payload.get("memory_id") == row["memory_id"]
    ]
    previous = _last_here(ratings)
    content = Rating(memory_id=row["memory_id"], chunk_id=chunk, rating=rating)
    if previous is not None and dict(previous.payload) == content:
        return Rated(previous.event_id, search_id, row["memory_id"], chunk, rating, new=False)
    # The id includes the previous event: twice at once is one event, again after a correction is another.
    last = ratings[-1].event_id if ratings else ""
    name = ids.digest("feedback", namespace, search_id, chunk, principal, rating, last)
    at = not_before(now, previous)
    entry = Entry(name, "feedback", namespace, search_id, at, principal, payload=content)
    written = space.journal.append([entry])
    return Rated(name, search_id, row["memory_id"], chunk, rating, new=bool(written.appended))


def observe(
    space: Workspace,
    namespace: str,
    search_id: str,
    response: str,
    *,
    cited: Collection[str | int | Result] = (),
    similarity: Callable[[str, str], float] | None = None,
    principal: str,
    now: datetime,
    viewer: Viewer | None = None,
) -> Observed:
    """Record an answer and the results it used; see `slowwave.Memory.observe`."""
    if not isinstance(response, str) or not response.strip():
        raise FeedbackError("The response is empty. Give the text of the answer that the search was for.")
    payload = _search(space, namespace, search_id, viewer)
    words = ids.digest("response", " ".join(response.split()))
    cited_ids = {_result(payload, search_id, result)[0]["memory_id"] for result in cited}
    verdicts: list[VerdictPayload] | None = None
    while True:
        observations = _observations(space, namespace, search_id, words)
        recorded = _most_certain(observations)
        if viewer is not None:  # verdicts on memories that are hidden now are left out
            visible = {row["memory_id"] for row in payload["shown"]}
            recorded = {name: verdict for name, verdict in recorded.items() if name in visible}
        asks_more = bool(cited_ids) or similarity is not None
        if not observations or asks_more or any(row["memory_id"] not in recorded for row in payload["shown"]):
            verdicts = verdicts or _verdicts(space, namespace, payload, response, cited_ids, similarity)
        news = [verdict for verdict in verdicts or () if _is_news(verdict, recorded)]
        if observations and not news:
            return Observed(observations[0].event_id, search_id, _read(recorded, payload), new=False)
        # The id includes what it adds: twice at once is one event.
        adds = (
            sorted(f"{verdict['memory_id']} {verdict['evidence']}" for verdict in news)
            if observations
            else ()
        )
        name = ids.digest("observation", namespace, search_id, words, *adds)
        # A verdict is about the answer, so it has the time of the first observation.
        moment = min((earlier.occurred_at for earlier in observations), default=now)
        content = ObservationPayload(response=words, verdicts=news)
        try:
            entry = Entry(name, "observation", namespace, search_id, moment, principal, payload=content)
            written = space.journal.append([entry])
        except JournalConflictError:
            if _observations(space, namespace, search_id, words) == observations:
                raise
            continue  # another process observed it meanwhile, with other citations
        recorded |= {verdict["memory_id"]: (_certainty(verdict), verdict) for verdict in news}
        return Observed(name, search_id, _read(recorded, payload), new=bool(written.appended))


def conclude(
    space: Workspace, namespace: str, project: str, outcome: str, *, principal: str, now: datetime
) -> Concluded:
    """Record the outcome of a project; see `slowwave.Memory.outcome`."""
    _require_known("outcome", outcome, OUTCOMES)
    if not project or not space.journal.searches_of(namespace, project):
        raise NotFoundError(
            f"Namespace {namespace!r} has no search for a project {quoted(project)}. Name the project "
            f"when you search: search(query, project=...)."
        )
    outcomes = [
        entry
        for entry in space.journal.feedback_on(namespace, project)
        if entry.kind == "outcome" and entry.principal == principal
    ]
    previous = _last_here(outcomes)
    searches = space.journal.searches_of(namespace, project, after_seq=(previous.seq or 0) if previous else 0)
    if previous is not None and not searches and previous.payload.get("outcome") == outcome:
        return Concluded(previous.event_id, project, outcome, 0, new=False)
    last = outcomes[-1].event_id if outcomes else ""
    name = ids.digest("outcome", namespace, project, principal, outcome, last)
    at = not_before(now, previous)
    content = OutcomePayload(outcome=outcome)
    entry = Entry(name, "outcome", namespace, project, at, principal, payload=content)
    written = space.journal.append([entry])
    return Concluded(name, project, outcome, searches, new=bool(written.appended))


def _last_here(entries: Sequence[Entry]) -> Entry | None:
    """Return the last local event; an import cannot anticipate local feedback."""
    return next((entry for entry in reversed(entries) if "imported_from" not in entry.payload), None)


def _require_known(name: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise FeedbackError(f"{name} = {word!r} is unknown. Use {', '.join(words[:-1])} or {words[-1]}.")


def _search(space: Workspace, namespace: str, search_id: str, viewer: Viewer | None) -> Mapping[str, Any]:
    """Return the results of a search that the viewer may see."""
    entry = space.journal.get(search_id) if isinstance(search_id, str) and search_id else None
    is_own = entry is not None and entry.kind == "search" and entry.namespace == namespace
    if entry is None or not is_own or not isinstance(entry.payload.get("shown"), list):
        raise NotFoundError(
            f"Namespace {namespace!r} has no search {quoted(search_id)}. A search's id comes with its "
            f"results. Searches of a past day, or missing in the journal, take no feedback."
        )
    results = results_in(entry.payload)
    if viewer is not None:
        names = [row["memory_id"] for row in results]
        view = access_view(space.store, namespace, names, viewer)
        results = [row for row in results if view.sees(row["memory_id"])]
    return {**entry.payload, "shown": results}


def _result(
    payload: Mapping[str, Any], search_id: str, result: str | int | Result
) -> tuple[ShownPayload, str]:
    """Return the row of a returned result, and the chunk that is meant."""
    results: Sequence[ShownPayload] = payload["shown"]
    wanted = getattr(result, "memory_id", result)
    for row in results:
        if wanted == row["memory_id"] or (wanted == row["rank"] and not isinstance(wanted, bool)):
            return row, best_of(row)
        if isinstance(wanted, str) and ids.memory_of(wanted) == row["memory_id"] and wanted in chunks_of(row):
            return row, wanted
    names = ", ".join(f"{row['rank']}: {row['memory_id']}" for row in results) or "nothing"
    raise NotFoundError(f"Search {search_id} did not return {quoted(wanted)}. It returned {names}.")


def _verdicts(
    space: Workspace,
    namespace: str,
    payload: Mapping[str, Any],
    response: str,
    cited: Collection[str],
    similarity: Callable[[str, str], float] | None,
) -> list[VerdictPayload]:
    """Compute a verdict on every returned memory."""
    from slowwave.quality.answer_usage import judge_usage
    from slowwave.scoring.feedback.usage import cited_in
    from slowwave.store import one_of

    results: Sequence[ShownPayload] = payload["shown"]
    chunks = [chunk for row in results for chunk in chunks_of(row)]
    where = within(namespace, one_of("chunk_id", chunks))
    rows = space.store.read("chunks", where, columns=["chunk_id", "text"]) if chunks else None
    texts = dict(rows.iter_rows()) if rows is not None else {}
    cited_ids = cited_in(response, [row["memory_id"] for row in results])
    try:
        uses = judge_usage(
            ["\n".join(texts.get(chunk) or "" for chunk in chunks_of(row)) for row in results],
            response,
            payload["query"],
            cited=[at for at, row in enumerate(results) if {row["memory_id"]} & (cited_ids | set(cited))],
            similarity=similarity,
            policy=space.usage_policy,
        )
    except ValueError as error:  # raised by the caller's similarity
        raise FeedbackError(f"{error}. Nothing was recorded.") from error
    return [
        VerdictPayload(
            memory_id=row["memory_id"], chunk_id=best_of(row), verdict=use.verdict,
            evidence="none" if use.evidence == "words" and use.verdict == "ignored" and _is_padding(row)
            else use.evidence,
            keywords=use.keywords, ratio=use.ratio,
            ratio_beyond_query=use.ratio_beyond_query, similarity=use.similarity,
        )
        for row, use in zip(results, uses, strict=True)
    ]  # fmt: skip


_BESIDE_THE_QUESTION = frozenset({"effectiveness", "confidence", "negative_feedback", "clamp"})


def _is_padding(row: ShownPayload) -> bool:
    """Return whether the query added nothing to a result's score.

    Ignoring such a result says nothing about the memory.
    """
    parts = row.get("contributions") or {}
    return (
        bool(parts)
        and sum(abs(value) for source, value in parts.items() if source not in _BESIDE_THE_QUESTION) <= 1e-9
    )


Certainty = tuple[int, bool]  # certainty of the evidence; whether it is local
Known = dict[str, tuple[Certainty, VerdictPayload]]


def _observations(space: Workspace, namespace: str, search_id: str, words: str) -> list[Entry]:
    """Return the observations of this answer in the journal, oldest first."""
    return [
        entry
        for entry in space.journal.feedback_on(namespace, search_id)
        if entry.kind == "observation"
        and entry.payload.get("response") == words
        and isinstance(entry.payload.get("verdicts"), list)
    ]


def _most_certain(observations: Sequence[Entry]) -> Known:
    """Return the most certain verdict on each memory (rule 4.1)."""
    best: Known = {}
    for observation in observations:
        imported = observation.payload.get("imported_from") is not None
        for verdict in verdicts_in(observation.payload):
            certainty = _certainty(verdict, imported=imported)
            if verdict["memory_id"] not in best or certainty > best[verdict["memory_id"]][0]:
                best[verdict["memory_id"]] = certainty, verdict
    return best


def _certainty(verdict: VerdictPayload, *, imported: bool = False) -> Certainty:
    return CERTAINTY.get(verdict["evidence"], -1), not imported


def _is_news(verdict: VerdictPayload, recorded: Known) -> bool:
    previous = recorded.get(verdict["memory_id"])
    return previous is None or _certainty(verdict) > previous[0]


def _read(recorded: Known, payload: Mapping[str, Any]) -> tuple[UsageVerdict, ...]:
    ranks = {row["memory_id"]: row["rank"] for row in payload["shown"]}
    verdicts = [
        UsageVerdict(
            row["memory_id"], row["chunk_id"], ranks.get(row["memory_id"], 0), row["verdict"],
            row["evidence"], row.get("keywords", 0), row.get("ratio"), row.get("ratio_beyond_query"),
            row.get("similarity"),
        )
        for _, row in recorded.values()
    ]  # fmt: skip
    return tuple(sorted(verdicts, key=lambda verdict: verdict.rank))
