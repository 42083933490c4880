from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import polars as pl
import pytest

from slowwave.quality.contract import (
    BATCH_SCHEMA,
    CHECKS,
    ContractResult,
    run_contract,
    write_data_docs,
)  # fmt: skip
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.structure import KNOWN_WORDS

SOUND = {
    "day": "2026-03-01",
    "namespace": "ada",
    "title": "A title",
    "content": "x" * 60,
    "characters": 60,
    "source": "notes/a.md",
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
    "created_at": datetime(2026, 3, 1, tzinfo=UTC),
    "quality_score": 0.7,
}
NAMES = [check.name for check in CHECKS]


def batch(*changes: dict[str, object]) -> pl.DataFrame:
    rows = [
        {
            **SOUND,
            "staged_id": f"2026-03-01:{number}",
            "memory_id": f"m{number}",
            **change,
        }
        for number, change in enumerate(changes)
    ]
    return pl.DataFrame(rows, schema=BATCH_SCHEMA)


SEEDS = GatePolicy(score="seeds")


def passed(found: ContractResult) -> bool:
    return all(check.passed or check.severity == "warn" for check in found.checks)


def broken(frame: pl.DataFrame, *, enforced: bool = True, **limits: float) -> list[str]:
    found = run_contract(frame, GatePolicy(score="seeds", **limits), enforced=enforced)
    assert [check.name for check in found.checks] == NAMES
    return [check.name for check in found.checks if not check.passed]


EDGES = [
    {},
    {"namespace": "ünï/日本.a-b_c"},
    {"title": "日"},
    {"characters": 50},
    {"source": "📎/clip 🌊.md"},
    {"source": "a..b/.../..c"},
    {"source": "facts.jsonl#x"},
    {"quality_score": 0.4},
    {"quality_score": None},
    {"quality_score": 1.0},
]
FAULTS = [
    ("unique_id", {"staged_id": "2026-03-01:0"}),
    *(("namespace_is_valid", {"namespace": bad}) for bad in ("", None, "-a", "a b", "a\n", "a'b")),
    *(("title_is_given", {"title": bad}) for bad in ("", " \n\u00a0", None)),
    *(("content_is_long_enough", {"characters": bad}) for bad in (49, 0, None)),
    *(
        ("path_is_relative", {"source": bad})
        for bad in (
            "", None, "/a", "\\a", "C:/a", "..", "../a", "a/../b", "a\\..", "a\nb", "a\n", "a\x85", "x\n/..",
        )
    ),
    ("creation_is_known", {"created_at": None}),
    *((f"{label}_is_known", {label: bad}) for label in KNOWN_WORDS for bad in ("vital!", None)),
    *(("score_is_high_enough", {"quality_score": bad}) for bad in (0.39, -1.0, 1.1)),
]  # fmt: skip


@pytest.mark.slow
def test_sound_notes_keep_the_contract():
    assert broken(batch(*EDGES)) == []


@pytest.mark.slow
def test_each_check_finds_its_fault_and_no_other():
    wrong = {}
    for name in dict.fromkeys(name for name, _ in FAULTS):
        faults = [fault for other, fault in FAULTS if other == name]
        found = run_contract(batch({}, *faults), SEEDS, enforced=True)
        failed = [check for check in found.checks if not check.passed]
        counted = len(faults) + (name == "unique_id")  # what is doubled counts on both sides
        if [(check.name, check.unexpected) for check in failed] != [(name, counted)]:
            wrong[name] = failed
    assert wrong == {}
    assert {name for name, _ in FAULTS} == set(NAMES)


def test_a_result_says_how_many_and_shows_some():
    frame = batch({}, *({"title": " ", "source": "/a"} for _ in range(9)))
    found = {check.name: check for check in run_contract(frame, SEEDS, enforced=True).checks}
    path = found["path_is_relative"]
    assert (path.unexpected, path.unexpected_percent) == (9, 90.0)
    assert path.examples == tuple((f"2026-03-01:{number}", "/a") for number in range(1, 6))
    assert path.expectation == "expect_column_values_to_match_regex"
    assert path.description == "A path is relative, has no '..' part and no control characters."
    assert found["unique_id"].examples == ()


def test_rules_of_the_gate_are_warnings_until_it_enforces():
    frame = batch({}, {"title": "", "namespace": "ada"})
    for enforced in (False, True):
        found = run_contract(frame, SEEDS, enforced=enforced)
        assert passed(found) is not enforced
        severities = {check.name: check.severity for check in found.checks}
        assert {severities.pop("unique_id"), severities.pop("namespace_is_valid")} == {"error"}
        assert set(severities.values()) == {"error" if enforced else "warn"}
    assert not passed(run_contract(batch({"namespace": "-"}), SEEDS, enforced=False))


def test_the_limits_are_the_policy_s():
    frame = batch({"characters": 10, "quality_score": 0.2})
    assert broken(frame) == ["content_is_long_enough", "score_is_high_enough"]
    assert broken(frame, min_characters=10, min_quality=0.2) == []


def test_an_empty_batch_keeps_the_contract():
    found = run_contract(batch(), SEEDS, enforced=True)
    assert (found.notes, passed(found)) == (0, True)
    assert [(check.passed, check.unexpected) for check in found.checks] == [(True, 0)] * len(CHECKS)
    full = run_contract(batch({}), SEEDS, enforced=True)
    assert [check.expectation for check in found.checks] == [check.expectation for check in full.checks]


def test_day_and_score_may_be_missing_and_nothing_else():
    assert broken(batch({}, {}).drop("day", "quality_score")) == []
    with pytest.raises(ValueError, match="no column source, state"):
        run_contract(batch({}).drop("source", "state"), SEEDS, enforced=True)


def test_the_library_is_not_loaded_before_a_batch_is_checked():
    code = (
        "import sys, polars as pl\n"
        "from slowwave.quality.contract import BATCH_SCHEMA, CHECKS, run_contract\n"
        "from slowwave.quality.gate_policy import GatePolicy\n"
        "assert [check.name for check in CHECKS]\n"
        "assert run_contract(pl.DataFrame(schema=BATCH_SCHEMA), GatePolicy(), enforced=True).checks\n"
        "heavy = {'great_expectations', 'pandas', 'dagster', 'lancedb', 'slowwave.store'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_batch_is_checked_in_silence(capfd):
    run_contract(batch({}, {"title": ""}), SEEDS, enforced=True)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_contract_is_written_as_pages(tmp_path):
    page = write_data_docs(batch({}, {"title": ""}), tmp_path / "docs", SEEDS, enforced=False)
    assert page == tmp_path / "docs" / "index.html"
    assert "batch contract" in page.read_text()
    pages = "".join(one.read_text() for one in (tmp_path / "docs" / "validations").rglob("*.html"))
    assert "A title is not blank." in pages
