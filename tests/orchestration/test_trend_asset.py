"""Is it getting better, on Dagster's page: numbers with a history, a picture, a sentence."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from warehouse_rows import put

from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.trend import MAX_NAMESPACES, trend
from slowwave.memory import Memory
from slowwave.scoring.days import day_end

MONDAY = date(2026, 3, 2)


@pytest.fixture
def home(memory: Memory, home: Path) -> Path:
    """Two weeks of judged searches, the second one better, and a third one with few."""
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    for week, (questions, after) in enumerate([(20, 0.5), (21, 1.0), (5, 1.0)]):
        effect(memory, "ada", week, questions, after)
    return home


def effect(memory: Memory, namespace: str, week: int, questions: int, after: float) -> None:
    day = f"{MONDAY + timedelta(days=7 * week)}"
    put(memory.store, "learned_effect", [
        {"effect_id": f"{namespace}-{day}-{at}", "day": day, "namespace": namespace,
         "search_id": f"{day}-{at}", "query_id": f"{day}-q{at}", "moved": after != 0.5, "live": after != 0.5,
         "mrr_5": 0.5, "mrr_5_learned": after}
        for at in range(questions)
    ])  # fmt: skip


def told(home: Path, day: str) -> dict[str, Any]:
    """What it tells as a day ends."""
    resources = {"slowwave": SlowwaveResource(home=str(home), now=day_end(day).isoformat())}
    done = dg.materialize([trend], resources=resources)
    assert done.success
    (made,) = done.asset_materializations_for_node("trend")
    return dict(made.metadata)


def test_the_numbers_are_those_of_the_last_week_that_is_over(home: Path) -> None:
    found = told(home, "2026-03-15")
    numbers = {
        name: one.value for name, one in found.items()
        if isinstance(one, dg.FloatMetadataValue | dg.IntMetadataValue)
    }  # fmt: skip
    assert numbers == {
        "namespaces": 1, "ada: changed of judged": 1.0, "ada: HitRate@1 without": 0.0,
        "ada: HitRate@1 with": 1.0, "ada: MRR@5 without": 0.5, "ada: MRR@5 with": 1.0, "ada: questions": 21,
        "ada: applied": 21, "ada: wins": 0, "ada: losses": 0,
    }  # fmt: skip
    assert found["ada: week"].value == "2026-03-09"
    assert found["ada: trend"].value.startswith("better by .500 (.500 to .500) since 2 March 2026")
    assert "| 2026-03-09 | 21 of 0 | 21 | .000 → 1.000 |" in found["ada: weeks"].value
    assert found["ada: by week"].value.startswith("![Weekly trend: ada](data:image/svg+xml;base64,")
    assert found["ada: at a glance"].value.startswith("![MRR@5 by week](data:image/svg+xml;base64,")
    assert len(found["ada: at a glance"].value) < 1_000  # else Dagster shows a link instead
    assert "web UI" not in found


def test_it_links_to_the_web_ui_where_its_address_is_known(home: Path) -> None:
    with (home / "slowwave.toml").open("a") as file:
        file.write('\n[page]\nurl = "https://memory.example.org/"\n')
    assert told(home, "2026-03-15")["web UI"] == dg.MetadataValue.url("https://memory.example.org/trend")


def test_a_past_day_is_told_as_of_its_end(home: Path) -> None:
    found = told(home, "2026-03-14")
    assert found["ada: week"].value == "2026-03-02"  # the second week is not over on its Saturday
    assert found["ada: trend"].value.startswith("too little evidence: 41 questions in 2 weeks")
    assert "2026-03-16" not in told(home, "2026-03-15")["ada: weeks"].value


def test_a_week_with_too_few_questions_gives_no_number_to_draw(home: Path) -> None:
    found = told(home, "2026-03-22")
    assert found["ada: week"].value == "2026-03-16"
    assert found["ada: questions"].value == 5
    assert not [name for name in found if "MRR" in name or "HitRate" in name]


def test_after_a_week_without_searches_no_older_number_is_drawn_in_its_place(home: Path) -> None:
    found = told(home, "2026-03-29")
    assert not [name for name, one in found.items() if isinstance(one, dg.FloatMetadataValue)]
    assert "| 2026-03-16 |" in found["ada: weeks"].value


def test_of_many_namespaces_those_with_the_most_judged_searches_are_told(home: Path, memory: Memory) -> None:
    for at in range(MAX_NAMESPACES + 1):
        effect(memory, f"team-{at}", 0, at + 1, 0.5)
    found = told(home, "2026-03-15")
    assert found["namespaces"].value == MAX_NAMESPACES + 2
    named = {name.partition(":")[0] for name in found} - {"namespaces"}
    assert named == {"ada", *(f"team-{at}" for at in range(2, MAX_NAMESPACES + 1))}


def test_it_has_no_days() -> None:
    assert trend.partitions_def is None
