"""The regression guard hears questions, however often each of them is asked (rules 6.8 and 7.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from learning_rows import put_open
from warehouse_rows import put

from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.guard import regression

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SEARCHES = 60


@pytest.mark.parametrize(("questions", "heard"), [(SEARCHES, True), (30, True), (1, False)])
def test_a_search_that_is_repeated_is_one_voice_against_what_was_learned(make_space, questions, heard):
    """In all of them the results without what was learned were used."""
    space = make_space(learning={"enabled": True})
    space.__dict__["now"] = lambda: NOW
    put_open(space, NOW)
    searches = [(f"turn-{at}", f"where is number {at % questions}?") for at in range(SEARCHES)]
    put(space.store, "searches", [
        {"search_id": name, "day": f"{NOW:%F}", "namespace": "ada", "query": query}
        for name, query in searches
    ])  # fmt: skip
    without = replace(space.policy, learned_cap=0.0).version
    put(space.store, "interleavings", [
        {"search_id": name, "day": f"{NOW:%F}", "namespace": "ada", "policy_b": without, "credit_a": 0,
         "credit_b": 1}
        for name, _ in searches
    ])  # fmt: skip
    why = regression(Evidence(space, f"{NOW:%F}", among=["ada"]), "ada", NOW)
    assert ("results without it are used more" in why) == heard
