"""What the save gate costs: one short note, and a night's batch, as a whole and by layer.

    python bench/gate.py --vault FOLDER [--repeat N]

`one note` is the median over ``--repeat`` calls on the same note of a few hundred characters, in
milliseconds; `batch` is the best of three passes over all notes of the folder, in notes per second. Nothing
is embedded and nothing is stored: duplicates are decided later, with vectors.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from _report import report

from quality.content import content_scores
from quality.density import signal_density
from quality.gate import GatePolicy, judge
from quality.junk import junk_reasons
from quality.structure import structure_faults
from slowwave import stages
from slowwave.entries import entries_frame, save_entry
from slowwave.notes.folder import iter_vault
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes

POLICY = GatePolicy()
PARTS: dict[str, Callable[[pl.DataFrame], object]] = {
    "judge": lambda notes: judge(notes, POLICY),
    "structure": lambda notes: structure_faults(notes, min_characters=POLICY.min_characters),
    "content (with density)": content_scores,
    "density": lambda notes: [signal_density(text or "") for text in notes["content"]],
    "junk": junk_reasons,
}
SHORT = b"""# Pump on the north pier

The pump on the north pier was serviced on 14 March; since then it runs at half speed, because the new
impeller is one size too large. Ishbel has the papers; the spare one lies in the blue tin.

- order the small impeller before the autumn
- tell the harbour office when the pump is off
"""
MAX_BYTES = 4 << 20
MOMENT = datetime(2026, 3, 14, tzinfo=UTC)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vault", type=Path, required=True, help="folder of notes")
    parser.add_argument("--repeat", type=int, default=200, help="calls on the one note")
    arguments = parser.parse_args()
    one = staged(
        [note for note in read_notes(SHORT, "pump.md", max_bytes=MAX_BYTES) if isinstance(note, Note)]
    )
    batch = staged(
        [
            note
            for file in iter_vault(arguments.vault)
            for note in read_notes(file.path.read_bytes(), file.source, max_bytes=MAX_BYTES)
            if isinstance(note, Note)
        ]
    )
    rows: list[dict[str, Any]] = []
    for part, run in PARTS.items():
        alone = statistics.median(_seconds(run, one, arguments.repeat))
        best = min(_seconds(run, batch, 3))
        rows.append(
            {
                "part": part,
                "one note ms": round(alone * 1e3, 3),
                "batch s": round(best, 3),
                "batch notes/s": round(batch.height / best),
            }
        )
    length = batch["content"].str.len_chars().mean()
    note = f"one note: {len(SHORT)} characters; batch: {batch.height:,} notes of {length:,.0f} on average"
    report("gate", rows, note=note)


def staged(notes: Sequence[Note]) -> pl.DataFrame:
    """Notes as the gate gets them."""
    return stages.stage(
        entries_frame(
            [
                save_entry(
                    note, namespace="bench", source=note.source, origin="", occurred_at=MOMENT,
                    principal="bench", event_id=f"{number:08}",
                )
                for number, note in enumerate(notes)
            ]
        )
    )  # fmt: skip


def _seconds(run: Callable[[pl.DataFrame], object], notes: pl.DataFrame, times: int) -> list[float]:
    run(notes)
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run(notes)
        took.append(time.perf_counter() - start)
    return took


if __name__ == "__main__":
    main()
