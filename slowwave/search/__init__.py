"""Search: candidates of the channels, a pure ranking, and a journal record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.scoring.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from slowwave.search.empty_results import NoResultsReason
    from slowwave.search.filters import Filters
    from slowwave.search.results import Explanation, Passage, Result, SearchResponse, Timings
    from slowwave.search.searcher import MAX_QUERY_CHARACTERS, SearchCandidates, Searcher

__all__ = [
    "MAX_QUERY_CHARACTERS",
    "Explanation",
    "Filters",
    "NoResultsReason",
    "Passage",
    "Result",
    "SearchCandidates",
    "SearchResponse",
    "Searcher",
    "Timings",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "empty_results": "NoResultsReason",
        "filters": "Filters",
        "results": "Explanation Passage Result SearchResponse Timings",
        "searcher": "MAX_QUERY_CHARACTERS SearchCandidates Searcher",
    },
)
