"""Learned terms of a query: numbers by hand, words that never count, and what holds for any terms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.learned import DENYLIST, MAX_MEMORIES, Learned, LearnedTerms, learnable
from slowwave.scoring.validation import CAP

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SCHEMA = {"memory_id": pl.String, "term": pl.String, "expires_at": pl.Datetime("us", "UTC")}


def terms(*rows: tuple) -> LearnedTerms:
    """(memory, term, days left) as live terms; a fourth number: days that it has an effect."""
    ends = {} if all(len(row) == 3 for row in rows) else {"until": pl.Datetime("us", "UTC")}
    data = [(row[0], row[1], *(NOW + days * DAY for days in row[2:])) for row in rows]
    return LearnedTerms(pl.DataFrame(data, schema=SCHEMA | ends, orient="row"))


def test_the_boost_by_hand():
    """Of four learnable words a memory has two, one fresh and one with 12 of its 30 days left."""
    found = terms(("a", "kestrel", 30), ("a", "otter", 12), ("b", "otter", 3)).match(
        "Is the otter or the kestrel near a walrus and a heron?", NOW
    )
    assert found == {
        "a": Learned(pytest.approx((1 + 0.4) / 4), {"kestrel": 1.0, "otter": pytest.approx(0.4)}),
        "b": Learned(pytest.approx(0.1 / 4), {"otter": pytest.approx(0.1)}),
    }
    assert found["a"].boost() == pytest.approx(0.7 * 0.35 * 0.15)
    assert found["a"].boost(cap=0.1, coefficient=0.5) == pytest.approx(0.5 * 0.35 * 0.1)
    assert found["b"].boost(cap=0.0) == 0.0


def test_a_query_of_nothing_but_learned_words_gets_the_whole_coefficient_and_no_more():
    found = terms(("a", "kestrel", 30), ("a", "otter", 45)).match("kestrel otter", NOW)
    assert found["a"].boost() == pytest.approx(0.7 * CAP)


@pytest.mark.parametrize("query", ["kestrels", "KESTREL!", "a kestrel's nest", "the ｋｅｓｔｒｅｌ"])
def test_words_match_whole_and_by_their_stem(query):
    assert set(terms(("a", "kestrel", 30)).match(query, NOW)) == {"a"}


@pytest.mark.parametrize("query", ["kestre", "kestrelish", "kest rel", "the", "", "?!", "ke"])
def test_parts_of_words_match_nothing(query):
    assert terms(("a", "kestrel", 30)).match(query, NOW) == {}


def test_a_denied_word_never_matches_even_if_it_was_learned():
    """A row may come from a time when the list was shorter, or from another program."""
    known = terms(*(("a", word, 30) for word in sorted(DENYLIST)))
    assert len(known) == len(DENYLIST)
    assert {word for word in DENYLIST if learnable(word) or known.match(word, NOW)} == set()


def test_a_denied_word_does_not_thin_the_others():
    (one,) = (
        terms(("a", "kestrel", 30)).match("please remember what the kestrel said yesterday", NOW).values()
    )
    assert one.share == 1.0


@pytest.mark.parametrize(
    ("days", "left"), [(30, 1.0), (15, 0.5), (31, 1.0), (0.003, 0.0001), (0, None), (-1, None)]
)
def test_the_weight_falls_to_nothing(days, left):
    found = terms(("a", "kestrel", days)).match("kestrel", NOW)
    assert found == (
        {} if left is None else {"a": Learned(pytest.approx(left), {"kestrel": pytest.approx(left)})}
    )


def test_a_term_that_has_lost_its_effect_does_not_match_though_it_has_a_weight():
    both = terms(("a", "kestrel", 20, 1), ("a", "otter", 20, 20))
    assert set(both.match("kestrel otter", NOW)["a"].terms) == {"kestrel", "otter"}
    assert set(both.match("kestrel otter", NOW + DAY)["a"].terms) == {"otter"}


def test_a_term_that_comes_twice_counts_once_as_long_as_it_lasts():
    assert terms(("a", "kestrel", 3), ("a", "kestrel", 15)).match("kestrel", NOW)["a"].share == pytest.approx(
        0.5
    )


def test_the_strongest_are_kept_and_of_equal_ones_those_with_the_lower_id():
    names = [f"{number:03}" for number in range(3 * MAX_MEMORIES)]
    found = terms(*((name, "kestrel", 10) for name in reversed(names)), ("zz", "kestrel", 20)).match(
        "kestrel", NOW
    )
    assert list(found) == [*names[: MAX_MEMORIES - 1], "zz"]


def test_nothing_learned_matches_nothing():
    none = terms()
    assert len(none) == 0
    assert none.match("kestrel", NOW) == {}
    assert len(terms(("a", "kestrel", 3), ("b", "kestrel", 3))) == 2


_TERM = st.sampled_from(["kestrel", "otter", "walrus", "heron", "badger"])
_ROWS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), _TERM, st.integers(-5, 35)),
    max_size=30,
    unique_by=lambda row: row[:2],
)


def plainly(rows: list[tuple], query: str, now: datetime) -> dict[str, Learned]:
    """The rule as it is written, a memory after the other."""
    asked, found = learnable(query), {}
    for memory in sorted({row[0] for row in rows}):
        weights = {
            term: min((days - (now - NOW) / DAY) / 30, 1.0)
            for term in asked for name, own, days in rows if (name, own) == (memory, term)
        }  # fmt: skip
        weights = {term: weight for term, weight in weights.items() if weight > 0}
        if weights:
            found[memory] = Learned(sum(weights.values()) / len(asked), weights)
    return found


@given(_ROWS, st.lists(_TERM, min_size=1, max_size=6), st.integers(0, 40))
def test_it_is_the_rule_as_it_is_written(rows, asked, days):
    query, now = " and ".join(asked), NOW + days * DAY
    found, wanted = terms(*rows).match(query, now), plainly(rows, query, now)
    assert set(found) == set(wanted)
    for memory, one in found.items():
        assert one.share == pytest.approx(wanted[memory].share)
        assert one.terms == pytest.approx(wanted[memory].terms)
        assert 0 < one.boost() <= 0.7 * CAP + 1e-12


@given(_ROWS, st.lists(_TERM, min_size=1, max_size=6), st.integers(0, 40), st.integers(0, 40))
def test_it_only_fades(rows, asked, earlier, later):
    known, query = terms(*rows), " ".join(asked)
    first, then = (known.match(query, NOW + days * DAY) for days in sorted((earlier, later)))
    assert set(then) <= set(first)
    assert all(one.share <= first[memory].share + 1e-9 for memory, one in then.items())
