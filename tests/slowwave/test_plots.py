"""The pictures: what they show, that they are always the same, that they stay small."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from slowwave.errors import SlowwaveError
from slowwave.views import counts, plots

SVG = "{http://www.w3.org/2000/svg}"
PAGE_BYTES = 60_000  # of a picture in an event log, as base64


def days(count: int, first: str = "2026-01-30") -> list[str]:
    start = date.fromisoformat(first)
    return [(start + timedelta(days=number)).isoformat() for number in range(count)]


def frame(rows: list[tuple[object, ...]], **schema: type[pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")


def acts(count: int) -> pl.DataFrame:
    """Acts of all tiers on many days, as many as a big house has."""
    rows = [
        (day, tier, number * 997 % 8_191 + 1)
        for number, day in enumerate(days(count))
        for tier in counts.TIERS
    ]
    return frame(rows, day=pl.String, tier=pl.String, acts=pl.Int64)


def verdicts(count: int) -> pl.DataFrame:
    rows = [
        (day, number * 631 % 4_099, number * 631 % 4_099 // 3, number * 127 % 5_003 + 1, number % 89)
        for number, day in enumerate(days(count))
    ]
    return frame(rows, day=pl.String, **dict.fromkeys(("used", "cited", "ignored", "unclear"), pl.Int64))


def reasons(count: int) -> pl.DataFrame:
    rows = [(day, reason, 3) for day in days(count) for reason in counts.REASONS]
    return frame(rows, day=pl.String, reason=pl.String, decisions=pl.Int64)


def spread() -> pl.DataFrame:
    return pl.DataFrame({"value": [step / 10 for step in range(11)], "memories": range(10_000, 10_011)})


PICTURES = {
    "acts": lambda count: plots.acts_by_day(acts(count)),
    "rates": lambda count: plots.rates_by_day(verdicts(count)),
    "promotions": lambda count: plots.promotions_by_day(reasons(count)),
    "effectiveness": lambda _: plots.effectiveness(spread()),
    "strength": lambda _: plots.strength(spread()),
}
EMPTY = {
    "acts": lambda: plots.acts_by_day(acts(0), days(30)),
    "acts, no days": lambda: plots.acts_by_day(acts(0)),
    "rates": lambda: plots.rates_by_day(verdicts(0), days(1)),
    "rates of nothing that could be told": lambda: plots.rates_by_day(
        pl.DataFrame({"day": ["2026-01-01"], "used": [0], "cited": [0], "ignored": [0], "unclear": [7]})
    ),
    "promotions": lambda: plots.promotions_by_day(reasons(0)),
    "effectiveness": lambda: plots.effectiveness(counts.distribution(pl.Series([], dtype=pl.Float64))),
    "strength": lambda: plots.strength(counts.distribution(pl.Series([None]))),
}


def texts(svg: bytes) -> list[str]:
    """The words of a picture."""
    return ["".join(one.itertext()).strip() for one in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("count", [1, 2, 30, plots.MAX_STEPS, 366, 5_000])
def test_a_picture_is_an_svg_that_fits_the_page_and_the_event_log(name, count):
    svg = PICTURES[name](count)
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert float(root.get("width").removesuffix("pt")) * 96 / 72 <= 730
    assert len(svg) * 4 / 3 < PAGE_BYTES
    assert root.find(f"{SVG}title").text


@pytest.mark.parametrize("name", EMPTY)
def test_a_picture_of_nothing_says_so(name):
    assert "Nothing on these days." in texts(EMPTY[name]())


def test_a_picture_has_a_title_units_dates_and_a_legend():
    shown = texts(plots.acts_by_day(acts(30)))
    for text in (
        "Feedback events by tier",
        "events a day",
        "implicit",
        "quick",
        "detailed",
        "30 Jan",
        "2026",
    ):
        assert text in shown
    assert {"used", "cited", "ignored", "no evidence", "100 %", "verdicts a day"} <= set(
        texts(plots.rates_by_day(verdicts(10)))
    )
    assert {"promoted", "rate limited", "tier not promotable", "below threshold"} <= set(
        texts(plots.promotions_by_day(reasons(2)))
    )
    assert {"Effectiveness of memories (110,055)", ".5", "10,003", "memories"} <= set(
        texts(plots.effectiveness(spread()))
    )


def test_long_ranges_are_means_of_weeks_and_quiet_days_count():
    one = pl.DataFrame({"day": ["2026-01-01"], "tier": ["quick"], "acts": [70]})
    steps = plots._steps(counts.pivoted(one, "tier", "acts"), days(plots.MAX_STEPS + 1, "2026-01-01"))
    assert steps.size == 7
    assert steps.sums == {"quick": [70, *[0] * (len(steps.edges) - 2)]}
    assert steps.per_day("quick")[0] == 10
    assert steps.edges[-1] - steps.edges[0] == plots.MAX_STEPS + 1  # the last step is cut off
    assert "events a day," in texts(plots.acts_by_day(one, days(200, "2026-01-01")))


@pytest.mark.slow
def test_the_same_data_is_the_same_picture_in_any_thread():
    jobs = [(name, count) for name in PICTURES for count in (1, 30)]
    alone = [PICTURES[name](count) for name, count in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda job: PICTURES[job[0]](job[1]), jobs))
    assert together == alone


OTHER = """
import sys, locale
import matplotlib
matplotlib.rcParams.update({"font.size": 30, "axes.grid": False, "svg.fonttype": "path"})
sys.path.insert(0, "tests/slowwave")
import test_plots
sys.stdout.buffer.write(test_plots.PICTURES["rates"](30))
assert matplotlib.rcParams["font.size"] == 30
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.mark.slow
def test_a_picture_does_not_depend_on_the_machine_and_leaves_its_settings_alone():
    made = subprocess.run(
        [sys.executable, "-c", OTHER], env={"PYTHONPATH": ".", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
        capture_output=True, check=True,
    )  # fmt: skip
    assert made.stdout == PICTURES["rates"](30)


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SlowwaveError, match=r"'\.\[plots\]'"):
        plots.acts_by_day(acts(2))
