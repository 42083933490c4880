"""Making a home ready for searches before the first one comes, for programs that serve many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.scoring.ranking import rank
from slowwave.search.filters import Filters
from slowwave.search.opened import searcher_in
from slowwave.search.results import present
from slowwave.search.run import depth, read_by_cross_encoder

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

QUESTION = "what do we know?"
"""Any question will do: what it finds is shown to nobody."""
_RESULTS = 10


def make_ready(space: Workspace, namespace: str) -> None:
    """Do now what the first search of a namespace would wait for: load the model and the namespace's chunks.

    It is a search that nobody sees: nothing of it is in the journal, and nothing learns from it.

    Args:
        space: the home.
        namespace: that is going to be searched.
    """
    moment = space.now()
    with space.store.explaining("chunks"):
        found = searcher_in(space).find(namespace, QUESTION, depth(space, _RESULTS), Filters(), moment)
    found = read_by_cross_encoder(space, found, space.policy, QUESTION, moment)
    present(rank(found.candidates, space.policy, as_of=moment, limit=_RESULTS), found, ())
