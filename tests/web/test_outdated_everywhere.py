"""Every page and a search mark the same memory as outdated, with the same date and newer memory."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

MARCH, APRIL = (datetime(2026, month, 2, 12, tzinfo=UTC) for month in (3, 4))
MARK = re.compile(
    r"until <time[^>]*>(\d[^<]*)</time></span>\s*(?:see|<span class=\"faint\">outdated by</span>) "
    r"<a href=\"/memory/(\w+)\""
)
FILLERS = (
    "The kettle in the kitchen whistles at noon.",
    "Ishbel prefers black tea with milk.",
    "The northern pier sinks by a centimetre a year.",
)


@pytest.fixture
def pair(memory) -> tuple[str, str]:
    """An old value and the newer one, whose text has another date than its note; and other memories."""
    old = memory.save("The rate limit is 100 requests a minute.", title="Limit", created_at=MARCH)
    for text in FILLERS:
        memory.save(text, created_at=MARCH)
    text = "[2026-03-20] The rate limit was raised to 200 requests a minute."
    return old.memory_id, memory.save(text, title="Raised", created_at=APRIL).memory_id


def test_list_page_timeline_and_search_agree(person, assistant, memory, pair):
    old, new = pair
    everywhere = [
        "/memories", "/memories?sort=title", "/memories?sort=created", "/memories?date=created&to=2026-03-05",
        "/memories?source=", f"/memory/{old}", "/timeline", "/timeline?month=2026-03", "/timeline?kind=new",
    ]  # fmt: skip
    for visitor in (person, assistant):
        for path in everywhere:
            assert MARK.findall(visitor.text(path)) == [("20 Mar 2026", new)], path
        assert MARK.findall(visitor.text(f"/memory/{new}")) == []
    (hit,) = [one for one in memory.search("What is the rate limit?") if one.memory_id == old]
    assert (hit.outdated_by, hit.valid_until) == (new, datetime(2026, 3, 20, tzinfo=UTC))


def test_the_line_of_either_memory_has_both(person, pair):
    for name in pair:
        line = person.text(f"/memory/{name}").partition('id="line"')[2].partition("</section>")[0]
        assert re.findall(r"until <time[^>]*>([^<]+)</time></span>", line) == ["20 Mar 2026"]
        assert line.count("<li") == 2
