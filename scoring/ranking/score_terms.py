"""Score terms of every candidate memory of n searches, in the rule's order (rule 3)."""

from __future__ import annotations

from functools import reduce

import numpy as np

from slowwave.scoring.arrays import Flags, Floats, Integers, bounded, finite, places
from slowwave.scoring.days import DAY_S
from slowwave.scoring.ranking import effectiveness as served
from slowwave.scoring.ranking.abstention import signals
from slowwave.scoring.ranking.candidates import BM25, TITLE, TRIGGER, VECTOR
from slowwave.scoring.ranking.columns import Columns, first_of_each, greatest
from slowwave.scoring.ranking.fusion import FUSIONS
from slowwave.scoring.ranking.mpab import bonus
from slowwave.scoring.ranking.negative_feedback import multiplier, vote_weight
from slowwave.scoring.ranking.sparse_recall import Recalled, recall
from slowwave.scoring.ranking_policy import RankingPolicy
from slowwave.scoring.validation import CAP

BLOCKED_BELOW = 0.9  # multiplier below which a short memory has no guaranteed place
ABOVE = 1e-6  # by which a newer value ranks above an earlier one
CHAIN = 6  # maximum length of a chain of newer values (count)
LEAST_OF_LIKELY = 0.5  # share of the best fit of a memory that ranks above another, or of that one
SHORT_QUERY = 4  # most content words of a query to which the whole floor of the best fit applies (count)
LONG_QUERY_FLOOR = 0.8  # share of that floor for a longer one
LEAST_OF_TIME = 0.5  # share of the cut that a memory of the time asked for has to reach
LOWEST = 0.01  # scores below it are squeezed toward 0; only low confidence without another score gets there

_MOST_FILLING = 4  # maximum cells of a table, as a multiple of its memories


class ScoredMemories:
    """Scores of the m memories of the columns, with their terms.

    Attributes:
        score: (m,) in [0, 1].
        best: (m,) chunk with the best fused score.
        parts: terms of the text score by their source, (m,) each.
        semantic: (m,) text score, their sum.
        served: (m,) effectiveness used in the score: for the question, or of the memory.
        data_points: (m,) votes and uses behind it (count).
        combined: (m,) text score and effectiveness together.
        learned: (m,) boost of learned terms.
        key: (m,) query boost of search keys beyond the gain by effectiveness: both rest on the same evidence.
        fit: (m,) part of the score that the query adds: its text, learned terms, search keys and ratings of
            similar queries. The cut of weak results compares it.
        trusted: (m,) confidence term.
        multiplier: (m,) from not-useful votes.
        penalty: (m,) loss by the multiplier, 0 or less.
        weak: (m,) whether the cut leaves a memory out: its fit is below the policy's share of the best one.
        update: (m,) what raises a memory above those that it replaces, or may replace (rule 3.12).
        newest: (m,) memory with the next value for an outdated one, else -1.
        clamp: (m,) difference that the limits of [0, 1] make.
        raw: (m,) score before the limits; sorts the results unless the policy clamps.
    """

    def __init__(self, columns: Columns, policy: RankingPolicy) -> None:
        self._columns, self._policy = columns, policy
        self.parts, self.semantic = self._semantic()
        weight = policy.effectiveness_weight
        if policy.feedback_scope == "question":
            self.data_points = columns.question_count
            self.served = served.counted(columns.question_effectiveness, self.data_points, 1)
            gained = weight * np.maximum(self.served - served.NEUTRAL, 0.0)
            calm = np.minimum(self.served, served.NEUTRAL)
        else:
            self.data_points = columns.feedback_count
            self.served = served.counted(columns.effectiveness, self.data_points, policy.effectiveness_from)
            gained, calm = np.zeros(len(self.served)), self.served
        self.combined = served.combined(self.semantic, self.served, weight)
        self.learned = bounded(columns.learned, 0.0, min(policy.learned_cap, CAP))
        self.trusted = policy.confidence_point * columns.points
        key = bounded(columns.key, 0.0, policy.key_weight)
        self.key = np.maximum(key - gained, 0.0)
        # Only the greater is added; in this order, rounding keeps the order of effectiveness.
        plain = served.combined(self.semantic, calm, weight) + self.learned
        raised = plain + np.maximum(key, gained) + self.trusted
        # The time asked for moves memories and hides none, so it is no part of the fit.
        self.fit = (1.0 - weight) * (self.semantic - self._timed) + self.learned + np.maximum(key, gained)
        self.multiplier = self._penalties()
        # A penalty is never a gain: a score below zero is not multiplied.
        self.penalty = np.minimum(raised * (self.multiplier - 1.0), 0.0)
        self.raw = raised + self.penalty
        self.weak = _weak(self.fit, columns, policy)
        self.newest = np.full(len(self.raw), -1, dtype=np.int64)
        self.update = self._updates()
        self.raw = self.raw + self.update
        self.score = hold_first_places(self.raw, policy.soft_from)
        self.clamp = self.score - self.raw

    def _semantic(self) -> tuple[dict[str, Floats], Floats]:
        """Return the text-score terms of each memory, and their sum, (m,) each."""
        columns, policy = self._columns, self._policy
        vector, text = FUSIONS[policy.fusion](columns, policy)
        fused = finite(vector + text)
        starts = columns.first[:-1]
        best = np.maximum.reduceat(fused, starts)
        hits = np.flatnonzero(fused == np.repeat(best, columns.count))
        self.best = hits[first_of_each(columns.memory[hits])]  # the first in document order
        title = policy.title_weight * columns.title[self.best]
        trigger = policy.trigger_weight * columns.trigger
        parts = {VECTOR: vector[self.best], BM25: text[self.best], TITLE: title, TRIGGER: trigger}
        if policy.mpab:
            others = np.add.reduceat(fused, starts) - best
            parts["mpab"] = bonus(others, columns.count, policy.mpab_coefficient, policy.mpab_cap)
        if policy.neighbour_weight and len(columns.follower):
            parts["neighbour"] = policy.neighbour_weight * self._neighbours(best)
        if policy.rerank_weight:
            read = np.fmax.reduceat(columns.rerank, starts)
            reranked = np.bincount(columns.search, weights=~np.isnan(read), minlength=len(columns)) > 0
            # Scores of a search that no cross-encoder read do not change.
            weight = (policy.rerank_weight * reranked)[columns.search]
            parts = {name: (1 - weight) * part for name, part in parts.items()}
            parts["rerank"] = weight * finite(read)
        text_score = reduce(np.add, parts.values())
        self._timed: Floats | float = 0.0
        if policy.time_weight and columns.time.any():
            # A share of the text score: a memory of the right day about something else gains little.
            self._timed = parts["time"] = policy.time_weight * columns.time * np.maximum(text_score, 0.0)
            text_score = text_score + self._timed
        return parts, text_score

    def _neighbours(self, best: Floats) -> Floats:
        """Return the better score of the memories before and after each one, (m,); 0 without one."""
        apart = self._columns.follower != self._columns.followed
        after, before = self._columns.follower[apart], self._columns.followed[apart]
        near: Floats = np.zeros(len(best))
        np.maximum.at(near, after, best[before])
        np.maximum.at(near, before, best[after])
        return near

    def _penalties(self) -> Floats:
        """Return the negative multiplier of each memory, (m,)."""
        columns, policy = self._columns, self._policy
        weight: Floats = np.zeros(len(columns.count))
        voted, at, near = columns.voted, columns.voted_at, np.ones(len(columns.voted))
        if policy.feedback_scope == "question":
            voted, at, near = columns.doubted, columns.doubted_at, columns.doubted_near
        if len(voted) and policy.negative_feedback:
            now = columns.as_of[columns.search[voted]]
            counts = near * vote_weight((now - at) / DAY_S, policy.negative_half_life_days)
            weight = np.bincount(voted, weights=counts, minlength=len(weight)).astype(np.float64)
        return multiplier(weight, step=policy.negative_step, floor=policy.negative_floor)

    def _updates(self) -> Floats:
        """Return what each memory needs to rank above those with an earlier value, (m,).

        A newer value is never weak if an earlier one is kept: the cut would leave only the wrong one. It
        fits the query as well as the earlier one, which it answers for. Chains are raised link by link.
        """
        update: Floats = np.zeros(len(self.raw))
        columns = self._columns
        if not self._policy.mark_outdated or not (len(columns.outdated) or len(columns.earlier)):
            return update
        earlier, later = self._fitting()
        trusted = self.multiplier[columns.newest] >= BLOCKED_BELOW
        for _ in range(CHAIN):
            raised = trusted & ~self.weak[columns.outdated]
            outdated, newest = columns.outdated[raised], columns.newest[raised]
            self.weak[newest] = False
            np.maximum.at(self.fit, newest, self.fit[outdated])
            outdated, newest = np.append(outdated, earlier), np.append(newest, later)
            score = self.raw + update
            below = score[newest] <= score[outdated]
            if not below.any() and np.array_equal(raised, trusted & ~self.weak[columns.outdated]):
                break
            outdated, newest = outdated[below], newest[below]
            np.maximum.at(update, newest, score[outdated] + ABOVE - self.raw[newest])
        kept = ~(self.weak[columns.outdated] | self.weak[columns.newest])
        self.newest[columns.outdated[kept]] = columns.newest[kept]
        return update

    def _fitting(self) -> tuple[Integers, Integers]:
        """Return the likely changes of which a memory fits well."""
        columns = self._columns
        best = greatest(self.fit, columns.starts)[columns.search[columns.later]]
        fit = np.maximum(self.fit[columns.later], self.fit[columns.earlier])
        fits = (fit >= LEAST_OF_LIKELY * best) & ~self.weak[columns.earlier]
        fits &= self.multiplier[columns.later] >= BLOCKED_BELOW
        self.weak[columns.later[fits]] = False
        return columns.earlier[fits], columns.later[fits]

    def order(self) -> Integers:
        """Return the memories search by search, best first, (m,); ties go by memory id."""
        columns = self._columns
        lower = -(self.score if self._policy.soft_from == 1.0 else self.raw)
        n = len(columns)
        if n == 1:
            return np.argsort(lower, kind="stable")
        widths = columns.starts[1:] - columns.starts[:-1]
        width = int(widths.max(initial=0))
        if n * width > _MOST_FILLING * len(lower):
            return np.lexsort((lower, columns.search))
        # A padded table with one row a search sorts faster than one long column.
        table = np.full((n, width), np.inf)
        filled = np.arange(width) < widths[:, None]
        table[filled] = lower
        order = np.argsort(table, axis=1, kind="stable") + columns.starts[:-1, None]
        return order[filled]


def hold_first_places(raw: Floats, soft_from: float) -> Floats:
    """Limit scores to [0, 1] and keep their order, (m,).

    Scores from `LOWEST` to `soft_from` do not change. Beyond, a score nears the bound asymptotically: ``1 -
    (1 - k)² / (1 - 2k + raw)`` above k, with a continuous slope. With `soft_from` 1 scores are only clamped.
    """
    if soft_from == 1.0:
        return bounded(raw, 0.0, 1.0)
    room = 1.0 - soft_from
    above, below = np.maximum(raw - soft_from, 0.0), np.maximum(LOWEST - raw, 0.0)
    return np.where(
        above > 0, 1.0 - room**2 / (room + above), np.where(below > 0, LOWEST**2 / (LOWEST + below), raw)
    )


class CutList:
    """Returned memories of n searches, after cut, abstention and recall.

    Attributes:
        signal: (n,) abstention signal.
        abstained: (n,) whether the search abstains.
        order: (m,) as `ScoredMemories.order`.
        label: (m,) group of a memory with all its duplicates, or the memory itself.
        repeated: (m,) whether a better duplicate is returned instead.
        recalled: short memories that were given a place.
        memories: (s,) returned memories, search by search, best first.
    """

    def __init__(
        self, scored: ScoredMemories, columns: Columns, policy: RankingPolicy, limit: Integers
    ) -> None:
        self.signal = signals(columns, policy.key_weight)
        self.abstained = (self.signal < policy.abstention_floor) | fits_weakly(scored, columns, policy)
        self.order = scored.order()
        weak = scored.weak
        room = np.where(self.abstained, 0, limit)
        self.label = np.arange(len(self.order))
        if policy.collapse_duplicates:
            self.label[columns.duplicate] = columns.original
        self.repeated = _repeated(self.order[~weak[self.order]], self.label)
        strong = self.order[~(weak | self.repeated)[self.order]]
        shown = strong[places(columns.search[strong]) < room[columns.search[strong]]]
        barred = columns.superseded | self.repeated | (scored.multiplier < BLOCKED_BELOW)
        self.recalled: Recalled = recall(columns, policy, shown, room, barred)
        if len(self.recalled.memory):
            stays = np.ones(len(self.order), dtype=np.bool_)
            stays[self.recalled.displaced[self.recalled.displaced >= 0]] = False
            shown = np.concatenate([shown[stays[shown]], self.recalled.memory])
            shown = shown[np.argsort(columns.search[shown], kind="stable")]
        self.memories = shown


def _weak(fit: Floats, columns: Columns, policy: RankingPolicy) -> Flags:
    """Mark memories that fit less than a share of the best of their search, (m,).

    One with all words of the query is not marked.
    """
    share = policy.cut_share
    if not share:
        return np.zeros(len(fit), dtype=np.bool_)
    least = share * greatest(fit, columns.starts)[columns.search]
    of_time = columns.time >= 1.0
    if policy.time_weight and of_time.any():
        # A memory of the time asked for is measured by the best of that time.
        best = greatest(np.where(of_time, fit, 0.0), columns.starts)[columns.search]
        least = np.where(of_time, np.maximum(share * best, LEAST_OF_TIME * least), least)
    return ((fit < least) & ~_has_all(columns)) | (fit <= 0.0)


def _has_all(columns: Columns) -> Flags:
    """Return whether a chunk of each memory has all words of the query, (m,)."""
    return np.maximum.reduceat(columns.coverage, columns.first[:-1]) >= 1.0


def fits_weakly(scored: ScoredMemories, columns: Columns, policy: RankingPolicy) -> Flags:
    """Return whether the best fit of each search is below the floor, (n,).

    The floor belongs to the embedding model, so it counts less where the model knows the query's language by
    half, and not at all where it does not know it. A memory that answers a long query has a smaller share of
    its words, so four fifths of the floor are enough there. Half of it is enough where a memory has all words
    of the query, or is of the time that it asks for. A phrase said whole needs no fit.
    """
    if not policy.fit_floor:
        return np.zeros(len(columns), dtype=np.bool_)
    floor = policy.fit_floor * np.sqrt(columns.vector_say)
    floor = floor * np.where(columns.query_words > SHORT_QUERY, LONG_QUERY_FLOOR, 1.0)
    is_enough = _has_all(columns)
    if policy.time_weight:
        is_enough |= columns.time >= 1.0
    if is_enough.any():
        is_best = greatest(np.where(is_enough, scored.fit, 0.0), columns.starts) > 0.0
        floor = np.where(is_best, LEAST_OF_TIME, 1.0) * floor
    return (greatest(scored.fit, columns.starts) < floor) & ~columns.phrase_said


def _repeated(ordered: Integers, label: Integers) -> Flags:
    """Mark memories of which a duplicate comes earlier in the order, (m,)."""
    repeated = np.zeros(len(label), dtype=np.bool_)
    if (label == np.arange(len(label))).all():
        return repeated
    _, first = np.unique(label[ordered], return_index=True)
    repeated[np.delete(ordered, first)] = True
    return repeated
