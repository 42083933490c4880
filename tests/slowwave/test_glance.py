"""The numbers of the control room: what each day brought, how things stand, and what a person can do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from slowwave.quality.learning_gate import CONDITIONS
from slowwave.scoring.measures import NDCG
from slowwave.views import overview

DAYS = ["2026-03-01", "2026-03-02", "2026-03-03"]


def frames(**more: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What is known of no day."""
    text, flag = pl.String, pl.Boolean
    empty = {
        "memories": pl.DataFrame(schema={"created_at": pl.Datetime("us", "UTC")}),
        "notes": pl.DataFrame(schema={"day": text, "refused": flag, "would": flag}),
        "searches": pl.DataFrame(schema={"day": text, "abstained": flag}),
        "scores": pl.DataFrame(schema={"day": text, NDCG.column: pl.Float64}),
        "gates": pl.DataFrame(schema=dict.fromkeys(("day", "namespace", "kind", "condition", "state"), text)),
    }
    return empty | more


def gate(day: str, namespace: str, kind: str = "words", **states: str) -> pl.DataFrame:
    """A learning gate of a day, which is open but for these conditions."""
    rows = [(day, namespace, kind, name, states.get(name, "open")) for name in CONDITIONS]
    return pl.DataFrame(rows, schema=["day", "namespace", "kind", "condition", "state"], orient="row")


def test_a_day_of_which_nothing_is_known_has_counts_of_nothing_and_no_quality() -> None:
    told = overview.by_day(DAYS, **frames())
    assert list(told) == DAYS
    expected = dict.fromkeys([name for name in overview.BY_DAY if name != overview.QUALITY], 0)
    assert told[DAYS[0]] == expected
    assert {type(value) for value in told[DAYS[0]].values()} == {int}


def test_each_day_has_its_own_numbers() -> None:
    noon = [datetime(2026, 2, 3, 12, tzinfo=UTC), datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC)]
    told = overview.by_day(
        DAYS,
        **frames(
            memories=pl.DataFrame({"created_at": noon}),
            notes=pl.DataFrame({
                "day": [DAYS[0], DAYS[0], DAYS[0], DAYS[2]],
                "refused": [True, True, False, False],
                "would": [False, False, True, False],
            }),
            searches=pl.DataFrame({"day": [DAYS[1]] * 3, "abstained": [True, False, False]}),
            scores=pl.DataFrame({"day": [DAYS[1], DAYS[1]], NDCG.column: [1.0, 0.5]}),
        ),
    )  # fmt: skip
    assert [told[day][overview.STORED] for day in DAYS] == [1, 2, 2]
    assert [told[day][overview.NOTES] for day in DAYS] == [3, 0, 1]
    assert [told[day][overview.REFUSED] for day in DAYS] == [2, 0, 0]
    assert [told[day][overview.WOULD] for day in DAYS] == [1, 0, 0]
    assert [told[day][overview.SEARCHES] for day in DAYS] == [0, 3, 0]
    assert told[DAYS[1]][overview.NOTHING] == 1
    assert [told[day].get(overview.QUALITY) for day in DAYS] == [None, 0.75, None]
    assert [told[day][overview.JUDGED] for day in DAYS] == [0, 2, 0]
    assert list(told[DAYS[1]]) == list(overview.BY_DAY)


def test_a_day_whose_scores_have_no_value_has_no_quality() -> None:
    scores = pl.DataFrame({"day": [DAYS[0]], NDCG.column: [None]}, schema_overrides={NDCG.column: pl.Float64})
    assert overview.QUALITY not in overview.by_day(DAYS, **frames(scores=scores))[DAYS[0]]


@pytest.mark.parametrize(
    ("states", "waits"),
    [
        ({}, 0),  # it is open
        ({"approval": "insufficient"}, 1),
        ({"approval": "closed", "regression": "closed"}, 1),
        ({"approval": "insufficient", "searches": "insufficient"}, 0),
    ],
)
def test_a_gate_waits_for_approval_where_nothing_else_is_missing(states: dict[str, str], waits: int) -> None:
    gates = pl.concat([gate(DAYS[0], "ada", **states), gate(DAYS[0], "bob", "keys", cycles="closed")])
    told = overview.by_day(DAYS, **frames(gates=gates))
    assert [told[day][overview.APPROVALS] for day in DAYS] == [waits, 0, 0]


NOTHING: dict[str, int] = dict.fromkeys(("held", "decisions", "approvals", "late", "faults", "failed"), 0)


def test_where_nothing_waits_there_is_nothing_to_do() -> None:
    quiet = overview.HomeStatus(live=1_200, **NOTHING)
    assert quiet.todo == []
    assert quiet.words == "1,200 memories; nothing to decide; nothing to fix."
    assert quiet.figures == dict.fromkeys(overview.NOW, 0) | {overview.LIVE: 1_200}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("held", "3 notes in quarantine: slowwave quarantine list"),
        ("decisions", "3 decisions waiting: slowwave decisions --waiting"),
        ("approvals", "3 learning gates waiting for approval"),
        ("late", "3 past days not processed"),
        ("faults", "3 stages of a nightly job failed"),
        ("failed", "3 failed runs not fixed: open it (Runs, Failed)"),
    ],
)
def test_each_thing_that_waits_says_where_to_go(name: str, line: str) -> None:
    standing = overview.HomeStatus(live=1, **(NOTHING | {name: 3}))
    assert [one[: len(line)] for one in standing.todo] == [line]
    waits = "3 items for a person to decide; nothing to fix"
    said = {
        "late": "nothing to decide; nothing to fix; 3 past days to process",
        "faults": "nothing to decide; 3 problems to fix",
        "failed": "nothing to decide; 3 problems to fix",
    }
    assert standing.figures[overview.WAITS] == (0 if name in said else 3)
    assert standing.words == f"1 memory; {said.get(name, waits)}."


def run(what: str, state: str) -> dict[str, Any]:
    return {"what": what, "failed": state == "failed", "succeeded": state == "done"}


@pytest.mark.parametrize(
    ("runs", "left"),
    [
        ([], 0),
        ([run("a", "failed")], 1),
        ([run("a", "failed"), run("a", "failed")], 1),  # tried again in vain: one thing to mend
        ([run("a", "failed"), run("a", "done")], 0),
        ([run("a", "done"), run("a", "failed")], 1),
        ([run("a", "failed"), run("b", "done")], 1),
    ],
)
def test_a_failed_run_is_mended_by_one_that_does_the_same(runs: list[dict[str, Any]], left: int) -> None:
    assert overview.open_problems(runs) == left
