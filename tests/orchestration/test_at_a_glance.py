"""The control room as an asset: numbers with a history by day, and how things stand where that is now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from warehouse_rows import put

from slowwave.assets.overview import at_a_glance
from slowwave.assets.resources import SlowwaveResource
from slowwave.memory import Memory
from slowwave.quality.learning_gate import APPROVAL, CONDITIONS
from slowwave.scoring.measures import NDCG
from slowwave.views import overview

FIRST, LAST = "2026-03-01", "2026-03-03"
RANGE = {"dagster/asset_partition_range_start": FIRST, "dagster/asset_partition_range_end": LAST}
THEN = "2026-03-04T03:00:00+00:00"


@pytest.fixture
def days(memory: Memory, home: Path) -> Path:
    """Three days: of the second one a note was refused, and of the last one searches were judged."""
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    note = {"memory_id": "m", "revision": "r", "day": "2026-03-02", "reasons": ["too_short"]}
    put(memory.store, "gate_verdicts", [note | {"verdict": "refuse"}])
    put(memory.store, "quarantine", [note | {"status": "held"}])
    put(memory.store, "searches", [
        {"search_id": f"s{at}", "day": LAST, "namespace": "ada", "abstained": at == 0} for at in range(3)
    ])  # fmt: skip
    put(memory.store, "evaluation_scores", [
        {"day": LAST, "namespace": "ada", "search_id": f"s{at}",
         "query_id": f"q{at}", "variant": variant, NDCG.column: value}
        for variant, values in {"logged": (1.0, 0.5), "BM25 alone": (0.0, 0.0)}.items()
        for at, value in enumerate(values, start=1)
    ])  # fmt: skip
    return home


def told(home: Path, now: str = THEN, **run: Any) -> dict[str, dict[str, Any]]:
    """The metadata of each partition of a run."""
    resources = {"slowwave": SlowwaveResource(home=str(home), now=now)}
    done = dg.materialize([at_a_glance], resources=resources, **run)
    assert done.success
    return {
        str(one.partition): dict(one.metadata) for one in done.asset_materializations_for_node("at_a_glance")
    }


def numbers(metadata: dict[str, Any]) -> dict[str, int | float]:
    """Those that the page draws."""
    found = (dg.IntMetadataValue, dg.FloatMetadataValue)
    return {name: one.value for name, one in metadata.items() if isinstance(one, found)}


def test_each_day_of_a_backfill_has_its_own_numbers_and_what_is_now_belongs_to_the_last(days: Path) -> None:
    found = told(days, tags=RANGE)
    assert list(found) == [FIRST, "2026-03-02", LAST]
    by_day = {day: numbers(metadata) for day, metadata in found.items()}
    assert [by_day[day][overview.REFUSED] for day in found] == [0, 1, 0]
    assert [by_day[day][overview.SEARCHES] for day in found] == [0, 0, 3]
    assert [by_day[day].get(overview.QUALITY) for day in found] == [None, None, 0.75]
    assert [by_day[day].get(overview.HELD) for day in found] == [None, None, 1]
    assert set(by_day[LAST]) == {*overview.BY_DAY, *overview.NOW}
    assert isinstance(found[LAST][overview.QUALITY], dg.FloatMetadataValue)
    assert isinstance(found[LAST][overview.REFUSED], dg.IntMetadataValue)
    assert next(iter(found[LAST])) == "in a line"  # the page keeps the order
    assert found[LAST]["in a line"].value.startswith("0 memories; 1 item for a person to decide")
    assert found[LAST]["what to do"].value.startswith("1 note in quarantine: slowwave quarantine list")


def test_a_day_that_is_run_again_later_has_nothing_of_the_moment(days: Path) -> None:
    found = told(days, "2026-03-20T03:00:00+00:00", partition_key=LAST)
    assert set(numbers(found[LAST])) == set(overview.BY_DAY)
    assert "what to do" not in found[LAST]


def test_a_day_that_is_run_again_keeps_how_things_stood_then(memory: Memory, days: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        then = numbers(told(days, partition_key=LAST, instance=instance)[LAST])
        memory.save("The lamp on the pier is red since the storm of last winter.", key="lamp")
        for _ in range(2):  # also from a run that kept it
            later = told(days, "2026-03-20T03:00:00+00:00", tags=RANGE, instance=instance)
            assert {name: numbers(later[LAST])[name] for name in overview.NOW} == {
                name: then[name] for name in overview.NOW
            }
            assert set(numbers(later[FIRST])) <= set(overview.BY_DAY)
            assert "what to do" not in later[LAST]  # that was to do then


def test_a_run_of_a_range_and_runs_of_its_days_tell_the_same(days: Path) -> None:
    whole = told(days, tags=RANGE)
    for day in (FIRST, "2026-03-02", LAST):
        alone = told(days, partition_key=day)[day]
        assert {name: numbers(alone)[name] for name in overview.BY_DAY if name in numbers(alone)} == {
            name: value for name, value in numbers(whole[day]).items() if name in overview.BY_DAY
        }


def test_a_gate_that_lacks_a_persons_word_waits_for_it(memory: Memory, days: Path) -> None:
    now = datetime.now(UTC)
    put(memory.store, "learning_gate", [
        {"day": f"{now:%F}", "kind": "words", "condition": name,
         "state": "insufficient" if name == APPROVAL else "open"}
        for name in CONDITIONS
    ])  # fmt: skip
    found = told(days, now.isoformat(), partition_key=f"{now:%F}")[f"{now:%F}"]
    assert numbers(found)[overview.APPROVALS] == 1
    assert "then the job approve_learning" in found["what to do"].value


def test_a_failed_run_counts_until_one_for_the_same_days_succeeds(days: Path) -> None:
    broken = {"it": True}

    @dg.asset(partitions_def=at_a_glance.partitions_def)
    def fragile() -> None:
        if broken["it"]:
            raise RuntimeError("no")

    now = datetime.now(UTC) + timedelta(minutes=1)
    day = f"{now:%F}"

    def failed() -> int:
        with_it = told(days, now.isoformat(), partition_key=day, instance=instance)
        return int(numbers(with_it[day])[overview.RUNS])

    with dg.DagsterInstance.ephemeral() as instance:
        assert failed() == 0
        for _ in range(2):
            dg.materialize([fragile], partition_key=day, instance=instance, raise_on_error=False)
        other = f"{now - timedelta(days=1):%F}"
        broken["it"] = False
        dg.materialize([fragile], partition_key=other, instance=instance)
        assert failed() == 1
        dg.materialize([fragile], partition_key=day, instance=instance)
        assert failed() == 0
