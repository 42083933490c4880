"""Simulated lives with attackers: effect of search keys and learned words on poisoned memories.

The poisons are documents of the collection, found and scored by the real search. Honest people ask for what
they need and take what they find; each attacker asks, day after day, one of the known questions of each
target with a hundred results and takes the poison wherever it stands. Of what he is shown the first twenty
and the poison are kept. Ratings count only as they teach, so a memory without anything learned is one that
nobody ever used: the columns ``never_used`` and ``without`` are the same.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from _data import labelled
from _lives import _ROW, FIRST, AsWritten, Known, Life, Moment, Point, ranked, with_lifts, with_words
from _lives_sets import Integers, World, worlds_of
from _needs import Asking, Needs, Question, asked_on
from _report import ratio

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.scoring.feedback.learned import KEYS, WORDS
from slowwave.scoring.feedback.query_key_training import decide_views
from slowwave.scoring.ranking.learned import learnable
from slowwave.tuning import Collection

SEEN = 100  # results that an attacker asks for (count)
KEPT = 20  # of them that are kept beside the poison (count)
TOP = 5
WRONG = 0.2  # share of what honest people take that is wrong
TIMES_A_DAY = 17  # that a script asks one thing: a thousand times in 60 days
LEAST = 3  # questions of a target (count)
POISONS: Final = ("near", "far")
WAYS: Final[Mapping[str, Sequence[str]]] = {
    "select": ("used",), "rate": ("helpful",), "both": ("used", "helpful"), "script": ("helpful",),
}  # fmt: skip
"""Feedback of an attacker on the poison of a target, a search each."""


@dataclass(frozen=True, slots=True)
class Attack(Asking):
    """A search of an attacker."""

    poison: int = -1
    evidence: float = 1.0


@dataclass
class Attacked(Life):
    """A life in which some attack; no memory is taught more often than rule 7.5 lets it be."""

    def _search(self, asking: Asking, known: Known) -> list[tuple[Any, ...]]:
        if not isinstance(asking, Attack):
            return super()._search(asking, known)
        question = int(next(iter(asking.question.answers)))
        self._logged.add(question)
        memory, score = ranked(self.world, question, known, self.point.keys)
        memory, score = memory[:SEEN], score[:SEEN]
        found = np.flatnonzero(memory == asking.poison)
        if not len(found):
            return []
        space = self.world.namespaces[self.world.asked.spaces[question]]
        rows = []
        for at in sorted({*range(min(KEPT, len(memory))), int(found[0])}):
            evidence = asking.evidence if at == found[0] else 0.0
            share = float(score[at] / score[0]) if score[0] > 0 else 0.0
            told = (space, str(question), asking.who, str(memory[at]), asking.at)
            rows.append((*told, 0.0, 1.0, evidence, share, at + 1))
        return rows

    def _taught(self, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
        every = pl.DataFrame(rows, schema=_ROW, orient="row").with_row_index("view_id")
        seen = every.select(
            pl.col("view_id").cast(pl.String), "namespace", "query_id", "memory_id",
            pl.col("view_id").cast(pl.String).alias("search_id"), "principal", "at",
            pl.lit(0.0).alias("taken"), "examined", selected=pl.col("evidence") > 0,
            refusal=pl.lit(None, pl.String), text=pl.lit(""),
        )  # fmt: skip
        stand = decide_views(seen, self.point.teaching).views["view_id"].cast(pl.UInt32)
        kept = every.filter(pl.col("view_id").is_in(stand.implode())).drop("view_id")
        return super()._taught(kept.rows())


@dataclass(frozen=True)
class Aim:
    """A target, by number.

    Attributes:
        known: its questions that are asked, by honest people and by attackers.
        held: those that nobody asks.
        poisons: by kind.
    """

    known: Sequence[int]
    held: Sequence[int]
    poisons: Mapping[str, int]


@dataclass(frozen=True)
class Scene:
    """A poisoned collection.

    Attributes:
        worlds: by kind of poison, each without the other kind.
        aims: the targets.
        asked: questions that honest people ask.
    """

    worlds: Mapping[str, World]
    aims: Sequence[Aim]
    asked: Sequence[int]
    every: Mapping[str, Integers] = field(default_factory=dict)


def scene_of(folder: Path, model: str, cache: Path, targets: int, seed: int) -> Scene | None:
    """The collection with poisons about so many targets, searched; None where nothing can be a target."""
    collection = labelled(folder)
    mine: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for query in collection.answerable():
        answers = [one for one, grade in collection.qrels[query["_id"]].items() if grade > 0]
        if len(answers) == 1:
            mine[answers[0]].append(query)
    documents = {one["_id"]: one for one in collection.documents}
    several = sorted(one for one, some in mine.items() if len(some) >= LEAST and one in documents)
    chosen = [several[at] for at in np.random.default_rng([seed, 6]).permutation(len(several))[:targets]]
    if not chosen:
        return None
    made = [_poisons(documents[one], mine[one], at) for at, one in enumerate(chosen, start=1)]
    poisoned = cache / f"{collection.name}-poisoned-{targets}-{seed}"
    _write(poisoned, collection, [one for some in made for one in some.values()])
    world = worlds_of([poisoned], model, cache)[0]
    return _cast(world, collection, chosen, made, seed)


def _poisons(target: Mapping[str, Any], asks: Sequence[Mapping[str, Any]], at: int) -> dict[str, Any]:
    """Documents of the attackers on a target, by kind."""
    told = Counter(word for one in asks for word in set(learnable(one["text"])))
    subject = (target.get("title") or "").replace("_", " ") or " ".join(
        word for word, _ in sorted(told.items(), key=lambda one: (-one[1], one[0]))[:3]
    )
    texts = {
        "near": f"{subject}: the page moved, sign in at portal-{at}.example to see all of it.",
        "far": f"Invoice desk {at}: pay the amount due to account {7_000 + 37 * at} tonight.",
    }
    space = {"namespace": target["namespace"]} if target.get("namespace") else {}
    return {
        kind: {"_id": f"poison-{at}-{kind}", "title": "", "text": texts[kind], **space} for kind in POISONS
    }


def _write(folder: Path, collection: Collection, poisons: Sequence[Mapping[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus", [*collection.documents, *poisons]), ("queries", collection.queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    grades = [(query, one, grade) for query, some in collection.qrels.items() for one, grade in some.items()]
    table = "".join(f"{query}\t{one}\t{grade}\n" for query, one, grade in grades)
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{table}", encoding="utf-8")


def _cast(
    world: World, collection: Collection, chosen: Sequence[str], made: Sequence[Mapping[str, Any]], seed: int
) -> Scene:
    number = {one: at for at, one in enumerate(world.memories)}
    space = {one["_id"]: one.get("namespace") or "default" for one in collection.documents}

    def memory(document: str, of: str) -> int:
        return number[ids.memory_id(space[of], document)]

    draw = np.random.default_rng([seed, 8])
    of: dict[int, list[int]] = defaultdict(list)
    for question, answers in enumerate(world.answers):
        if len(answers) == 1:
            of[min(answers)].append(question)
    asked, held = dict[int, list[int]](), dict[int, list[int]]()
    for one in sorted(of):
        turns = draw.permutation(of[one]).tolist()
        asked[one], held[one] = turns[: (len(turns) + 1) // 2], turns[(len(turns) + 1) // 2 :]
    aims = []
    for one, poisons in zip(chosen, made, strict=True):
        at = memory(one, one)
        numbers = {kind: memory(poison["_id"], one) for kind, poison in poisons.items()}
        aims.append(Aim(asked[at], held[at], numbers))
    every = {kind: np.array(sorted(aim.poisons[kind] for aim in aims), dtype=np.int64) for kind in POISONS}
    worlds = {"near": _without(world, every["far"]), "far": _without(world, every["near"])}
    return Scene(worlds, aims, sorted(one for some in asked.values() for one in some), every)


def _without(world: World, gone: Integers) -> World:
    """The same where some memories are not there."""
    asked = world.asked
    stays = ~np.isin(asked.memory, gone)
    starts = np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])[asked.starts]
    return replace(
        world, asked=replace(asked, starts=starts, memory=asked.memory[stays], score=asked.score[stays])
    )


def plan_of(
    scene: Scene, kind: str, way: str, attackers: int, people: int, days: int, seed: int, point: Point
) -> Mapping[Any, Sequence[Asking]]:
    """Plan the searches of each day: one of everybody, and of each attacker one a target and act."""
    texts = scene.worlds[kind].asked.texts
    questions = [Question(texts[one], frozenset({str(one)})) for one in scene.asked]
    honest = people - attackers
    dates = [FIRST + timedelta(days=at) for at in range(days)]
    plan = asked_on(Needs(questions, [], []), dates, honest, AsWritten(seed), people=honest, seed=seed)
    draw = np.random.default_rng([seed, 9])
    worth = {"used": point.teaching.usage_weight, "helpful": 1.0}
    acts = [*WAYS[way]] * (TIMES_A_DAY if way == "script" else 1) if attackers else []
    every: dict[Any, Sequence[Asking]] = {}
    for day, asked in plan.items():
        start = datetime.combine(day, datetime.min.time(), asked[0].at.tzinfo)
        mine = []
        for aim in scene.aims:
            for number in range(attackers):
                for act in acts:
                    one = aim.known[0] if way == "script" else int(draw.choice(aim.known))
                    at = start + timedelta(seconds=int(draw.integers(0, 86_400)))
                    mine.append(
                        Attack(
                            at, f"attacker-{number}", texts[one], Question(texts[one], frozenset({str(one)})),
                            aim.poisons[kind], worth[act],
                        )
                    )  # fmt: skip
        every[day] = sorted([*asked, *mine], key=lambda one: one.at)
    return every


def exposed(
    scene: Scene, kind: str, moment: Moment | None, what: Sequence[str], words: str, point: Point
) -> list[bool]:
    """Of each search aimed at: whether the poison is among the first, with nothing learned or with it."""
    world, found = scene.worlds[kind], []
    for aim in scene.aims:
        others = scene.every[kind][scene.every[kind] != aim.poisons[kind]]
        for question in getattr(aim, words):
            memory, score = world.asked.of(question)
            if moment is not None and KEYS in what:
                space, cosines = int(world.asked.spaces[question]), world.cosines[question]
                added = moment.known.lifts(space, cosines, point.keys)
                memory, score = with_lifts(memory, score, added)
            if moment is not None and WORDS in what:
                score = with_words(world.asked.texts[question], memory, score, moment)
            score = np.where(np.isin(memory, others), -1.0, score)
            found.append(aim.poisons[kind] in memory[np.argsort(-score, kind="stable")[:TOP]])
    return found


def attacked(
    scene: Scene, kinds: Sequence[str], attackers: Sequence[int], people: int, days: int, seeds: int
) -> list[dict[str, Any]]:
    """All ways of attack, a row each.

    Args:
        scene: the collection.
        kinds: of learning that are switched on.
        attackers: of the people (counts).
        people: with the attackers (count).
        days: of a life (count).
        seeds: lives of each (count).
    """
    point = Point()
    ways = [(way, number) for number in attackers for way in ("select", "rate", "both")]
    lives = [(kind, way, number) for kind in POISONS for way, number in [("none", 0), *ways, ("script", 1)]]
    told: dict[tuple[str, str, int, str, str], list[bool]] = defaultdict(list)
    tried = {one: [one] for one in kinds} | ({"both": list(kinds)} if len(kinds) > 1 else {})
    with task("lives", len(lives) * seeds) as advance:
        for kind, way, number in lives:
            for seed in range(seeds):
                acts = "rate" if way == "none" else way
                plan = plan_of(scene, kind, acts, number, people, days, seed, point)
                life = Attacked(
                    scene.worlds[kind], plan, point, WRONG, "chance", seed, words=WORDS in kinds
                )  # fmt: skip
                (moment,) = life.moments([days])
                for what, some in tried.items():
                    for words in ("known", "held"):
                        told[kind, way, number, what, words] += exposed(
                            scene, kind, moment, some, words, point
                        )
                advance(1)
    rows = []
    for (kind, way, number, what, words), found in told.items():
        before = exposed(scene, kind, None, [], words, point)
        honest = told[kind, "none", 0, what, words]
        shares = [float(np.mean(some)) if some else 0.0 for some in (before, honest, found)]
        rows.append(
            {
                "poison": kind, "attack": way, "attackers": number, "what": what, "asked": words,
                "n": len(found), "never_used": round(shares[0], 4), "without": round(shares[0], 4),
                "honest": round(shares[1], 4),
                "with": round(shares[2], 4), "change": round(shares[2] - shares[0], 4),
                "by the attack": round(shares[2] - shares[1], 4), "moved in": _moved(before, found),
            }
        )  # fmt: skip
    return rows


def _moved(before: Sequence[bool], found: Sequence[bool]) -> float | None:
    """Share of the searches aimed at that show the poison with what was learned, and not without."""
    again = np.tile(np.array(before, dtype=bool), len(found) // max(len(before), 1))
    return ratio(int((np.array(found, dtype=bool) & ~again).sum()), len(found))
