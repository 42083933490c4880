"""Search page: results, explanations and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from slowwave.common.arguments import parsed_day
from slowwave.errors import NotFoundError
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.scoring.days import day_start
from slowwave.search.filters import Filters
from slowwave.views import mcp_text
from slowwave.views.scores import MEANING, by_source
from slowwave.web.browsing import overview
from slowwave.web.request import PageRequest, PageRoute, Redirect, ShownPage, linked, to
from slowwave.web.sessions import KeptSearch

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.search import SearchResponse

RESULTS: Final = 10  # of a search (count)
WIDTH: Final = 100  # units of a bar for a score of 1
FITS: Final = ("strong", "fair", "weak")
"""Words for how well a result fits the question, the best first."""
RATINGS: Final = {"helpful": "it helped", "neutral": "beside the point", "unhelpful": "wrong"}
"""Labels of the rating buttons."""


def look(request: PageRequest) -> ShownPage:
    """Show the search box, and the results of a query."""
    query = request.query.get("q", "").strip()
    if not query:
        return _shown({"query": "", "filters": _typed(request), **overview(request)})
    response = request.memory.search(
        query, limit=RESULTS, explain=True, log=not request.caller.reads_only, **_chosen(_typed(request))
    )
    kept = KeptSearch(response, {"q": query, **_typed(request)})
    request.session.keep(kept)
    return again(request, kept)


def again(request: PageRequest, kept: KeptSearch) -> ShownPage:
    """Show the page of a search."""
    response = kept.response
    return _shown({
        "query": kept.filters["q"],
        "filters": kept.filters,
        "response": response,
        "rated": kept.ratings,
        "legend": _legend(response),
        "fits_apart": _is_apart([result.fit for result in response.results]),
        "nothing": _nothing(request, response),
        "policy": request.memory.policy,
    })  # fmt: skip


def seen_before(request: PageRequest) -> ShownPage:
    """Show a past search of this session again, without memories hidden or changed since."""
    kept = _kept(request)
    remaining = _unchanged(kept.response, _still_found(request, kept))
    page = again(request, replace(kept, response=remaining))
    return replace(page, data={**page.data, "gone": len(kept.response) - len(remaining)})


def _still_found(request: PageRequest, kept: KeptSearch) -> dict[str, tuple[str, datetime]]:
    """Return title and last change of the memories that the search may still return."""
    response = kept.response
    names = {result.memory_id for result in response.results}
    names |= {result.outdated_by for result in response.results if result.outdated_by}
    names |= {result.memory_id for result in response.not_shown}
    filters = Filters.of(**_chosen(kept.filters))
    rows = request.memory.store.read_by(
        "memories", "memory_id", sorted(names), columns=["memory_id", "title", "updated_at"],
        also=filters.where(response.namespace),
    )  # fmt: skip
    return {name: (title or "", updated_at) for name, title, updated_at in rows.iter_rows()}


def _unchanged(response: SearchResponse, current: Mapping[str, tuple[str, datetime]]) -> SearchResponse:
    """Return what a search found without the texts and titles that are no longer current."""

    def is_title(memory_id: str, title: str) -> bool:
        return memory_id in current and current[memory_id][0] == title

    remaining = [
        result
        for result in response.results
        if result.memory_id in current and current[result.memory_id][1] == result.updated_at
    ]
    names = {result.memory_id for result in remaining}
    found = {result.memory_id for result in response.results}
    results = [
        replace(result, contradicts=tuple(other for other in result.contradicts if other.memory_id in names))
        for result in remaining
    ]
    results = [
        result
        if result.outdated_by in (names if result.outdated_by in found else current)
        and is_title(result.outdated_by, result.newer_title)
        else replace(result, outdated_by="", newer_title="", valid_until=None)
        for result in results
    ]
    others = [result for result in response.not_shown if is_title(result.memory_id, result.title)]
    return replace(response, results=tuple(results), not_shown=tuple(others))


def rate(request: PageRequest) -> Redirect:
    """Rate a result."""
    kept = _kept(request)
    memory_id, rating = request.form.get("memory", ""), request.form.get("rating", "")
    search_id = kept.response.search_id
    done = request.memory.feedback(search_id, memory_id, rating, viewer=request.viewer)
    kept.ratings[done.memory_id] = done.rating
    remaining = _unchanged(kept.response, _still_found(request, kept))
    titles = {result.memory_id: result.title for result in remaining.results}
    counts = " It counts in searches for questions like this one, from the next nightly job on."
    again = counts if done.new else " It was recorded before; it counts once."
    message = Markup("Recorded: {} for {}.{}").format(
        RATINGS.get(done.rating, done.rating), linked(done.memory_id, titles.get(done.memory_id, "")), again
    )
    return Redirect(f"{to('found', search_id)}#m-{done.memory_id}", message)


def _kept(request: PageRequest) -> KeptSearch:
    search_id = request.path["search"]
    kept = request.session.searches.get(search_id)
    if kept is None or kept.response.namespace != request.memory.namespace:
        raise NotFoundError(f"Search {search_id!r} is not among the last ones of this session. Search again.")
    return kept


def _shown(data: dict[str, Any]) -> ShownPage:
    title = f"Search: {data['query']}" if data["query"] else "Search"
    return ShownPage("search", title, data, place="/")


def _typed(request: PageRequest) -> dict[str, str]:
    """Return the filters as typed."""
    names = ("type", "since", "superseded") + (("secret",) if request.person else ())
    return {name: request.query[name] for name in names if request.query.get(name)}


def _chosen(typed: Mapping[str, str]) -> dict[str, Any]:
    """Convert typed filters to arguments of `Memory.search`."""
    arguments: dict[str, Any] = {
        "memory_type": typed.get("type", ""),
        "superseded": "superseded" in typed,
    }
    if "since" in typed:
        arguments["since"] = day_start(parsed_day("since", typed["since"]))
    if "secret" in typed:
        arguments["sensitivity"] = sorted(KNOWN_WORDS["sensitivity"])
    return arguments


def bar(sums: dict[str, float], width: int = WIDTH) -> list[tuple[str, float, float]]:
    """Return the pieces of a bar: source, start, length; negative ones are left out."""
    pieces, end = [], 0.0
    for source, value in sums.items():
        if value > 0:
            pieces.append((source, round(end * width, 2), round(value * width, 2)))
            end += value
    return pieces


def _legend(response: SearchResponse) -> list[tuple[str, str]]:
    """Return the sources that contribute to a result, with their names."""
    seen: dict[str, None] = {}
    for result in response:
        if result.explanation is not None:
            seen |= dict.fromkeys(by_source(result.explanation.contributions))
    return [(source, MEANING.get(source, source)) for source in seen]


def _is_apart(fits: Sequence[str]) -> bool:
    """Whether a result fits the question better than one above it: the order follows the whole score."""
    places = [FITS.index(fit) for fit in fits]
    return places != sorted(places)


def _nothing(request: PageRequest, response: SearchResponse) -> str:
    if response.nothing is None:
        return ""
    # Other namespaces are not named here.
    if request.person and response.nothing.kind in {"empty", "unknown"}:
        return "This memory is empty. Save a note in the form on the first page, then search again."
    if request.person:
        return response.nothing.message
    return mcp_text.next_step(response.search_id, response.nothing, reads=request.caller.reads_only)


WAYS: Final = (
    PageRoute("/", look, person=False),
    PageRoute("/found/{search}", seen_before, person=False),
    PageRoute("/found/{search}/rate", rate, post=True, person=False),
)
