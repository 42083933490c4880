"""The first page: search, see why each result stands where it does, and say what it was worth."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from slowwave.common.arguments import parsed_day
from slowwave.errors import NotFoundError
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.scoring.days import day_start
from slowwave.search.filters import Filters
from slowwave.views import mcp_text
from slowwave.views.scores import MEANING, by_source
from slowwave.web.request import PageRequest, PageRoute, Redirect, ShownPage, to
from slowwave.web.sessions import ConsumedLink

if TYPE_CHECKING:
    from slowwave.search import SearchResponse

RESULTS: Final = 10  # of a search (count)
WIDTH: Final = 100  # units of a bar for a score of 1
RATINGS: Final = {"helpful": "it helped", "neutral": "beside the point", "unhelpful": "wrong"}
"""Ratings, as the buttons say them."""


def look(asked: PageRequest) -> ShownPage:
    """The box, and what is found where something was asked."""
    query = asked.query.get("q", "").strip()
    if not query:
        return _shown({"query": "", "filters": _typed(asked), "memories": asked.memory.count()})
    response = asked.memory.search(
        query, limit=RESULTS, explain=True, log=not asked.caller.reads_only, **_chosen(_typed(asked))
    )
    found = ConsumedLink(response, {"q": query, **_typed(asked)})
    asked.session.keep(found)
    return again(asked, found)


def again(asked: PageRequest, found: ConsumedLink) -> ShownPage:
    """A search, as it was found."""
    response = found.response
    return _shown({
        "query": found.asked["q"],
        "filters": found.asked,
        "response": response,
        "said": found.said,
        "legend": _legend(response),
        "nothing": _nothing(asked, response),
        "floor": asked.memory.policy.abstention_floor,
    })  # fmt: skip


def seen_before(asked: PageRequest) -> ShownPage:
    """A search of this session, shown again without searching; without what is not found any more."""
    found = _kept(asked)
    left = _still_found(asked, found)
    gone = len(found.response) - sum(one.memory_id in left for one in found.response)
    page = again(asked, replace(found, response=_only(found.response, left)))
    return replace(page, data={**page.data, "gone": gone})


def _still_found(asked: PageRequest, found: ConsumedLink) -> set[str]:
    """Which memories of a search it would still show: not erased, forgotten, merged or made secret since."""
    response = found.response
    names = {one.memory_id for one in response.results} | {one.memory_id for one in response.not_shown}
    filters = Filters.of(**_chosen(found.asked))
    rows = asked.memory.store.read_by(
        "memories", "memory_id", sorted(names), columns=["memory_id"], also=filters.where(response.namespace)
    )  # fmt: skip
    return set(rows["memory_id"])


def _only(response: SearchResponse, memory_ids: Set[str]) -> SearchResponse:
    return replace(
        response,
        results=tuple(one for one in response.results if one.memory_id in memory_ids),
        not_shown=tuple(one for one in response.not_shown if one.memory_id in memory_ids),
    )


def rate(asked: PageRequest) -> Redirect:
    """Say what a result was worth."""
    found = _kept(asked)
    memory_id, rating = asked.form.get("memory", ""), asked.form.get("rating", "")
    search_id = found.response.search_id
    done = asked.memory.feedback(search_id, memory_id, rating, viewer=asked.viewer)
    found.said[done.memory_id] = done.rating
    told = mcp_text.rated(done.memory_id, RATINGS.get(done.rating, done.rating), new=done.new)
    return Redirect(f"{to('found', search_id)}#m-{done.memory_id}", told)


def _kept(asked: PageRequest) -> ConsumedLink:
    search_id = asked.path["search"]
    found = asked.session.searches.get(search_id)
    if found is None or found.response.namespace != asked.memory.namespace:
        raise NotFoundError(f"Search {search_id!r} is not among your last ones here. Search again.")
    return found


def _shown(data: dict[str, Any]) -> ShownPage:
    title = f"Search: {data['query']}" if data["query"] else "Search"
    return ShownPage("search", title, data, place="/")


def _typed(asked: PageRequest) -> dict[str, str]:
    """The filters as they were typed."""
    names = ("type", "since", "superseded") + (("secret",) if asked.person else ())
    return {name: asked.query[name] for name in names if asked.query.get(name)}


def _chosen(typed: Mapping[str, str]) -> dict[str, Any]:
    """Filters that were typed, as `Memory.search` takes them."""
    found: dict[str, Any] = {
        "memory_type": typed.get("type", ""),
        "superseded": "superseded" in typed,
    }
    if "since" in typed:
        found["since"] = day_start(parsed_day("since", typed["since"]))
    if "secret" in typed:
        found["sensitivity"] = sorted(KNOWN_WORDS["sensitivity"])
    return found


def bar(sums: dict[str, float], width: int = WIDTH) -> list[tuple[str, float, float]]:
    """The pieces of a bar: source, where it begins and how long it is; what is below zero is left out."""
    pieces, end = [], 0.0
    for source, value in sums.items():
        if value > 0:
            pieces.append((source, round(end * width, 2), round(value * width, 2)))
            end += value
    return pieces


def _legend(response: SearchResponse) -> list[tuple[str, str]]:
    """Every source that adds something to a result that is shown, in words."""
    seen: dict[str, None] = {}
    for result in response:
        if result.explanation is not None:
            seen |= dict.fromkeys(by_source(result.explanation.contributions))
    return [(source, MEANING.get(source, source)) for source in seen]


def _nothing(asked: PageRequest, response: SearchResponse) -> str:
    if response.nothing is None:
        return ""
    if asked.person:
        return response.nothing.message
    return mcp_text.next_step(response.search_id, response.nothing, reads=asked.caller.reads_only)


WAYS: Final = (
    PageRoute("/", look, person=False),
    PageRoute("/found/{search}", seen_before, person=False),
    PageRoute("/found/{search}/rate", rate, post=True, person=False),
)
