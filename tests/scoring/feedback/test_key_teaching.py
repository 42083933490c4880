"""Which selections teach a key, at the very bounds of the rule (rule 7.5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from slowwave.scoring.feedback.learned import (
    FEATURE_DISABLED,
    NO_PROVENANCE,
    NOT_FOUND,
    ORDER,
    PROPOSED,
    RATE_LIMITED,
    TOO_NEW,
    TOP_3,
    refusal,
)
from slowwave.scoring.feedback.policy import KeyTeaching
from slowwave.scoring.feedback.query_key_training import SEEN, decide_views

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
POLICY = KeyTeaching()
WHEN = pl.Datetime("us", "UTC")


def why(policy: KeyTeaching = POLICY, *, enabled: bool = True, **known: Any) -> str | None:
    """What a selection says itself against teaching; what is not given speaks for it."""
    row = {"rank": 1, "at": NOW, "born_at": NOW - 72 * HOUR, "gone_at": None, "order": False} | known
    kinds = {"rank": pl.Int32(), "at": WHEN, "born_at": WHEN, "gone_at": WHEN, "order": pl.Boolean()}
    frame = pl.DataFrame([row], schema=kinds)
    return frame.select(why=refusal(policy, enabled=enabled))["why"].item()


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ({}, None), ({"rank": None}, NO_PROVENANCE), ({"order": True}, ORDER), ({"born_at": None}, NOT_FOUND),
        ({"born_at": NOW - 72 * HOUR + timedelta(microseconds=1)}, TOO_NEW),
        ({"gone_at": NOW}, NOT_FOUND), ({"gone_at": NOW + timedelta(microseconds=1)}, None),
        ({"rank": None, "order": True, "born_at": None}, NO_PROVENANCE),
    ],
)  # fmt: skip
def test_what_a_selection_says_itself_against_teaching(known, reason):
    assert why(**known) == reason
    assert why(enabled=False, **known) == FEATURE_DISABLED


def test_ranks_that_are_left_out_teach_nothing():
    policy = replace(POLICY, excluded_ranks=3)
    assert [why(policy, rank=rank) for rank in (1, 3, 4)] == [TOP_3, TOP_3, None]
    assert why(rank=1) is None


def seen(*rows: tuple[str, str, timedelta]) -> pl.DataFrame:
    """Selections of a namespace and a memory, at so long after the first."""
    told = [
        {
            "view_id": f"{number:03}", "namespace": namespace, "query_id": f"q{number}", "memory_id": memory,
            "search_id": f"s{number}", "principal": "ann", "at": NOW + after, "selected": True, "taken": 1.0,
            "examined": 1.0, "refusal": None, "text": "",
        }
        for number, (namespace, memory, after) in enumerate(rows)
    ]  # fmt: skip
    return pl.DataFrame(told, schema=SEEN)


def became(*rows: tuple[str, str, timedelta]) -> list[str]:
    return decide_views(seen(*rows), POLICY).reasons.sort("view_id")["reason"].to_list()


def test_three_keys_in_eight_hours_and_after_eight_hours_there_is_room_again():
    moments = [timedelta(), HOUR, 2 * HOUR, 8 * HOUR - timedelta(microseconds=1), 8 * HOUR, 8.5 * HOUR]
    assert became(*(("ada", "m", moment) for moment in moments)) == [
        PROPOSED, PROPOSED, PROPOSED, RATE_LIMITED, PROPOSED, RATE_LIMITED,
    ]  # fmt: skip


def test_the_limit_is_of_each_memory_of_each_namespace():
    rows = [("ada", "m", n * HOUR) for n in range(3)]
    others = [("ada", "n", 3 * HOUR), ("ben", "m", 3 * HOUR)]
    assert became(*rows, *others) == [PROPOSED] * 5


def test_what_was_refused_counts_neither_for_nor_against():
    rows = seen(*(("ada", "m", n * HOUR) for n in range(4)))
    stands = decide_views(rows, POLICY).views
    assert stands["view_id"].to_list() == ["000", "001", "002"]
    assert (stands["expires_at"] - stands["taught_at"]).unique().to_list() == [POLICY.ttl]
