"""How good searches were, and what other rankings would have been, beside the same one search at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import pytest
from evaluation_days import NOTES, QUERIES, fill, judge, memory_of, said, take_in, with_clock
from feedback_days import HOUR, at, name
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.common import ids
from slowwave.evaluation.derived_judgments import selection_judgments, trigger_judgments
from slowwave.evaluation.scores import COLUMNS, attribute_days, compare_days, score, score_days, searches_of
from slowwave.evaluation.variants import LOGGED, Tried, variants
from slowwave.journal import Entry
from slowwave.memory import Memory
from slowwave.scoring.evaluation import MEASURES
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.ranking import SEEDS
from slowwave.search.log import replay

DAYS = [name(day) for day in (1, 2, 3)]
GRADES = {
    QUERIES[0]: {"deploy": 3.0, "ledger": 1.0},
    QUERIES[1]: {"battery": 2.0, "gauge": 1.5, "mast": 0.0},
    QUERIES[2]: {"rota": 3.0},
    QUERIES[3]: {"gauge": 2.0, "survey": 0.0, "never saved": 1.0},
    QUERIES[4]: {"ferry": 0.0},  # nothing relevant: not counted
}


@pytest.fixture
def searched(open_memory) -> Memory:
    """Every query on each of three days, with lists of one, three and ten results."""
    memory = open_memory()
    clock = with_clock(memory)
    fill(memory)
    for day, limit in ((1, 1), (2, 3), (3, 10)):
        clock.moment = at(day)
        for query in QUERIES:
            memory.search(query, limit=limit)
            clock.moment += HOUR / 60
    take_in(memory._space, DAYS)
    return memory


def grades_of(known: Mapping[str, Mapping[str, float]], namespace: str = "ada") -> pl.DataFrame:
    rows = [
        (namespace, ids.query_id(namespace, query), memory_of(key), grade)
        for query, judged in known.items()
        for key, grade in judged.items()
    ]
    return pl.DataFrame(rows, schema=["namespace", "query_id", "memory_id", "grade"], orient="row")


def by_hand(results: Mapping[str, list[str]], queries: Mapping[str, str]) -> dict[str, tuple[float, ...]]:
    """Measures of some searches, one at a time."""
    found = {}
    for search_id, shown in results.items():
        judged = GRADES.get(queries[search_id], {})
        qrels = {"q": {memory_of(key): grade for key, grade in judged.items()}}
        rows = evaluate({"q": shown}, qrels, MEASURES)
        if rows.height:
            found[search_id] = rows.select(map(str, MEASURES)).row(0)
    return found


def measured(rows: pl.DataFrame, variant: str) -> dict[str, tuple[float, ...]]:
    own = rows.filter(variant=variant)
    assert own["search_id"].is_unique().all()
    return {row["search_id"]: tuple(row[one] for one in COLUMNS) for row in own.iter_rows(named=True)}


def payloads(memory: Memory) -> dict[str, dict]:
    searches = memory.journal.read(kinds=("search",))["event_id"]
    return {one: memory.journal.get(one).payload for one in searches}


def test_what_was_shown_is_measured_as_if_by_hand(searched):
    space, query_log = searched._space, payloads(searched)
    rows = score(space, searches_of(space, DAYS), grades_of(GRADES), [])
    shown = {one: [row["memory_id"] for row in payload["shown"]] for one, payload in query_log.items()}
    queries = {one: payload["query"] for one, payload in query_log.items()}
    expected = by_hand(shown, queries)
    assert len(expected) == 12
    found = measured(rows, LOGGED)
    assert found.keys() == expected.keys()
    for one, values in expected.items():
        assert found[one] == pytest.approx(values, abs=1e-12)
    assert rows["variant"].unique().to_list() == [LOGGED]
    assert rows["policy_version"].unique().to_list() == [searched.policy.version]
    relevant = dict(rows.select("query_id", "relevant").iter_rows())
    assert relevant[ids.query_id("ada", QUERIES[3])] == 2


@pytest.mark.slow
def test_every_variant_is_measured_on_what_each_search_alone_would_have_shown(searched):
    space, query_log = searched._space, payloads(searched)
    strict = Tried(Variant("strict", replace(searched.policy, abstention_floor=1.0)), "shadow")
    tried = [*variants(searched.policy, space.settings.evaluation), strict]
    rows = score(space, searches_of(space, DAYS), grades_of(GRADES), tried)
    assert set(rows["variant"]) == {LOGGED, *(one.variant.name for one in tried)}
    queries = {one: payload["query"] for one, payload in query_log.items()}
    whole = [one.variant for one in tried if not one.variant.without]
    assert len(whole) >= 5
    for variant in whole:
        again = {one: replay(payload, variant.policy) for one, payload in query_log.items()}
        shown = {one: [row.memory_id for row in ranking.results] for one, ranking in again.items()}
        found, own = measured(rows, variant.name), rows.filter(variant=variant.name)
        for one, values in by_hand(shown, queries).items():
            assert found[one] == pytest.approx(values, abs=1e-12)
        for one, abstained in own.select("search_id", "abstained").iter_rows():
            assert abstained == again[one].abstained
        assert own["policy_version"].unique().to_list() == [variant.policy.version]


def test_a_search_that_abstains_counts_as_nothing_found(searched):
    space = searched._space
    strict = Tried(Variant("strict", replace(searched.policy, abstention_floor=1.0)), "shadow")
    rows = score(space, searches_of(space, DAYS), grades_of(GRADES), [strict])
    own = rows.filter(variant="strict")
    sure = pl.col("query_id") == ids.query_id("ada", QUERIES[2])  # it says a trigger phrase
    assert own.filter(sure)["hit_rate_1"].to_list() == [1.0] * 3
    own = own.filter(~sure)
    assert own.height == 9
    assert own["abstained"].all()
    assert own.select(COLUMNS).sum().row(0) == (0.0,) * len(COLUMNS)
    assert not rows.filter(variant=LOGGED)["abstained"].any()


def test_a_search_that_abstained_when_it_was_asked_counts_as_nothing_found(open_memory):
    memory = open_memory(ranking={"abstention_floor": 0.99})
    with_clock(memory)
    fill(memory)
    assert memory.search("zebras on the moon").abstained
    take_in(memory._space, DAYS[:1])
    grades = grades_of({"zebras on the moon": {"mast": 1.0}})
    (row,) = score(memory._space, searches_of(memory._space, DAYS[:1]), grades, []).iter_rows(named=True)
    assert row["abstained"]
    assert (row["ndcg_10"], row["recall_20"], row["judged_10"], row["relevant"]) == (0.0, 0.0, 0.0, 1)


def test_what_is_ideal_is_the_whole_judgment_list_and_not_what_was_shown(searched):
    grades = grades_of({QUERIES[0]: dict.fromkeys(NOTES, 3.0)})
    rows = score(searched._space, searches_of(searched._space, DAYS[:1]), grades, [])
    (row,) = rows.iter_rows(named=True)
    ideal = sum(3 / pl.Series([rank + 1.0]).log(2)[0] for rank in range(1, len(NOTES) + 1))
    assert (row["recall_20"], row["relevant"]) == (1 / len(NOTES), len(NOTES))
    assert row["ndcg_10"] == pytest.approx(3 / ideal, abs=1e-12)


def test_no_search_is_measured_with_another_namespaces_judgments(searched, open_memory):
    bob = Memory(searched.settings, namespace="bob", space=searched._space)
    searched._space.now.moment = at(3, 20)
    fill(bob)
    bob.search(QUERIES[0])
    take_in(searched._space, DAYS)
    space = searched._space
    assert score(space, searches_of(space, DAYS), grades_of(GRADES, "bob"), [])["namespace"].to_list() == [
        "bob"
    ]
    assert set(score(space, searches_of(space, DAYS), grades_of(GRADES), [])["namespace"]) == {"ada"}
    nobody = grades_of(GRADES, "carol")
    assert score(space, searches_of(space, DAYS), nobody, []).is_empty()


def test_each_day_has_the_judgments_of_its_end(searched):
    deploy, ledger = memory_of("deploy"), memory_of("ledger")
    judge(
        searched.store,
        [
            said(name(2), QUERIES[0], deploy, 3.0),
            said(name(3), QUERIES[0], deploy, 0.0),
            said(name(3), QUERIES[0], ledger, 1.0),
            said(name(4), QUERIES[1], memory_of("battery"), 3.0),
        ],
    )
    tried = variants(searched.policy, searched.settings.evaluation)[:1]
    rows = score_days(searched._space, DAYS, tried)
    assert sorted(set(rows.select("day", "query_id", "relevant").iter_rows())) == [
        (day, ids.query_id("ada", QUERIES[0]), 1) for day in DAYS[1:]
    ]
    first, second = (rows.filter(day=day, variant=LOGGED).row(0, named=True) for day in DAYS[1:])
    assert first["hit_rate_1"] == 1.0
    assert second["hit_rate_1"] == 0.0
    alone = pl.concat([score_days(searched._space, [day], tried) for day in DAYS])
    assert alone.sort("score_id").equals(rows.sort("score_id"))
    searched.store.replace_partition("evaluation_scores", rows, DAYS)  # it has the columns of the table


def test_days_without_searches_or_judgments_have_no_rows(searched):
    tried = variants(searched.policy, searched.settings.evaluation)
    assert score_days(searched._space, DAYS, tried).is_empty()
    assert score_days(searched._space, ["2020-01-01"], tried).is_empty()
    assert compare_days(searched._space, ["2020-01-01"], tried).is_empty()
    assert attribute_days(searched._space, ["2020-01-01"]).is_empty()


def test_the_ranking_in_force_beside_itself_is_the_same(searched):
    tried = variants(searched.policy, searched.settings.evaluation)
    rows = compare_days(searched._space, DAYS, tried)
    own = rows.filter(variant="in force")
    assert own.height == 3 * len(QUERIES)
    counts = ("overlap", "rank_correlation", "mean_score_change", "mean_rank_change")
    assert set(own.select(counts).iter_rows()) == {(1.0, 1.0, 0.0, 0.0)}
    assert set(own.select("only_logged", "only_shadow").iter_rows()) == {(0, 0)}
    assert not set(rows["variant"]) & {one.variant.name for one in tried if one.role in ("channel", "stage")}
    assert rows.filter(variant="BM25 alone")["mean_score_change"].fill_null(0.0).max() > 0
    searched.store.replace_partition("shadow_scores", rows, DAYS)


def test_what_found_each_result_is_counted_as_the_search_said(searched):
    rows = attribute_days(searched._space, DAYS)
    for search_id, payload in payloads(searched).items():
        found = [set(row["channels"]) for row in payload["shown"][:10]]
        own = {row["channel"]: row for row in rows.filter(search_id=search_id).iter_rows(named=True)}
        for channel in ("vector", "bm25", "trigger"):
            counts = tuple(own[channel][one] for one in ("results", "covered", "exclusive"))
            assert counts == (
                len(found), sum(channel in one for one in found), sum(one == {channel} for one in found)
            )  # fmt: skip
        whole = tuple(own["*"][one] for one in ("single", "multi", "unattributed"))
        assert whole == (sum(len(one) == 1 for one in found), sum(len(one) > 1 for one in found), 0)
    assert rows.filter(channel="trigger")["covered"].sum() > 0
    searched.store.replace_partition("channel_attribution", rows, DAYS)


@pytest.mark.slow
def test_what_cannot_be_ranked_again_is_measured_as_it_was_shown(searched):
    space = searched._space
    payload = next(one for one in payloads(searched).values() if one["query"] == QUERIES[0])
    other = {
        "imported": {name: value for name, value in payload.items() if name != "candidates"},
        "unreadable": {**payload, "candidates": "none"},
    }
    searched.journal.append(
        [
            Entry(event_id=one, kind="search", namespace="ada", subject=one, occurred_at=at(3, 20),
                  principal="p", payload=what)
            for one, what in other.items()
        ]
    )  # fmt: skip
    take_in(space, DAYS)
    tried = [
        Tried(Variant("in force", searched.policy), "in force"),
        Tried(Variant("seeds", SEEDS), "baseline"),
    ]
    rows = score(space, searches_of(space, DAYS), grades_of(GRADES), tried)
    assert rows.filter(pl.col("search_id").is_in(list(other)))["variant"].to_list() == [LOGGED] * 2
    assert rows.filter(variant="seeds").height == 12
    assert rows.filter(variant=LOGGED).height == 14
    compared = compare_days(space, DAYS, tried)
    assert not set(compared["search_id"]) & set(other)


@pytest.mark.slow
def test_the_order_of_searches_and_slices_of_them_change_nothing(searched, monkeypatch):
    from slowwave.evaluation import query_log

    tried = variants(searched.policy, searched.settings.evaluation)
    space = searched._space
    whole = score(space, searches_of(space, DAYS), grades_of(GRADES), tried).sort("score_id")
    monkeypatch.setattr(query_log, "SEARCHES_AT_ONCE", 5)
    slices = score(space, searches_of(space, DAYS).reverse(), grades_of(GRADES), tried).sort("score_id")
    assert slices.equals(whole)


# -- any small world -------------------------------------------------------------------------------

WORDS = sorted({word.strip(".,;") for text in NOTES.values() for word in text.split()})
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join) | st.sampled_from(QUERIES)
acts = st.lists(
    st.tuples(
        st.integers(1, 3),  # day
        queries,
        st.integers(0, 6),  # limit
        st.sampled_from(["", "used", "helpful", "unhelpful"]),
        st.integers(1, 6),  # the rank that the verdict is about
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.sets(st.sampled_from(sorted(NOTES)), min_size=1), acts, st.floats(0, 0.6))
def test_the_ranking_in_force_measures_what_was_shown(open_memory, tmp_path_factory, keys, done, floor):
    """While no policy changed and nothing was imported, whatever use taught in between."""
    memory = open_memory(path=tmp_path_factory.mktemp("world") / "home", ranking={"abstention_floor": floor})
    clock, space = with_clock(memory), memory._space
    fill(memory, sorted(keys))
    for day in (1, 2, 3):
        clock.moment = at(day)
        for _, query, limit, verdict, rank in (one for one in done if one[0] == day):
            found = memory.search(query, limit=limit)
            clock.moment += HOUR / 60
            if not verdict or not 1 <= rank <= len(found):
                continue
            if verdict == "used":
                memory.observe(found.search_id, found[rank - 1].text)
            else:
                memory.feedback(found.search_id, rank, verdict)
        take_in(space, [name(day)])
    judgments = pl.concat([trigger_judgments(space.store, DAYS), selection_judgments(space.store, DAYS)])
    space.store.replace_partition("judgments", judgments, DAYS)
    judge(space.store, [said(name(2), one[1], memory_of(sorted(keys)[0]), 2.0) for one in done[:1]])
    tried = variants(memory.policy, space.settings.evaluation)[:1]
    rows = score_days(space, DAYS, tried)
    drop = ("score_id", "variant")
    query_log, in_force = (
        rows.filter(variant=which).sort("search_id").drop(drop) for which in (LOGGED, "in force")
    )
    assert query_log.equals(in_force)
    moved = compare_days(space, DAYS, tried)
    assert set(moved.select("only_logged", "only_shadow").iter_rows()) <= {(0, 0)}
    assert moved["mean_score_change"].fill_null(0.0).sum() == 0.0
