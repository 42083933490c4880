"""Memories out and in again: seconds and bytes of each lossless form, and whether all is equal.

python bench/round_trip.py --memories 10000
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _report import UnusableError, bench, options, positive, report

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


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--memories", type=positive, default=10_000, help="memories to export and import")
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as place:
        rows, listed = measure(Path(place), arguments.memories, {"embedding": {"model": arguments.model}})
    different = [row["form"] for row in rows if not row["equal"]]
    report("round_trip", rows, note=f"one page of the list of all took {listed:.2f} s")
    if different:
        raise UnusableError(f"not equal after export and import: {', '.join(different)}")


def measure(folder: Path, count: int, own: dict[str, Any]) -> tuple[list[dict[str, Any]], float]:
    """Return a row for each form, and the seconds of one page of the list."""
    rows = []
    with slowwave.open(folder / "first", namespace="round", **own) as first:
        fill(first, count)
        begun = time.perf_counter()
        browse(first.home, "round", BrowseOptions(state="all"))
        listed = time.perf_counter() - begun
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
            rows.append(
                {
                    "form": form,
                    "memories": contents.frames["memories"].height,
                    "events": contents.frames[EVENTS].height,
                    "megabytes": round(size / 1e6, 1),
                    "out_s": round(out, 2),
                    "in_s": round(back, 2),
                    "equal": all(
                        contents.frames[name].equals(again.frames[name]) for name in (EVENTS, *TABLES)
                    ),
                }
            )
    return rows, listed


if __name__ == "__main__":
    main()
