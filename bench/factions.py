"""Ranking under conflicting feedback: some rate a bad note helpful, others the right one.

    python bench/factions.py [--sides 1:3 3:3 10:3 1:49 3:47 10:40]

`sides` is attackers : friends. Each asks one question once, rates both notes, and the night folds what was
said. Scores are of a search for the same question, asked by nobody who rated, before anything was said and
afterwards; the right note is the more similar one. Also of a question that is like it in no way: nothing may
move there.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from _home import FIRST, Home, born, run
from _report import bench, options, report
from _user import Clock

from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.tuning.collection import Collection
from slowwave.views.terminal import bars

RIGHT, BAD, OTHER = "right", "bad", "other"
DOCUMENTS = [
    {
        "_id": RIGHT,
        "title": "",
        "text": "The pump in cellar four is restarted with the green lever, after a minute.",
    },
    {
        "_id": BAD,
        "title": "",
        "text": "The pump in cellar four is best restarted by pulling its main cable out.",
    },
    {"_id": OTHER, "title": "", "text": "The ferry to the north island leaves from the long pier at nine."},
]
QUESTION, UNLIKE = "How is the pump in cellar four restarted?", "When does the ferry leave?"
SIDES = ("1:3", "3:3", "10:3", "1:49", "3:47", "10:40")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--sides", type=_sides, nargs="+", default=[_sides(one) for one in SIDES])
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    arguments = parser.parse_args(argv)
    rows = []
    with bars(), task("sides", len(arguments.sides)) as advance:
        for attackers, friends in arguments.sides:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(outcome(Path(folder), attackers, friends, arguments.model))
            advance(1)
    report("factions", rows)


def _sides(text: str) -> tuple[int, int]:
    attackers, _, friends = text.partition(":")
    if not (attackers.isdecimal() and friends.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text} is not attackers:friends, as 3:47")
    return int(attackers), int(friends)


def outcome(folder: Path, attackers: int, friends: int, model: str) -> dict[str, Any]:
    """Scores of the notes before anything was said and after it."""
    home = born(folder / "home", Collection("factions", DOCUMENTS, (), {}), "default", model)
    clock = Clock(datetime.combine(FIRST, datetime.min.time(), UTC) + timedelta(hours=9))
    space = Workspace(home.settings, clock=clock)
    before, far_before = (_scores(home, space, query) for query in (QUESTION, UNLIKE))
    for number in range(attackers + friends):
        clock.moment += timedelta(minutes=5)
        good, bad = ("unhelpful", "helpful") if number < attackers else ("helpful", "unhelpful")
        memory = Memory(home.settings, namespace="default", principal=f"person {number}", space=space)
        search = memory.search(QUESTION).search_id
        memory.feedback(search, home.memory[RIGHT], good)
        memory.feedback(search, home.memory[BAD], bad)
    clock.moment = datetime.combine(FIRST, datetime.min.time(), UTC) + timedelta(days=1, hours=1)
    run(home, "feedback", FIRST, FIRST, clock.moment)
    after, far_after = (_scores(home, space, query) for query in (QUESTION, UNLIKE))
    space.close()
    return {
        "attackers": attackers, "friends": friends,
        "right before": before[RIGHT], "bad before": before[BAD],
        "right": after[RIGHT], "bad": after[BAD],
        "first": "right" if after[RIGHT] > after[BAD] else "bad",
        "unlike moved by": max(abs(far_after[name] - far_before[name]) for name in (RIGHT, BAD, OTHER)),
    }  # fmt: skip


def _scores(home: Home, space: Workspace, query: str) -> dict[str, float]:
    """Of each note, 0 where it is not found; nothing is logged."""
    memory = Memory(home.settings, namespace="default", principal="somebody", space=space)
    found = {one.memory_id: one.score for one in memory.search(query, log=False)}
    return {name: round(found.get(home.memory[name], 0.0), 4) for name in (RIGHT, BAD, OTHER)}


if __name__ == "__main__":
    main()
