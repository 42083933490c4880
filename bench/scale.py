"""Cost of a search, a save and the nightly table work in homes of several sizes.

    python bench/scale.py --chunks 5000,50000,200000,1000000 [--data FOLDER] [--folder /tmp] [--repeat 3]

Homes are made of texts below `--data` (without: the example vault), repeated with changes (`_scale_home.py`);
they are kept in `--folder`, so that a second run goes on with them. `--tenants` shares each among so many
namespaces. Each home is measured in processes of its own, turn about, `--repeat` times; p50 and p95 are
medians of these. CPU time is of the process, all its threads: on a shared machine it says more than the
clock. ``ratio`` is p95 over that of the first size, by CPU. ``recall@10`` is against exact search, of the
questions that are asked. ``night_s`` is the night's work on the tables: word index, vector index, compaction,
and the snapshots that are left for all processes.

The constants of `_scale_model.py` are fitted to the first two sizes whose namespaces are searched in
partitions (of none, to the first two); what it foretells of larger ones, and its error, is the second table,
and what of ten million and a billion chunks the third. `--asked` gives the first namespace questions of the
past, others than those that are measured with: the night measures with them how many partitions have to be
visited.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import _scale_model as model
import numpy as np
from _processes import child
from _report import UnusableError, bench, existing_folder, numbers, options, positive, ratio, reports
from _scale_home import MINE, Source, build, index, settings_of, tenant

from slowwave.index.incremental_snapshot import PARTED_FROM

MEASURED = ("p50_cpu_ms", "p95_cpu_ms", "disk_mb", "night_cpu_s")
MARK = "measured.json"
BEYOND, DIMENSION = (10**7, 10**9), 256


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Make the homes that are lacking, and measure."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="5000,50000,200000,500000", help="sizes, in chunks")
    parser.add_argument("--tenants", type=positive, default=1, help="namespaces of each home")
    parser.add_argument("--asked", type=int, default=0, help="questions that something was said of before")
    parser.add_argument("--data", type=existing_folder, help="folder of notes and collections")
    parser.add_argument("--folder", type=existing_folder, help="where homes are kept; else they are removed")
    parser.add_argument("--searches", type=positive, default=150, help="measured in each process")
    parser.add_argument("--saves", type=positive, default=12, help="measured in each process")
    parser.add_argument("--repeat", type=positive, default=3, help="processes for each home")
    parser.add_argument("--snapshot-mb", type=float, default=4_096, help="store.snapshot_mb")
    arguments = parser.parse_args(argv)
    if sorted(set(arguments.chunks)) != arguments.chunks:
        raise UnusableError("--chunks: give sizes that rise, each once")
    source = Source.of(arguments.data)
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.folder or Path(made)
        homes = {
            size: folder / f"scale-{size}-{arguments.tenants}-{arguments.asked}" for size in arguments.chunks
        }
        nights = {size: _made(home, size, arguments, source) for size, home in homes.items()}
        rows = _measured(homes, nights, arguments, source, Path(made))
    note = "CPU time of the process; ratio: p95 over that of the first size"
    at = _base(rows)
    fitted = f"fitted to {' and '.join(format(row['chunks'], ',') for row in rows[at : at + 2])} chunks"
    beyond = [larger(rows, size) for size in BEYOND] if len(rows) > 1 else []
    reports(
        "scale",
        {
            "measured": (rows, note),
            "foretold": (foretelling(rows), fitted),
            "beyond": (beyond, f"{fitted}; what was not measured"),
        },
    )


def _made(home: Path, size: int, arguments: Any, source: Source) -> dict[str, float]:  # noqa: ANN401
    """Seconds that the night's work took on it, when it was first done."""
    mark = home / MARK
    if mark.exists():
        return dict(json.loads(mark.read_text()))
    build(home, size, arguments.tenants, source, arguments.asked)
    took = index(settings_of(home, snapshot_mb=arguments.snapshot_mb))
    mark.write_text(json.dumps(took))
    return took


def _measured(
    homes: Mapping[int, Path],
    nights: Mapping[int, Mapping[str, float]],
    arguments: Any,  # noqa: ANN401 - of the command line
    source: Source,
    scratch: Path,
) -> list[dict[str, Any]]:
    found: dict[int, list[dict[str, Any]]] = {size: [] for size in homes}
    for turn in range(arguments.repeat):
        told = scratch / f"asked-{turn}.json"
        told.write_text(
            json.dumps(
                {
                    "queries": source.queries(arguments.searches + 10, seed=turn),
                    "notes": [source.note(turn * 1_000 + at) for at in range(arguments.saves)],
                    "namespaces": [tenant(at * 37, arguments.tenants) for at in range(arguments.tenants)]
                    if arguments.tenants > 1
                    else [MINE],
                }
            ),
            encoding="utf-8",
        )
        for size, home in homes.items():
            script = Path(__file__).with_name("_scale_child.py")
            found[size].append(child(str(script), home, told, arguments.snapshot_mb))
    rows: list[dict[str, Any]] = []
    for size, done in found.items():
        row = {name: round(float(np.median([one[name] for one in done])), 3) for name in done[0]}
        night = nights[size]
        row["night_s"] = round(sum(value for name, value in night.items() if not name.endswith("_cpu")), 1)
        row["night_cpu_s"] = round(sum(value for name, value in night.items() if name.endswith("_cpu")), 2)
        row["disk_mb"] = round(_bytes(homes[size]) / 2**20, 1)
        first = rows[0] if rows else row
        row["ratio"] = ratio(row["p95_cpu_ms"], first["p95_cpu_ms"], 2)
        rows.append({"chunks": size, "tenants": arguments.tenants, **row})
    return rows


def _bytes(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def foretelling(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the model says of larger sizes than its constants are of; nothing of fewer than three."""
    told = []
    for name in MEASURED if len(rows) > 2 else ():
        line = line_of(rows, name)
        for row in rows[_base(rows) + 2 :]:
            said = line.at(row["chunks"])
            told.append(
                {
                    "figure": name, "chunks": row["chunks"], "foretold": round(said, 2),
                    "measured": row[name], "error": ratio(said - row[name], row[name], 3),
                }
            )  # fmt: skip
    return told


def line_of(rows: Sequence[Mapping[str, Any]], name: str) -> model.Line:
    """A figure by the rows of a home."""
    power, at = model.power_of(name, rows[0]["tenants"]), _base(rows)
    return model.fitted([(row["chunks"], row[name]) for row in rows[at : at + 2]], power)


def _base(rows: Sequence[Mapping[str, Any]]) -> int:
    return model.base([row["chunks"] for row in rows], rows[0]["tenants"], PARTED_FROM)


def larger(rows: Sequence[Mapping[str, Any]], size: int) -> dict[str, Any]:
    """What a home that is too large for this machine would cost, shared by as many tenants."""
    tenants = rows[0]["tenants"]
    home = model.home(
        size, tenants, DIMENSION, search=line_of(rows, "p95_cpu_ms"), disk_mb=line_of(rows, "disk_mb"),
        night_cpu_s=line_of(rows, "night_cpu_s"),
    )  # fmt: skip
    costs = {name: round(value, 1) for name, value in asdict(home).items()}
    return {"chunks": size, "tenants": tenants, **costs}


if __name__ == "__main__":
    main()
