"""The report of an evaluation cycle: what it compares, what it calls new, a page that is safe and small."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from cycle_rows import CHANNELS, VARIANTS, put_cycle, query_of
from warehouse_rows import put

from slowwave.cli import evaluate as terminal
from slowwave.errors import NotFoundError
from slowwave.scoring.evaluation import compare
from slowwave.store import Store
from slowwave.views import cycle_plots
from slowwave.views import cycle_text as words
from slowwave.views.cycle import CycleReport, as_data, cycle_report
from slowwave.views.cycle_sections import DETAILED, cycle_page

TITLE = "A <b>bold</b> title"
EVIL = "<script>alert('x')</script> & \"quotes\" ${body} [bold]{markup}[/]"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two closed cycles of one namespace that share 70 queries, one of another, and an open one."""
    store = Store(str(tmp_path_factory.mktemp("cycles") / "lance"), model="hash-8", dimension=8)
    put_cycle(store, 1)
    put_cycle(store, 2, first=60, queries=150)
    put_cycle(store, 1, namespace="bob", queries=20)
    note = {"revision": "1", "status": "live"}
    put(store, "memories", [
        {**note, "memory_id": "memory-60-0", "title": TITLE},
        {**note, "memory_id": "memory-60-1", "title": "Hidden", "sensitivity": "secret"},
        {**note, "memory_id": "memory-60-2", "title": "Of another", "namespace": "bob"},
    ])  # fmt: skip
    return store


@pytest.fixture(scope="module")
def report(filled: Store) -> CycleReport:
    return cycle_report(filled, "ada#2")


@pytest.fixture(scope="module")
def page(report: CycleReport) -> str:
    return cycle_page(report)


def empty(store: Store) -> CycleReport:
    put(store, "evaluation_cycles", [
        {"cycle_id": "ada#1", "namespace": "ada", "number": 1, "status": "open", "opened_on": "2026-03-01"}
    ])  # fmt: skip
    return cycle_report(store, "ada#1")


def test_variants_stand_in_the_order_of_the_cycle_beside_what_was_shown(report: CycleReport) -> None:
    assert [one.name for one in report.variants] == ["logged", *VARIANTS]
    assert report.variants[0].against == {}
    assert {one.name: one.role for one in report.variants[1:]} == {
        name: role for name, (_, _, role) in VARIANTS.items()
    }
    verdicts = {one.name: one.against["ndcg_10"].verdict for one in report.variants[1:]}
    assert verdicts["patient"] == "better"
    assert verdicts["BM25 alone"] == "worse"
    assert verdicts["no MPAB"] == "equivalent"
    for one in report.variants[1:]:
        assert (one.needed == 0) == (one.against["ndcg_10"].verdict != "insufficient evidence")


def test_a_difference_is_that_of_the_same_queries(report: CycleReport) -> None:
    wide = report.scores.pivot("variant", index="query_id", values="mrr_5").sort("query_id")
    expected = compare(wide["logged"].to_numpy(), wide["RRF"].to_numpy(), margin=0.02)
    one = report.variant("RRF")
    assert one is not None
    assert one.against["mrr_5"] == expected
    assert one.means["mrr_5"].mean == pytest.approx(wide["RRF"].mean())
    assert one.queries == expected.n == 150


def test_a_failed_query_counts_as_nothing_found(store: Store) -> None:
    put_cycle(store, 1, queries=30)
    row = store.read("cycle_scores", "variant = 'patient' AND query_id = 'q3'")
    store.upsert("cycle_scores", row.with_columns(ndcg_10=None, mrr_5=float("nan")))
    one = cycle_report(store, "ada#1").variant("patient")
    assert one is not None
    assert one.queries == 30
    assert np.isfinite([mean.mean for mean in one.means.values()]).all()


def test_what_changed_is_told_of_the_queries_that_both_cycles_have(
    report: CycleReport, filled: Store
) -> None:
    changed = report.changed
    assert changed is not None
    assert (changed.number, changed.shared) == (1, 70)
    first = cycle_report(filled, "ada#1")
    assert first.changed is None
    then = dict(first.scores.filter(pl.col("variant") == "logged").select("query_id", "ndcg_10").iter_rows())
    now = dict(report.scores.filter(pl.col("variant") == "logged").select("query_id", "ndcg_10").iter_rows())
    moved = {name: now[name] - then[name] for name in now if name in then}
    assert changed.same_queries is not None
    assert changed.same_queries["ndcg_10"].difference == pytest.approx(np.mean(list(moved.values())))
    assert changed.moved["change"].is_sorted()
    assert changed.moved["query_id"][0] == min(moved, key=lambda name: moved[name])
    # 80 of 150 queries are new, 60 of 130 are gone, and of the shared ones every tenth is graded otherwise.
    assert changed.judgments == {"added": 240, "removed": 180, "regraded": 21}
    assert changed.metrics["variant"].to_list() == ["logged", *VARIANTS]


def test_no_report_reads_another_namespace(filled: Store) -> None:
    other = cycle_report(filled, "bob#1")
    assert other.changed is None
    assert other.course["number"].to_list() == [1]
    assert set(other.scores["query_id"]) == {f"q{number}" for number in range(20)}


def test_judged_memories_have_titles_that_are_no_secret(report: CycleReport) -> None:
    titles = dict(
        report.grades.filter(pl.col("title").is_not_null()).select("memory_id", "title").iter_rows()
    )
    assert titles == {"memory-60-0": TITLE}


def test_the_course_is_of_every_cycle_up_to_this_one(report: CycleReport, filled: Store) -> None:
    assert report.course.select("number", "queries").rows() == [(1, 130), (2, 150)]
    logged = report.variant("logged")
    assert logged is not None
    assert report.course["mean"][-1] == pytest.approx(logged.means["ndcg_10"].mean)
    assert cycle_report(filled, "ada#1").course["number"].to_list() == [1]


def test_a_cycle_that_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(NotFoundError, match="NAMESPACE#NUMBER"):
        cycle_report(store, "ada#7'")


def test_an_open_cycle_without_a_score_has_a_page_a_print_and_data(store: Store, capsys: Any) -> None:
    done = empty(store)
    made = cycle_page(done)
    assert "still open" in made
    assert made.count("<img") == 4  # the pictures say that there is nothing
    assert "first cycle" in made
    assert as_data(done)["variants"] == []
    terminal.print_cycle(done)
    assert "Nothing was compared" in capsys.readouterr().out


def test_the_page_holds_everything_in_words(report: CycleReport, page: str) -> None:
    for name in VARIANTS:
        assert f"<td>{name}" in page, name
    assert page.count("(baseline)") == 3
    assert '<td class="better">better</td>' in page
    assert '<td class="worse">worse</td>' in page
    for said in ("2026-03-15 to 2026-03-29", "version j2", "450 searches of 150 distinct queries", "0000000a",
                 "Fell most", "Rose most", "default: drift: changed", "0.610 (0.440 … 0.750)",
                 "rank correlation", "Interleaving", "490 by several"):  # fmt: skip
        assert said in page, said
    for channel, told in CHANNELS.items():
        assert f"<td>{channel}</td>" in page
        assert f"{told['ecr']:.3f}" in page


def test_the_page_needs_nothing_and_runs_nothing(page: str) -> None:
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page
    assert not re.search(r"<script|<link|<iframe|javascript:|https?://|\son\w+=", page.split("</style>")[1])
    assert page.count("data:image/svg+xml;base64,") == page.count("<img ") == 4


def test_every_query_is_listed_and_the_worst_and_best_in_detail(page: str) -> None:
    assert page.count("<details>") == 2 * DETAILED + 1
    for number in range(60, 210):
        assert query_of(number) in page


def test_queries_and_titles_are_never_markup(filled: Store, store: Store, capsys: Any) -> None:
    put_cycle(store, 1, queries=25, summary={"judges": {EVIL: EVIL}, "shadow": {EVIL: {EVIL: 1}}})
    rows = store.read("cycle_scores")
    named = pl.when(pl.col("variant") == "patient").then(pl.lit(EVIL)).otherwise("variant")
    store.upsert("cycle_scores", rows.with_columns(query=pl.lit(EVIL), variant=named))
    put(store, "memories", [{"memory_id": "memory-0-0", "title": EVIL, "revision": "1"}])
    done = cycle_report(store, "ada#1")
    made = cycle_page(done)
    assert "<script" not in made
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;quotes&quot; ${body}" in made
    assert made.count("<title>") == 1
    terminal.print_cycle(done)
    assert "[bold]{markup}[/]" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.soak
def test_the_page_of_very_many_queries_stays_small(store: Store) -> None:
    put_cycle(store, 1, queries=2_500)
    rows = store.read("cycle_scores")
    store.upsert("cycle_scores", rows.with_columns(query=pl.col("query") + pl.lit(" and so on" * 400)))
    made = cycle_page(cycle_report(store, "ada#1"))
    assert len(made.encode()) < 2_000_000
    assert "the 2,000 worst of 2,500" in made


@pytest.mark.slow
def test_the_same_tables_give_the_same_page(filled: Store, page: str) -> None:
    assert cycle_page(cycle_report(filled, "ada#2")) == page


def test_plain_data_is_json_without_what_is_no_number(report: CycleReport, store: Store) -> None:
    told = json.loads(json.dumps(as_data(report), allow_nan=False))
    assert told["variants"][2]["against"]["ndcg_10"]["verdict"] == "better"
    assert told["changed"]["same_queries"]["ndcg_10"]["n"] == 70
    assert told["closed_at"].startswith("2026-03-29")
    assert len(told["scores"]) == 150 * 12
    json.dumps(as_data(empty(store)), allow_nan=False)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_terminal_shows_verdicts_at_any_width(
    report: CycleReport, monkeypatch: pytest.MonkeyPatch, capsys: Any, width: int
) -> None:
    monkeypatch.setattr(terminal.out, "_width", width)
    terminal.print_cycle(report)
    told = capsys.readouterr().out
    assert all(len(line) <= width for line in told.splitlines())
    assert "better" in told
    assert "(baseline)" in told
    assert ("won/tied/lost" in told) == (width == 160)
    assert ["vector", "900", "700", "250", "0.278"] in [line.split() for line in told.splitlines()]
    assert "judge default: kappa 0.610 (0.440 … 0.750)" in told


def test_numbers_are_written_for_people() -> None:
    assert words.number(0.12345) == "0.123"
    assert words.number(-0.0123, signed=True) == "−0.012"
    assert words.number(-0.0001, signed=True) == words.number(0.0, signed=True) == "0.000"
    assert words.number(float("nan")) == words.number(None) == "–"
    assert words.probability(0.0001) == "< .001"
    assert words.probability(0.25) == ".250"


def test_pictures_of_one_variant_and_of_unknown_channels_are_drawn(store: Store) -> None:
    put_cycle(store, 1, queries=20, summary={"channels": {"vector": {"results": 3}}})
    done = cycle_report(store, "ada#1")
    for picture in (
        cycle_plots.differences,
        cycle_plots.distribution,
        cycle_plots.channels,
        cycle_plots.course,
    ):
        assert b"<svg" in picture(done)
    assert "unknown" in cycle_plots.channels(done).decode()
