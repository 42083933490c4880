"""Calls of :class:`slowwave.Memory` that search and record feedback."""

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
    """Calls that search and record feedback."""

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
        include_weak: bool = False,
        explain: bool = False,
        log: bool = True,
        session: str = "",
        repeat: bool = False,
    ) -> SearchResponse:
        """Search the namespace; return the best results first.

        If no candidate is near enough to be an answer, there are no results and the response has `abstained`.
        Whenever there are none, `nothing` has the reason. `unknown` has the identifiers of the question (a
        ticket, number, version) that no visible memory mentions; say `unknown_message` before the results.

        Args:
            query: a question or words, at most 4,000 characters.
            limit: maximum number of results.
            memory_type: only this type, or one of these.
            tier: only this importance tier, or one of these.
            tags: only with this tag, or one of these.
            sensitivity: only this, or one of these; ``secret`` memories are returned only if named here.
            source: only sources that begin with this.
            since: only created then or later (with a time zone).
            until: only created before then.
            superseded: include superseded memories.
            as_of: a past day (UTC): search the state at its end. Not logged.
            project: of the search: the project's outcome will credit its results.
            include_weak: return also results that fit the query weakly, or much less than the best one; by
                default at most `limit` results are returned, and only those near the best.
            explain: add an explanation of every score, and the candidates not returned.
            log: record the search in the journal; without, its results get no feedback.
            session: id of a conversation, at most 200 characters. Results whose text it was given by earlier
                searches or by its wake-up packet are left out, and `left_out` names them. A question that the
                session has asked before returns all. An explained or past search leaves nothing out.
            repeat: return also what the session was given before.

        Returns:
            Results with score and confidence. If the journal cannot be written, the search still answers and
            adds a message to `warnings`.

        Raises:
            SlowwaveError: the query is empty or too long, `limit` is negative, or a filter has the wrong type
                or an unknown label.
        """
        from slowwave.search import Filters
        from slowwave.search.run import search

        filters = Filters.of(
            memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity, source=source,
            since=since, until=until, superseded=superseded,
        )  # fmt: skip
        with self._space.call(), observe_search(self._space.now) as tell:
            response = search(
                self._space, self.namespace, query,
                limit=limit, filters=filters, as_of=as_of, explain=explain, principal=self.principal,
                project=project, include_weak=include_weak, log=log, session=session, repeat=repeat,
            )  # fmt: skip
            tell(
                search_id=response.search_id, results=len(response.results), abstained=response.abstained,
                seconds=response.timings.total / 1e3,
            )  # fmt: skip
        return response

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
        include_weak: bool = False,
    ) -> SearchResponse:
        """Search with an explanation of every score; `str(result.explanation)` has it in lines.

        Args:
            query: a question or words, at most 4,000 characters.
            limit: maximum number of results.
            filters: all other arguments are as of `search`.

        Returns:
            As of `search`, each result with its `explanation`, and the candidates in `not_shown`.

        Raises:
            SlowwaveError: as of `search`.
        """
        return self.search(
            query, limit=limit, memory_type=memory_type, tier=tier, tags=tags, sensitivity=sensitivity,
            source=source, since=since, until=until, superseded=superseded, as_of=as_of, project=project,
            include_weak=include_weak, explain=True,
        )  # fmt: skip

    def wakeup(self, *, budget: int = 2_000, secret: bool = False, session: str = "") -> Packet:
        """Return the wake-up packet: memories for a starting session.

        It has a section per memory type, constraints and decisions first. Importance tier, retrieval
        priority, effectiveness and recency select the memories. A section can use the space that earlier ones
        leave. The last item may be cut, with a mark. Every item has its confidence.

        Args:
            budget: maximum tokens of the packet (estimated, 4 characters of English each), 50 or more.
            secret: include secret memories.
            session: id of the conversation that gets it. It begins again: only the packet counts as given.

        Raises:
            SlowwaveError: the budget is too small.
        """
        from slowwave.search.wakeup import deliver, wakeup

        packet = wakeup(self.tenant, budget=budget, as_of=self._space.now(), secret=secret)
        if session:
            deliver(self._space, packet, self.principal, session)
        return packet

    # -- feedback --------------------------------------------------------------------------------

    def feedback(
        self, search_id: str, result: str | int | Result, rating: str, *, viewer: Viewer | None = None
    ) -> Rated:
        """Rate one result of a search. The rating counts after the next nightly job.

        Only the last rating of a principal on a result of a search counts, and only the newest few ratings of
        one principal on a memory.

        Args:
            search_id: of the search.
            result: one of its results: the object, rank (from 1), memory id or chunk id.
            rating: helpful, neutral or unhelpful.
            viewer: who rates; results hidden from that viewer are unknown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not return such a result.
            FeedbackError: an unknown rating.
            JournalError: the journal cannot be written; nothing was recorded.
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
        """Record the answer written after a search, and detect which results it used.

        A memory counts as used if the answer has more than 30 % of the longer words of its returned text, or
        names its id; a short answer is read with its question (rule 4.1). The answer itself is not stored.
        Observing it again changes nothing.

        Args:
            search_id: of the search.
            response: text of the answer.
            cited: results that the answer cites (as of :meth:`feedback`).
            similarity: of two texts in [0, 1]; called if words alone do not decide.
            viewer: who observes; results hidden from that viewer are unknown; None is the owner.

        Raises:
            NotFoundError: this namespace has no such search, or it did not return a cited result.
            FeedbackError: the response is empty.
            JournalError: the journal cannot be written; nothing was recorded.
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
        """Report that a project succeeded or failed.

        Results of its searches since its previous outcome are credited or penalised.

        Args:
            project: given to searches.
            outcome: success or failure.

        Raises:
            NotFoundError: no search of this namespace has that project.
            FeedbackError: an unknown outcome.
            JournalError: the journal cannot be written; nothing was recorded.
        """
        from slowwave.search.feedback import conclude

        now = self._space.now()
        with observe_feedback("outcome", now) as tell:
            ended = conclude(self._space, self.namespace, project, outcome, principal=self.principal, now=now)
            tell(event_id=ended.event_id, new=ended.new)
        return ended

    def stats(self, memory_id: str) -> MemoryStats:
        """Return the usage of a memory: selections, ratings, effectiveness, strength.

        Raises:
            NotFoundError: this namespace has no such memory.
        """
        from slowwave.feedback.stats import stats
        from slowwave.lifecycle.reading import record_of

        return stats(self._space, record_of(self.tenant, memory_id), as_of=self._space.now())

    @property
    def learning(self) -> Learning:
        """Learning of this namespace: gates, learned terms, search keys, approval, rollback."""
        from slowwave.learning.review import Learning

        return Learning(self._space, self.namespace, self.principal)

    def judge(
        self, query: str, memory_id: str, grade: int | None, *, state: str = "graded", explanation: str = ""
    ) -> Judged:
        """Label by hand how well a memory answers a query. The last label of a principal on a pair counts.

        Args:
            query: text; case and white space do not matter.
            memory_id: from save() or search().
            grade: 0 not relevant, 1 about the subject, 2 answers in part, 3 answers; None in other states.
            state: graded, unrateable (no grade is possible) or later (show it again).
            explanation: reason of the grade.

        Raises:
            NotFoundError: this namespace has no such memory.
            JudgmentError: an empty query, an unknown state, or a grade out of range.
            JournalError: the journal cannot be written; nothing was recorded.
        """
        from slowwave.evaluation.judging.labels import label

        return label(
            self._space, self.namespace, query, memory_id, grade, state=state, explanation=explanation,
            principal=self.principal, now=self._space.now(),
        )  # fmt: skip
