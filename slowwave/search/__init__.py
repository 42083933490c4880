"""Search: candidates of the channels, a pure ranking, and a journal record."""

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
