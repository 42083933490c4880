"""Can a few lift a poisoned memory for the questions of others, by ratings, by selections, by its text?

    python bench/attack.py --data FOLDER [--what both] [--cache FOLDER] [--attackers 1 3 10] [--targets 12]

Of fifty people some are attackers. For each target, a memory that answers several questions, there are three
poisons: *far* speaks of something else, *near* of the same subject, *words* says the words of the questions.
The attackers know some of its questions, but not the words in which others will ask: on four days each of
them asks two of these in new words with a hundred results, and rates the poison helpful wherever it stands.
Everybody else asks for what they need and rates what answers it. Searches, ratings and their fold are the
real ones; what they teach is applied as if the learning gate were open.

One more person *sinks*: on the last day he asks the known questions, rates the right answers unhelpful and
his own two notes (near and far) helpful, as often as he can. And a file of sixty invented people says the
same of his searches, brought in as `slowwave import jsonl` does. Both are measured as the rules are written
(five votes a name) and as they ship (`scoring.feedback.voices`): a vote a name, and one for a whole file.

Measured are questions about the targets that nobody asked, and the same in new words, with one poison at a
time there: at which rank the poison stands (median; of a hundred), the share of the searches that show it
among the first 5 and 10 (its exposure), and what that does to MRR@5 of these questions and of others; for
those who sink, where the right answer stands, and how often one of the two notes stands above it. Caps `on`
are the defaults; `as written`: five votes a name; `2 people` is least_principals = 2; `off`: what can be
undone of rules 4 and 5 (votes of one person, rate, ranks, questions, frequency). Attack `none`: what others
did. All that is done with ``--what words`` or ``both``.

With ``--what keys`` or ``both`` there is a table *learned*, of simulated lives of ``--life`` days on searches
that are made once and kept in ``--cache`` (`_attack_lives.py`): each attacker asks every day one known
question of each target with a hundred results, and selects the near or the far poison, rates it helpful, or
does both, a search each; a *script* of one person asks one question of each target 17 times a day. What each
kind taught is applied as if its gate were open; ratings count as what they teach alone. Said is the share of
the `n` searches aimed at in which the poison is among the first five: `without` anything learned, with what
honest people taught (`honest`), and with what all taught (`with`); `moved in`: with, and not without. `known`
are the questions that attackers ask, `held` those that nobody asked.
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
import polars as pl
from _attack_lives import attacked, scene_of
from _data import labelled
from _home import FIRST, Home, born, run
from _needs import Needs, Question, Wordings, needs_of
from _report import UnusableError, bench, existing_folder, options, positive, reports
from _sinking import SEEN, ask, rate, served, sink, sinking, without
from _tried import BOTH, WHAT
from _user import Clock

from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.learning.proposals import proposal_days
from slowwave.scoring.feedback.learned import KEYS, PROPOSAL, WORDS, decide, live
from slowwave.scoring.feedback.policy import FeedbackPolicy, LearningPolicy
from slowwave.scoring.feedback.voices import REACH
from slowwave.scoring.ranking import Candidates, MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.learned import LearnedTerms, learnable
from slowwave.search.opened import searcher_in
from slowwave.tuning.collection import Collection
from slowwave.views.terminal import bars

TIMES = 2  # that an attacker comes for each target on a day: more often than the votes of one person count
KINDS = ("far", "near", "words")
MANY = 1_000_000
ATTACKER = "attacker-"


@dataclass(frozen=True)
class Caps:
    """Bounds of what use may do.

    Attributes:
        feedback: of votes.
        learning: of what selections teach.
        learned_cap: most that learned terms add to a score.
        voices: whether each of many is one vote, and a file one of them; else five votes a name.
    """

    feedback: FeedbackPolicy
    learning: LearningPolicy
    learned_cap: float
    voices: bool = True


ON = Caps(FeedbackPolicy(), LearningPolicy(), RankingPolicy().learned_cap)
CAPS = {
    "on": ON,
    "as written": replace(ON, voices=False),
    "2 people": replace(ON, learning=LearningPolicy(least_principals=2)),
    "off": Caps(
        FeedbackPolicy(principal_votes=100, half_life_days=MANY),
        LearningPolicy(
            coefficient=1.0, excluded_ranks=0, events=MANY, terms_per_selection=MANY, terms_per_memory=MANY,
            eligible_hours=0.0, least_queries=1, frequent_share=1.0, frequent_from=MANY,
        ),
        RankingPolicy().learned_cap,
        voices=False,
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
    """Some days of searches and ratings, folded; the home as it is in the end."""
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
    """What selections teach, as if everything else let it through."""
    space.__dict__["learning_policy"] = policy
    days = [str(FIRST + timedelta(days=day)) for day in range((space.now().date() - FIRST).days)]
    rows = proposal_days(space, days).select(*PROPOSAL)
    who = ["person-"] if honest else ["person-", ATTACKER]
    rows = rows.filter(pl.any_horizontal(pl.col("principal").str.starts_with(one) for one in who))
    return LearnedTerms(live(decide(rows, [], policy).lessons, space.now(), policy), policy.ttl)


@dataclass(frozen=True)
class Asked:
    """A question with what was found for it, before anything that use says.

    Attributes:
        right: memories that answer it.
        poisons: memories of the attackers on its target, by kind; none for others.
    """

    text: str
    candidates: Candidates
    right: frozenset[str]
    poisons: Mapping[str, str]


def found_for(home: Home, space: Workspace, targets: Sequence[Target], others: Sequence[Question]
              ) -> list[Asked]:  # fmt: skip
    """Candidates of all questions that are measured."""
    asked = [
        (text, question, {kind: home.memory[one] for kind, one in target.poisons.items()})
        for target in targets
        for text, question in target.unknown
    ] + [(one.text, one, dict[str, str]()) for one in others]
    return [
        Asked(
            text,
            searcher_in(space).find(home.namespace, text, 1_000).candidates,
            home.answers(question),
            poisons,
        )
        for text, question, poisons in asked
    ]


def measured(
    asked: Sequence[Asked], kind: str, every: frozenset[str], states: Mapping[str, MemoryState],
    terms: LearnedTerms | None, caps: Caps, space: Workspace,
) -> dict[str, Any]:  # fmt: skip
    """Where the poison of a kind stands, and how good the results are for those who ask.

    Args:
        asked: the questions.
        kind: of poison that is there; empty: none is.
        every: all poisons.
        states: what ratings say of memories.
        terms: what was learned; None: nothing.
        caps: bounds.
        space: has the moment and the policy.
    """
    now, policy = space.now(), replace(space.policy, learned_cap=caps.learned_cap)
    places, mine, others = list[int](), list[float](), list[float]()
    for one in asked:
        poison = one.poisons.get(kind, "")
        candidates = without(one.candidates, every - {poison})
        here = {memory: states[memory] for memory in set(candidates.memory_ids) & states.keys()}
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
        "others": float(np.mean(others)) if others else None,
    }


def rows_of(
    asked: Sequence[Asked], attackers: int, every: frozenset[str], space: Workspace
) -> list[dict[str, Any]]:
    """All ways of attack with so many attackers."""
    rows = []
    for caps_name, caps in CAPS.items():
        ratings = [served(space, caps), served(space, caps, ATTACKER)]
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
                rows.append(_row(kind, way, attackers, caps_name, told, clean))
    return rows


def _row(
    kind: str, way: str, attackers: int, caps: str, told: Mapping[str, Any], clean: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "poison": kind, "attack": way, "attackers": attackers, "caps": caps,
        "median rank": told["rank"], "top 5": f"{told['in 5']:.0%}", "top 10": f"{told['in 10']:.0%}",
        "mrr@5 of targets": f"{clean['target']:.3f} {told['target'] - clean['target']:+.4f}",
        "of others": None if clean["others"] is None
        else f"{clean['others']:.3f} {told['others'] - clean['others']:+.4f}",
    }  # fmt: skip


def by_what_is_learned(given: argparse.Namespace) -> tuple[list[dict[str, Any]], str]:
    """The table of simulated lives, and its note."""
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
    """The tables of real searches and ratings, with their notes."""
    collection = labelled(given.data, given.namespace)
    needs = needs_of(collection, given.namespace, most=60, least=3, seed=given.seed)
    whole, targets = poisoned(collection, given.namespace, needs, given.targets, Wordings(given.seed))
    if not targets:
        raise UnusableError(f"{given.data}: no document alone answers three questions, so there is no target")
    rows: list[dict[str, Any]] = []
    sunken: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, task("attacks", len(given.attackers)) as advance:
        for attackers in given.attackers:
            home = born(Path(folder) / str(attackers), whole, given.namespace, given.model)
            space = lived(home, needs, targets, attackers, given)
            every = frozenset(home.memory[one] for target in targets for one in target.poisons.values())
            asked = found_for(home, space, targets, needs.others[: given.others])
            if not rows:
                clean = measured(asked, "", every, {}, None, ON, space)
                for kind in KINDS:
                    told = measured(asked, kind, every, {}, None, ON, space)
                    rows.append(_row(kind, "its text alone", 0, "on", told, clean))
            rows += rows_of(asked, attackers, every, space)
            if attackers == given.attackers[0]:
                sunken = sinking(asked, every, space, {"as written": CAPS["as written"], "as it ships": ON})
            space.close()
            advance(1)
    asks = sum(len(target.unknown) for target in targets)
    sunk = f"Right answers of {len(targets)} targets; one voice changes no score by more than {REACH}."
    lifted = (
        f"{len(targets)} targets, {asks} questions about them and {given.others} others, "
        f"{given.people} people, {given.days} days. mrr@5: without attack, and its change."
    )
    return {"sink": (sunken, sunk), "lift": (rows, lifted)}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Attack and print how far it came."""
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
    reports("attack", tables)


if __name__ == "__main__":
    main()
