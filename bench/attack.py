"""Attacks by a few of fifty users: poisoned memories lifted, right answers sunk.

    python bench/attack.py --data FOLDER [--what both] [--cache FOLDER] [--attackers 1 3 10] [--targets 12]

Each target is a memory that answers several questions, with three poisons: *far* is about something else,
*near* about the same subject, *words* has the words of the questions. The attackers know some of its
questions, but not the words in which others will ask. On four days each attacker asks two of these in new
words with a hundred results, and rates the poison helpful wherever it stands. Everybody else asks for what
they need and rates what answers it. Searches, ratings and their fold are the real ones; learned words are
applied as if the learning gate were open.

One more user *sinks*: on the last day he asks the known questions, rates the right answers unhelpful and his
own two notes (near and far) helpful, as often as he can. An imported file of sixty invented names says the
same of his searches (`slowwave import jsonl`).

`scope` is the ranking's `feedback_scope`: ``question`` ships, ``memory`` is the preset `seeds`. `caps` and
`reading` are sets of bounds: *on* or *as it ships* (the defaults), *of memories* (the defaults with scope
``memory``), *as written* (scope ``memory`` and five votes a name, as the rules have it), *2 people*
(min_users = 2), *off* (scope ``memory``, and no bound of rules 4 and 5: votes of one person, rate,
ranks, questions, frequency).

Tables sink and lift measure questions about the targets that nobody asked, and the same in new words. *sink*:
rank and score of the right answer, and how often one of the two notes stands above it. *lift*, one poison at
a time: its rank (median; of a hundred), the share of the searches that show it among the first 5 and 10, and
MRR@5 of these questions and of others, without attack and its change. Attack `none`: honest users alone.

*spill*: change of scores by the ratings of the user who sinks, of all these questions and others, by their
cosine with the nearest question that he rated. `greatest move`: of any memory's score; the goal of questions
*unlike* all rated ones is .01 at most. With scope ``question`` it is exactly 0, or the bench fails. `without
him`: MRR@5 with the ratings of the others alone.

`never_used` is MRR@5 in a memory that nobody ever used (no ratings, no citations, no learned words, no search
keys), with the same poisons there; `change` is `mrr@5` (of the targets, with the attack) beside it, and low,
high its interval of 95 %, drawn by question. These tables are of ``--what words`` or ``both``.

With ``--what keys`` or ``both`` there is a table *learned*, of simulated lives of ``--life`` days on searches
that are made once and kept in ``--cache`` (`_attack_lives.py`). Each attacker asks every day one known
question of each target with a hundred results, and selects the near or the far poison, rates it helpful, or
does both, a search each; a *script* of one user asks one question of each target 17 times a day. Learned data
of each kind is applied as if its gate were open; ratings count only as they teach. Columns are the share of
the `n` searches that show the poison among the first five: `never_used`, `without` (the same, since ratings
do not count here), with what honest users taught (`honest`), and with what all taught (`with`); `change` is
`with` beside `never_used`; `moved in`: with, and not without. `known` are the questions that attackers ask,
`held` those that nobody asked.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from _attack_lives import attacked, scene_of
from _data import labelled
from _home import FIRST, Home, born, run
from _needs import Needs, Question, Wordings, needs_of
from _report import UnusableError, bench, existing_folder, options, positive, reports
from _sinking import MOVED, SEEN, Served, ask, rate, served, sink, sinking, spillover, without
from _tried import BOTH, WHAT, beside
from _user import Clock

from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.learning.proposals import proposal_days
from slowwave.scoring.feedback.influence_limits import MAX_USER_GAIN
from slowwave.scoring.feedback.learned import KEYS, PROPOSAL, WORDS, decide, live
from slowwave.scoring.feedback.policy import FeedbackPolicy, LearningPolicy
from slowwave.scoring.ranking import Candidates, MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.learned import LearnedTerms, learnable
from slowwave.scoring.ranking_policy import FeedbackScope
from slowwave.search.searcher import searcher_in
from slowwave.tuning.collection import Collection
from slowwave.views.terminal import bars

TIMES = 2  # that an attacker comes for each target on a day: more often than the votes of one person count
KINDS = ("far", "near", "words")
MANY = 1_000_000
ATTACKER = "attacker-"


@dataclass(frozen=True)
class Caps:
    """Bounds of the effect of feedback.

    Attributes:
        feedback: of votes.
        learning: of what selections teach.
        learned_cap: most that learned terms add to a score.
        num_users: whether each of many is one vote, and a file one of them; else five votes a name.
        scope: whether ratings count for questions like theirs, or for the memory in every search.
    """

    feedback: FeedbackPolicy
    learning: LearningPolicy
    learned_cap: float
    num_users: bool = True
    scope: FeedbackScope = "question"


ON = Caps(FeedbackPolicy(), LearningPolicy(), RankingPolicy().learned_cap)
CAPS = {
    "on": ON,
    "of memories": replace(ON, scope="memory"),
    "as written": replace(ON, num_users=False, scope="memory"),
    "2 people": replace(ON, learning=LearningPolicy(min_users=2)),
    "off": Caps(
        FeedbackPolicy(principal_votes=100, half_life_days=MANY),
        LearningPolicy(
            coefficient=1.0, excluded_ranks=0, max_events_per_window=MANY, terms_per_selection=MANY,
            terms_per_memory=MANY, eligible_hours=0.0, min_queries=1, frequent_share=1.0,
            common_term_min_memories=MANY,
        ),
        RankingPolicy().learned_cap,
        num_users=False,
        scope="memory",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A memory whose questions are attacked.

    Attributes:
        known: its questions that the attackers know.
        unknown: other wordings and other questions, which are measured.
        poisons: documents of the attackers, by kind.
    """

    known: Sequence[Question]
    unknown: Sequence[tuple[str, Question]]
    poisons: Mapping[str, str]


def poisoned(
    collection: Collection, namespace: str, needs: Needs, most: int, wordings: Wordings
) -> tuple[Collection, list[Target]]:
    """The collection with poisons, and the targets.

    Args:
        collection: harmless documents.
        namespace: where the poisons go.
        needs: questions of memories that have several.
        most: targets (count).
        wordings: makes the new words.
    """
    titles = {one["_id"]: one.get("title") or "" for one in collection.documents}
    targets, documents = list[Target](), list(collection.documents)
    for answer in sorted({one for question in needs.asked for one in question.answers}):
        known = [one for one in needs.asked if one.answers == {answer}]
        other = [one for one in needs.held if one.answers == {answer}]
        if len(targets) == most or not known or not other or answer not in titles:
            continue
        subject = titles[answer].replace("_", " ") or " ".join(learnable(known[0].text)[:2])
        number = len(targets) + 1
        texts = {
            "far": f"Invoice desk {number}: pay the amount due to account {7_000 + 37 * number} tonight.",
            "near": f"{subject}: the page moved, sign in at portal-{number}.example to see all of it.",
            "words": f"{known[0].text} {known[-1].text} See portal-{number}.example for it.",
        }
        names = {kind: f"poison-{number}-{kind}" for kind in KINDS}
        documents += [
            {"_id": names[kind], "namespace": namespace, "title": "", "text": text}
            for kind, text in texts.items()
        ]
        unknown = [(one.text, one) for one in other] + [(wordings(one), one) for one in known]
        targets.append(Target(known, unknown, names))
    return Collection(collection.name, documents, collection.queries, collection.qrels), targets


def lived(
    home: Home, needs: Needs, targets: Sequence[Target], attackers: int, given: argparse.Namespace
) -> Workspace:
    """Live some days of searches and ratings, and fold them; return the home at the end."""
    seed, days = given.seed, given.days
    clock = Clock(datetime.combine(FIRST, datetime.min.time(), UTC))
    space, wordings = Workspace(home.settings, clock=clock), Wordings(seed + 1)
    draw = np.random.default_rng([seed, 4])
    poisons = {target.poisons[kind] for target in targets for kind in ("far", "near")}
    marked = {home.memory[one] for one in poisons}
    with task("days of attack", days) as advance:
        for day in range(days):
            clock.moment = datetime.combine(FIRST + timedelta(days=day), datetime.min.time(), UTC)
            clock.moment += timedelta(hours=6)
            for number in range(given.people - attackers):
                question = needs.asked[int(draw.integers(len(needs.asked)))]
                found = ask(home, space, f"person-{number}", wordings(question), 10)
                for one in home.answers(question) & found.keys():
                    rate(home, space, f"person-{number}", found[one], one)
                clock.moment += timedelta(minutes=5)
            for number in range(attackers):
                for target in [*targets] * TIMES:
                    question = target.known[int(draw.integers(len(target.known)))]
                    mine = {home.memory[one] for one in target.poisons.values()} & marked
                    found = ask(home, space, f"{ATTACKER}{number}", wordings(question), SEEN)
                    for one in mine & found.keys():
                        rate(home, space, f"{ATTACKER}{number}", found[one], one)
                clock.moment += timedelta(minutes=45)
            if day == days - 1:
                sink(home, space, targets, wordings)
            advance(1)
    clock.moment = datetime.combine(FIRST + timedelta(days=days), datetime.min.time(), UTC)
    run(home, "feedback", FIRST, FIRST + timedelta(days=days - 1), clock.moment)
    return space


def taught(space: Workspace, policy: LearningPolicy, *, honest: bool) -> LearnedTerms:
    """Return the terms that selections teach, as if the learning gate were open."""
    space.__dict__["learning_policy"] = policy
    days = [str(FIRST + timedelta(days=day)) for day in range((space.now().date() - FIRST).days)]
    rows = proposal_days(space, days).select(*PROPOSAL)
    who = ["person-"] if honest else ["person-", ATTACKER]
    rows = rows.filter(pl.any_horizontal(pl.col("principal").str.starts_with(one) for one in who))
    return LearnedTerms(live(decide(rows, [], policy).lessons, space.now(), policy), policy.ttl)


@dataclass(frozen=True)
class Asked:
    """A question with its candidates, without any feedback.

    Attributes:
        vector: of the question, of length 1, (dimension,).
        right: memories that answer it.
        poisons: memories of the attackers on its target, by kind; none for others.
    """

    text: str
    vector: npt.NDArray[np.float32]
    candidates: Candidates
    right: frozenset[str]
    poisons: Mapping[str, str]


def found_for(home: Home, space: Workspace, targets: Sequence[Target], others: Sequence[Question]
              ) -> list[Asked]:  # fmt: skip
    """Find the candidates of all questions that are measured."""
    asked = [
        (text, question, {kind: home.memory[one] for kind, one in target.poisons.items()})
        for target in targets
        for text, question in target.unknown
    ] + [(one.text, one, dict[str, str]()) for one in others]
    return [
        Asked(
            text,
            space.embedder.embed_query(text).astype(np.float32),
            searcher_in(space).find(home.namespace, text, 1_000).candidates,
            home.answers(question),
            poisons,
        )
        for text, question, poisons in asked
    ]


def measured(
    asked: Sequence[Asked], kind: str, every: frozenset[str], ratings: Served | None,
    terms: LearnedTerms | None, caps: Caps, space: Workspace,
) -> dict[str, Any]:  # fmt: skip
    """Measure the rank of the poison of a kind, and MRR@5 of the questions.

    Args:
        asked: the questions.
        kind: of poison that is there; empty: none is.
        every: all poisons.
        ratings: feedback on memories; None: nobody ever rated anything.
        terms: what was learned; None: nothing.
        caps: bounds.
        space: has the moment and the policy.
    """
    policy = replace(space.policy, learned_cap=caps.learned_cap, feedback_scope=caps.scope)
    now = space.now()
    places, mine, others = list[int](), list[float](), list[float]()
    for one in asked:
        poison = one.poisons.get(kind, "")
        candidates = without(one.candidates, every - {poison})
        here = ratings.states(one) if ratings else {}
        for memory, learned in (terms.match(one.text, now) if terms else {}).items():
            boost = min(learned.boost(caps.learned_cap, caps.learning.coefficient), 1.0)
            here[memory] = replace(here.get(memory, MemoryState()), learned=boost)
        ranking = rank(replace(candidates, states=here), policy, as_of=now, limit=SEEN)
        order = [result.memory_id for result in ranking.results]
        first = next((at for at, memory in enumerate(order[:5], start=1) if memory in one.right), 0)
        (mine if one.poisons else others).append(1 / first if first else 0.0)
        if poison:
            places.append(order.index(poison) + 1 if poison in order else SEEN + 1)
    return {
        "rank": float(np.median(places)) if places else None,
        "in 5": float(np.mean([place <= 5 for place in places])) if places else None,
        "in 10": float(np.mean([place <= 10 for place in places])) if places else None,
        "target": float(np.mean(mine)),
        "targets": mine,
        "others": float(np.mean(others)) if others else None,
    }


def rows_of(
    asked: Sequence[Asked], attackers: int, every: frozenset[str], space: Workspace, namespace: str
) -> list[dict[str, Any]]:
    """Measure all ways of attack with so many attackers."""
    never = {kind: measured(asked, kind, every, None, None, ON, space) for kind in KINDS}
    rows = []
    for caps_name, caps in CAPS.items():
        ratings = [served(space, namespace, caps), served(space, namespace, caps, ATTACKER)]
        terms = [taught(space, caps.learning, honest=honest) for honest in (True, False)]
        clean = measured(asked, "", every, ratings[0], terms[0], caps, space)
        for way, rated, learned in (
            ("none", ratings[0], terms[0]), ("ratings", ratings[1], terms[0]),
            ("selections", ratings[0], terms[1]), ("both", ratings[1], terms[1]),
        ):  # fmt: skip
            if way in ("none", "ratings") and caps_name == "2 people":
                continue  # the same as with the default caps
            for kind in KINDS[:2]:
                told = measured(asked, kind, every, rated, learned, caps, space)
                rows.append(_row(kind, way, attackers, caps_name, told, clean, never[kind]))
    return rows


def _row(
    kind: str, way: str, attackers: int, caps: str, told: Mapping[str, Any], clean: Mapping[str, Any],
    never: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    return {
        "poison": kind, "attack": way, "attackers": attackers, "caps": caps,
        "median rank": told["rank"], "top 5": f"{told['in 5']:.0%}", "top 10": f"{told['in 10']:.0%}",
        "mrr@5 of targets": f"{clean['target']:.3f} {told['target'] - clean['target']:+.4f}",
        "of others": None if clean["others"] is None
        else f"{clean['others']:.3f} {told['others'] - clean['others']:+.4f}",
        "scope": CAPS[caps].scope, **beside(never["targets"], told["targets"]),
        "never_used of others": never["others"], "never_used top 5": f"{never['in 5']:.0%}",
    }  # fmt: skip


def by_what_is_learned(given: argparse.Namespace) -> tuple[list[dict[str, Any]], str]:
    """Return the table of simulated lives, and its note."""
    kinds = (WORDS, KEYS) if given.what == BOTH else (given.what,)
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or Path(folder)
        scene = scene_of(given.data, given.model, cache, given.targets, given.seed)
        if scene is None:
            raise UnusableError(
                f"{given.data}: no document alone answers three questions: there is no target"
            )
        rows = attacked(scene, kinds, given.attackers, given.people, given.life, given.seeds)
    return rows, (
        f"{len(scene.aims)} targets, {given.people} people, {given.life} days, {given.seeds} lives of each."
    )


def by_votes_and_words(given: argparse.Namespace) -> dict[str, tuple[list[dict[str, Any]], str]]:
    """Return the tables of real searches and ratings, with their notes."""
    collection = labelled(given.data, given.namespace)
    needs = needs_of(collection, given.namespace, most=60, least=3, seed=given.seed)
    whole, targets = poisoned(collection, given.namespace, needs, given.targets, Wordings(given.seed))
    if not targets:
        raise UnusableError(f"{given.data}: no document alone answers three questions, so there is no target")
    rows: list[dict[str, Any]] = []
    sunken: list[dict[str, Any]] = []
    spilt: list[dict[str, Any]] = []
    readings = {"as written": CAPS["as written"], "of memories": CAPS["of memories"], "as it ships": ON}
    with tempfile.TemporaryDirectory() as folder, task("attacks", len(given.attackers)) as advance:
        for attackers in given.attackers:
            home = born(Path(folder) / str(attackers), whole, given.namespace, given.model)
            space = lived(home, needs, targets, attackers, given)
            every = frozenset(home.memory[one] for target in targets for one in target.poisons.values())
            asked = found_for(home, space, targets, needs.others[: given.others])
            if not rows:
                clean = measured(asked, "", every, None, None, ON, space)
                for kind in KINDS:
                    told = measured(asked, kind, every, None, None, ON, space)
                    rows.append(_row(kind, "its text alone", 0, "on", told, clean, told))
            rows += rows_of(asked, attackers, every, space, given.namespace)
            if attackers == given.attackers[0]:
                sunken = sinking(asked, every, space, given.namespace, readings)
                one_voice = {name: readings[name] for name in ("as it ships", "of memories")}
                spilt = spillover(asked, space, given.namespace, one_voice)
            space.close()
            advance(1)
    asks = sum(len(target.unknown) for target in targets)
    sunk = f"Right answers of {len(targets)} targets; one user changes no score by more than {MAX_USER_GAIN}."
    lifted = (
        f"{len(targets)} targets, {asks} questions about them and {given.others} others, "
        f"{given.people} people, {given.days} days. mrr@5: without attack, and its change."
    )
    spill = (
        f"Ratings of one of {given.people} people; questions by their cosine with those that he rated. "
        f"unlike: the goal of the greatest move is {MOVED} at most."
    )
    return {"sink": (sunken, sunk), "lift": (rows, lifted), "spill": (spilt, spill)}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the attacks and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of a collection")
    parser.add_argument("--namespace", default="default", help="which of its namespaces")
    parser.add_argument("--what", choices=WHAT, default=BOTH, help="kinds of learning that are attacked")
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the searched questions here, for the next time")
    parser.add_argument("--life", type=positive, default=60, help="days of a simulated life")
    parser.add_argument("--seeds", type=positive, default=3, help="simulated lives of each kind")
    parser.add_argument("--quick", action="store_true", help="one simulated life, of eight days")
    parser.add_argument("--attackers", type=positive, nargs="+", default=[1, 3, 10], help="of the people")
    parser.add_argument("--people", type=positive, default=50, help="with the attackers")
    parser.add_argument("--days", type=positive, default=4, help="of searches and ratings")
    parser.add_argument("--targets", type=positive, default=12)
    parser.add_argument("--others", type=positive, default=200, help="questions of other memories")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    if given.people <= max(given.attackers):
        parser.error(f"of {given.people} people at most {given.people - 1} can be attackers")
    if given.quick:
        given.seeds, given.life = 1, 8
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {}
    with bars():
        if given.what != KEYS:
            tables |= by_votes_and_words(given)
        if given.what != WORDS:
            tables["learned"] = by_what_is_learned(given)
    reports("attack", tables, hidden=("never_used of others", "never_used top 5"))


if __name__ == "__main__":
    main()
