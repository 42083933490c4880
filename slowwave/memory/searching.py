"""Searching, and feedback on what was found: calls of :class:`slowwave.Memory`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from slowwave.common.error_translation import api_calls
from slowwave.telemetry.instrumentation import observe_feedback, observe_search

if TYPE_CHECKING:
    from slowwave.evaluation.judging.labels import Judged
    from slowwave.feedback import Concluded, MemoryStats, Observed, Rated
    from slowwave.home.visibility import Viewer
    from slowwave.learning.review import Learning
    from slowwave.search import Result, SearchResponse
    from slowwave.search.wakeup import Packet

from slowwave.memory.saving import SavingMemory


@api_calls
class SearchingMemory(SavingMemory):
    """Calls that search, and that say what a result was worth."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        memory_type: str | Sequence[str] = (),
        tier: str | Sequence[str] = (),
        tags: str | Sequence[str] = (),
        sensitivity: str | Sequence[str] = (),
        source: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        superseded: bool = False,
        as_of: date | None = None,
        project: str = "",
        explain: bool = False,
        log: bool = True,
    ) -> SearchResponse:
        """The memories of this namespace that answer a query, best first.

        When nothing that is found is near enough to be an answer, there are no results and the response says
        that it `abstained`; whenever there are none it says why (`nothing`).

        Args:
            query: a question or words, at most 4,000 characters.
            limit: how many memories.
            memory_type: only of this type, or one of these.
            tier: only of this importance tier, or one of these.
            tags: only with this tag, or one of these.
            sensitivity: only of this, or one of these; what is ``secret`` is only found when asked for here.
            source: only what comes from a source that begins with this.
            since: only what was created then or later (with a time zone).
            until: only what was created before then.
            superseded: also what a newer memory has superseded.
            as_of: a past day (UTC): what the memory would have answered at its end. Not in the journal.
            project: what the search is for: the project's outcome will be credited to what it brought.
            explain: with an account of every score, and of what was found and is not shown.
            log: write it to the journal; without, nothing can be said of its results later.

        Returns:
            Results with score and confidence. The search and what it showed are in the journal; when that
            cannot be written the search answers all the same and says so in `warnings`.

        Raises:
            SlowwaveError: the query is empty or too long, `limit` is negative, or a filter has the wrong type
                or names a label that nobody knows.
        """
        from slowwave.search import Filters
        from slowwave.search.run import search

        filters = Filters.of(
            memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity, source=source,
            since=since, until=until, superseded=superseded,
        )  # fmt: skip
        with self._space.call(), observe_search(self._space.now) as tell:
            found = search(
                self._space, self.namespace, query,
                limit=limit, filters=filters, as_of=as_of, explain=explain, principal=self.principal,
                project=project, log=log,
            )  # fmt: skip
            tell(
                search_id=found.search_id, results=len(found.results), abstained=found.abstained,
                seconds=found.timings.total / 1e3,
            )  # fmt: skip
        return found

    def explain(
        self,
        query: str,
        *,
        limit: int = 3,
        memory_type: str | Sequence[str] = (),
        tier: str | Sequence[str] = (),
        tags: str | Sequence[str] = (),
        sensitivity: str | Sequence[str] = (),
        source: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        superseded: bool = False,
        as_of: date | None = None,
        project: str = "",
    ) -> SearchResponse:
        """Search, and say how every score came about; `str(result.explanation)` is that account in lines.

        Args:
            query: a question or words, at most 4,000 characters.
            limit: how many memories.
            filters: every other argument is as `search` takes it.

        Returns:
            What `search` returns, each result with its `explanation`, and what was found and is `not_shown`.

        Raises:
            SlowwaveError: as `search`.
        """
        return self.search(
            query, limit=limit, memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity,
            source=source, since=since, until=until, superseded=superseded, as_of=as_of, project=project,
            explain=True,
        )  # fmt: skip

    def wakeup(self, *, budget: int = 2_000, secret: bool = False) -> Packet:
        """What an assistant should know when a session starts, before anything was asked.

        A section per memory type, constraints and decisions first, each with its best memories; importance
        tier, retrieval priority, effectiveness and recency decide which. A section gets the room that those
        before it leave over; the last item may be cut, and says so. Every item shows its confidence.

        Args:
            budget: tokens that the packet may take (an estimate, 4 characters of English each), 50 or more.
            secret: with secret memories.

        Raises:
            SlowwaveError: the budget is too small.
        """
        from slowwave.search.wakeup import wakeup

        return wakeup(self._space, self.namespace, budget=budget, as_of=self._space.now(), secret=secret)

    # -- feedback --------------------------------------------------------------------------------

    def feedback(
        self, search_id: str, result: str | int | Result, rating: str, *, viewer: Viewer | None = None
    ) -> Rated:
        """Say how one result of a search served. It counts from the next night on.

        The last rating of a principal on a result of a search is the one that counts, and of one principal
        only the newest few ratings of a memory do.

        Args:
            search_id: of the search.
            result: a result of it, its rank (from 1), its memory's id or one of its chunks' ids.
            rating: helpful, neutral or unhelpful.
            viewer: who says so: what that one may not see was not shown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not show such a result.
            FeedbackError: an unknown rating.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import rate

        now = self._space.now()
        with observe_feedback("feedback", now) as tell:
            rated = rate(
                self._space, self.namespace, search_id, result, rating,
                principal=self.principal, now=now, viewer=viewer,
            )  # fmt: skip
            tell(search_id=rated.search_id, event_id=rated.event_id, new=rated.new)
        return rated

    def observe(
        self,
        search_id: str,
        response: str,
        *,
        cited: Collection[str | int | Result] = (),
        similarity: Callable[[str, str], float] | None = None,
        viewer: Viewer | None = None,
    ) -> Observed:
        """Look at the answer that a search was for: which of the memories that it was shown did it use?

        A memory is used when more than 30 % of the longer words that were shown of it are in the answer, or
        when the answer names its id. The answer itself is not kept. Looking at it again changes nothing.

        Args:
            search_id: of the search.
            response: text of the answer.
            cited: results that were used with certainty (as for :meth:`feedback`).
            similarity: of two texts in [0, 1]; asked where words alone do not decide.
            viewer: who says so: what that one may not see was not shown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not show what is cited.
            FeedbackError: the response is empty.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import observe

        now = self._space.now()
        with observe_feedback("observation", now) as tell:
            seen = observe(
                self._space, self.namespace, search_id, response, cited=cited, similarity=similarity,
                principal=self.principal, now=now, viewer=viewer,
            )  # fmt: skip
            tell(search_id=seen.search_id, event_id=seen.event_id, new=seen.new)
        return seen

    def outcome(self, project: str, outcome: str) -> Concluded:
        """Say how a project ended: credited to what its searches brought since its outcome before.

        Args:
            project: that searches were made for.
            outcome: success or failure.

        Raises:
            NotFoundError: no search of this namespace was for that project.
            FeedbackError: an unknown outcome.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.search.feedback import conclude

        now = self._space.now()
        with observe_feedback("outcome", now) as tell:
            ended = conclude(self._space, self.namespace, project, outcome, principal=self.principal, now=now)
            tell(event_id=ended.event_id, new=ended.new)
        return ended

    def stats(self, memory_id: str) -> MemoryStats:
        """What use says of a memory: who used it, what was said of it, and what that comes to.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.feedback.stats import stats
        from slowwave.lifecycle.reading import record_of

        return stats(self._space, record_of(self.tenant, memory_id), as_of=self._space.now())

    @property
    def learning(self) -> Learning:
        """What selections have taught this namespace: its gate, its terms, approval and rollback."""
        from slowwave.learning.review import Learning

        return Learning(self._space, self.namespace, self.principal)

    def judge(
        self, query: str, memory_id: str, grade: int | None, *, state: str = "graded", explanation: str = ""
    ) -> Judged:
        """Label by hand how well a memory answers a query. The last word of a principal on a pair counts.

        Args:
            query: as it was asked; without regard to case and white space.
            memory_id: from save() or search().
            grade: 0 not relevant, 1 about the subject, 2 answers in part, 3 answers; None in other states.
            state: graded, unrateable (no grade can be given) or later (look at it again).
            explanation: why.

        Raises:
            NotFoundError: this namespace has no such memory.
            JudgmentError: an empty query, an unknown state, or a grade out of range.
            JournalError: the journal cannot be written; nothing was taken.
        """
        from slowwave.evaluation.judging.labels import label

        return label(
            self._space, self.namespace, query, memory_id, grade, state=state, explanation=explanation,
            principal=self.principal, now=self._space.now(),
        )  # fmt: skip
