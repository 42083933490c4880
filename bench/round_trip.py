"""Memories out and in again: seconds and bytes of each lossless form, and whether all is equal.

    python bench/round_trip.py --memories 10000
    python bench/round_trip.py --memories 50000 --form jsonl

Before that, lists of all memories: seconds of a page without a filter, with filters, and the last page.
``peak_mb`` is the growth of the process's peak memory during a row; 0 if an earlier row needed more.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _report import bench, options, positive, report

import slowwave
from slowwave.imports.own.collect import collect
from slowwave.imports.own.model import EVENTS, TABLES, Contents, schemas
from slowwave.imports.own.restore import restore
from slowwave.imports.own.writing import read_export, write_export
from slowwave.lifecycle.browse import BrowseOptions, browse

FORMS = ("markdown", "jsonl", "parquet")
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


def timed(do: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Run a function; return its result, its seconds and the growth of the peak memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    result = do()
    seconds = round(time.perf_counter() - begun, 2)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return result, {"seconds": seconds, "peak_mb": round(grown / 1_024)}


def lists(memory: slowwave.Memory, count: int) -> list[dict[str, Any]]:
    """Return a row for each of some lists."""
    asked = {
        "list all, page 1": BrowseOptions(state="all"),
        "list all, last page": BrowseOptions(state="all", skip=count - 50),
        "list by tag, source, type": BrowseOptions(tags=("pier",), source="fact-1", memory_type="note"),
        "list forgotten, by title": BrowseOptions(state="forgotten", sort="title"),
    }
    rows = []
    for name, wanted in asked.items():
        (_, total), figures = timed(lambda wanted=wanted: browse(memory.tenant, wanted))
        rows.append({"what": name, "memories": total, **figures})
    return rows


def round_trip(first: slowwave.Memory, folder: Path, form: str, own: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for the way out, and one for the way in."""

    def export() -> Contents:
        contents = collect(first, secret=True).contents
        write_export(contents, folder / form, form)
        return contents

    contents, out = timed(export)
    size = sum(path.stat().st_size for path in [folder / form, *(folder / form).rglob("*")])
    with slowwave.open(folder / f"in-{form}", namespace=first.namespace, **own) as second:
        columns = schemas(second.store.specs)
        _, back = timed(lambda: restore(second, read_export(folder / form, columns)[0]))
        again = collect(second, secret=True).contents
    equal = all(contents.frames[name].equals(again.frames[name]) for name in (EVENTS, *TABLES))
    count = contents.frames["memories"].height
    return [
        {"what": f"{form} out", "memories": count, **out, "mb": round(size / 1e6, 1)},
        {"what": f"{form} in", "memories": count, **back, "equal": "yes" if equal else "NO"},
    ]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark; a difference ends it with 1."""
    parser = options(__doc__)
    parser.add_argument("--memories", type=positive, default=10_000)
    parser.add_argument("--model", default="wordllama-256")
    parser.add_argument("--form", choices=FORMS, action="append", help="default: all three")
    arguments = parser.parse_args(argv)
    own = {"embedding": {"model": arguments.model}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with slowwave.open(folder / "first", namespace="round", **own) as first:
            fill(first, arguments.memories)
            rows = lists(first, arguments.memories)
            for form in arguments.form or FORMS:
                rows += round_trip(first, folder, form, own)
    report("round_trip", rows, note="wordllama-256; a tenth changed, a twentieth forgotten, 50 searches")
    if not all(row.get("equal") != "NO" for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
