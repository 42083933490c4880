"""What the feedback report counts, of whom, and of which days."""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from feedback_days import fold_days
from report_rows import NOW, Rows, column, day, noon

from slowwave.feedback.states import states_in
from slowwave.journal import Entry
from slowwave.scoring.intervals import wilson
from slowwave.views import counts
from slowwave.views.feedback import FeedbackReport, feedback_report
from slowwave.views.feedback_sections import UNKNOWN, feedback_page, listings, summary, waiting

NONE_WAIT = pl.DataFrame(schema={"day": pl.String, "entries": pl.Int64})


@pytest.fixture
def space(make_space):
    """An empty home whose model is made of hashes."""
    return make_space()


@pytest.fixture
def rows(space) -> Rows:
    """Writes rows of namespace ``ada``."""
    return Rows(space.store)


def report(space, days: int = 30, **more: Any) -> FeedbackReport:
    return feedback_report(space, "ada", **{"days": days, "as_of": NOW, **more})


def test_an_empty_home_is_reported_as_empty(space):
    done = report(space)
    assert (done.first, done.last, len(done.days)) == (day(29), day(0), 30)
    assert (done.searches, done.searches_with_feedback, done.rated) == (0, 0, 0)
    for name in ("acts", "imports", "verdicts", "best", "worst", "most_used", "fading", "promotions"):
        assert getattr(done, name).is_empty(), name
    assert column(done.rates, "what", "count", "of", "rate") == [
        ("used", 0, 0, None),
        ("ignored", 0, 0, None),
        ("cited", 0, 0, None),
    ]
    assert done.effectiveness["memories"].sum() == done.strength["memories"].sum() == 0
    assert listings(done) == []
    assert waiting(done) == ""
    assert feedback_page(done).count("Nothing") == 0  # the pictures say it, inside their data


def test_acts_are_counted_by_day_tier_and_verdict(space, rows):
    rows.act(0, "quick", "helpful", search_id="s1")
    rows.act(0, "quick", "helpful", search_id="s1", imported_from="ubi")
    rows.act(0, "implicit", search_id="s2")
    rows.act(3, "detailed", "failure")
    for ago in (0, 0, 2):
        rows.search(ago)
    rows.search(1, abstained=True, imported_from="ubi")
    done = report(space)
    assert done.acts.rows() == [
        (day(3), "detailed", "failure", 1, 0),
        (day(0), "implicit", "observed", 1, 0),
        (day(0), "quick", "helpful", 2, 1),
    ]
    assert done.imports.rows() == [("", 3, 0.75), ("ubi", 1, 0.25)]
    assert (done.searches, done.abstained, done.searches_imported) == (4, 1, 1)
    assert done.searches_with_feedback == 2
    assert summary(done) == (
        "4 searches (1 without results); 4 feedback events on 2 searches; 25.0 % of them imported (ubi 1)."
    )


def test_rates_leave_out_what_could_not_be_told_and_have_wilson_intervals(space, rows):
    rows.said(0, "a", "used", "citation", times=2)
    rows.said(0, "a", "used", "words")
    rows.said(0, "b", "ignored", "words", times=5)
    rows.said(0, "b", "ignored", "none", times=7)
    rows.said(0, "b", "ignored", None)
    rows.said(1, "a", "used", "similarity", times=2)
    rows.said(1, "a", "helpful", "rating", tier="quick", times=9)
    rows.said(1, "a", "success", "outcome", tier="detailed")
    done = report(space)
    assert done.verdicts.rows() == [(day(1), 2, 0, 0, 0), (day(0), 3, 2, 5, 8)]
    by_what = {row["what"]: row for row in done.rates.to_dicts()}
    assert {what: (row["count"], row["of"]) for what, row in by_what.items()} == {
        "used": (5, 10),
        "ignored": (5, 10),
        "cited": (2, 10),
    }
    assert (by_what["cited"]["low"], by_what["cited"]["high"]) == wilson(2, 10)
    assert column(done.most_used, "memory_id", "used", "cited", "ignored", "helpful") == [("a", 5, 2, 0, 9)]


@pytest.mark.slow
@pytest.mark.parametrize("days", [1, 2, 365])
def test_only_the_window_is_counted_and_it_ends_with_the_day_of_as_of(space, rows, days):
    for ago in (-1, 0, days - 1, days):
        rows.act(ago, "quick", "helpful", search_id=f"s{ago}")
        rows.said(ago, "a", "used")
        rows.search(ago)
        rows.promotion(ago, "a", "promoted")
    done = report(space, days)
    inside = sorted({day(days - 1), day(0)})
    assert column(done.acts, "day") == column(done.verdicts, "day") == column(done.reasons, "day") == inside
    assert done.searches == 2  # of today and of the first day, or both of today
    assert len(done.days) == days
    assert done.days[-1] == day(0)
    feedback_page(done)


def test_effectiveness_is_of_memories_that_anything_is_known_of_as_ranking_reads_it(space, rows):
    rows.memory("good", "A good one")
    rows.memory("untitled", None, source="vault/untitled.md")
    rows.state("good", effectiveness=0.9, feedback_count=4, used=3, ignored=1, tier="important")
    rows.state("untitled", effectiveness=0.7, feedback_count=2)
    rows.state("object", effectiveness=0.2, feedback_count=9)
    rows.state("half", effectiveness=0.5, feedback_count=6)
    rows.state("unrated", effectiveness=0.99, feedback_count=0)
    rows.state("unknown", strength=1.0, stability=86_400.0, last_at=noon(1))
    rows.state("broken", effectiveness=math.nan, feedback_count=3)
    done = report(space)
    assert done.rated == 4
    assert column(done.effectiveness.filter(pl.col("memories") > 0), "value", "memories") == [
        (0.2, 1),
        (0.5, 1),
        (0.7, 1),
        (0.9, 1),
    ]
    assert column(done.best, "memory_id", "title") == [
        ("good", "A good one"),
        ("untitled", "vault/untitled.md"),
    ]
    assert column(done.worst, "memory_id", "title") == [("object", "object")]
    (worst,) = [one for one in listings(done) if one.title == "Least effective"]
    assert worst.parts[0].rows == [[UNKNOWN, "0.20", "9", "", "", "object"]]
    (worst,) = [one for one in listings(done, ids=False) if one.title == "Least effective"]
    assert worst.parts[0].rows == [["object", "0.20", "9", "", ""]]


def test_effectiveness_fades_to_the_moment_of_the_report(space, rows):
    # One vote of 90 days ago counts half: (.5 · 2 + .5) / (2 + .5) = .6. The sums are as of 2000-01-01.
    from slowwave.scoring.feedback.effectiveness import FIXED_MOMENT

    at_start = 2 ** ((datetime(2025, 12, 10, tzinfo=UTC) - FIXED_MOMENT) / timedelta(days=90))
    none = {"implicit_value": 0.0, "implicit_weight": 0.0}
    rows.state(
        "a", ago=91, effectiveness=2 / 3, feedback_count=1, explicit_value=at_start,
        explicit_weight=at_start, **none,
    )  # fmt: skip
    assert column(report(space).best, "effectiveness") == [pytest.approx(0.6)]


def test_what_fades_is_told_weakest_first_and_what_is_gone_is_left_out(space, rows):
    for name, status in (("live", "live"), ("old", "superseded"), ("off", "retired"), ("in", "merged")):
        rows.memory(name, name.upper(), status=status)
        rows.state(name, strength=0.8, stability=86_400.0, last_at=NOW - timedelta(days=2), used=1)
    rows.state("imported", strength=1.0, stability=86_400.0, last_at=NOW - timedelta(days=3))
    rows.state("future", strength=0.5, stability=60.0, last_at=NOW + timedelta(hours=9))
    rows.state("never", strength=0.4, stability=None, last_at=None)
    done = report(space)
    assert column(done.fading, "memory_id", "strength") == [
        ("imported", pytest.approx(math.exp(-3))),
        ("live", pytest.approx(0.8 * math.exp(-2))),
        ("future", 0.5),
    ]
    assert done.strength["memories"].sum() == 6  # those that are gone have a strength, too
    assert column(report(space, limit=1).fading, "memory_id") == ["imported"]
    (fading,) = [one for one in listings(done) if one.title == "Fading"]
    assert [row[4] for row in fading.parts[0].rows] == ["3 days ago", "2 days ago", "just now"]


def test_promotions_have_reasons_and_those_that_promoted_come_first(space, rows):
    rows.memory("a", "Alpha")
    rows.promotion(0, "b", "below_threshold", useful=2)
    rows.promotion(0, "c", "rate_limited")
    rows.promotion(4, "a", "promoted")
    rows.promotion(2, "a", "promoted", useful=10)
    done = report(space)
    assert column(done.promotions, "day", "title", "reason", "useful") == [
        (day(2), "Alpha", "promoted", 10),
        (day(4), "Alpha", "promoted", 5),
        (day(0), "c", "rate_limited", 5),
        (day(0), "b", "below_threshold", 2),
    ]
    (told,) = listings(done)
    assert told.note == "promoted 2 · rate limited 1 · below threshold 1"
    assert column(report(space, limit=1).promotions, "useful") == [10]


@pytest.mark.slow
def test_no_report_reads_another_namespace(space, rows):
    """Not its acts, its states, nor the title of a memory that has the same id there."""

    def fill(writer: Rows, name: str) -> None:
        writer.act(0, "quick", "helpful", search_id=f"{name}-search", imported_from=name)
        writer.search(0, abstained=True, imported_from=name)
        writer.said(0, f"{name}-used", "used", "citation")
        writer.state(f"{name}-state", effectiveness=0.9, feedback_count=3, strength=0.3, stability=9e4,
                     last_at=noon(5), used=2)  # fmt: skip
        writer.promotion(0, f"{name}-promoted", "promoted")

    fill(rows, "mine")
    before = report(space).to_dict()
    canary = Rows(space.store, "bo'")
    fill(canary, "canary")
    for name in ("mine-used", "mine-state", "mine-promoted"):
        canary.memory(name, "canary title", status="retired")
    space.journal.append([entry("canary-waits", noon(1), namespace="bo'")])
    assert report(space).to_dict() == before
    assert "canary" not in feedback_page(report(space))
    theirs = feedback_report(space, "bo'", days=1, as_of=NOW)
    assert column(theirs.most_used, "memory_id") == ["canary-used"]
    assert column(theirs.waiting, "day", "entries") == [(day(1), 1)]


def entry(event_id: str, at: datetime, *, namespace: str = "ada", kind: str = "search") -> Entry:
    return Entry(event_id, kind, namespace, f"about-{event_id}", at, "test")


def test_days_that_no_night_has_taken_up_are_named(space):
    space.journal.append([entry("a", noon(400)), entry("b", noon(400), kind="outcome"), entry("c", noon(0))])
    done = report(space, 1)
    assert done.waiting.rows() == [(day(400), 2), (day(0), 1)]
    assert waiting(done).startswith(f"Not counted yet: 3 events of 2 days ({day(400)}, {day(0)}). ")
    assert report(space, waiting=NONE_WAIT).waiting.is_empty()


@pytest.mark.slow
def test_a_report_of_what_people_did(open_memory):
    """The calls of a day, the night's folds, the report; what comes after the night waits."""
    memory = open_memory()
    memory.save("The battery of the northern gauge lasts eleven weeks.", key="battery", title="Battery")
    found = memory.search("how long does the battery last?")
    memory.feedback(found.search_id, 1, "helpful")
    memory.observe(found.search_id, "The battery of the northern gauge lasts eleven weeks.")
    today = datetime.now(UTC)
    assert column(feedback_report(memory._space, "ada", days=2, as_of=today).waiting, "entries") == [3]
    fold_days(memory._space, [today.date().isoformat()])
    done = feedback_report(memory._space, "ada", days=2, as_of=today + timedelta(minutes=1))
    assert done.waiting.is_empty()
    assert column(done.acts, "tier", "verdict", "acts") == [
        ("implicit", "observed", 1),
        ("quick", "helpful", 1),
    ]
    assert column(done.most_used, "title", "used", "helpful") == [("Battery", 1, 1)]
    assert column(done.best, "title") == ["Battery"]
    state = states_in(memory._space).states("ada", done.best["memory_id"])
    assert column(done.best, "effectiveness") == [one.effectiveness for one in state.values()]
    memory.feedback(found.search_id, 1, "neutral")
    late = feedback_report(memory._space, "ada", days=2, as_of=today)
    assert column(late.waiting, "entries") == [1]


def test_a_past_moment_has_the_state_of_its_day(open_memory):
    memory = open_memory()
    memory.save("The battery of the northern gauge lasts eleven weeks.", key="battery", title="Battery")
    found = memory.search("how long does the battery last?")
    memory.feedback(found.search_id, 1, "helpful")
    today = datetime.now(UTC)
    fold_days(memory._space, [today.date().isoformat()])
    before = feedback_report(memory._space, "ada", days=9, as_of=today - timedelta(days=1))
    assert (before.rated, before.acts.height) == (0, 0)


def test_plain_data_has_every_field(space, rows):
    rows.act(0, "quick", "helpful")
    told = report(space).to_dict()
    assert list(told) == [field.name for field in fields(FeedbackReport)]
    assert told["acts"] == [{"day": day(0), "tier": "quick", "verdict": "helpful", "acts": 1, "imported": 0}]


def test_a_page_is_one_file_without_scripts_and_says_titles_as_they_are(space, rows):
    rows.memory("a", "<script>alert('$title {x}')</script>")
    rows.said(0, "a", "used", "citation")
    rows.act(0, "implicit")
    page = feedback_page(report(space))
    assert "&lt;script&gt;alert(&#x27;$title {x}&#x27;)" in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert page.count("<img ") == page.count('src="data:image/svg+xml;base64,') == 5
    assert "http" not in page.replace("http-equiv", "")


# -- counts ----------------------------------------------------------------------------------------


def test_a_distribution_is_about_each_tenth():
    values = pl.Series([0.0, 0.049, 0.05, 0.149, 0.45, 0.5, 0.549, 0.55, 0.95, 1.0, 1.2, -1, None, math.nan])
    frame = counts.distribution(values)
    assert dict(frame.filter(pl.col("memories") > 0).rows()) == {
        0.0: 3, 0.1: 2, 0.5: 3, 0.6: 1, 1.0: 3,
    }  # fmt: skip
    assert frame["value"].to_list() == [pytest.approx(step / 10) for step in range(11)]
    assert counts.distribution(pl.Series([], dtype=pl.Float64))["memories"].sum() == 0
    assert counts.distribution(pl.Series([None, None]))["memories"].sum() == 0


def test_strength_fades_and_what_is_not_known_is_no_number():
    states = pl.DataFrame(
        {
            "strength": [1.0, 0.5, None, 1.0, 1.0, 1.0],
            "stability": [86_400.0, 3_600.0, 60.0, None, 0.0, 60.0],
            "last_at": [NOW - timedelta(days=1), NOW, NOW, NOW, NOW, None],
        }
    )
    left = counts.strength_at(states, NOW)
    assert left.to_list()[:2] == [pytest.approx(math.exp(-1)), 0.5]
    assert left[2:].is_nan().all()


def test_unknown_tiers_and_reasons_are_counted_and_not_lost():
    events = pl.DataFrame(
        {"day": ["d"] * 3, "tier": [None, "new", "new"], "verdict": ["", None, "x"]}
    ).with_columns(imported_from=pl.lit(None, pl.String))
    assert counts.acts(events)["acts"].sum() == 3
    promotions = pl.DataFrame({"day": ["d", "d"], "reason": ["someday", "promoted"], "memory_id": ["a", "b"]})
    assert counts.reasons(promotions)["reason"].to_list() == ["promoted", "someday"]
