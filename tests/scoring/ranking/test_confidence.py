from __future__ import annotations

import itertools

import pytest
from ranking_helpers import NOW, PLAIN, build, near

from slowwave.scoring.ranking import Confidence, RankingPolicy, rank
from slowwave.scoring.ranking.confidence import MEDIUM, lifecycle_confidence, note_confidence

TYPES = ("constraint", "decision", "project", "preference", "fact", "note", "")


@pytest.mark.parametrize(
    ("truth", "priority", "kind", "sensitivity", "tier", "points", "field"),
    [
        (True, "normal", "note", "normal", "high", 6, "source_of_truth"),
        (True, "low", "note", "secret", "high", 6, "source_of_truth"),
        (False, "high", "constraint", "normal", "high", 6, "retrieval_priority"),
        (False, "high", "decision", "secret", "high", 6, "retrieval_priority"),
        (False, "high", "project", "private", "high", 6, "retrieval_priority"),
        (False, "high", "preference", "normal", "medium", 0, ""),
        (False, "high", "fact", "secret", "low", -4, "sensitivity"),
        (False, "low", "decision", "normal", "low", -4, "retrieval_priority"),
        (False, "normal", "decision", "secret", "low", -4, "sensitivity"),
        (False, "normal", "decision", "normal", "medium", 0, ""),
        (False, "", "", "", "medium", 0, ""),
    ],
)
def test_notes(truth, priority, kind, sensitivity, tier, points, field):
    said = note_confidence(
        source_of_truth=truth, retrieval_priority=priority, memory_type=kind, sensitivity=sensitivity
    )
    assert said == (tier, points, field)


def test_notes_every_case_by_the_words_of_the_rule():
    labels = (True, False), ("high", "normal", "low"), TYPES, ("normal", "private", "secret")
    for truth, priority, kind, sensitivity in itertools.product(*labels):
        high = truth or (priority == "high" and kind in ("constraint", "decision", "project"))
        low = priority == "low" or sensitivity == "secret"
        said = note_confidence(
            source_of_truth=truth, retrieval_priority=priority, memory_type=kind, sensitivity=sensitivity
        )
        assert said.tier == ("high" if high else "low" if low else "medium")
        assert said.points == {"high": 6, "medium": 0, "low": -4}[said.tier]


@pytest.mark.parametrize(
    ("state", "source", "open_", "secret"),
    [
        ("canonical", "generated", ("high", 5), ("medium", 0)),
        ("canonical", "manual", ("high", 5), ("medium", 0)),
        ("accepted", "manual", ("high", 5), ("medium", 0)),
        ("accepted", "generated", ("medium", 0), ("low", -3)),
        ("accepted", "", ("medium", 0), ("low", -3)),
        ("candidate", "manual", ("low", -3), ("low", -3)),
        ("draft", "manual", ("low", -3), ("low", -3)),
        ("draft", "generated", ("low", -3), ("low", -3)),
        ("", "manual", ("medium", 0), ("low", -3)),
    ],
)
def test_facts_with_a_life_cycle(state, source, open_, secret):
    for sensitivity, expected in (("normal", open_), ("private", open_), ("secret", secret)):
        said = lifecycle_confidence(state=state, source_kind=source, sensitivity=sensitivity)
        assert said[:2] == expected


@pytest.mark.parametrize("points", [6, 5, 0, -3, -4])
def test_a_point_is_a_hundredth_of_a_score(points):
    said = Confidence("medium", points, "state")
    (only,) = rank(build(near(a=0.5), confidence={"a": said}), PLAIN, as_of=NOW).results
    assert only.score == pytest.approx(0.5 + points / 100, abs=1e-12)
    assert [row for row in only.contributions if row.source == "confidence"] == [
        ("confidence", "state", "medium", pytest.approx(points / 100))
    ]
    assert RankingPolicy().confidence_point == 0.01


def test_a_memory_of_which_nothing_is_said_is_medium():
    (only,) = rank(build(near(a=0.5)), PLAIN, as_of=NOW).results
    assert only.confidence == MEDIUM == ("medium", 0, "")
