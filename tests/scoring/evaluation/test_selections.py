from __future__ import annotations

from collections import defaultdict
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._clicks import World, at_the_end, clicks
from slowwave.scoring.evaluation import SelectionPolicy, auroc, click_judgments
from slowwave.scoring.evaluation.position_prior import position_prior

SCHEMA = {
    "day": pl.String, "namespace": pl.String, "query_id": pl.String, "query": pl.String,
    "memory_id": pl.String, "rank": pl.Int32, "clicked": pl.Int32,
}  # fmt: skip
DAYS = ["2026-03-01", "2026-03-02", "2026-03-04", "2026-03-05"]
one = st.tuples(
    st.sampled_from(DAYS), st.sampled_from("ab"), st.sampled_from(["q", "r"]), st.sampled_from("Qq"),
    st.sampled_from("mno"), st.integers(1, 60), st.integers(0, 1),
)  # fmt: skip
shown = st.lists(one, max_size=40)


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def times(count, memory, rank, clicked=0, day=DAYS[0], space="a"):
    return [(day, space, "q", "Q", memory, rank, int(at < clicked)) for at in range(count)]


def row(found, memory, day=DAYS[0], space="a"):
    return found.filter(memory_id=memory, day=day, namespace=space).row(0, named=True)


def test_figures_by_hand():
    found = click_judgments(frame(times(4, "m", 1, 3) + times(6, "n", 1, 2)))
    rate = (5 + 20 * 0.3) / 30  # of all ranks: (5 + 1) / (10 + 10)
    m, n = row(found, "m"), row(found, "n")
    assert (m["impressions"], m["clicks"], m["query"]) == (4, 3, "Q")
    assert m["expected"] == pytest.approx(4 * rate)
    assert m["coec"] == pytest.approx(4 / (1 + 4 * rate))
    assert m["grade"] == 2
    assert n["coec"] == pytest.approx(3 / (1 + 6 * rate))
    assert n["grade"] is None  # .9375: neither


def test_the_ranks_at_which_it_was_shown_count_not_the_best_one():
    deep = times(1, "m", 1) + times(9, "m", 10, 3) + times(99, "n", 1, 60) + times(91, "o", 10, 4)
    found = click_judgments(frame(deep))
    m = row(found, "m")
    assert m["expected"] < 2  # ten times at rank 1 would be 5.7
    assert m["grade"] >= 2


@pytest.mark.parametrize(
    ("impressions", "clicks", "grade"),
    [
        (1, 0, None),  # not used once where a tenth of a use was to be expected
        (3, 0, None),
        (8, 0, 0),
        (1, 1, 1),
        (8, 2, 2),
        (5, 4, 3),
        (40, 1, 0),  # one careless use in forty
    ],
)
def test_grades(impressions, clicks, grade):
    others = times(10_000, "n", 1, 1_000)
    assert row(click_judgments(frame(others + times(impressions, "m", 1, clicks))), "m")["grade"] == grade


def test_thresholds_are_settings():
    rows = frame(times(100, "n", 1, 10) + times(1, "m", 1, 1))
    assert row(click_judgments(rows, policy=SelectionPolicy(sure_clicks=1)), "m")["grade"] == 2
    assert row(click_judgments(rows, policy=SelectionPolicy(sure_clicks=1, much_from=1.5)), "m")["grade"] == 3
    assert row(click_judgments(rows, policy=SelectionPolicy(pair_weight=100)), "m")["coec"] < 1.01


def test_only_days_on_which_a_pair_was_shown_have_a_row():
    rows = frame(times(2, "m", 1, 1) + times(1, "n", 2, day=DAYS[1]) + times(1, "m", 1, day=DAYS[3]))
    found = click_judgments(rows)
    assert found.select("day", "memory_id", "impressions", "clicks").rows() == [
        (DAYS[0], "m", 2, 1),
        (DAYS[1], "n", 1, 0),
        (DAYS[3], "m", 3, 1),
    ]
    assert click_judgments(rows, first_day="2026-03-03", last_day="2026-03-03").is_empty()
    assert click_judgments(rows, first_day="2026-04-01").is_empty()
    assert click_judgments(rows.clear()).schema == found.schema


def by_loops(rows, policy):
    """The rule, word by word."""
    made = {}
    for day in sorted({one[0] for one in rows}):
        so_far = [one for one in rows if one[0] <= day]
        for space in {one[1] for one in rows if one[0] == day}:
            seen, hits = np.zeros((1, 50)), np.zeros((1, 50))
            pairs = defaultdict(list)
            for _, its, query, _, memory, rank, clicked in so_far:
                if its == space:
                    at = min(rank, 50) - 1
                    seen[0, at] += 1
                    hits[0, at] += clicked
                    pairs[query, memory].append((at, clicked))
            rates = position_prior(
                seen, hits, weight=policy.rank_weight, first_guess=policy.first_guess,
                guess_weight=policy.guess_weight,
            )[0]  # fmt: skip
            for query, memory in {(one[2], one[4]) for one in rows if one[:2] == (day, space)}:
                all_ = pairs[query, memory]
                clicks, expected = sum(click for _, click in all_), sum(rates[at] for at, _ in all_)
                made[day, space, query, memory] = (len(all_), clicks, expected)
    return made


@given(shown)
def test_it_is_the_rule_word_by_word(rows):
    found = click_judgments(frame(rows))
    expected = by_loops(rows, SelectionPolicy())
    keys = found.select("day", "namespace", "query_id", "memory_id").rows()
    assert keys == sorted(expected)
    for key, made in zip(keys, found.iter_rows(named=True), strict=True):
        impressions, clicks, clicks_expected = expected[key]
        assert (made["impressions"], made["clicks"]) == (impressions, clicks)
        assert made["expected"] == pytest.approx(clicks_expected, rel=1e-12)
        assert made["coec"] == pytest.approx((clicks + 1) / (clicks_expected + 1), rel=1e-12)


@pytest.mark.slow
@given(shown, st.randoms())
def test_order_and_repetition_change_nothing(rows, random):
    found = click_judgments(frame(rows))
    random.shuffle(rows)
    assert click_judgments(frame(rows)).equals(found)


@pytest.mark.slow
@given(shown)
@settings(max_examples=30)
def test_days_at_once_are_the_days_one_by_one(rows):
    whole = click_judgments(frame(rows))
    assert whole.equals(
        pl.concat([click_judgments(frame(rows), first_day=day, last_day=day) for day in DAYS])
    )
    for day in DAYS:  # as if nothing after it had happened
        known = frame([one for one in rows if one[0] <= day])
        assert click_judgments(known, first_day=day).equals(whole.filter(day=day))


@pytest.mark.slow
@given(shown)
def test_one_namespace_says_nothing_of_another(rows):
    alone = click_judgments(frame([one for one in rows if one[1] == "a"]))
    assert alone.equals(click_judgments(frame(rows)).filter(namespace="a"))


@pytest.mark.slow
@given(shown)
def test_blocks_change_nothing(rows):
    whole = click_judgments(frame(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("slowwave.scoring.evaluation.click_judgments"), "_BLOCK", 2)
        assert click_judgments(frame(rows)).equals(whole)


def test_flags_are_clicks_and_wrong_values_are_named():
    rows = frame(times(3, "m", 1, 2))
    assert click_judgments(rows.with_columns(pl.col("clicked").cast(pl.Boolean))).equals(
        click_judgments(rows)
    )
    with pytest.raises(ValueError, match="rank = 0"):
        click_judgments(frame(times(1, "m", 0)))
    for wrong in (2, None):
        with pytest.raises(ValueError, match=f"clicked = {wrong}"):
            click_judgments(rows.with_columns(clicked=pl.lit(wrong, pl.Int32)))


def apart(values, relevant):
    return auroc(values[relevant], values[~relevant])


def test_it_tells_relevant_from_irrelevant_better_than_raw_rates():
    gains, by_best_rank, graded = [], [], []
    for seed in range(3):
        rows, truth = clicks(World(), seed)
        end = at_the_end(rows, click_judgments(rows), truth)
        relevant = end["relevant"].to_numpy()
        coec = apart(end["coec"].to_numpy(), relevant)
        gains.append(coec - apart(end["raw"].to_numpy(), relevant))
        by_best_rank.append(coec - apart(end["best_rank"].to_numpy(), relevant))
        graded.append(end.select("grade", "relevant"))
    assert min(gains) > 0.02
    assert min(by_best_rank) > 0.03
    shares = pl.concat(graded).group_by("grade").agg(pl.col("relevant").mean(), n=pl.len()).sort("grade")
    known = shares.drop_nulls("grade")
    assert known["relevant"].is_sorted()
    assert known["relevant"][0] < 0.08
    assert known["relevant"][2] > 0.8
    assert known["relevant"][3] > 0.9
    assert known["n"].sum() > 0.5 * shares["n"].sum()
