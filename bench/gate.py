"""Refusals of the save gate by each of its presets, and its cost.

    python bench/gate.py --vault FOLDER --data FOLDER

Refused: the share of real texts and of junk, by source and kind, with its 95 % interval (Wilson), by the
presets `applicable` and `seeds`, as a save over the API gives them: without a title, tags or front matter;
the vaults with what their files have. "titled" junk has a long title and three tags. The reasons are those of
`applicable`.

Cost, in processor time: `one note` is the median over ``--repeat`` calls on the same note of a few hundred
characters, in milliseconds; `batch` is the best of three passes over all notes of the folder, in notes per
second. Nothing is embedded and nothing is stored: duplicates are decided later, with vectors.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from _data import lines
from _junk import KINDS
from _notes import MAX_BYTES, vault_notes
from _report import UnusableError, bench, existing_folder, options, positive, ratio, reports
from _talk import (
    FACTS,
    FILLER,
    FIRST_TALK,
    LAST_FILLER,
    LAST_NOTICES,
    NOTICES,
    OUTPUT,
    PROMPTS,
    SECOND_FILLER,
    SECOND_NOTICES,
    TALK,
)  # fmt: skip

from slowwave.journal.entry_builders import entries_frame, save_entry
from slowwave.notes.arguments import note_of
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes
from slowwave.quality.content import parts_of
from slowwave.quality.density import signal_density
from slowwave.quality.gate import GatePolicy, judge
from slowwave.quality.junk import junk_reasons
from slowwave.quality.structure import structure_faults
from slowwave.scoring.intervals import wilson
from slowwave.store import staging

POLICY = GatePolicy()
PARTS: dict[str, Callable[[pl.DataFrame], object]] = {
    "judge": lambda notes: judge(notes, POLICY),
    "structure": lambda notes: structure_faults(notes, min_characters=POLICY.least_characters),
    "content (with density)": lambda notes: parts_of(notes, "applicable"),
    "density": lambda notes: [signal_density(text or "") for text in notes["content"]],
    "junk": junk_reasons,
}
SHORT = b"""# Pump on the north pier

The pump on the north pier was serviced on 14 March; since then it runs at half speed, because the new
impeller is one size too large. Ishbel has the papers; the spare one lies in the blue tin.

- order the small impeller before the autumn
- tell the harbour office when the pump is off
"""
MOMENT = datetime(2026, 3, 14, tzinfo=UTC)


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--vault", type=existing_folder, required=True, help="folder of notes")
    parser.add_argument("--repeat", type=positive, default=200, help="calls on the one note")
    parser.add_argument("--data", type=existing_folder, help="folder with retrieval/ and pairs/")
    parser.add_argument("--sample", type=positive, default=1_500, help="most texts of a source")
    parser.add_argument("--no-cost", action="store_true", help="only what is refused")
    parser.add_argument("--each", type=positive, default=40, help="generated junk texts per kind and length")
    arguments = parser.parse_args(argv)
    if not arguments.data and arguments.no_cost:
        parser.error("--no-cost leaves nothing to measure without --data")
    notes = vault_notes(arguments.vault)
    tables = {}
    if arguments.data:
        tables["refused"] = refused(notes, arguments)
    if not arguments.no_cost:
        tables["cost"] = cost(notes, arguments.repeat)
    reports("gate", tables)


def cost(notes: Sequence[Note], repeat: int) -> tuple[list[dict[str, Any]], str]:
    """What judging takes, and of what."""
    one = staged(
        [note for note in read_notes(SHORT, "pump.md", max_bytes=MAX_BYTES) if isinstance(note, Note)]
    )
    batch = staged(notes)
    rows: list[dict[str, Any]] = []
    for part, run in PARTS.items():
        alone = statistics.median(_seconds(run, one, repeat))
        best = min(_seconds(run, batch, 3))
        rows.append(
            {
                "part": part,
                "one note ms": round(alone * 1e3, 3),
                "batch s": round(best, 3),
                "batch notes/s": ratio(batch.height, best, 0),
            }
        )
    length = batch["content"].str.len_chars().mean()
    note = f"one note: {len(SHORT)} characters; batch: {batch.height:,} notes of {length:,.0f} on average"
    return rows, note


def refused(notes: list[Note], given: argparse.Namespace) -> tuple[list[dict[str, Any]], str]:
    """What each preset refuses."""
    rng = random.Random(0)
    rows = []
    texts = real(given.data, given.sample, rng) | {f"real: vault {given.vault.name}": notes}
    for kind, some in {**texts, **junk(rng, given.each)}.items():
        if not some:
            continue
        frame = staged(some)
        row: dict[str, Any] = {"kind": kind, "n": frame.height}
        for formula in ("applicable", "seeds"):
            judged = judge(frame, GatePolicy(score=formula))
            count = int((judged["verdict"] == "refuse").sum())
            low, high = wilson(count, frame.height)
            row[formula] = f"{count / frame.height:.2%} ({low:.2%}-{high:.2%})"
            if formula == "applicable":
                told = judged["reasons"].explode().drop_nulls().value_counts(sort=True)
                row["reasons"] = ", ".join(f"{name} {times}" for name, times in told.rows())
        rows.append(row)
    return rows, f"at most {given.sample:,} texts of a source"


def real(data: Path, sample: int, rng: random.Random) -> dict[str, list[Note]]:
    """Real texts by source."""
    texts: dict[str, list[str]] = {"terse facts": list(FACTS), "short facts, unseen": unseen("fact")["fact"]}
    corpora, tables = sorted(data.glob("retrieval/*/corpus.jsonl")), sorted(data.glob("pairs/*.tsv"))
    if not corpora and not tables:
        raise UnusableError(f"{data} has neither retrieval/*/corpus.jsonl nor pairs/*.tsv")
    for folder in (file.parent for file in corpora):
        rows = [row for row in lines(folder / "corpus.jsonl", "text") if row["text"].strip()]
        for role in sorted({row.get("role", "") for row in rows}):
            name = f"{folder.name} {role}".strip()
            texts[name] = [row["text"] for row in rows if row.get("role", "") == role]
        if folder.name == "locomo_dev":
            texts["locomo_dev, bare turns"] = [_STAMP.sub("", text) for text in texts[folder.name]]
    for file in tables:
        pairs = [line.split("\t")[-2:] for line in file.read_text(encoding="utf-8").splitlines()[1:]]
        texts[f"sentences of {file.stem}"] = sorted({text for pair in pairs for text in pair})
    return {
        f"real: {name}": [
            note_of({"content": text}, fallback_key=f"saved/{at}")
            for at, text in enumerate(rng.sample(every, min(sample, len(every))))
        ]
        for name, every in texts.items()
    }


def junk(rng: random.Random, each: int) -> dict[str, list[Note]]:
    """Junk by kind: generated at several lengths, and as people and programs leave it."""
    texts = {
        f"{kind}, {'200 and more' if long else '50 to 120'}": [
            make(rng, length, scripts[at % len(scripts)]) for length in lengths for at in range(each)
        ]
        for kind, (make, scripts) in KINDS.items()
        for long, lengths in ((False, (50, 80, 120)), (True, (200, 500, 1_000, 5_000)))
    }
    texts |= {
        "talk, looked at": list(FIRST_TALK), "talk": list(TALK), "filler sentences": list(FILLER),
        "filler sentences, second": list(SECOND_FILLER), "filler sentences, last": list(LAST_FILLER),
        "notices of pages": list(NOTICES), "notices of pages, second": list(SECOND_NOTICES),
        "notices of pages, last": list(LAST_NOTICES), "output": list(OUTPUT), "prompts": list(PROMPTS),
    }  # fmt: skip
    texts |= {f"short, unseen: {kind}": every for kind, every in unseen("junk").items()}
    labels = {"bare": {}, "titled": {"title": TITLE, "tags": ["harbour", "pump", "papers"]}}
    return {
        f"junk, {name}: {kind}": [
            note_of({"content": text, **given}, fallback_key=f"saved/{at}") for at, text in enumerate(every)
        ]
        for name, given in labels.items()
        for kind, every in texts.items()
    }


def unseen(label: str) -> dict[str, list[str]]:
    """Short texts that no rule was chosen with, by kind; facts are one, talk in other languages another."""
    found: dict[str, list[str]] = {}
    for one in lines(Path(__file__).with_name("short.jsonl")):
        if one["label"] == label:
            kind = one["kind"] if one["language"] == "en" else f"{one['kind']}, fifteen languages"
            found.setdefault(label if label == "fact" else kind, []).append(one["text"])
    return found


TITLE = "How the pump on the north pier is serviced, and where its papers are kept"
_STAMP = re.compile(r"^\[.*?\] \w+: ")


def staged(notes: Sequence[Note]) -> pl.DataFrame:
    """Notes as the gate gets them."""
    return staging.stage(
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
        start = time.process_time()
        run(notes)
        took.append(time.process_time() - start)
    return took


if __name__ == "__main__":
    main()
