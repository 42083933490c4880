"""Taking feedback by day: one line in the journal each (rule 4).

Every act can be repeated: what was said already is not written again. Nothing is computed here but what has
to be seen at the moment: whether an answer used what it was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import shown as told
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
    """Take a rating of one result; see `slowwave.Memory.feedback`."""
    _known("rating", rating, RATINGS)
    payload = _search(space, namespace, search_id, viewer)
    shown, chunk = _result(payload, search_id, result)
    said = [
        entry
        for entry in space.journal.feedback_on(namespace, search_id)
        if entry.kind == "feedback"
        and entry.principal == principal
        and entry.payload.get("memory_id") == shown["memory_id"]
    ]
    before = _last_here(said)
    content = Rating(memory_id=shown["memory_id"], chunk_id=chunk, rating=rating)
    if before is not None and dict(before.payload) == content:
        return Rated(before.event_id, search_id, shown["memory_id"], chunk, rating, new=False)
    # Named by what it follows: said twice at once it is one event, said again after a correction another.
    last = said[-1].event_id if said else ""
    name = ids.digest("feedback", namespace, search_id, chunk, principal, rating, last)
    at = not_before(now, before)
    entry = Entry(name, "feedback", namespace, search_id, at, principal, payload=content)
    done = space.journal.append([entry])
    return Rated(name, search_id, shown["memory_id"], chunk, rating, new=bool(done.appended))


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
    """Look at an answer; see `slowwave.Memory.observe`."""
    if not isinstance(response, str) or not response.strip():
        raise FeedbackError("The response is empty. Give the text of the answer that the search was for.")
    payload = _search(space, namespace, search_id, viewer)
    words = ids.digest("response", " ".join(response.split()))
    cited_ids = {_result(payload, search_id, one)[0]["memory_id"] for one in cited}
    verdicts: list[VerdictPayload] | None = None
    while True:
        looks = _looks(space, namespace, search_id, words)
        known = _most_certain(looks)
        if viewer is not None:  # what was said while it could be seen is not handed out any more
            seen = {row["memory_id"] for row in payload["shown"]}
            known = {name: one for name, one in known.items() if name in seen}
        asks_more = bool(cited_ids) or similarity is not None
        if not looks or asks_more or any(row["memory_id"] not in known for row in payload["shown"]):
            verdicts = verdicts or _verdicts(space, namespace, payload, response, cited_ids, similarity)
        news = [one for one in verdicts or () if _is_news(one, known)]
        if looks and not news:
            return Observed(looks[0].event_id, search_id, _read(known, payload), new=False)
        # Named by what it adds: said twice at once it is one event.
        adds = sorted(f"{one['memory_id']} {one['evidence']}" for one in news) if looks else ()
        name = ids.digest("observation", namespace, search_id, words, *adds)
        # A verdict is on the answer, so it is of the moment at which that was first looked at.
        moment = min((look.occurred_at for look in looks), default=now)
        content = ObservationPayload(response=words, verdicts=news)
        try:
            entry = Entry(name, "observation", namespace, search_id, moment, principal, payload=content)
            done = space.journal.append([entry])
        except JournalConflictError:
            if _looks(space, namespace, search_id, words) == looks:
                raise
            continue  # it was looked at elsewhere meanwhile, with other citations
        known |= {one["memory_id"]: (_certainty(one), one) for one in news}
        return Observed(name, search_id, _read(known, payload), new=bool(done.appended))


def conclude(
    space: Workspace, namespace: str, project: str, outcome: str, *, principal: str, now: datetime
) -> Concluded:
    """Take the outcome of a project; see `slowwave.Memory.outcome`."""
    _known("outcome", outcome, OUTCOMES)
    if not project or not space.journal.searches_of(namespace, project):
        raise NotFoundError(
            f"Namespace {namespace!r} has no search for a project {told(project)}. Name the project when you "
            f"search: search(query, project=...)."
        )
    said = [
        entry
        for entry in space.journal.feedback_on(namespace, project)
        if entry.kind == "outcome" and entry.principal == principal
    ]
    before = _last_here(said)
    searches = space.journal.searches_of(namespace, project, after_seq=(before.seq or 0) if before else 0)
    if before is not None and not searches and before.payload.get("outcome") == outcome:
        return Concluded(before.event_id, project, outcome, 0, new=False)
    last = said[-1].event_id if said else ""
    name = ids.digest("outcome", namespace, project, principal, outcome, last)
    at = not_before(now, before)
    content = OutcomePayload(outcome=outcome)
    entry = Entry(name, "outcome", namespace, project, at, principal, payload=content)
    done = space.journal.append([entry])
    return Concluded(name, project, outcome, searches, new=bool(done.appended))


def _last_here(said: Sequence[Entry]) -> Entry | None:
    """The last of these acts that was not imported: a file cannot say in advance what somebody says here."""
    return next((entry for entry in reversed(said) if "imported_from" not in entry.payload), None)


def _known(what: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise FeedbackError(f"{what} = {word!r}: say {', '.join(words[:-1])} or {words[-1]}.")


def _search(space: Workspace, namespace: str, search_id: str, viewer: Viewer | None) -> Mapping[str, Any]:
    """What a search showed of what the viewer may see."""
    entry = space.journal.get(search_id) if isinstance(search_id, str) and search_id else None
    ours = entry is not None and entry.kind == "search" and entry.namespace == namespace
    if entry is None or not ours or not isinstance(entry.payload.get("shown"), list):
        raise NotFoundError(
            f"Namespace {namespace!r} has no search {told(search_id)}. A search's id comes with its results; "
            f"a search of a past day, or one that could not be written to the journal, takes no feedback."
        )
    shown = results_in(entry.payload)
    if viewer is not None:
        seen = access_view(space.store, namespace, [row["memory_id"] for row in shown], viewer)
        shown = [row for row in shown if seen.sees(row["memory_id"])]
    return {**entry.payload, "shown": shown}


def _result(
    payload: Mapping[str, Any], search_id: str, result: str | int | Result
) -> tuple[ShownPayload, str]:
    """The row of a result that was shown, and the chunk that is meant."""
    shown: Sequence[ShownPayload] = payload["shown"]
    asked = getattr(result, "memory_id", result)
    for row in shown:
        if asked == row["memory_id"] or (asked == row["rank"] and not isinstance(asked, bool)):
            return row, best_of(row)
        if isinstance(asked, str) and ids.memory_of(asked) == row["memory_id"] and asked in chunks_of(row):
            return row, asked
    names = ", ".join(f"{row['rank']}: {row['memory_id']}" for row in shown) or "nothing"
    raise NotFoundError(f"Search {search_id} did not show {told(asked)}. It showed {names}.")


def _verdicts(
    space: Workspace,
    namespace: str,
    payload: Mapping[str, Any],
    response: str,
    cited: Collection[str],
    similarity: Callable[[str, str], float] | None,
) -> list[VerdictPayload]:
    """A verdict on every memory that a search showed."""
    from slowwave.scoring.feedback.usage import cited_in, usage
    from slowwave.store import one_of

    shown: Sequence[ShownPayload] = payload["shown"]
    chunks = [chunk for row in shown for chunk in chunks_of(row)]
    where = within(namespace, one_of("chunk_id", chunks))
    rows = space.store.read("chunks", where, columns=["chunk_id", "text"]) if chunks else None
    texts = dict(rows.iter_rows()) if rows is not None else {}
    named = cited_in(response, [row["memory_id"] for row in shown])
    try:
        found = usage(
            ["\n".join(texts.get(chunk) or "" for chunk in chunks_of(row)) for row in shown],
            response,
            payload["query"],
            cited=[at for at, row in enumerate(shown) if {row["memory_id"]} & (named | set(cited))],
            similarity=similarity,
            policy=space.usage_policy,
        )
    except ValueError as error:  # of the caller's similarity
        raise FeedbackError(f"{error}. Nothing was taken.") from error
    return [
        VerdictPayload(
            memory_id=row["memory_id"], chunk_id=best_of(row), verdict=one.verdict,
            evidence="none" if one.verdict == "ignored" and _is_padding(row) else one.evidence,
            keywords=one.keywords, ratio=one.ratio,
            ratio_beyond_query=one.ratio_beyond_query, similarity=one.similarity,
        )
        for row, one in zip(shown, found, strict=True)
    ]  # fmt: skip


_BESIDE_THE_QUESTION = frozenset({"effectiveness", "confidence", "negative_feedback", "clamp"})


def _is_padding(row: ShownPayload) -> bool:
    """Whether the question added nothing to the score of a result: ignoring it says nothing of the memory."""
    parts = row.get("contributions") or {}
    return (
        bool(parts)
        and sum(abs(value) for source, value in parts.items() if source not in _BESIDE_THE_QUESTION) <= 1e-9
    )


Certainty = tuple[int, bool]  # of the evidence; whether it was seen here, and not imported
Known = dict[str, tuple[Certainty, VerdictPayload]]


def _looks(space: Workspace, namespace: str, search_id: str, words: str) -> list[Entry]:
    """The looks at this answer that the journal has, the first written first."""
    return [
        entry
        for entry in space.journal.feedback_on(namespace, search_id)
        if entry.kind == "observation"
        and entry.payload.get("response") == words
        and isinstance(entry.payload.get("verdicts"), list)
    ]


def _most_certain(looks: Sequence[Entry]) -> Known:
    """The most certain verdict on each memory (rule 4.1)."""
    best: Known = {}
    for look in looks:
        imported = look.payload.get("imported_from") is not None
        for one in verdicts_in(look.payload):
            certainty = _certainty(one, imported=imported)
            if one["memory_id"] not in best or certainty > best[one["memory_id"]][0]:
                best[one["memory_id"]] = certainty, one
    return best


def _certainty(verdict: VerdictPayload, *, imported: bool = False) -> Certainty:
    return CERTAINTY.get(verdict["evidence"], -1), not imported


def _is_news(verdict: VerdictPayload, known: Known) -> bool:
    before = known.get(verdict["memory_id"])
    return before is None or _certainty(verdict) > before[0]


def _read(known: Known, payload: Mapping[str, Any]) -> tuple[UsageVerdict, ...]:
    ranks = {row["memory_id"]: row["rank"] for row in payload["shown"]}
    found = [
        UsageVerdict(
            row["memory_id"], row["chunk_id"], ranks.get(row["memory_id"], 0), row["verdict"],
            row["evidence"], row.get("keywords", 0), row.get("ratio"), row.get("ratio_beyond_query"),
            row.get("similarity"),
        )
        for _, row in known.values()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.rank))
