"""Every script of bench/ runs on a handful of rows of other data and ends with one line of JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_data as made
import pytest

BENCH = Path(__file__).parents[2] / "bench"
SCRIPTS = sorted(path.stem for path in BENCH.glob("*.py") if not path.name.startswith("_"))
FAST = ("--model", "wordllama-256")
SENTENCES = [
    {"language": "Finnish", "text": "Nosturi on vihreä."},
    {"language": "Latin", "text": "Navis abiit."},
]
Argv = Callable[[Path], tuple[object, ...]]

SMOKE: dict[str, Argv] = {
    "abstention": lambda at: ("--data", made.harbour(at / "harbour"), made.chats(at / "chats"), *FAST),
    "answers": lambda at: (
        "--data", made.answers(at / "a.jsonl"), "--collection", made.harbour(at / "harbour"), *FAST
    ),
    "asked": lambda at: ("--notes", 3, "--times", 1, *FAST),
    "attack": lambda at: (
        "--data", made.harbour(at / "harbour"), "--attackers", 1, "--people", 3, "--days", 1, "--targets", 1,
        "--others", 2, "--what", "both", "--quick",
    ),
    "backup": lambda at: ("--notes", 3, "--searches", 1),
    "context_types": lambda _: ("--no-judge", *FAST),
    "contrast": lambda at: ("--data", made.shared(at / "shared"), "--each", 1, "--show", 1),
    "lookalikes": lambda _: ("--each", 1, "--show", 1),
    "density": lambda at: (
        "--vault", made.vault(at / "vault"), "--xquad", made.harbour(at / "harbour"), "--each", 1
    ),
    "distributed": lambda at: ("--model", "wordllama-256", "--texts", 8, "--workers", 1, "--rounds", 1),
    "embedding": lambda at: ("--questions", 1, "--documents", 2),
    "engines": lambda at: ("--chunks", "300", "--searches", 2, "--writes", 1),
    "evaluate": lambda at: ("--queries", 4, "--candidates", 5, "--repeat", 1),
    "factions": lambda _: ("--sides", "1:3"),
    "feedback": lambda at: ("--days", 2, "--events", 20, "--no-daily"),
    "handed": lambda at: (
        "--data", made.cases(at / "cases"), "--retrieval", made.harbour(at / "harbour"), *FAST
    ),
    "gate": lambda at: (
        "--vault", made.vault(at / "vault"), "--data", made.shared(at / "shared"), "--each", 1, "--repeat", 2
    ),
    "ingest": lambda at: (
        "--vault", made.vault(at / "vault"), "--notes", 2, "--lines", "night", "save_many", *FAST
    ),
    "injuries": lambda at: (
        "--vault", made.vault(at / "vault"), "--notes", 2, "--kinds", "tabs,second block,UTF-16", *FAST
    ),
    "journal": lambda at: (
        "--databases", "sqlite", "--acts", "feedback", "--processes", 1, "--writes", 5, "--entries", 3
    ),
    "judge": lambda at: (
        "--data", made.harbour(at / "harbour", made.THINGS[:3]), "--queries", 2, *FAST,
        *zip_esci(at / "esci"),
    ),
    "languages": lambda at: ("--sentences", made.lines(at / "sentences.jsonl", SENTENCES), *FAST),
    "latency": lambda at: (
        "--chunks", "7,12", "--searches", 2, "--processes", 1, "--pause", 0, *FAST
    ),
    "learned_overhead": lambda at: ("--what", "both", "--quick", *FAST),
    "learning": lambda at: (
        "--data", made.harbour(at / "harbour"), "--days", 2, "--per-day", 3, "--wrong", 0.2, "--needs", 3,
        "--people", 2, "--what", "both",
    ),
    "learning_fit": lambda at: (
        "--data", made.harbour(at / "harbour"), "--quick", "--kinds", "chance", "--days", 42, *FAST,
    ),
    "mcp_load": lambda at: ("--saves", 2, "--bytes", 2_000, "--searches", 2),
    "month": lambda at: ("--data", made.harbour(at / "harbour"), "--days", 2, "--per-day", 2, *FAST),
    "odd_calls": lambda at: ("--calls", 25, *FAST),
    "one_person": lambda at: (
        "--data", made.harbour(at / "harbour"), "--days", 2, "--per-day", 3, "--needs", 3, "--questions", 4,
        "--rest", "text", "--measure", "1,2", "--nightly", "--what", "keys", *FAST,
    ),
    "page": lambda at: ("--chunks", "30", "--times", 1),
    "pairs": lambda at: ("--pairs", *made.pairs(at / "pairs"), "--show", 1, *FAST),
    "partitions": lambda at: ("--chunks", "60,120", "--per-root", "1,2", "--questions", 3),
    "peers": lambda at: (
        "--here", "--peers", "slowwave,bm25s", "--chunks", 30, "--rounds", 2, "--searches", 2, "--saves", 1,
        "--seconds", 1, "--starts", 1, "--one-by-one", 2, "--data", made.harbour(at / "harbour"), *FAST,
    ),
    "reconsolidate": lambda at: ("--memories", 30, "--notes", "2,3"),
    "retrieval": lambda at: ("--data", made.harbour(at / "harbour"), made.chats(at / "chats"), *FAST),
    "tenants": lambda at: ("--tenants", "2,3", "--rows", 2),
    "round_trip": lambda _: ("--memories", 30, *FAST),
    "bulk_parts": lambda _: ("--texts", 20, "--rounds", 1),
    "save_parts": lambda _: ("--chunks", "16", "--saves", 2),
    "scale": lambda at: ("--chunks", "8,16,24", "--searches", 2, "--saves", 2, "--repeat", 1),
    "selections": lambda at: ("--seeds", 1, "--queries", 4, "--searches", 5, "--days", 2),
    "server": lambda at: ("--notes", 3, "--times", 1, *FAST),
    "shadow_logging": lambda at: ("--data", made.chats(at / "chats")),
    "soak": lambda at: ("--one-by-one", 10, "--folder", at),
    "sparse": lambda at: ("--places", 1, "--words", 50, *FAST),
    "unknown": lambda at: ("--count", 3, "--data", made.harbour(at / "harbour"), *FAST),
    "up_killed": lambda _: ("--times", 1, "--writers", 1),
    "updates": lambda at: ("--data", made.chats(at / "chats"), "--show", 1, *FAST),
    "verdicts": lambda at: ("--trials", 8, "--draws", 50, "--sizes", "3,9", "--effects", 0, 0.2),
    "votes": lambda at: ("--data", made.harbour(at / "harbour"), "--quick", "--days", 7, *FAST),
    "watched": lambda at: ("--notes", 30, "--times", 2),
    "wakeup": lambda at: ("--notes", 5, "--times", 2),
    "when": lambda at: ("--data", made.chats(at / "chats"), *FAST),
}  # fmt: skip
"""A call of each script that takes a second or few."""

SLOW = {
    "abstention", "attack", "distributed", "embedding", "engines", "evaluate", "factions", "feedback", "gate",
    "ingest", "injuries", "journal", "judge", "latency", "learned_overhead", "learning", "mcp_load", "month",
    "odd_calls", "one_person", "page", "peers", "server", "soak", "up_killed", "updates", "watched",
}  # fmt: skip
"""Those that start processes, run nights, fill several homes or load a second model."""


def zip_esci(folder: Path) -> tuple[object, ...]:
    """Options that name made judgments of products."""
    judgments, products = made.esci(folder)
    return "--esci", judgments, "--products", products


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SCRIPTS]
)
@pytest.mark.soak
def test_a_script_runs_on_a_handful_of_rows(
    name: str, run: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    assert name in SMOKE, f"bench/{name}.py is new: add a call of it to SMOKE"
    said = run(name, *SMOKE[name](tmp_path))

    tables = said["tables"] if "tables" in said else {name: said["rows"]}
    assert tables
    for title, rows in tables.items():
        assert rows or name == "month", title  # no cycle closes within two days
        assert all(isinstance(row, dict) and row for row in rows)
    lost = {name: count for name, count in said.get("totals", {}).items() if name in ("lost", "doubled")}
    assert not any(lost.values()), lost


def test_every_call_is_of_a_script() -> None:
    assert sorted(SMOKE) == SCRIPTS
    assert set(SCRIPTS) >= SLOW
