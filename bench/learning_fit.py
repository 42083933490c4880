"""Fit of the constants of search keys, on simulated lives.

    python bench/learning_fit.py --data FOLDER [FOLDER ...] --cache FOLDER [--report-only] [--quick]
    python bench/learning_fit.py --data FOLDER [FOLDER ...] --cache FOLDER --try weight=0.3,nearest=9 weight=1

Every question of the collections (BEIR form) is searched once by the real search and kept in --cache; a life
is lookups and takes seconds (`_lives.py`). Half of the needs are for tuning: the constants that ship are
changed one at a time and the best changes together, and the point is chosen that gains most on taught needs
while memories that nobody asked for keep their place and nothing is surely worse where 40 % of what is taken
is wrong. That point, its neighbours and the one that ships are reported on the other half, with intervals
drawn by need. ``--report-only`` reports the one that ships; ``--try`` also others, on the half of --half.

``without`` what was learned is ``never_used`` here: nobody rates anything, so it is a memory that nobody ever
used. Ratings, alone and beside keys, are lived in votes.py.

taught       questions in words nobody used, of memories that are asked for
never asked  questions of all other memories, of both halves
outside      questions of the next collection: `change` is the share of them whose best score rises by more
             than .01, `without` is 0

`what` was learned: keys, words (rule 5, of the same selections), or both; people are shown what keys do to
the ranking, from the first day on which the gate can be open. `people` err by chance, or take what resembles
the right result most. What is simplified: nobody abstains; the rate of lessons in eight hours is not bounded;
the chance that a rank is looked at is the true one of these people; words find no memory of themselves.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _lives import (
    HALVES,
    Life,
    Moment,
    Parts,
    Point,
    parts_of,
    plan_of,
    reciprocal,
    rises,
    with_lifts,
    with_words,
)
from _lives_sets import World, worlds_of
from _report import UnusableError, bench, existing_folder, options, positive, reports

from slowwave.common.progress import task
from slowwave.views.terminal import bars

GRID: dict[str, tuple[float, ...]] = {
    "weight": (0.2, 0.3, 0.4, 0.6),
    "same_low": (0.75, 0.80, 0.83, 0.86),
    "same_high": (0.90, 0.93, 0.96, 1.0),
    "max_user_boost": (0.03, 0.05, 0.1),
    "score_exponent": (0.0, 1.0, 2.0, 4.0),
    "excluded_ranks": (0, 1, 3),
    "max_per_memory": (8, 16, 32),
    "impression_pseudocount": (0.5, 1.0, 2.0),
    "ttl_days": (90.0, 180.0, 365.0),
}
"""Values that are tried, one constant after the other."""
MANY_WORDINGS = ("banking77", "stackfaq")
"""What is tuned on, where it is given: one need, many wordings."""
LEAST_NEVER = {"banking77": -0.01}
OTHERS_NEVER = -0.005  # lower end of the interval of memories that nobody asked for
MISTAKEN = 0.2  # share of what is taken that is wrong: up to it the bound above, beyond nothing surely worse
MOST_OUTSIDE = 0.01  # share of the questions outside whose best score may rise
LEAST_RISE = 0.01  # of the best score, that counts
SMALL = 0.001  # a change that gains less is none
TUNED = (40, 90)  # searches a day, and days, of the rule of choice
CHECKED = 12  # best points that are looked at on all sets and where 40 % are wrong, at most (count)
CHANCE, RESEMBLING = "chance", "resembling"
TAUGHT, NEVER, OUTSIDE = "taught", "never asked", "outside"
WORDS, KEYS, BOTH = "words", "keys", "both"
DRAWS, LEVEL = 2_000, 0.95

Tally = list[tuple[int, float, float]]
"""Of each question: its need, and its measure without and with what was learned."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where a figure is from."""

    what: str
    set: str
    group: str
    wrong: float
    people: str
    per_day: int
    days: int


@dataclass
class Fit:
    """What is lived, and how.

    Attributes:
        given: options.
        worlds: the collections.
    """

    given: argparse.Namespace
    worlds: Sequence[World]
    _before: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts: Callable[[int, str, int], Parts] = cache(self._parts)
        self.plan = cache(self._plan)
        for world in self.worlds:
            count = len(world.answers)
            self._before[world.name] = [
                reciprocal(*world.asked.of(one), world.answers[one]) for one in range(count)
            ]

    def _parts(self, world: int, half: str, seed: int) -> Parts:
        return parts_of(self.worlds[world], half, seed, self.given.measured)

    def _plan(self, world: int, half: str, seed: int, days: int, per_day: int) -> Mapping[Any, Any]:
        parts = self.parts(world, half, seed)
        return plan_of(self.worlds[world], parts, days, per_day, self.given.people, seed)

    def lived(
        self,
        point: Point,
        half: str,
        *,
        sets: Sequence[str],
        wrong: Sequence[float],
        kinds: Sequence[str],
        per_day: Sequence[int],
        days: Sequence[int],
        words: bool = False,
    ) -> dict[Where, Tally]:
        """Live all lives of a point and tally what they came to, the seeds together."""
        found: dict[Where, Tally] = defaultdict(list)
        cases = [
            case
            for case in product(range(len(self.worlds)), wrong, kinds, per_day, range(self.given.seeds))
            if self.worlds[case[0]].name in sets and (case[1] > 0 or case[2] == kinds[0])
        ]
        with task("lives", len(cases)) as advance:
            for at, share, kind, often, seed in cases:
                world, parts = self.worlds[at], self.parts(at, half, seed)
                plan = self.plan(at, half, seed, max(days), often)
                life = Life(world, plan, point, share, kind, seed, words=words)
                for moment in life.moments(days):
                    for what, group, need, before, after in self._measured(
                        world, parts, moment, point, words
                    ):
                        where = Where(what, world.name, group, share, kind, often, moment.day)
                        found[where].append((need, before, after))
                advance(1)
        return dict(found)

    def _measured(
        self, world: World, parts: Parts, moment: Moment, point: Point, words: bool
    ) -> Iterator[tuple[str, str, int, float, float]]:
        """What was learned, group, need, and the measure without and with it, of each question."""
        for group, questions in ((TAUGHT, parts.held), (NEVER, parts.others)):
            for one in questions:
                answers, before = world.answers[one], self._before[world.name][one]
                memory, score = world.asked.of(one)
                space = int(world.asked.spaces[one])
                lifted = moment.known.lifts(space, world.cosines[one], point.keys)
                every, after = with_lifts(memory, score, lifted)
                yield KEYS, group, parts.need[one], before, reciprocal(every, after, answers)
                if words:
                    text = world.asked.texts[one]
                    alone = with_words(text, memory, score, moment)
                    both = with_words(text, every, after, moment)
                    yield WORDS, group, parts.need[one], before, reciprocal(memory, alone, answers)
                    yield BOTH, group, parts.need[one], before, reciprocal(every, both, answers)
        if world.outside is not None:
            for one in range(len(world.outside.texts)):
                rise = rises(world.outside, one, moment.known, world.cosines_outside[one], point.keys)
                yield KEYS, OUTSIDE, one, 0.0, float(rise > LEAST_RISE)


def row_of(where: Where, tally: Tally, point: Point, ships: Point) -> dict[str, Any]:
    """A figure with its interval, drawn by need: the same need in several lives is one."""
    need, before, after = (np.array(column) for column in zip(*tally, strict=True))
    low, high = interval(need, after - before)
    return {
        "point": label(point, ships), "what": where.what, "ships": point == ships, **point.told(),
        "set": where.set, "group": where.group,
        "wrong": where.wrong, "people": where.people, "per_day": where.per_day, "days": where.days,
        "without": round(float(before.mean()), 4), "never_used": round(float(before.mean()), 4),
        "change": round(float((after - before).mean()), 4),
        "low": round(low, 6), "high": round(high, 6), "n": len(need), "needs": len(np.unique(need)),
    }  # fmt: skip


def interval(need: np.ndarray, change: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean change, drawn by need.

    Args:
        need: of each question, (n,).
        change: of its measure, (n,).
    """
    _, cluster = np.unique(need, return_inverse=True)
    sums, counts = np.bincount(cluster, weights=change), np.bincount(cluster)
    draw = np.random.default_rng(0)
    drawn = draw.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=DRAWS)
    low, high = np.quantile((drawn @ sums) / (drawn @ counts), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def label(point: Point, ships: Point) -> str:
    """What a point is called: what it has that the one that ships has not."""
    before = ships.told()
    changes = [f"{name} {value:g}" for name, value in point.told().items() if value != before[name]]
    return ", ".join(changes) or ("ships" if point == ships else "ships, changed")


def rows_of(found: Mapping[Where, Tally], point: Point, ships: Point) -> list[dict[str, Any]]:
    """A row for each figure of a point."""
    return [row_of(where, tally, point, ships) for where, tally in found.items()]


def gain(rows: Sequence[Mapping[str, Any]]) -> float:
    """Mean change of the taught needs over the sets and the kinds of people."""
    return float(np.mean([row["change"] for row in rows if row["group"] == TAUGHT]))


def faults(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rule of choice has against a point, of its figures."""
    found = []
    for row in rows:
        if row["what"] != KEYS:
            continue
        of = f"{row['set']} {row['group']}, {row['wrong']:.0%} wrong by {row['people']}"
        if row["group"] == OUTSIDE:
            if row["change"] > MOST_OUTSIDE:
                found.append(f"{of}: {row['change']:.3f} lifted")
        elif row["wrong"] > MISTAKEN and row["high"] < 0:
            found.append(f"{of}: surely worse, {row['change']:+.4f}")
        elif row["group"] == NEVER and row["wrong"] <= MISTAKEN:
            least = LEAST_NEVER.get(row["set"], OTHERS_NEVER)
            if row["low"] < least:
                found.append(f"{of}: lower end {row['low']:+.4f}")
    return found


@dataclass
class Tuning:
    """Tries points on one half of the needs.

    Attributes:
        fit: what is lived.
        ships: the point that ships, where it starts.
    """

    fit: Fit
    ships: Point
    _tried: dict[Point, list[dict[str, Any]]] = field(default_factory=dict)
    _checked: dict[Point, list[dict[str, Any]]] = field(default_factory=dict)

    def choose(self) -> Point:
        """The point that the rule chooses."""
        around = self._together(self._better())
        for name, values in GRID.items():
            for value in values:
                self._gain(around.changed(**{name: value}))
        for point in sorted(self._tried, key=self._order)[: self.fit.given.checked]:
            self._checked[point] = self._rows(point, self._names, [MISTAKEN, 2 * MISTAKEN])
            if not faults(self._checked[point]):
                return point  # the others gain less
        return min(self._checked, key=lambda one: (len(faults(self._checked[one])), -self._gain(one)))

    def rows(self, chosen: Point) -> list[dict[str, Any]]:
        """A row for each point that was tried."""
        return [
            {
                "point": label(point, self.ships), "ships": point == self.ships, "chosen": point == chosen,
                **point.told(),
                "gain": round(gain(some), 4), **_by_set(some), "checked": point in self._checked,
                "faults": "; ".join(faults(self._checked.get(point, some))),
            }
            for point, some in self._tried.items()
        ]  # fmt: skip

    def _better(self) -> dict[str, float]:
        """The best value of each constant, of those that are better than what ships by themselves."""
        found = {}
        for name, values in GRID.items():
            choice = self._best([self.ships.changed(**{name: value}) for value in values])
            gains = self._gain(choice) > self._gain(self.ships) + SMALL
            if gains or len(faults(self._tried[choice])) < len(faults(self._tried[self.ships])):
                found[name] = choice.told()[name]
        return found

    def _together(self, better: Mapping[str, float]) -> Point:
        """The better values one after the other, as long as they help together."""
        point = self.ships
        for name in sorted(better, key=lambda one: -self._gain(self.ships.changed(**{one: better[one]}))):
            point = self._best([point, point.changed(**{name: better[name]})])
        return point

    def _best(self, points: Sequence[Point]) -> Point:
        for point in points:
            self._gain(point)
        return min(points, key=self._order)

    def _order(self, point: Point) -> tuple[int, float]:
        """Those that do least harm first, of them the one that gains most."""
        return len(faults(self._tried[point])), -self._gain(point)

    def _gain(self, point: Point) -> float:
        if point not in self._tried:
            sets = [name for name in self._names if name in MANY_WORDINGS] or self._names
            self._tried[point] = self._rows(point, sets, [MISTAKEN])
        return gain(self._tried[point])

    def _rows(self, point: Point, sets: Sequence[str], wrong: Sequence[float]) -> list[dict[str, Any]]:
        per_day, days = TUNED
        found = self.fit.lived(
            point, "tuning", sets=sets, wrong=wrong, kinds=[CHANCE, RESEMBLING], per_day=[per_day],
            days=[days],
        )  # fmt: skip
        return rows_of(found, point, self.ships)

    @property
    def _names(self) -> list[str]:
        return [world.name for world in self.fit.worlds]


def _by_set(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        f"{row['set']} {row['group']} {row['people']}": " ".join(
            f"{row[name]:+.4f}" for name in ("change", "low", "high")
        )
        for row in rows
        if row["group"] != OUTSIDE
    }


def neighbours(point: Point) -> list[Point]:
    """Those that differ in one constant by one step."""
    found = []
    for name, values in GRID.items():
        steps = sorted({*values, point.told()[name]})
        at = steps.index(point.told()[name])
        found += [
            point.changed(**{name: one}) for one in (*steps[max(at - 1, 0) : at], *steps[at + 1 : at + 2])
        ]
    return found


def asked_for(text: str) -> dict[str, float]:
    """The constants of an option: ``name=value``, with commas."""
    values = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            values[name] = float(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r} is not name=value") from None
    for name in ("excluded_ranks", "max_per_memory", "nearest"):
        if name in values:
            values[name] = int(values[name])
    return values


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Tune, and report the front."""
    given = _parser().parse_args(argv)
    if given.quick:
        given.seeds, given.per_day, given.days, given.wrong = 1, [10], [42], [0.2]
        given.report_only, given.measured = True, 100
    ships, start = Point(), time.perf_counter()
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {}
    with tempfile.TemporaryDirectory() as folder, bars():
        worlds = worlds_of(given.data, given.model, given.cache or Path(folder))
        fit = Fit(given, worlds)
        for number, world in enumerate(worlds):
            if not fit.parts(number, "reported", 0).held:
                raise UnusableError(f"{world.name}: too few documents answer two questions to teach any")
        points = {ships: "full"}
        if given.tried:
            points = dict.fromkeys([ships.changed(**values) for values in given.tried], "full")
        elif not given.report_only:
            tuning = Tuning(fit, ships)
            chosen = tuning.choose()
            tables["tuning"] = (
                tuning.rows(chosen),
                "20 % wrong, the tuning half: change of MRR@5 with its interval.",
            )
            points = {chosen: "full", ships: "full", **dict.fromkeys(neighbours(chosen), "front")}
        rows = []
        for point, kind in points.items():
            full = kind == "full"
            found = fit.lived(
                point, given.half, sets=[world.name for world in worlds],
                wrong=given.wrong if full else [max(given.wrong)], kinds=given.kinds,
                per_day=given.per_day if full else [max(given.per_day)],
                days=given.days if full else [min(given.days, key=lambda day: abs(day - TUNED[1]))],
                words=full and not given.only_keys,
            )  # fmt: skip
            rows += rows_of(found, point, ships)
    outside = "" if len(worlds) > 1 else " One collection alone: nothing outside was searched."
    note = (
        f"{', '.join(world.name for world in worlds)}; {given.model}; {given.seeds} lives each; the half for "
        f"{given.half}; {time.perf_counter() - start:,.0f} s.{outside}"
    )
    tables["front"] = rows, note
    reports("learning_fit", tables, hidden=["ships", *ships.told()])


def _parser() -> argparse.ArgumentParser:
    parser = options(__doc__)
    add = parser.add_argument
    add("--data", type=existing_folder, nargs="+", required=True, help="folders of collections")
    add("--cache", type=Path, help="keep the searched questions here, for the next time")
    add("--model", default="bge-small-en-v1.5", help="embedding model")
    add("--report-only", action="store_true", help="of the constants that ship; nothing is tuned")
    add("--try", dest="tried", type=asked_for, nargs="+", help="report these instead: name=value,name=value")
    add("--half", choices=list(HALVES), default="reported", help="of the needs that are reported")
    add("--days", type=positive, nargs="+", default=[30, 90, 365], help="after which is measured")
    add("--per-day", type=positive, nargs="+", default=[10, 40], help="searches a day")
    add("--wrong", type=float, nargs="+", default=[0.0, 0.2, 0.4], help="share of what is taken")
    add("--kinds", choices=[CHANCE, RESEMBLING], nargs="+", default=[CHANCE, RESEMBLING], help="of people")
    add("--people", type=positive, default=5)
    add("--seeds", type=positive, default=3, help="lives of each kind")
    add("--measured", type=positive, default=400, help="questions of a group of a set, at most")
    add(
        "--checked",
        type=positive,
        default=CHECKED,
        help="best points that are checked on all sets, at most, until one does no harm",
    )
    add("--only-keys", action="store_true", help="leave out words")
    add("--quick", action="store_true", help="one short life, nothing tuned")
    return parser


if __name__ == "__main__":
    main()
