"""Ratings by one user, and by an imported file of many names, against right answers (see `attack.py`)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from _home import Home
from _tried import beside

from slowwave.embedding import profile
from slowwave.evaluation.exchange.importing import LogImportOptions, import_logs
from slowwave.evaluation.exchange.jsonl import JsonlForm
from slowwave.feedback.context import ContextualFeedback
from slowwave.feedback.questions import question_indexes
from slowwave.feedback.rows import FOLDED
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.scoring.feedback.effectiveness import effectiveness, fold_effectiveness
from slowwave.scoring.feedback.influence_limits import (
    MAX_USER_GAIN,
    capped_votes,
    count_first_seen_users,
    users_by,
)
from slowwave.scoring.ranking import Candidates, MemoryState, RankingPolicy, rank
from slowwave.search.searcher import KNOWN

if TYPE_CHECKING:
    from _needs import Wordings
    from attack import Asked, Caps, Target

SINKER, INVENTED = "sinker", "invented-"
MOVED = 0.01  # score by which one of fifty may move a question unlike those that were rated, at most
TOP = 5  # of the measure, MRR@5
NAMES = 60  # that an imported file gives its people (count)
SEEN = 100  # results that an attacker asks for (count)


@dataclass(frozen=True)
class Served:
    """Feedback of some users, as searches see it.

    Attributes:
        of_memory: effectiveness of each memory in every search (scope ``memory``).
        context: feedback by question (scope ``question``).
        now: moment of the searches.
    """

    of_memory: Mapping[str, MemoryState]
    context: ContextualFeedback
    now: datetime
    _known: dict[str, dict[str, MemoryState]] = field(default_factory=dict, repr=False)

    def states(self, asked: Asked) -> dict[str, MemoryState]:
        """Return the states of the candidates of a question, for both scopes of feedback."""
        if asked.text not in self._known:
            there = set(asked.candidates.memory_ids)
            states = {name: self.of_memory[name] for name in there & self.of_memory.keys()}
            knows = asked.candidates.vector_say >= KNOWN
            rated = self.context.of(asked.vector, there, self.now) if knows else {}
            for name, one in rated.items():
                states[name] = replace(
                    states.get(name, MemoryState()),
                    question_effectiveness=one.effectiveness,
                    question_count=one.count,
                    question_not_useful=one.not_useful,
                )
            self._known[asked.text] = states
        return dict(self._known[asked.text])


def ask(home: Home, space: Workspace, who: str, text: str, limit: int) -> dict[str, str]:
    """The search that showed each memory, of one search."""
    memory = Memory(home.settings, namespace=home.namespace, principal=who, space=space)
    response = memory.search(text, limit=limit)
    return {one.memory_id: response.search_id for one in response}


def rate(
    home: Home, space: Workspace, who: str, search_id: str, memory_id: str, said: str = "helpful"
) -> None:
    """A rating."""
    memory = Memory(home.settings, namespace=home.namespace, principal=who, space=space)
    memory.feedback(search_id, memory_id, said)


def sink(home: Home, space: Workspace, targets: Sequence[Target], wordings: Wordings) -> None:
    """One person rates right answers down and his own notes up; a file says the same in sixty names."""
    lines = []
    for target in targets:
        for question in [*target.known, *target.known]:
            found = ask(home, space, SINKER, wordings(question), SEEN)
            mine = {home.memory[target.poisons[kind]] for kind in ("far", "near")}
            for said, those in (("unhelpful", home.answers(question)), ("helpful", mine)):
                for one in those & found.keys():
                    rate(home, space, SINKER, found[one], one, said)
                    lines += [
                        {"type": "feedback", "at": space.now().isoformat(), "search_id": found[one],
                         "memory_id": one, "rating": said, "principal": f"{INVENTED}{number}"}
                        for number in range(NAMES)
                    ]  # fmt: skip
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        form = JsonlForm(home.namespace, lambda project: 0)
        options = LogImportOptions(home.namespace, "2000-01-01", space.now().date() + timedelta(days=1))
        import_logs(space.journal, form, [file.name], options, lambda names: names)


def served(space: Workspace, namespace: str, caps: Caps, *others: str) -> Served:
    """Fold the ratings of the honest users, and of those whose names begin with one of `others`.

    Args:
        space: the home.
        namespace: of the ratings.
        caps: bounds.
        others: beginnings of names.
    """
    columns = [*dict.fromkeys((*FOLDED, "query_id"))]
    every = space.store.read("usage_signals", f"namespace = '{namespace}'", columns=columns)
    # Everybody is a user of the namespace, also one whose ratings are left out here.
    there = users_by(count_first_seen_users(every), "9999") if caps.num_users else {}
    said = pl.any_horizontal(pl.col("principal").str.starts_with(one) for one in ("person-", *others))
    signals = every.filter(said)
    if not caps.num_users:
        signals = signals.with_columns(imported=pl.lit(value=False))
    explicit = signals.filter(pl.col("tier") != "implicit")
    folded = fold_effectiveness(
        signals, space.store.empty("effectiveness"), explicit.clear(), caps.feedback
    ).filter(pl.col("chunk_id").is_null())
    last = folded.sort("day").unique("memory_id", keep="last")
    uses = signals.filter((pl.col("verdict") == "used") & (pl.col("weight") > 0))
    implicit = last.select("memory_id", "implicit_value", "implicit_weight")
    sums = capped_votes(explicit, uses, implicit, there, caps.feedback)
    sums = sums.with_columns(effectiveness(sums, space.now(), caps.feedback))
    names = ("memory_id", "effectiveness", "feedback_count", "not_useful_at")
    of_memory = {
        memory: MemoryState(effectiveness=value, feedback_count=count, not_useful_at=tuple(against))
        for memory, value, count, against in sums.select(names).iter_rows()
    }
    asked = signals.filter(pl.col("query_id").is_not_null())
    index = question_indexes(space).of(namespace)
    same = profile(space.model).same_question
    context = ContextualFeedback(asked, there.get(namespace, 0), index, same, caps.feedback)
    return Served(of_memory, context, space.now())


def without(candidates: Candidates, gone: frozenset[str]) -> Candidates:
    """The candidates without some memories."""
    kept = [at for at, one in enumerate(candidates.memory_ids) if one not in gone]
    columns = ("cosine", "bm25", "vector_rank", "bm25_rank", "ordinal", "chunk_count", "title", "coverage",
               "rerank")  # fmt: skip
    return replace(
        candidates,
        chunk_ids=[candidates.chunk_ids[at] for at in kept],
        memory_ids=[candidates.memory_ids[at] for at in kept],
        **{name: getattr(candidates, name)[kept] for name in columns},
    )


def sunk(
    asked: Sequence[Asked],
    every: frozenset[str],
    feedback: Served | None,
    policy: RankingPolicy,
    now: datetime,
) -> tuple[dict[str, Any], list[float]]:
    """Rank the right answers among the two notes of the user who sinks them.

    Args:
        asked: the questions.
        every: all poisons.
        feedback: on the memories; None: nobody ever used them.
        policy: ranking.
        now: moment of the searches.

    Returns:
        Figures of a row, and the reciprocal rank of each question among the first five.
    """
    places, scores, above = list[int](), list[float](), list[bool]()
    for one in asked:
        if not one.poisons:
            continue
        mine = {one.poisons["far"], one.poisons["near"]}
        candidates = without(one.candidates, every - mine)
        here = feedback.states(one) if feedback else {}
        results = rank(replace(candidates, states=here), policy, as_of=now, limit=SEEN).results
        order = [result.memory_id for result in results]
        place = min((at for at, name in enumerate(order) if name in one.right), default=SEEN)
        places.append(place + 1)
        scores.append(results[place].score if place < len(results) else 0.0)
        above.append(bool(mine & set(order[:place])))
    figures = {
        "right: mean rank": f"{np.mean(places):.2f}", "first": f"{np.mean([one == 1 for one in places]):.0%}",
        "in 5": f"{np.mean([one <= 5 for one in places]):.0%}", "mean score": f"{np.mean(scores):.3f}",
        "his above it": f"{np.mean(above):.0%}",
    }  # fmt: skip
    return figures, [1 / place if place <= TOP else 0.0 for place in places]


def sinking(
    asked: Sequence[Asked],
    every: frozenset[str],
    space: Workspace,
    namespace: str,
    readings: Mapping[str, Caps],
) -> list[dict[str, Any]]:
    """Measure one of fifty and a file of sixty names against right answers, by each reading of the rules.

    Raises:
        AssertionError: one user that is one vote moves a score by more than `MAX_USER_GAIN`.
    """
    rows = []
    ways = {"nobody": (), "one of fifty": (SINKER,), f"a file of {NAMES} names": (INVENTED,),
            "both": (SINKER, INVENTED)}  # fmt: skip
    now = space.now()
    _, never = sunk(asked, every, None, space.policy, now)
    for reading, caps in readings.items():
        policy = replace(space.policy, feedback_scope=caps.scope)
        clean = served(space, namespace, caps)
        for way, names in ways.items():
            attacked = served(space, namespace, caps, *names)
            if caps.num_users and len(names) == 1:
                within_reach(asked, clean, attacked, policy, now)
            figures, ranks = sunk(asked, every, attacked, policy, now)
            level = {"mrr@5": float(np.mean(ranks)), **beside(never, ranks)}
            rows.append({"attack": way, "reading": reading, "scope": caps.scope, **figures, **level})
    return rows


def within_reach(
    asked: Sequence[Asked],
    before: Served,
    after: Served,
    policy: RankingPolicy,
    now: datetime,
) -> None:
    """Assert that no score of any question moved by more than the reach of one user."""
    for one in asked:
        worst = moved(scores(one, before, policy, now), scores(one, after, policy, now))
        assert worst <= MAX_USER_GAIN + 1e-9, (
            f"{one.text!r}: a score moved by {worst:.3f}, more than {MAX_USER_GAIN}"
        )


def scores(one: Asked, feedback: Served | None, policy: RankingPolicy, now: datetime) -> dict[str, float]:
    """Score all candidates of a question by memory, best first; nobody used them if `feedback` is None."""
    here = feedback.states(one) if feedback else {}
    found = rank(replace(one.candidates, states=here), policy, as_of=now, limit=1_000)
    return {result.memory_id: result.score for result in found.results}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """Return the greatest change of the score of a memory that is in both lists."""
    return max((abs(before[name] - after[name]) for name in before.keys() & after.keys()), default=0.0)


def spillover(
    asked: Sequence[Asked], space: Workspace, namespace: str, readings: Mapping[str, Caps]
) -> list[dict[str, Any]]:
    """Measure how far the ratings of one of fifty move questions, by how near these are to the rated ones.

    Args:
        asked: the questions, all candidates with them.
        space: the home, in which `sink` was done.
        namespace: of the ratings.
        readings: bounds, with the scope of feedback.

    Returns:
        A row for each reading and group of questions.

    Raises:
        AssertionError: with feedback by question, one that is near to no rated question moved at all.
    """
    low, high = profile(space.model).same_question
    near = _nearest(asked, space, namespace)
    unlike = f"unlike (<= {low})"
    groups = {
        unlike: near <= low,
        f"near ({low} to {high})": (near > low) & (near < high),
        f"like (>= {high})": near >= high,
    }
    now, rows = space.now(), list[dict[str, Any]]()
    never = [scores(one, None, space.policy, now) for one in asked]
    for reading, caps in readings.items():
        policy = replace(space.policy, feedback_scope=caps.scope)
        num_users = served(space, namespace, caps), served(space, namespace, caps, SINKER)
        before, after = ([scores(one, feedback, policy, now) for one in asked] for feedback in num_users)
        for group, here in groups.items():
            at = np.flatnonzero(here).tolist()
            moves = np.array([moved(before[one], after[one]) for one in at])
            if caps.scope == "question" and group == unlike:
                assert all(before[one] == after[one] for one in at), "a question unlike the rated ones moved"
            ranks = [[_reciprocal(asked[one], some[one]) for one in at] for some in (never, before, after)]
            orders = [list(before[one])[:10] != list(after[one])[:10] for one in at]
            rows.append(
                {
                    "questions": group, "reading": reading, "scope": caps.scope, "n": len(at),
                    "greatest move": moves.max() if len(at) else None,
                    "mean move": moves.mean() if len(at) else None,
                    "moved > .01": int((moves > MOVED).sum()), "top 10 changed": sum(orders),
                    "without him": float(np.mean(ranks[1])) if at else None,
                    "mrr@5": float(np.mean(ranks[2])) if at else None, **beside(ranks[0], ranks[2]),
                }
            )  # fmt: skip
    return rows


def _nearest(asked: Sequence[Asked], space: Workspace, namespace: str) -> np.ndarray:
    """Cosine of each question with the nearest one that the one of fifty rated, (n,)."""
    condition = f"namespace = '{namespace}' AND principal = '{SINKER}'"
    rated = set(space.store.read("usage_signals", condition, columns=["query_id"])["query_id"].drop_nulls())
    questions = question_indexes(space).of(namespace).questions
    places = [at for name, at in questions.number.items() if name in rated]
    if not places:
        return np.full(len(asked), -1.0)
    vectors = np.array([one.vector for one in asked])
    nearest: np.ndarray = (vectors @ questions.vectors[places].T).max(axis=1)
    return nearest


def _reciprocal(one: Asked, marks: Mapping[str, float]) -> float:
    first = list(marks)[:TOP]
    return next((1 / at for at, name in enumerate(first, start=1) if name in one.right), 0.0)
