"""One search: the candidates of the channels, one pure ranking, one line in the journal."""

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
