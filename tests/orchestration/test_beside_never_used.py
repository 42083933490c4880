"""The Dagster check that warns where searches are worse than in a memory that nobody used (rule 8.3)."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from question_life import put_effect

from slowwave.assets.resources import SlowwaveResource
from slowwave.memory import Memory
from slowwave.orchestration.checks import beside_never_used
from slowwave.scoring.feedback.learned import KEYS, RATINGS, USE

DAY = "2026-03-10"


@pytest.fixture(autouse=True)
def _settings(memory: Memory, home: Path) -> None:
    """The home has a settings file; the tests write the judged searches of its namespace ``ada``."""
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')


def check(home: Path, now: str = "2026-03-12T03:00:00+00:00") -> dg.AssetCheckResult:
    found = beside_never_used(SlowwaveResource(home=str(home), now=now))
    assert isinstance(found, dg.AssetCheckResult)
    return found


def worse(found: dg.AssetCheckResult) -> int:
    value = found.metadata["significantly worse"].value
    assert isinstance(value, int)
    return value


def test_a_home_without_judged_searches_passes(home: Path) -> None:
    found = check(home)
    assert (found.passed, worse(found)) == (True, 0)
    assert found.description == "No namespace is significantly worse."


@pytest.mark.parametrize("kind", [RATINGS, USE])
def test_it_warns_where_use_makes_searches_surely_worse(memory: Memory, home: Path, kind: str) -> None:
    put_effect(memory.store, DAY, kind=kind)
    put_effect(memory.store, DAY, "bob", kind=kind, after=0.9)
    found = check(home)
    assert not found.passed
    assert found.severity == dg.AssetCheckSeverity.WARN
    assert worse(found) == 2  # of all answers, and of those without feedback
    assert found.description is not None
    assert f"ada, {kind}, answers all: -0.300" in found.description
    assert "bob" not in found.description
    assert "ada" in str(found.metadata["compared"].value)
    assert check(home, now="2026-03-09T03:00:00+00:00").passed  # as of a day on which it was not known


@pytest.mark.parametrize(
    "rows",
    [{"after": 0.8}, {"after": 0.5}, {"moved": False}, {"questions": 1}, {"kind": KEYS, "moved": False}],
)
def test_what_is_not_surely_worse_passes(memory: Memory, home: Path, rows: dict) -> None:
    put_effect(memory.store, DAY, **{"kind": USE, **rows})
    assert check(home).passed


def test_harm_to_answers_without_feedback_is_not_outweighed_by_the_others(memory: Memory, home: Path) -> None:
    put_effect(memory.store, DAY, kind=USE, after=1.0, searches=60, questions=60, rated=True)
    put_effect(memory.store, "2026-03-11", kind=USE, after=0.2)
    found = check(home)
    assert worse(found) == 1
    assert found.description is not None
    assert found.description.startswith("ada, use, answers ")
