"""One process of the mixed load of bench/soak.py, and its results.

python bench/_soak_user.py use NUMBER SECONDS     # a user: a JSON line per act
python bench/_soak_user.py fresh                  # open, search, save; say what memory that takes
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import slowwave
from slowwave.common import ids

NAMESPACE = "soak"
SHARES = {"save": 45, "save again": 15, "search": 25, "feedback": 10, "forget": 5}  # percent
ACTS = tuple(SHARES)
WORDS = """
harbour gauge battery tide radar ferry ledger antenna relay survey mast quay north south copper winter lamp
barrel engine sailor rope chart storm bridge market garden measures delays replaces reports cancels repairs
""".split()
KEYS = 40  # of each user, saved again and again (count)


def opened() -> slowwave.Memory:
    """The home that the environment names; the gate lets all in, so that nothing is refused by chance."""
    return slowwave.open(namespace=NAMESPACE, gate={"mode": "off"})


def note(who: int, number: int) -> str:
    """A note of twelve words that nobody else writes."""
    pick = random.Random(f"{who} {number}")
    return f"{' '.join(pick.choices(WORDS, k=12))}, as user {who} noted under number {number}."


class User:
    """Somebody who saves, searches, rates and forgets."""

    def __init__(self, memory: slowwave.Memory, who: int) -> None:
        self._memory, self._who = memory, who
        self._pick = random.Random(who)
        self._number = 0
        self._saved: list[str] = []
        self._searched: Any = None

    def do(self, act: str) -> str:
        """Do it; what was done after all, where there is nothing yet to rate or forget."""
        self._number += 1
        if act == "forget" and self._saved:
            self._memory.forget(self._saved.pop(self._pick.randrange(len(self._saved))))
        elif act == "feedback" and self._searched:
            rating = self._pick.choice(["helpful", "neutral", "unhelpful"])
            self._memory.feedback(self._searched.search_id, 1, rating)
        elif act == "search":
            found = self._memory.search(" ".join(self._pick.choices(WORDS, k=3)))
            self._searched = found if found.results else self._searched
        elif act == "save again":
            key = f"user {self._who} key {self._pick.randrange(KEYS)}"
            self._memory.save(note(self._who, self._number), key=key)
        else:
            self._saved.append(self._memory.save(note(self._who, self._number)).memory_id)
            return "save"
        return act

    def turn(self) -> str:
        """The next act."""
        return self.do(self._pick.choices(list(SHARES), weights=list(SHARES.values()))[0])


def use(who: int, seconds: float) -> None:
    """Be a user for some time; say of each act when it ended and how long it took."""
    with opened() as memory:
        memory.search("harbour")  # all is open before the start
        print("ready", flush=True)
        sys.stdin.readline()
        one, begin = User(memory, who), time.monotonic()
        told = []
        while (start := time.monotonic()) < begin + seconds:
            act = one.turn()
            end = time.monotonic()
            told.append(json.dumps({"act": act, "at": round(end - begin, 2), "took": round(end - start, 4)}))
    print("\n".join(told))


def check(memory: slowwave.Memory) -> dict[str, int]:
    """How many acts of the journal the tables do not have, and how many rows are there twice."""
    acts = memory.journal.read(kinds=["save", "forget"], namespace=NAMESPACE)
    last = {row["subject"]: row for row in acts.sort("seq").iter_rows(named=True)}
    rows = memory.store.read("memories", columns=["memory_id", "revision", "status"])
    known = {row["memory_id"]: row for row in rows.iter_rows(named=True)}
    lost = 0
    for source, act in last.items():
        row = known.get(ids.memory_id(NAMESPACE, source))
        moment = act.get("ordered_at", act["occurred_at"])
        there = row is not None and ids.note_revision(row["revision"]) == ids.revision(
            moment, act["event_id"]
        )
        lost += not there or (row["status"] == "retired") != (act["kind"] == "forget")
    chunks = memory.store.read("chunks", columns=["chunk_id"])["chunk_id"]
    doubled = int(rows["memory_id"].is_duplicated().sum() + chunks.is_duplicated().sum())
    return {"acts": acts.height, "lost": lost, "doubled": doubled}


def resources(process: int) -> dict[str, Any]:
    """Open files and resident memory (MB) of a process; zero of one that has ended."""
    try:
        handles = len(list(Path(f"/proc/{process}/fd").iterdir()))
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return {"handles": 0, "rss": 0.0}
    return {"handles": handles, "rss": round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)}


def fresh() -> None:
    """What a process takes that has just begun."""
    with opened() as memory:
        memory.search("harbour")
        memory.save(note(-1, 0))
        print(json.dumps(resources(os.getpid())))


if __name__ == "__main__":
    if sys.argv[1] == "use":
        use(int(sys.argv[2]), float(sys.argv[3]))
    else:
        fresh()
