"""One who searches and says of each search how it served; part of ``night_driver.py``."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

from slowwave.memory import Memory

PAUSE_S = 0.05  # or those who wait for two nights to end would slow them down
RATINGS = ("helpful", "unhelpful", "helpful", "neutral")
OUTCOMES = ("success", "failure")


def use(memory: Memory, job: dict[str, Any]) -> None:
    """Search and give feedback, a turn after the other, and note each act when it was taken.

    The job has the ``questions``, the searches that others rate as well (``shared``: their ids), how many
    ``turns`` there are at least, and the file ``until``: what is there ends it. What was taken goes to the
    file ``told``, as ``[kind, id, ...]`` a line.
    """
    until = Path(job["until"]) if job.get("until") else None
    with Path(job["told"]).open("a", buffering=1) as told:

        def note(*said: object) -> None:
            told.write(json.dumps(said) + "\n")

        for turn in itertools.count():
            if turn >= job["turns"] and (until is None or until.exists()):
                return
            _turn(memory, turn, job, note)
            time.sleep(PAUSE_S)


def _turn(memory: Memory, turn: int, job: dict[str, Any], note: Any) -> None:
    questions, shared = job["questions"], job.get("shared") or []
    project = f"project {turn % 2}"
    found = memory.search(questions[turn % len(questions)], limit=3, project=project if turn % 3 else "")
    assert not found.warnings, found.warnings
    note("search", found.search_id, [one.memory_id for one in found])
    said = [(found.search_id, RATINGS[turn % len(RATINGS)])]
    answers = [(found.search_id, f"As it says there: {found[0].text}")]
    if shared:
        one = shared[turn % len(shared)]
        said.append((one, "helpful"))
        answers.append((one, "All of them say this."))
    if turn % 5 == 4:  # changes its mind
        said.append((found.search_id, "neutral"))
    for search_id, word in said * 2 if turn % 7 == 6 else said:
        rated = memory.feedback(search_id, 1, word)
        note("feedback", rated.event_id, rated.memory_id, word, [job["principal"], search_id])
    for search_id, answer in answers * 2 if turn % 7 == 3 else answers:
        seen = memory.observe(search_id, answer)
        told = [(one.memory_id, one.verdict, one.evidence) for one in seen.verdicts]
        note("observation", seen.event_id, told)
    if turn % 4 == 2:
        done = memory.outcome(project, OUTCOMES[turn // 4 % 2])
        note("outcome", done.event_id)
