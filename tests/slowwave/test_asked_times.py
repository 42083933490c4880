"""A question with a time is answered by what is of that time, compared without its words of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def rota(open_memory, monkeypatch):
    """A home that cuts as it ships, with four weeks of a rota and the price of a plan: by age in days."""
    for name in ("ABSTENTION_FLOOR", "CUT_SHARE", "FIT_FLOOR"):
        monkeypatch.delenv(f"SLOWWAVE_RANKING__{name}")
    memory, now = open_memory(), datetime.now(UTC)

    def week(days: int) -> str:
        first = now - timedelta(days=days)
        return f"{first:%-d %B} to {first + timedelta(days=6):%-d %B}"

    notes = {
        "lotte": (24, f"On call from {week(20)}: Lotte Hansen."),
        "marek": (17, f"On call from {week(13)}: Marek Wolf."),
        "daniel": (3, f"On call from {week(0)}: Daniel Kern, with Lotte Hansen as backup."),
        "old price": (80, "The Pro plan costs 49 euros."),
        "new price": (27, "The Pro plan now costs 59 euros."),
        "lamp": (9, "The lamp on the pier blinks twice a minute."),
    }
    for key, (days, text) in notes.items():
        memory.save(text, key=key, created_at=now - timedelta(days=days))
    return memory, now


def first(memory, question: str):
    return memory.search(question).results[0]


def test_a_past_day_is_answered_by_the_range_that_has_it(rota):
    memory, now = rota
    for days, key in ((18, "lotte"), (10, "marek")):
        result = first(memory, f"Who was on call on {now - timedelta(days=days):%-d %B}?")
        assert (result.source, result.fit) == (key, "strong")
    assert first(memory, "Who is on call this week?").source == "daniel"


def test_what_held_then_goes_before_a_later_value(rota):
    memory, now = rota
    then = first(memory, f"What did the Pro plan cost on {now - timedelta(days=60):%-d %B}?")
    assert (then.source, then.outdated_by) == ("old price", "")
    assert (
        first(memory, f"What did the Pro plan cost on {now - timedelta(days=5):%-d %B}?").source
        == "new price"
    )
    assert first(memory, "What does the Pro plan cost?").source == "new price"


def test_a_note_of_another_time_fits_no_better_than_to_the_whole_question(rota):
    memory, now = rota
    memory.save(
        "The match box for the stove is above the sink.", key="box", created_at=now - timedelta(days=80)
    )
    memory.save("The party wall to the neighbours is thin.", key="wall", created_at=now - timedelta(days=95))
    for question, key in (
        ("How was the match last Saturday?", "box"),
        ("How was the party last week?", "wall"),
    ):
        fits = {one.source: one.fit for one in memory.search(question, include_weak=True)}
        assert fits.get(key) != "strong"


def test_what_is_known_to_have_held_then_fits_well(rota):
    memory, now = rota
    memory.save("Jin Park is on call for harbor.", key="jin", created_at=now - timedelta(days=30))
    newer = f"Since {now - timedelta(days=11):%-d %B %Y} Priya is on call for harbor instead of Jin."
    memory.save(newer, key="priya", created_at=now - timedelta(days=11))
    then = first(memory, f"who was on call for harbor on {now - timedelta(days=25):%-d %B}?")
    assert (then.source, then.fit) == ("jin", "strong")
    assert first(memory, "who is on call for harbor?").source == "priya"


def test_contributions_of_a_question_with_a_time_sum_to_its_score(rota):
    memory, now = rota
    for question in (
        f"Who was on call on {now - timedelta(days=10):%-d %B}?", "Who is on call this week?",
    ):  # fmt: skip
        result = memory.search(question, explain=True).results[0]
        rows = result.explanation.contributions
        assert sum(row.value for row in rows) == pytest.approx(result.score, abs=1e-6)
        assert "time" in {row.source for row in rows}
        assert "week" not in {row.term for row in rows}  # of another week in each text
