"""Cycles over rows of weeks: when they close, what is written down then, and that it stays."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest
from evaluation_days import judge, said, strict_json
from warehouse_rows import put

from slowwave.evaluation.cycles import advance, closed_cycles, code_version, own_cycles
from slowwave.evaluation.variants import Tried
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry
from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.ranking import RankingPolicy
from slowwave.views.cycle import as_data, cycle_report

FIRST = date(2026, 3, 1)
NOW = datetime(2026, 6, 1, tzinfo=UTC)
TRIED = [Tried(Variant("in force", RankingPolicy()), "in force")]
TABLES = ("evaluation_cycles", "cycle_scores", "cycle_judgments")


def day(number: int) -> str:
    """The n-th day, from 1."""
    return (FIRST + timedelta(days=number - 1)).isoformat()


@pytest.fixture
def space(make_space) -> Workspace:
    return make_space(judge={"kind": "off"})


def query(number: int) -> str:
    return f"query {number}"


def asked(number: int, queries: Iterable[int], namespace: str = "ada") -> list[dict]:
    """Searches of a day; each shows three memories, the second of which is the right one."""
    return [
        {"search_id": f"{namespace}-{number}-{one}", "day": day(number), "namespace": namespace,
         "query": query(one), "abstained": False, "policy_version": "p", "seq": 1000 * number + one,
         "shown": [{"memory_id": f"m{one + at}", "chunk_id": f"m{one + at}:0", "rank": at + 1, "score": 0.5,
                    "channels": ["vector"] if at else ["vector", "bm25"]} for at in range(3)]}
        for one in queries
    ]  # fmt: skip


def graded(
    number: int, queries: Iterable[int], value: float | None = 2.0, namespace: str = "ada"
) -> list[dict]:
    """What a person says on a day of queries: how good the second result is."""
    return [said(day(number), query(one), f"m{one + 1}", value, namespace=namespace) for one in queries]


def ask(space: Workspace, number: int, queries: Iterable[int]) -> None:
    put(space.store, "searches", asked(number, queries))


def grade(
    space: Workspace, number: int, queries: Iterable[int], value: float | None = 2.0, namespace: str = "ada"
) -> None:
    judge(space.store, graded(number, queries, value, namespace))


def weeks(space: Workspace, days: int, each: int, *, namespace: str = "ada", first: int = 1) -> None:
    """Days with so many new queries each, all of which are graded on their day."""
    new = [(first + at, range(at * each, (at + 1) * each)) for at in range(days)]
    put(space.store, "searches", [row for one, queries in new for row in asked(one, queries, namespace)])
    judge(space.store, [row for one, queries in new for row in graded(one, queries, namespace=namespace)])


def nightly(space: Workspace, last: int, first: int = 1) -> dict[int, list[str]]:
    """What closes at the end of each of these days."""
    done = {number: advance(space, day(number), TRIED, NOW) for number in range(first, last + 1)}
    return {number: closed for number, closed in done.items() if closed}


def rows_of(space: Workspace, *without: str) -> dict[str, pl.DataFrame]:
    return {
        table: space.store.read(table).drop(*without, strict=False).sort(space.store.specs[table].key)
        for table in TABLES
    }


def cycle(space: Workspace, name: str) -> dict:
    found = {row["cycle_id"]: row for row in space.store.read("evaluation_cycles").iter_rows(named=True)}
    return found[name]


def missing(space: Workspace, name: str) -> tuple[int, int]:
    told = strict_json(cycle(space, name)["summary"])
    return told["queries_missing"], told["days_missing"]


def counted(one: dict) -> int:
    return strict_json(one["summary"])["counted"]


# -- when ------------------------------------------------------------------------------------------


def test_a_cycle_takes_a_fortnight_however_many_queries_there_are(space):
    weeks(space, 15, 8)
    assert nightly(space, 13, 11) == {}
    one = cycle(space, "ada#1")
    assert (one["status"], one["opened_on"], one["closed_on"]) == ("open", day(1), None)
    assert (one["days"], one["searches"], one["queries"], missing(space, "ada#1")) == (13, 104, 104, (0, 1))
    assert nightly(space, 15, 14) == {14: ["ada#1"]}
    one = cycle(space, "ada#1")
    assert (one["status"], one["closed_on"], one["days"], one["queries"]) == ("closed", day(14), 14, 112)
    assert one["closed_at"] == NOW
    two = cycle(space, "ada#2")
    assert (two["opened_on"], two["days"], missing(space, "ada#2")) == (day(15), 1, (92, 13))


def test_a_cycle_takes_a_hundred_queries_however_many_days_there_are(space):
    weeks(space, 21, 5)
    ask(space, 3, [500])  # nobody knows what answers it
    assert nightly(space, 21, 13) == {20: ["ada#1"]}
    one = cycle(space, "ada#1")
    assert (one["days"], one["queries"], one["searches"], counted(one)) == (20, 100, 100, 100)


def ask_again(space: Workspace, number: int, queries: Iterable[int], *, times: int = 1) -> None:
    """Ask on a day what may have been asked on it before."""
    put(space.store, "searches", [
        {**one, "search_id": f"{one['search_id']}-again-{at}"}
        for one in asked(number, queries) for at in range(times)
    ])  # fmt: skip


def test_what_one_person_asks_on_several_days_counts_and_no_more_than_three_times(space):
    """Six questions a day, thirty-four in all: by 14 March each was asked twice, by 17 March three times."""
    grade(space, 1, range(34))
    for number in range(1, 18):
        ask(space, number, [(6 * (number - 1) + at) % 34 for at in range(6)])
    ask(space, 16, [0])
    assert nightly(space, 17, 13) == {17: ["ada#1"]}
    one = cycle(space, "ada#1")
    assert (one["days"], one["queries"], one["searches"], counted(one)) == (17, 34, 103, 102)
    assert closed_cycles(space, "ada")[0].counted == 102
    assert own_cycles(space, "ada", day(17))[0].counted == 102


def test_a_script_that_asks_a_few_things_a_hundred_times_proves_nothing(space):
    grade(space, 1, range(10))
    for number in (1, 5, 9, 13, 14):
        ask_again(space, number, range(10), times=100)
    assert nightly(space, 14, 14) == {}
    one = cycle(space, "ada#1")
    assert (one["queries"], one["searches"], counted(one), missing(space, "ada#1")) == (
        10,
        5_000,
        30,
        (70, 0),
    )
    assert own_cycles(space, "ada", day(14))[0].counted == 30


def test_the_next_cycle_begins_to_count_anew(space):
    grade(space, 1, range(50))
    for number in (1, 2, 15, 16):
        ask(space, number, range(50))
    assert nightly(space, 28, 14) == {14: ["ada#1"], 28: ["ada#2"]}
    for name in ("ada#1", "ada#2"):
        one = cycle(space, name)
        assert (one["queries"], one["searches"], counted(one)) == (50, 100, 100)


def test_a_cycle_that_earlier_code_closed_counts_its_queries(space):
    weeks(space, 15, 8)
    nightly(space, 14, 14)
    put(space.store, "evaluation_cycles", [{**cycle(space, "ada#1"), "summary": '{"judges":{"kappa":NaN}}'}])
    assert closed_cycles(space, "ada")[0].counted == 112
    assert nightly(space, 15, 15) == {}
    assert cycle(space, "ada#2")["opened_on"] == day(15)


def test_rankings_shown_in_turn_are_compared_question_by_question(space):
    """Thirty questions prefer the ranking in force; one search, asked sixty times, does not outvote them."""
    weeks(space, 14, 8)
    ask_again(space, 3, [0], times=60)
    names = [(f"ada-{1 + one // 8}-{one}", 1, 0) for one in range(1, 31)]
    names += [(f"ada-3-0-again-{at}", 0, 1) for at in range(60)]
    put(space.store, "interleavings", [
        {"search_id": name, "day": day(5), "namespace": "ada", "policy_b": "x", "credit_a": a, "credit_b": b}
        for name, a, b in names
    ])  # fmt: skip
    nightly(space, 14, 14)
    told = strict_json(cycle(space, "ada#1")["summary"])["interleaving"]["x"]
    assert (told["searches"], told["queries"], told["verdict"]) == (90, 31, "worse")
    assert told["preferred"] == pytest.approx(1 / 31 - 0.5)


def test_a_judgment_counts_from_its_day_on_for_searches_of_before(space):
    ask(space, 1, range(120))
    grade(space, 17, range(99))
    grade(space, 19, range(99, 120))
    assert nightly(space, 20, 15) == {19: ["ada#1"]}
    assert cycle(space, "ada#1")["queries"] == 120


def test_a_judgment_that_was_taken_back_before_the_last_day_does_not_count(space):
    weeks(space, 10, 10)
    grade(space, 12, range(10), None)
    assert nightly(space, 14, 13) == {}
    assert (cycle(space, "ada#1")["queries"], missing(space, "ada#1")) == (90, (10, 0))
    ask(space, 16, range(200, 210))
    grade(space, 16, range(200, 210))
    grade(space, 17, range(10), 1.0)
    assert nightly(space, 17, 15) == {16: ["ada#1"]}
    judgments = space.store.read("cycle_judgments", "cycle_id = 'ada#1'")
    assert judgments.height == 100
    assert not set(judgments["memory_id"]) & {f"m{one + 1}" for one in range(10)}


def test_a_judge_that_nobody_has_checked_closes_no_cycle(space):
    for number in range(1, 15):
        ask(space, number, range(8 * number, 8 * number + 8))
        judge(
            space.store,
            [said(day(number), query(one), "m", 3.0, source="judge", who="machine")
             for one in range(8 * number, 8 * number + 8)],
        )  # fmt: skip
    assert nightly(space, 16, 13) == {}
    assert (cycle(space, "ada#1")["queries"], missing(space, "ada#1")) == (0, (100, 0))


@pytest.mark.slow
def test_namespaces_have_cycles_of_their_own(space):
    weeks(space, 14, 8)
    weeks(space, 14, 8, namespace="bob", first=4)
    weeks(space, 20, 3, namespace="carol")
    assert nightly(space, 18, 13) == {14: ["ada#1"], 17: ["bob#1"]}
    assert closed_cycles(space, "bob")[0].opened_on == date.fromisoformat(day(4))
    assert cycle(space, "carol#1")["queries"] == 54
    assert set(space.store.read("cycle_scores", "cycle_id = 'bob#1'")["namespace"]) == {"bob"}


@pytest.mark.slow
def test_days_that_are_caught_up_close_what_every_night_would_have_closed(make_space):
    every, late = (make_space(judge={"kind": "off"}) for _ in range(2))
    for one in (every, late):
        weeks(one, 34, 8)
        weeks(one, 30, 4, namespace="bob", first=3)
        grade(one, 9, range(40), None)
        grade(one, 16, range(40, 80), 3.0)
        grade(one, 33, range(150, 170), None)  # after their cycle has closed
    assert nightly(every, 34, 12) == {18: ["ada#1"], 27: ["bob#1"], 32: ["ada#2"]}
    assert advance(late, day(34), TRIED, NOW + timedelta(days=9)) == ["ada#1", "ada#2", "bob#1"]
    whole, caught_up = rows_of(every, "closed_at"), rows_of(late, "closed_at")
    for table in TABLES:
        assert whole[table].equals(caught_up[table]), table


def test_an_old_day_that_is_evaluated_again_takes_no_progress_back(space):
    weeks(space, 10, 5)
    nightly(space, 10)
    assert advance(space, day(4), TRIED, NOW) == []
    assert (cycle(space, "ada#1")["days"], cycle(space, "ada#1")["queries"]) == (10, 50)


def test_nothing_opens_before_the_first_search(space):
    grade(space, 1, range(3))
    assert advance(space, day(2), TRIED, NOW) == []
    assert space.store.count("evaluation_cycles") == 0


# -- what ------------------------------------------------------------------------------------------


def test_a_closed_cycle_never_changes(space):
    weeks(space, 14, 8)
    assert nightly(space, 14, 13) == {14: ["ada#1"]}
    before = rows_of(space)
    grade(space, 13, range(50), 0.0)  # somebody changes his mind, also about days of the past
    grade(space, 15, range(50, 60), 3.0)
    ask(space, 5, range(700, 710))
    assert advance(space, day(14), [], NOW + timedelta(days=1)) == []
    assert advance(space, day(15), [], NOW + timedelta(days=1)) == []
    for table, rows in rows_of(space).items():
        assert rows.filter(pl.col("cycle_id") == "ada#1").equals(before[table]), table


def test_a_cycle_whose_last_row_was_not_written_is_written_again(space):
    """Its own row comes last, so without it the rest is what somebody left who was killed."""
    weeks(space, 14, 8)
    nightly(space, 14, 13)
    before = rows_of(space)
    space.store.delete("evaluation_cycles", "cycle_id = 'ada#1'")
    put(space.store, "cycle_judgments", [{"cycle_judgment_id": "stray", "cycle_id": "ada#1", "grade": 1.0}])
    assert advance(space, day(14), TRIED, NOW) == ["ada#1"]
    for table, rows in rows_of(space).items():
        assert rows.equals(before[table]), table


def test_each_query_has_the_mean_of_its_searches(space):
    weeks(space, 14, 8)
    ask(space, 3, [0])
    put(
        space.store,
        "searches",
        [{"search_id": "empty", "day": day(4), "namespace": "ada", "query": "Query  0", "shown": [],
          "seq": 9_999, "abstained": True}],
    )  # fmt: skip
    nightly(space, 14, 13)
    scores = space.store.read("cycle_scores").sort("query_id")
    assert scores.height == 112
    assert scores["variant"].unique().to_list() == ["logged"]  # the journal has none of these searches
    first = scores.filter(query=query(0)).row(0, named=True)
    assert (first["searches"], first["relevant"]) == (3, 1)
    assert first["mrr_5"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert first["hit_rate_1"] == 0.0
    assert cycle(space, "ada#1")["searches"] == 114


def test_rankings_are_compared_on_the_same_searches_of_a_query(space):
    """An import says what was shown and nothing of what others would have shown."""
    weeks(space, 14, 8)
    ask(space, 2, [0])  # nothing is known but the result
    payload = {"query": query(0), "limit": 3, "as_of": f"{day(1)}T12:00:00+00:00", "candidates": {}}
    space.journal.append(
        [Entry(event_id="ada-1-0", kind="search", namespace="ada", subject="ada-1-0", principal="p",
               occurred_at=datetime.fromisoformat(payload["as_of"]), payload=payload)]
    )  # fmt: skip
    nightly(space, 14, 14)
    scores = space.store.read("cycle_scores")
    both = scores.filter(query=query(0)).sort("variant")
    assert both.select("variant", "searches", "mrr_5").rows() == [("in force", 1, 0.0), ("logged", 1, 0.5)]
    assert scores.filter(variant="logged").height == 112  # the others are there as they were shown
    assert cycle(space, "ada#1")["searches"] == 113


def drifting(space: Workspace, by_judge: str, by_hand: str) -> None:
    judge(
        space.store,
        [said(day(2), query(at), f"m{at + 1}", float(one), source="judge", who="machine")
         for at, one in enumerate(by_judge)]
        + [said(day(2), query(at), f"m{at + 1}", float(one), who="bob") for at, one in enumerate(by_hand)],
    )  # fmt: skip


def test_what_a_cycle_tells_is_json_also_where_figures_are_not_defined(space):
    """Cohen's kappa of two who only ever give one grade is none, and without an overlap there is no share."""
    weeks(space, 14, 8)
    drifting(space, "2222222222", "2222222222")
    judge(space.store, [said(day(2), "else", "m", 1.0, source="judge", who="idle")])
    put(
        space.store,
        "interleavings",
        [{"search_id": "s", "day": day(3), "policy_b": "x", "credit_a": 0, "credit_b": 1}],
    )  # fmt: skip
    put(space.store, "shadow_scores", [
        {"shadow_id": "s:x", "day": day(3), "variant": "x", "overlap": 0.0, "rank_correlation": 0.0}
    ])  # fmt: skip
    nightly(space, 14, 13)
    told = strict_json(cycle(space, "ada#1")["summary"])
    assert told["judges"]["machine"]["kappa"] == [None, None, None]
    assert told["judges"]["machine"]["exact"][0] == 1.0
    assert told["judges"]["idle"] == {"meets": False, "pairs": 0}
    assert told["channels"]["bm25"]["exclusive"] == 0
    assert told["channels"]["vector"]["ecr"] == pytest.approx(2 / 3)
    assert told["found_by"] == {"results": 336, "single": 224, "multi": 112, "unattributed": 0}
    assert told["interleaving"]["x"]["searches"] == 1
    assert told["shadow"]["x"] == {
        "searches": 1, "overlap": 0.0, "mean_score_change": None, "mean_rank_change": None,
        "rank_correlation": 0.0,
    }  # fmt: skip
    tried = strict_json(cycle(space, "ada#1")["variants"])
    assert tried["in force"]["policy_version"] == RankingPolicy().version
    assert RankingPolicy.from_dict(tried["in force"]["policy"]) == RankingPolicy()
    assert as_data(cycle_report(space.store, "ada#1"))["judges"] == told["judges"]


@pytest.mark.parametrize(("bar", "meets"), [(0.8, True), (0.9, False)])
def test_a_judge_meets_the_bar_of_the_settings(make_space, bar, meets):
    space = make_space(judge={"kind": "off", "agreement": bar})
    weeks(space, 14, 8)
    drifting(space, "22222222221111", "22222222221122")  # 12 of 14
    grade(space, 3, range(14), None)  # only bob has labelled these
    nightly(space, 14, 13)
    told = strict_json(cycle(space, "ada#1")["summary"])["judges"]["machine"]
    assert (told["pairs"], told["meets"]) == (14, meets)


@pytest.mark.slow
def test_the_versions_name_judgments_and_code(space):
    weeks(space, 14, 8)
    weeks(space, 14, 8, namespace="bob")
    grade(space, 2, [3], 1.0, namespace="bob")
    nightly(space, 14, 13)
    ada, bob = (cycle(space, name) for name in ("ada#1", "bob#1"))
    assert ada["judgment_version"] != bob["judgment_version"]
    assert ada["code_version"] == bob["code_version"] == code_version()
