"""Memories out and in again: seconds and bytes of each lossless form, and whether all is equal.

python bench/round_trip.py --memories 10000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import slowwave
from slowwave.imports.own.collect import collect
from slowwave.imports.own.model import EVENTS, TABLES, schemas
from slowwave.imports.own.restore import restore
from slowwave.imports.own.writing import read_export, write_export
from slowwave.lifecycle.browse import BrowseOptions, browse

PLACES = ("pier", "mill", "ferry", "archive", "kiln", "orchard", "quarry", "chapel", "depot", "weir")
FACTS = (
    "opens at {hour} on weekdays and closes two hours earlier on Friday since week {number}",
    "is inspected every {number} days by the crew of ward {hour}, who keep the log in cabinet {number}",
    "needs part {number} before winter; the supplier delivers within {hour} days",
)


def fill(memory: slowwave.Memory, count: int) -> None:
    """Save notes, change a tenth, forget a twentieth, rate some results."""
    notes = [
        {
            "content": f"The {PLACES[n % 10]} of district {n} "
            f"{FACTS[n % 3].format(hour=6 + n % 15, number=n)}.",
            "title": f"{PLACES[n % 10].title()} {n}", "key": f"fact-{n}", "tags": [PLACES[n % 7]],
        }
        for n in range(count)
    ]  # fmt: skip
    for start in range(0, count, 1_000):
        memory.save_many(notes[start : start + 1_000])
    memory.save_many([note | {"content": f"{note['content']} Checked again."} for note in notes[::10]])
    ids = memory.store.read("memories", columns=["memory_id", "source"])
    for name in ids.sort("source")["memory_id"][::20].to_list():
        memory.forget(name)
    for n in range(50):
        found = memory.search(f"when is the {PLACES[n % 10]} of district {n * 7 % count} open?")
        if found:
            memory.feedback(found.search_id, 1, "helpful")


def main() -> int:
    """Print one line per form; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--model", default="wordllama-256")
    arguments = parser.parse_args()
    different = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        own = {"embedding": {"model": arguments.model}}
        with slowwave.open(folder / "first", namespace="round", **own) as first:
            fill(first, arguments.memories)
            begun = time.perf_counter()
            browse(first.home, "round", BrowseOptions(state="all"))
            sys.stdout.write(f"list: {time.perf_counter() - begun:.2f} s\n")
            for form in ("markdown", "jsonl", "parquet"):
                begun = time.perf_counter()
                contents = collect(first, secret=True).contents
                write_export(contents, folder / form, form)
                out = time.perf_counter() - begun
                size = sum(path.stat().st_size for path in [folder / form, *(folder / form).rglob("*")])
                with slowwave.open(folder / f"in-{form}", namespace="round", **own) as second:
                    begun = time.perf_counter()
                    restore(second, read_export(folder / form, schemas(second.store.specs))[0])
                    back = time.perf_counter() - begun
                    again = collect(second, secret=True).contents
                equal = all(contents.frames[name].equals(again.frames[name]) for name in (EVENTS, *TABLES))
                different += not equal
                count, events = contents.frames["memories"].height, contents.frames[EVENTS].height
                sys.stdout.write(
                    f"{form}: {count:,} memories, {events:,} events, {size / 1e6:.1f} MB; out {out:.1f} s, "
                    f"in {back:.1f} s, {'equal' if equal else 'DIFFERENT'}\n"
                )
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
