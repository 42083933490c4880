"""The evaluation's assets in Dagster: a range, its days, late feedback, cycles, and what stops nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import feedback_days as days
import polars as pl
import pytest
from dagster_parts import sensor
from evaluation_nights import (
    TABLES,
    Life,
    asked,
    assert_same,
    evaluate,
    evaluate_in_dagster,
    fold,
    journal,
    label,
    make_home,
    tables,
)
from feedback_days import NOTES
from judge_server import ChatServer, grade, serving

from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.embedding import reranking
from slowwave.errors import ModelError
from slowwave.evaluation.judging.run_judge import PATIENCE
from slowwave.evaluation.stale_days import due_days
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.orchestration.run_nightly import evaluate_due, run_night
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import Settings, load
from slowwave.settings.ranking_file import write_policy

QUESTIONS = {
    "on which day do we deploy": "deploy",
    "how long does the battery last in winter": "battery",
    "who answers the telephone at night": "rota",
    "how far does the radar see": "radar",
    "where is the copy of the ledger": "ledger",
    "what does the ferry company pay": "ferry",
}
DEPLOY = ids.memory_id("ada", "deploy")


def copied(settings: Settings, to: Path) -> Settings:
    """A home of the same content."""
    shutil.copytree(settings.home, to)
    return load(to)


def due(settings: Settings, embedder: Any) -> list[str]:
    space = Workspace(settings)
    space.__dict__["embedder"] = embedder
    found = due_days(space.journal, space.store)
    space.close()
    return found


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Settings:
    """Six days of two namespaces, whose searches were noted with all that they considered; nothing is folded.

    Of ada's searches every third shows two rankings in turn; some are rated a day or two later.
    """
    place = tmp_path_factory.mktemp("lived")
    bad = place / "bad.json"
    write_policy(bad, replace(RankingPolicy(), name="bad", fusion="convex", vector_weight=0.0), {})
    home = make_home(place / "home").home
    with (home / "slowwave.toml").open("a") as file:
        file.write("[ranking]\ncut_share = 0.0\nfit_floor = 0.0\n")  # also outside the environment of a test
    plain = load(home)
    turns = load(plain.home, evaluation={"interleave": bad})
    for namespace in ("ada", "bob"):
        with Life(plain, fast_embedder, namespace=namespace) as life:
            life.learn(NOTES, days.at(0))
    for number in range(24):
        day, namespace = 1 + number // 4, ("ada", "ada", "ada", "bob")[number % 4]
        query, answer = list(QUESTIONS.items())[number % 6]
        right = ids.memory_id(namespace, answer)
        late = days.at(day + 1 + number % 2, 15) if number % 5 == 0 else None
        with Life(turns if number % 3 == 0 else plain, fast_embedder, namespace=namespace) as life:
            took = None if number % 7 == 6 else right.__eq__
            life.ask(query, days.at(day, 8 + number % 4), took, told=late)
            if number % 12 in (0, 3):  # ada, and bob
                life.ask(
                    "second machine in the library cellar", days.at(day, 16)
                )  # nobody says anything of that
    label(
        plain,
        [(query, ids.memory_id("ada", key), 3, days.at(3)) for query, key in list(QUESTIONS.items())[:3]],
    )
    return plain


# -- days and ranges -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_range_is_one_run_and_equals_its_nights_one_by_one(lived, tmp_path, fast_embedder):
    shadow = '[evaluation.shadow_policies]\nbad = "' + str(lived.home.parent / "bad.json") + '"\n'
    whole, daily = (copied(lived, tmp_path / name) for name in ("whole", "daily"))
    for one in (whole, daily):
        (one.home / "slowwave.toml").write_text((one.home / "slowwave.toml").read_text() + shadow)
    whole, daily = load(whole.home), load(daily.home)
    fold(whole, 1, 9, fast_embedder)
    told = evaluate_in_dagster(whole, 1, 9)
    for day in range(1, 10):  # nothing of a day's morrow is known when the day is evaluated
        fold(daily, day, day, fast_embedder)
        evaluate(daily, day, day)
    found = tables(whole, fast_embedder)
    assert_same(tables(daily, fast_embedder), found)
    assert found["interleavings"].height >= 4
    assert set(found["judgments"]["source"]) == {"manual", "selections"}
    assert {"logged", "in force", "bad", "BM25 alone", "without vector", "no MPAB"} <= set(
        found["evaluation_scores"]["variant"]
    )
    scored = found["evaluation_scores"].filter(variant="logged")
    assert scored.filter(namespace="ada").height > scored.filter(namespace="bob").height > 0
    assert found["shadow_scores"].filter(variant="in force")["overlap"].mean() > 0.9
    assert "| in force |" in told["evaluation_scores"]["means"]
    assert told["evaluation_scores"]["sparse_recall_injections"] == 0
    assert told["evaluation_scores"]["sparse_recall_hit_rate"] is None
    assert "| vector |" in told["channel_attribution"]["channels"]
    open_ = found["evaluation_cycles"].to_dicts()
    assert [(one["cycle_id"], one["status"], one["days"]) for one in open_] == [
        ("ada#1", "open", 9), ("bob#1", "open", 9),
    ]  # fmt: skip
    assert due(whole, fast_embedder) == due(daily, fast_embedder) == []

    before = {name: tables_version(whole, name, fast_embedder) for name in TABLES}
    evaluate_in_dagster(whole, 1, 9)
    assert_same(tables(whole, fast_embedder), found, "again")
    evaluate(whole, 2, 3)  # a part of them: what is open stays as it is known
    assert_same(tables(whole, fast_embedder), found, "a part of them again")
    changed = {name for name in TABLES if tables_version(whole, name, fast_embedder) != before[name]}
    assert changed <= {"evaluation_cycles"}


def tables_version(settings: Settings, name: str, embedder: Any) -> int:
    space = Workspace(settings)
    space.__dict__["embedder"] = embedder
    version = int(space.store.table(name).version)
    space.close()
    return version


@pytest.mark.slow
def test_one_namespace_never_counts_in_another(tmp_path, fast_embedder):
    """What others ask, use and say in the same words changes no figure of a namespace."""
    alone, among = (make_home(tmp_path / name) for name in ("alone", "among"))
    other, canary = ids.memory_id("ada", "other"), ids.memory_id("bob", "canary")
    for settings in (alone, among):
        journal(settings, [asked(number, day, shown=[other, DEPLOY]) for number in (1, 2) for day in (1, 2)])
        journal(settings, [days.rating("ada-1-1", days.at(1, 10), DEPLOY, "helpful")])
        label(settings, [("question 2", DEPLOY, 3, days.at(1))])
    hers = {"namespace": "bob", "principal": "zoe"}
    journal(
        among,
        [asked(number, day, namespace="bob", shown=[canary, DEPLOY]) for number in (1, 2) for day in (1, 2)],
    )
    journal(
        among,
        [
            days.rating(f"bob-{n}-{d}", days.at(d, 11), canary, "helpful", **hers)
            for n in (1, 2)
            for d in (1, 2)
        ],
    )
    for memory, said in ((canary, 3), (DEPLOY, 0)):  # even of a memory that is not its own
        label(
            among,
            [("question 1", memory, said, days.at(1)), ("question 2", memory, said, days.at(1))],
            namespace="bob",
        )
    for settings in (alone, among):
        fold(settings, 1, 2, fast_embedder)
        evaluate(settings, 1, 2)
    own, all_ = tables(alone, fast_embedder), tables(among, fast_embedder)
    mine = {name: rows.filter(namespace="ada") for name, rows in all_.items()}
    assert_same(mine, own)
    assert own["evaluation_scores"]["mrr_5"].to_list() == [0.5] * 4
    his = all_["evaluation_scores"].filter(namespace="bob")
    assert his["mrr_5"].to_list() == [1.0] * 4
    assert not any(canary in str(rows.to_dicts()) for rows in mine.values())


@pytest.mark.slow
def test_imported_searches_are_scored_as_they_were_shown(home, fast_embedder):
    settings = make_home(home)
    other = ids.memory_id("ada", "other")
    journal(settings, [asked(1, 1, shown=[other, DEPLOY]), asked(2, 1, shown=[other]), asked(3, 1)])
    label(settings, [("question 1", DEPLOY, 3, days.at(1)), ("question 2", DEPLOY, 2, days.at(1))])
    fold(settings, 1, 1, fast_embedder)
    evaluate(settings, 1, 1)
    found = tables(settings, fast_embedder)
    rows = (
        found["evaluation_scores"]
        .sort("search_id")
        .select("search_id", "variant", "mrr_5", "relevant")
        .rows()
    )
    assert rows == [("ada-1-1", "logged", 0.5, 1), ("ada-2-1", "logged", 0.0, 1)]
    assert found["shadow_scores"].is_empty()


# -- what comes late -------------------------------------------------------------------------------


@pytest.mark.slow
def test_late_feedback_and_late_labels_make_days_due_and_are_taken_up(home, fast_embedder):
    settings = make_home(home)
    journal(settings, [asked(number, day) for number, day in ((1, 1), (2, 3), (1, 5))])
    fold(settings, 1, 5, fast_embedder)
    evaluate(settings, 1, 5)
    assert due(settings, fast_embedder) == []
    assert tables(settings, fast_embedder)["evaluation_scores"].is_empty()

    label(settings, [("question 1", DEPLOY, 3, days.at(4))])  # on a day without a search
    assert due(settings, fast_embedder) == [days.name(4), days.name(5)]
    (report,) = evaluate_due(settings)
    assert (report["from"], report["to"], report["success"]) == (days.name(4), days.name(5), True)
    assert due(settings, fast_embedder) == []
    assert tables(settings, fast_embedder)["evaluation_scores"]["search_id"].to_list() == ["ada-1-5"]

    journal(settings, [days.rating("ada-2-3", days.at(3, 20), DEPLOY, "helpful", principal="zoe")])
    fold(settings, 3, 5, fast_embedder)
    assert due(settings, fast_embedder) == [days.name(day) for day in (3, 4, 5)]
    assert [one["success"] for one in evaluate_due(settings)] == [True]
    assert due(settings, fast_embedder) == []
    assert evaluate_due(settings) == []
    scores = tables(settings, fast_embedder)["evaluation_scores"]
    assert sorted(scores["search_id"]) == ["ada-1-5", "ada-2-3"]

    label(settings, [("question 1", DEPLOY, None, days.at(5, 20))])  # taken back
    assert due(settings, fast_embedder) == [days.name(5)]
    evaluate_due(settings)
    assert tables(settings, fast_embedder)["evaluation_scores"]["search_id"].to_list() == ["ada-2-3"]
    assert due(settings, fast_embedder) == []


@pytest.mark.slow
def test_the_sensor_asks_for_past_days_that_rest_on_something_else(home, fast_embedder):
    settings = make_home(home)
    resource = SlowwaveResource(home=str(home), now="2026-03-20T12:00:00+00:00")
    resource.space.__dict__["embedder"] = fast_embedder

    def tick() -> dg.SensorResult | dg.SkipReason:
        with dg.build_sensor_context(
            dg.DagsterInstance.ephemeral(), resources={"slowwave": resource}
        ) as context:
            return sensor("late_evaluation")(context)

    assert "past days are evaluated" in str(tick())
    journal(settings, [asked(1, 1), asked(2, 20)])  # the second is of today
    assert "unprocessed feedback; that comes first" in str(tick())
    fold(settings, 1, 20, fast_embedder)
    (request,) = tick().run_requests
    assert request.partition_key == days.name(1)
    assert tick().run_requests[0].run_key == request.run_key
    evaluate(settings, 1, 1)
    assert "past days are evaluated" in str(tick())
    label(settings, [("question 1", DEPLOY, 3, days.at(2))])
    (again,) = tick().run_requests
    assert again.partition_key == days.name(2)
    assert again.run_key != request.run_key


@pytest.mark.slow
def test_notes_alone_make_their_day_due_and_whoever_takes_a_phrase_away_it_is_gone(home, fast_embedder):
    settings = make_home(home)
    phrases = {"who is awake": NOTES["rota"], "Deploy  Day": NOTES["deploy"]}
    with Life(settings, fast_embedder) as life:
        life.clock.moment = days.at(1)
        rota, deploy = [
            one.memory_id
            for one in life.memory.save_many(
                [
                    {"content": text, "key": text[:6], "trigger_phrases": [phrase]}
                    for phrase, text in phrases.items()
                ]
            )
        ]
        life.ask("who is awake", days.at(2))
        life.ask("deploy day", days.at(2))
        bob = Memory(settings, namespace="ada", principal="bob", space=life.space)
        life.clock.moment = days.at(3)
        bob.save(NOTES["rota"], key=NOTES["rota"][:6], trigger_phrases=["who has the telephone"])
        bob.save(NOTES["deploy"], key=NOTES["deploy"][:6], trigger_phrases=["deploy day"])
        life.ask("who is awake", days.at(4))
        life.ask("deploy day", days.at(4))
    assert run_night(settings, days.name(1), days.name(4))["success"]
    assert due(settings, fast_embedder) == [days.name(day) for day in (1, 2, 3, 4)]
    assert [one["success"] for one in evaluate_due(settings)] == [True]
    assert due(settings, fast_embedder) == []
    found = tables(settings, fast_embedder)
    said = found["judgments"].filter(source="triggers").sort("day", "query")
    assert said.select("day", "query", "memory_id", "state").rows() == [
        (days.name(1), "Deploy  Day", deploy, "graded"),
        (days.name(1), "who is awake", rota, "graded"),
        (days.name(3), "deploy day", deploy, "graded"),
        (days.name(3), "who has the telephone", rota, "graded"),
        (days.name(3), "who is awake", rota, "withdrawn"),
    ]
    scored = found["evaluation_scores"].filter(variant="logged").join(
        pl.DataFrame({"query_id": [ids.query_id("ada", one) for one in ("who is awake", "deploy day")],
                      "query": ["awake", "deploy"]}), on="query_id",
    ).sort("day", "query")  # fmt: skip
    assert scored.select("day", "query").rows() == [
        (days.name(2), "awake"), (days.name(2), "deploy"), (days.name(4), "deploy"),
    ]  # fmt: skip


# -- cycles ----------------------------------------------------------------------------------------


def labelled(settings: Settings, queries: int, until: int, *, namespace: str = "ada") -> None:
    """A life up to a day: each question asked once, answered by what it showed, then once more otherwise."""
    memory = ids.memory_id(namespace, "deploy")
    acts = [asked(number, 1 + number % until, namespace=namespace) for number in range(queries)]
    again = days.search(
        f"{namespace} again", days.at(1, 20), [memory], query=" QUESTION   0", namespace=namespace
    )
    unanswered = days.search(f"{namespace} never", days.at(2), [memory], query="never", namespace=namespace)
    journal(settings, [*acts, again, unanswered])
    label(
        settings,
        [(f"question {number}", memory, 1, days.at(1 + number % until)) for number in range(queries)],
        namespace=namespace,
    )


def cycle(settings: Settings, embedder: Any, name: str = "ada#1") -> dict[str, Any]:
    (row,) = tables(settings, embedder)["evaluation_cycles"].filter(cycle_id=name).to_dicts()
    return row | {"summary": json.loads(row["summary"])}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("queries", "until", "lacks"), [(99, 14, (1, 0)), (100, 13, (0, 1)), (99, 13, (1, 1))]
)
def test_a_cycle_takes_a_hundred_queries_and_fourteen_days(home, fast_embedder, queries, until, lacks):
    settings = make_home(home)
    labelled(settings, queries, until)
    fold(settings, 1, until, fast_embedder)
    told = evaluate(settings, 1, until)["evaluation_cycles"]
    assert told["closed"] == "none"
    one = cycle(settings, fast_embedder)
    assert (one["status"], one["days"], one["searches"], one["queries"]) == (
        "open",
        until,
        queries + 1,
        queries,
    )
    assert (one["summary"]["queries_missing"], one["summary"]["days_missing"]) == lacks

    journal(settings, [asked(100, 14)])
    label(settings, [("question 100", DEPLOY, 3, days.at(14))])
    fold(settings, 14, 14, fast_embedder)
    told = evaluate(settings, 14, 14)["evaluation_cycles"]
    assert told["closed"] == "ada#1"
    one = cycle(settings, fast_embedder)
    assert (one["status"], one["opened_on"], one["closed_on"]) == ("closed", days.name(1), days.name(14))
    assert (one["days"], one["searches"], one["queries"]) == (14, queries + 2, queries + 1)
    assert Path(told["report of ada#1"]).read_text().startswith("<!doctype html>")
    found = tables(settings, fast_embedder)
    assert found["cycle_scores"].height == found["cycle_judgments"].height == queries + 1
    assert set(found["cycle_scores"]["variant"]) == {"logged"}
    assert found["cycle_scores"]["searches"].sum() == queries + 2


@pytest.mark.slow
@pytest.mark.pictures
def test_a_closed_cycle_stays_as_it_is_whatever_old_days_bring(home, fast_embedder):
    settings = make_home(home)
    names = ("a/b", "a-b")  # whose pages are two
    for namespace in names:
        labelled(settings, 100, 14, namespace=namespace)
    fold(settings, 1, 15, fast_embedder)
    told = evaluate(settings, 1, 15)["evaluation_cycles"]
    assert told["closed"] == "a-b#1, a/b#1"
    pages = {namespace: Path(told[f"report of {namespace}#1"]) for namespace in names}
    assert len(set(pages.values())) == 2
    for namespace, page in pages.items():
        assert page.parent == settings.home / "reports"
        assert f"Evaluation of {namespace}, cycle 1" in page.read_text()
    before = tables(settings, fast_embedder)
    assert before["evaluation_cycles"].filter(status="open")["cycle_id"].to_list() == ["a-b#2", "a/b#2"]

    memory = ids.memory_id("a/b", "deploy")
    label(
        settings,
        [("question 3", memory, 0, days.at(4, 20)), ("never", memory, 3, days.at(2))],
        namespace="a/b",
    )
    journal(settings, [asked(500, 2, namespace="a/b"), asked(3, 16, namespace="a/b")])
    fold(settings, 2, 16, fast_embedder)
    evaluate(settings, 2, 4, now="2026-06-01T12:00:00+00:00")
    assert [one["success"] for one in evaluate_due(settings)] == [True]
    assert due(settings, fast_embedder) == []
    after = tables(settings, fast_embedder)
    assert not after["evaluation_scores"].equals(before["evaluation_scores"])
    for name in ("evaluation_cycles", "cycle_scores", "cycle_judgments"):
        kept = [rows[name].filter(pl.col("cycle_id").is_in(["a-b#1", "a/b#1"])) for rows in (before, after)]
        assert kept[0].height
        assert kept[0].equals(kept[1]), name


# -- what stops nothing ----------------------------------------------------------------------------


@pytest.mark.slow
def test_an_empty_home_has_nothing_to_tell(home, fast_embedder):
    settings = make_home(home)
    told = evaluate_in_dagster(settings, 1, 3)
    assert set(told) == {*TABLES} - {"cycle_scores", "cycle_judgments", "learning_log"}
    assert told["evaluation_cycles"]["closed"] == "none"
    assert all(rows.is_empty() for rows in tables(settings, fast_embedder).values())
    assert due(settings, fast_embedder) == []
    assert evaluate_due(settings) == []
    assert not (home / "reports").exists()


@pytest.mark.slow
def test_searches_without_a_judgment_have_no_score_and_are_compared_all_the_same(
    lived, tmp_path, fast_embedder
):
    settings = make_home(tmp_path / "home")
    with Life(settings, fast_embedder) as life:
        life.learn(NOTES, days.at(0))
        for query in QUESTIONS:
            life.ask(query, days.at(1))
        life.ask("zzz", days.at(1))
    fold(settings, 1, 1, fast_embedder)
    evaluate(settings, 1, 1)
    found = tables(settings, fast_embedder)
    assert found["judgments"].is_empty()
    assert found["evaluation_scores"].is_empty()
    assert found["shadow_scores"].filter(variant="in force").height == 7
    assert found["channel_attribution"]["search_id"].n_unique() >= 6
    one = cycle(settings, fast_embedder)
    assert (one["status"], one["queries"], one["searches"]) == ("open", 0, 0)


@pytest.mark.slow
def test_entries_that_cannot_be_read_are_left_out(home, fast_embedder):
    settings = make_home(home)
    with Life(settings, fast_embedder) as life:
        life.learn(NOTES, days.at(0))
        life.ask(next(iter(QUESTIONS)), days.at(1), ids.memory_id("ada", "deploy").__eq__)
        whole = life.space.journal.read(kinds=["search"])
        payload = json.loads(whole["payload"][0])
    lame = {**payload, "candidates": {**payload["candidates"], "cosine": [0.5]}}
    journal(settings, [
        days.act("search", "lame", days.at(1), lame, event_id="lame"),
        days.act("search", "broken", days.at(1), {"query": {"a": 1}, "shown": "many"}, event_id="broken"),
        *(days.act("judgment", ids.query_id("ada", "x"), days.at(1), payload, origin="manual")
          for payload in ({"query": "x", "grade": "very"}, {"query": ["x"]})),
    ])  # fmt: skip
    fold(settings, 1, 1, fast_embedder)
    told = evaluate(settings, 1, 1)
    assert told["judgments"]["unreadable"] == 2
    scores = tables(settings, fast_embedder)["evaluation_scores"]
    assert scores.filter(search_id="lame")["variant"].to_list() == ["logged"]
    assert scores.filter(pl.col("search_id") != "lame")["variant"].n_unique() > 5
    assert "broken" not in set(scores["search_id"])


# -- the judge -------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A judge that finds everything relevant."""
    with serving(lambda _number, _request: (200, grade(3))) as running:
        yield running


@pytest.fixture
def judged(lived: Settings, tmp_path: Path, fast_embedder: Any) -> Callable[..., Settings]:
    """Makes a home of `lived`, folded, with settings of a judge."""

    def make(name: str = "home", **judge: object) -> Settings:
        settings = copied(lived, tmp_path / name)
        lines = [f"{key} = {json.dumps(value)}" for key, value in judge.items()]
        make_home(settings.home, "\n".join(["[judge]", *lines, ""]))
        fold(settings, 1, 9, fast_embedder)
        return load(settings.home)

    return make


@pytest.mark.slow
@pytest.mark.soak
def test_a_judge_is_asked_the_same_in_a_range_and_day_by_day_and_nothing_twice(judged, server, fast_embedder):
    kind = {"kind": "openai", "model": "m", "base_url": server.url, "pairs": 12, "anchors": 2}
    whole = judged("whole", **kind)
    told = evaluate(whole, 1, 4)
    asked_first = len(server.requests)
    assert told["judgments"]["judge graded"] == asked_first > 40
    found = tables(whole, fast_embedder)
    evaluate(whole, 1, 4)
    evaluate(whole, 2, 2)
    assert len(server.requests) == asked_first
    assert_same(tables(whole, fast_embedder), found, "again")

    daily = judged("daily", **kind)
    for day in range(1, 5):
        evaluate(daily, day, day)
    assert len(server.requests) == 2 * asked_first
    assert_same(tables(daily, fast_embedder), found, "day by day")
    # Its grades are those of ada's labels; in bob's memory nobody has labelled anything, so it is not heard.
    said = found["judgments"].filter(pl.col("grade") > 0)
    others = set(said.filter(pl.col("source") != "judge")["query_id"])
    scored = set(found["evaluation_scores"]["query_id"])
    only_it = {
        who: set(said.filter(namespace=who, source="judge")["query_id"]) - others for who in ("ada", "bob")
    }
    assert only_it["ada"] & scored
    assert only_it["bob"]
    assert not only_it["bob"] & scored
    his = cycle(whole, fast_embedder, "bob#1")
    assert his["queries"] == len(others & set(said.filter(namespace="bob")["query_id"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"kind": "off"}, "off"),
        ({"kind": "openai"}, "judge.model is empty"),
        ({"kind": "openai", "model": "m", "credential_variable": "NOT_THERE"}, "NOT_THERE"),
        ({"kind": "default"}, "cross-encoder"),
    ],
)
def test_a_judge_that_is_off_or_not_set_up_stops_nothing(judged, fast_embedder, monkeypatch, judge, said):
    def missing(threads: int = 0) -> None:
        raise ModelError("Files of the cross-encoder are missing.")

    monkeypatch.setattr(reranking, "load_reranker", missing)
    settings = judged(**judge)
    told = evaluate(settings, 1, 9)["judgments"]
    assert said in told["judge"]
    assert tables(settings, fast_embedder)["evaluation_scores"].height


@pytest.mark.slow
def test_a_judge_that_does_not_answer_is_asked_a_few_times_and_stops_nothing(judged, fast_embedder):
    with serving(lambda _number, _request: (503, {"error": {"message": "away"}})) as gone:
        settings = judged(kind="openai", model="m", base_url=gone.url, retries=0)
        told = evaluate(settings, 1, 9)["judgments"]
    assert (told["judge graded"], told["judge failed"]) == (0, PATIENCE)
    assert "away" not in str(told)  # what a server says of a request may quote it; Dagster keeps it for ever
    assert len(gone.requests) == PATIENCE
    assert tables(settings, fast_embedder)["evaluation_scores"].height
    assert due(settings, fast_embedder) == []
