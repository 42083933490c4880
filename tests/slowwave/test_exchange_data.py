"""The logs of OpenSearch's demonstration shop, counted beforehand by other means than the import's."""

from __future__ import annotations

from pathlib import Path

import pytest
from exchange_helpers import take_jsonl, take_ubi, written

from slowwave.evaluation.exchange.export import export
from slowwave.journal import Journal

pytestmark = [pytest.mark.slow, pytest.mark.data]

PLACES = [folder / "shared" / "data" / "ubi" for folder in Path(__file__).parents[2].parents]


@pytest.fixture
def logs() -> Path:
    """The folder of the logs."""
    found = next((place for place in PLACES if place.is_dir()), None)
    if found is None:
        pytest.skip("skipped: ../shared/data not present")
    return found


def test_a_packed_log_of_four_minutes(journal: Journal, logs: Path, tmp_path: Path) -> None:
    report = take_ubi(journal, str(logs / "log_events.zip"), first_day="2024-01-01")
    assert (report.lines, report.searches, report.shown, report.objects) == (30_958, 4_130, 15_166, 1_542)
    # 1,671 acts of use, of which eight are there twice to the millisecond.
    assert report.verdicts == {"used": 1_663, "unhelpful": 587, "helpful": 33}
    assert (report.repeated, report.malformed, report.new, report.already) == (12, 0, 6_413, 0)
    assert report.skipped == {
        "on_search": 5_357,
        "global_click": 3_642,
        "product_sort": 3_623,
        "brand_filter": 3_621,
        "view_search_results": 3_543,
        "type_filter": 3_525,
        "product_hover": 961,
        "page_exit": 136,
        "404_redirect": 125,
    }
    assert (report.first_day, report.last_day) == ("2024-06-04", "2024-06-04")
    before = written(journal)
    again = take_ubi(journal, str(logs / "log_events.zip"), first_day="2024-01-01")
    assert (again.new, again.already, again.kept) == (0, 6_413, 0)
    with (tmp_path / "log.jsonl").open("wb") as file:
        assert export(journal, "ada", file.write).lines == 6_413
    back = take_jsonl(journal, str(tmp_path / "log.jsonl"), first_day="2024-01-01")
    assert (back.new, back.already, back.kept, back.malformed) == (0, 6_413, 0, 0)
    assert written(journal) == before


def test_a_bulk_file_of_three_applications(journal: Journal, logs: Path) -> None:
    file = str(logs / "ubi_queries_events.ndjson")
    report = take_ubi(journal, file, first_day="2024-01-01")
    assert (report.searches, report.shown, report.objects) == (301, 2_654, 1_168)
    assert report.verdicts == {"used": 538, "unhelpful": 5}
    assert (report.new, report.malformed, sum(report.skipped.values())) == (844, 0, 906)
    days = journal.days(["observation", "feedback"])
    assert (days.height, days["entries"].sum()) == (17, 543)
    assert dict(days.select("day", "entries").iter_rows())["2025-01-24"] == 194


def test_both_together_know_the_searches_that_they_share(journal: Journal, logs: Path) -> None:
    files = [str(logs / name) for name in ("log_events.zip", "ubi_queries_events.ndjson")]
    take_ubi(journal, files[0], first_day="2024-01-01")
    report = take_ubi(journal, files[1], first_day="2024-01-01")
    # The second has 29 acts of the first, without the queries that they belong to.
    assert (report.new, report.already, report.searches, report.not_shown) == (804, 29, 290, 0)
