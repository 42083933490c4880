"""Taking feedback by day: one line in the journal each (rule 4).

Every act can be repeated: what was said already is not written again. Nothing is computed here but what has
to be seen at the moment: whether an answer used what it was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from scoring.feedback.signals import OUTCOMES, RATINGS
from slowwave import ids
from slowwave.errors import NotFoundError
from slowwave.feedback.model import Concluded, FeedbackError, Observed, Rated, Verdict
from slowwave.journal import Entry, JournalConflictError

if TYPE_CHECKING:
    from slowwave.search import Result
    from slowwave.workspace import Workspace

Shown = Mapping[str, Any]


def rate(
    space: Workspace,
    namespace: str,
    search_id: str,
    result: str | int | Result,
    rating: str,
    *,
    principal: str,
    now: datetime,
) -> Rated:
    """Take a rating of one result; see `slowwave.Memory.feedback`."""
    _known("rating", rating, RATINGS)
    payload = _search(space, namespace, search_id)
    shown, chunk = _result(payload, search_id, result)
    said = [
        entry
        for entry in space.journal.feedback_on(namespace, search_id)
        if entry.kind == "feedback"
        and entry.principal == principal
        and entry.payload["memory_id"] == shown["memory_id"]
    ]
    before = said[-1] if said else None
    content = {"memory_id": shown["memory_id"], "chunk_id": chunk, "rating": rating}
    if before is not None and dict(before.payload) == content:
        return Rated(before.event_id, search_id, shown["memory_id"], chunk, rating, new=False)
    # Named by what it follows: said twice at once it is one event, said again after a correction another.
    last = before.event_id if before else ""
    name = ids.digest("feedback", namespace, search_id, chunk, principal, rating, last)
    done = space.journal.append([_entry(name, "feedback", namespace, search_id, principal, now, content)])
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
) -> Observed:
    """Look at an answer; see `slowwave.Memory.observe`."""
    if not isinstance(response, str) or not response.strip():
        raise FeedbackError("The response is empty. Give the text of the answer that the search was for.")
    payload = _search(space, namespace, search_id)
    words = ids.digest("response", " ".join(response.split()))
    name = ids.digest("observation", namespace, search_id, words)
    known = space.journal.get(name)
    if known is not None:
        return Observed(name, search_id, _read(known.payload["verdicts"], payload), new=False)
    cited_ids = {_result(payload, search_id, one)[0]["memory_id"] for one in cited}
    verdicts = _verdicts(space, namespace, payload, response, cited_ids, similarity)
    content = {"response": words, "verdicts": verdicts}
    entry = _entry(name, "observation", namespace, search_id, principal, now, content)
    try:
        done = space.journal.append([entry])
    except JournalConflictError:  # looked at elsewhere meanwhile, with other citations: the first look counts
        first = space.journal.get(name)
        assert first is not None
        return Observed(name, search_id, _read(first.payload["verdicts"], payload), new=False)
    return Observed(name, search_id, _read(verdicts, payload), new=bool(done.appended))


def conclude(
    space: Workspace, namespace: str, project: str, outcome: str, *, principal: str, now: datetime
) -> Concluded:
    """Take the outcome of a project; see `slowwave.Memory.outcome`."""
    _known("outcome", outcome, OUTCOMES)
    if not project or not space.journal.searches_of(namespace, project):
        raise NotFoundError(
            f"Namespace {namespace!r} has no search for a project {project!r}. Name the project when you "
            f"search: search(query, project=...)."
        )
    said = [
        entry
        for entry in space.journal.feedback_on(namespace, project)
        if entry.kind == "outcome" and entry.principal == principal
    ]
    before = said[-1] if said else None
    since = before.occurred_at if before else None
    searches = space.journal.searches_of(namespace, project, after=since)
    if before is not None and not searches and before.payload["outcome"] == outcome:
        return Concluded(before.event_id, project, outcome, 0, new=False)
    last = before.event_id if before else ""
    name = ids.digest("outcome", namespace, project, principal, outcome, last)
    entry = _entry(name, "outcome", namespace, project, principal, now, {"outcome": outcome})
    done = space.journal.append([entry])
    return Concluded(name, project, outcome, searches, new=bool(done.appended))


def _known(what: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise FeedbackError(f"{what} = {word!r}: say {', '.join(words[:-1])} or {words[-1]}.")


def _search(space: Workspace, namespace: str, search_id: str) -> Mapping[str, Any]:
    entry = space.journal.get(search_id) if isinstance(search_id, str) and search_id else None
    if entry is None or entry.kind != "search" or entry.namespace != namespace:
        raise NotFoundError(
            f"Namespace {namespace!r} has no search {search_id!r}. A search's id comes with its results; a "
            f"search of a past day, or one that could not be written to the journal, takes no feedback."
        )
    return entry.payload


def _result(payload: Mapping[str, Any], search_id: str, result: str | int | Result) -> tuple[Shown, str]:
    """The row of a result that was shown, and the chunk that is meant."""
    shown: Sequence[Shown] = payload["shown"]
    asked = getattr(result, "memory_id", result)
    for row in shown:
        if asked == row["memory_id"] or (asked == row["rank"] and not isinstance(asked, bool)):
            return row, best_of(row)
        if isinstance(asked, str) and ids.memory_of(asked) == row["memory_id"] and asked in chunks_of(row):
            return row, asked
    names = ", ".join(f"{row['rank']}: {row['memory_id']}" for row in shown) or "nothing"
    raise NotFoundError(f"Search {search_id} did not show {asked!r}. It showed {names}.")


def best_of(row: Shown) -> str:
    """The chunk whose text a result showed."""
    return str(
        row.get("best") or next(iter(row.get("chunks") or ()), "") or ids.chunk_id(row["memory_id"], 0)
    )


def chunks_of(row: Shown) -> list[str]:
    """Every chunk that a result showed."""
    return list(row.get("chunks") or (best_of(row),))


def _verdicts(
    space: Workspace,
    namespace: str,
    payload: Mapping[str, Any],
    response: str,
    cited: Collection[str],
    similarity: Callable[[str, str], float] | None,
) -> list[dict[str, Any]]:
    """A verdict on every memory that a search showed."""
    from scoring.feedback.usage import cited_in, usage
    from slowwave.store import one_of, quote

    shown: Sequence[Shown] = payload["shown"]
    chunks = [chunk for row in shown for chunk in chunks_of(row)]
    where = f"namespace = {quote(namespace)} AND {one_of('chunk_id', chunks)}"
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
        {
            "memory_id": row["memory_id"], "chunk_id": best_of(row), "verdict": one.verdict,
            "evidence": one.evidence, "keywords": one.keywords, "ratio": one.ratio,
            "ratio_beyond_query": one.ratio_beyond_query, "similarity": one.similarity,
        }
        for row, one in zip(shown, found, strict=True)
    ]  # fmt: skip


def _read(verdicts: Sequence[Mapping[str, Any]], payload: Mapping[str, Any]) -> tuple[Verdict, ...]:
    ranks = {row["memory_id"]: row["rank"] for row in payload["shown"]}
    return tuple(
        Verdict(
            row["memory_id"], row["chunk_id"], ranks.get(row["memory_id"], 0), row["verdict"],
            row["evidence"], row.get("keywords", 0), row.get("ratio"), row.get("ratio_beyond_query"),
            row.get("similarity"),
        )
        for row in verdicts
    )  # fmt: skip


def _entry(
    event_id: str,
    kind: str,
    namespace: str,
    subject: str,
    principal: str,
    now: datetime,
    payload: Mapping[str, Any],
) -> Entry:
    return Entry(
        event_id=event_id, kind=kind, namespace=namespace, subject=subject, occurred_at=now,
        principal=principal, payload=payload,
    )  # fmt: skip
