"""A range of days is what its days are one by one, and both are what a plain loop makes of them."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from itertools import pairwise

import polars as pl
import pytest
from feedback_helpers import DAY, START, at_random, frame, seeds
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.scoring.feedback.effectiveness import fold_effectiveness
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.strength import MAX_DAYS, fold_strength

POLICY = FeedbackPolicy(principal_votes=3, verdicts_per_day=2)


def newest(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    return rows.sort("day").unique(key, keep="last", maintain_order=True)


def fold(signals: pl.DataFrame, cuts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Fold the days in parts, each from the rows that the parts before it left."""
    effects, strengths = (frame(name, []).drop("text") for name in ("effectiveness", "strength"))
    edges = ["", *sorted(cuts), "9999"]
    for first, last in pairwise(edges):
        part = signals.filter((pl.col("day") >= first) & (pl.col("day") < last))
        earlier = signals.filter((pl.col("day") < first) & (pl.col("tier") != "implicit"))
        known = effects.with_columns(subject=pl.coalesce("chunk_id", "memory_id"))
        made = fold_effectiveness(part, newest(known, "subject").drop("subject"), earlier, POLICY)
        effects = pl.concat([effects, made.select(effects.columns)])
        strong = fold_strength(part, newest(strengths, "memory_id"), POLICY)
        strengths = pl.concat([strengths, strong.select(strengths.columns)])
    return effects.sort("effectiveness_id"), strengths.sort("strength_id")


@pytest.mark.slow
@given(seeds, st.integers(0, 120), st.sets(st.integers(0, 7)), st.randoms())
def test_a_backfill_is_its_days_in_any_order_of_arrival(seed, count, cuts, random):
    signals = at_random(seed, count)
    days = [(START + DAY * cut).date().isoformat() for cut in cuts]
    order = list(range(count))
    random.shuffle(order)
    whole = fold(signals, [])
    parts = fold(signals[order], days)
    for one, other in zip(whole, parts, strict=True):
        assert_frame_equal(one, other, check_exact=True)


@pytest.mark.slow
@given(seeds, st.integers(1, 80))
def test_effectiveness_is_what_a_plain_loop_makes_of_the_votes(seed, count):
    signals = at_random(seed, count)
    made = fold(signals, [])[0]
    ordered = list(signals.sort("occurred_at", "signal_id").iter_rows(named=True))
    assert set(made["memory_id"]) <= set(signals["memory_id"])
    for row in made.iter_rows(named=True):
        end = datetime.fromisoformat(row["day"]).replace(tzinfo=START.tzinfo) + DAY
        rings: dict[str, list[dict]] = {}
        implicit = []
        for one in ordered:
            if one["occurred_at"] >= end or one["memory_id"] != row["memory_id"]:
                continue
            if one["tier"] == "implicit":
                implicit.append(one)
                continue
            ring = rings.setdefault(one["principal"], [])
            same = [x for x in ring if (x["search_id"], x["tier"]) == (one["search_id"], one["tier"])]
            for old in same:
                ring.remove(old)
            ring.append(one)
            del ring[: -POLICY.principal_votes]

        def mine(one: dict, chunk: str | None = row["chunk_id"]) -> bool:
            return chunk in (None, one["chunk_id"])

        def weight(one: dict, end: datetime = end) -> float:
            return one["weight"] * 2 ** (-((end - one["occurred_at"]) / timedelta(days=90)))

        votes = [one for ring in rings.values() for one in ring if mine(one)]
        seen = [one for one in implicit if mine(one) and one["weight"] > 0]
        total = sum(map(weight, seen))
        scale = min(1.0, total) / total if total else 0.0
        said = (
            1.0
            + sum(weight(v) * v["value"] for v in votes)
            + scale * sum(weight(v) * v["value"] for v in seen)
        )
        weights = 2.0 + sum(map(weight, votes)) + scale * total
        assert row["effectiveness"] == pytest.approx(said / weights, abs=1e-12)
        assert row["feedback_count"] == len(votes) + sum(one["verdict"] == "used" for one in seen)


@pytest.mark.slow
@given(seeds, st.integers(1, 80))
def test_strength_is_what_a_plain_loop_makes_of_the_verdicts(seed, count):
    signals = at_random(seed, count)
    made = {row["strength_id"]: row for row in fold(signals, [])[1].iter_rows(named=True)}
    states: dict[str, dict] = {}
    taken: dict[tuple, int] = {}
    expected: dict[str, dict] = {}
    for one in signals.sort("occurred_at", "signal_id").iter_rows(named=True):
        key = (one["day"], one["memory_id"], one["principal"])
        if one["tier"] != "implicit" or one["evidence"] == "none":
            continue
        taken[key] = taken.get(key, 0) + 1
        if taken[key] > POLICY.verdicts_per_day:
            continue
        now = one["occurred_at"]
        s = states.setdefault(one["memory_id"], {"s": 1.0, "t": 86_400.0, "u": 0, "i": 0, "at": now})
        left = s["s"] * math.exp(-(now - s["at"]).total_seconds() / s["t"])
        if one["verdict"] == "used":
            s["t"] *= max(1.0, (1.5 + 2 * max(0.1, 1 - left)) / (1 + 0.1 * s["u"]))
            s["s"], s["u"] = min(1.0, s["s"] + 0.1), s["u"] + 1
        else:
            s["s"], s["t"], s["i"] = 0.9 * left, max(0.5 * s["t"], 60.0), s["i"] + 1
        s["at"] = now
        expected[f"{one['day']}:{one['memory_id']}"] = dict(s)
    assert set(made) == set(expected)
    for name, want in expected.items():
        row = made[name]
        assert row["strength"] == pytest.approx(want["s"], rel=1e-12)
        assert row["stability"] == pytest.approx(want["t"], rel=1e-12)
        assert (row["used"], row["ignored"], row["last_at"]) == (want["u"], want["i"], want["at"])
        assert row["interval"] == min(2.0 ** want["u"], MAX_DAYS)
