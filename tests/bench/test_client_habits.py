"""Clients with the known habits: each call gets an answer, and what was well meant is served."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.slow]
SHARE = 0.95  # of the well-meant calls


@pytest.mark.parametrize(
    "calls", [200, pytest.param(5_000, marks=[pytest.mark.soak, pytest.mark.timeout(3_000)])]
)
def test_no_call_is_without_an_answer(run, calls):
    figures = run("odd_calls", "--calls", calls, "--seed", 2_038)
    for transport in ("stdio", "http"):
        assert figures["totals"][f"{transport}_unanswered"] == 0, figures["rows"]
        assert figures["totals"][f"{transport}_served"] >= SHARE, figures["rows"]
    served = {row["habit"]: row["served"] for row in figures["rows"] if row["well_meant"] == "no"}
    for habit in ("another namespace", "no JSON", "JSON that is no message", "id of no kind"):
        assert served[habit] == 0
