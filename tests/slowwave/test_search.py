"""A search with its account, its filters and its line in the journal, over a real store."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from scoring.ranking import RankingPolicy
from slowwave import ids
from slowwave.embedding import profile
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.policies import read_policy, write_policy
from slowwave.search.log import replay

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
LONG = "\n\n".join(
    f"## Part {number}\n\n"
    + f"Gauge number {number} hangs under pier {number} and reports every six minutes. " * 12
    for number in range(4)
)
FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."


def found(response) -> list[str]:
    return [result.memory_id for result in response]


def sources(response) -> set[str]:
    return {result.source for result in response}


def payload(memory, response) -> dict:
    return memory.journal.get(response.search_id).payload


def teach(memory, memory_id: str, *, day: str = "2026-03-01", namespace: str = "ada", **taught) -> None:
    """Write what use has taught of a memory by hand."""
    row = {"state_id": f"{day}/{namespace}/{memory_id}", "day": day, "namespace": namespace,
           "memory_id": memory_id, "effectiveness": None, "feedback_count": None, "not_useful_at": None,
           "strength": None, **taught}  # fmt: skip
    frame = pl.DataFrame(
        [row],
        schema_overrides={
            "effectiveness": pl.Float64, "feedback_count": pl.Int32, "strength": pl.Float64,
            "not_useful_at": pl.List(pl.Datetime("us", "UTC")),
        },
    )  # fmt: skip
    memory.store.upsert("memory_state", frame)


@pytest.fixture
def three(memory):
    """Three short notes and a long one, by their keys."""
    memory.save_many(
        [
            {"content": DEPLOY, "key": "deploy", "title": "Deploy day"},
            {"content": BATTERY, "key": "battery", "title": "Battery"},
            {"content": ROTA, "key": "rota", "title": "Rota", "trigger_phrases": ["who is awake"]},
            {"content": LONG, "key": "long", "title": "Gauges"},
        ]
    )
    return {name: ids.memory_id("ada", name) for name in ("deploy", "battery", "rota", "long")}


# -- the account -----------------------------------------------------------------------------------


def test_an_account_sums_to_the_score_down_to_the_words(memory, three):
    now = datetime.now(UTC)
    teach(memory, three["deploy"], effectiveness=0.9, feedback_count=4, not_useful_at=[now])
    query = "Who is awake on the deploy day of the gauge?"
    response = memory.search(query, explain=True)
    words = {"Who", "is", "awake", "on", "the", "deploy", "day", "of", "gauge"}
    assert len(response) == 4
    for result in response:
        account = result.explanation
        assert sum(row.value for row in account.contributions) == pytest.approx(result.score, abs=1e-9)
        assert Counter(row.source for row in account.contributions)["confidence"] == 1
        said = [row.term for row in account.contributions if row.source == "bm25"]
        assert len(set(said)) == len(said) > 0
        assert set(said) <= (words if "bm25" in account.scores else {"words"})
    by_id = {result.memory_id: result.explanation for result in response}
    assert {row.term for row in by_id[three["deploy"]].contributions if row.source == "bm25"} >= {
        "deploy",
        "day",
    }
    assert "trigger" in by_id[three["rota"]].channels
    deploy = by_id[three["deploy"]]
    assert (deploy.effectiveness_score, deploy.feedback_count) == (0.9, 4)
    assert deploy.combined_score == pytest.approx(0.7 * deploy.semantic_score + 0.3 * 0.9)
    assert deploy.multiplier == pytest.approx(0.9, abs=1e-3)
    assert [one["rating"] for one in deploy.recent_feedback] == ["unhelpful"]
    assert "0.900" in deploy.formula
    assert "(not useful)" in deploy.formula
    json.dumps(response.to_dict(), default=str)


def parts_and_wholes(memory, query: str) -> list[tuple[float, float]]:
    """Of every chunk that the words found: the sum of its words' scores, and the score of the query."""
    searcher = memory._space.searcher
    whole = searcher.find("ada", query, 100).candidates
    scored = {chunk: at for at, chunk in enumerate(whole.chunk_ids) if whole.bm25_rank[at] > 0}
    assert len(scored) > 3
    terms = searcher.term_scores("ada", query.split(), list(scored))
    assert all(score > 0 for chunk in scored for score in terms[chunk].values())
    return [(sum(terms[chunk].values()), whole.bm25[at]) for chunk, at in scored.items()]


def test_the_words_parts_come_from_real_scores_that_sum_to_the_whole(memory, three):
    memory.store.table("chunks").optimize()  # what is new comes into the full-text index
    for part, whole in parts_and_wholes(memory, "deploy day of the northern gauge in winter"):
        assert part == pytest.approx(whole, abs=1e-4)
    assert memory._space.searcher.term_scores("ada", ["deploy"], []) == {}


def test_the_words_parts_sum_to_the_whole_before_the_index_knows_the_notes(memory, three):
    for part, whole in parts_and_wholes(memory, "deploy day of the northern gauge in winter"):
        assert part == pytest.approx(whole, abs=1e-4)


def test_without_being_asked_a_result_carries_no_account(memory, three):
    response = memory.search("deploy day")
    assert [result.explanation for result in response] == [None] * len(response)
    assert response.not_shown == ()
    assert all(result.confidence in ("high", "medium", "low") for result in response)


def test_an_account_changes_nothing_of_the_ranking(memory, three):
    for query in ("deploy day", "gauge under the pier", "who is awake"):
        plain, told = memory.search(query, limit=2), memory.search(query, limit=2, explain=True)
        assert [(one.memory_id, one.flags) for one in plain] == [(one.memory_id, one.flags) for one in told]
        assert [one.score for one in plain] == pytest.approx([one.score for one in told], abs=1e-9)


def test_an_account_tells_what_was_cut(memory, three):
    response = memory.search("deploy day", limit=1, explain=True)
    assert {one.memory_id for one in response.not_shown} == set(three.values()) - set(found(response))
    assert {one.reason for one in response.not_shown} <= {"cut", "displaced"}
    assert [one.score for one in response.not_shown] == sorted(
        (one.score for one in response.not_shown), reverse=True
    )
    assert all(one.title for one in response.not_shown)


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 2, 10])
@pytest.mark.parametrize("explain", [False, True])
def test_what_is_in_the_journal_ranks_to_what_was_shown(memory, three, limit, explain):
    now = datetime.now(UTC)
    teach(memory, three["deploy"], effectiveness=0.1, feedback_count=5, not_useful_at=[now, now])
    teach(memory, three["battery"], effectiveness=1.0, feedback_count=3)
    for query in ("who is awake", "deploy day", "gauge of the pier", "battery in winter", "zzz"):
        response = memory.search(query, limit=limit, explain=explain)
        logged = payload(memory, response)
        again = replay(logged)
        assert [(one.memory_id, one.score) for one in again.results] == [
            (one.memory_id, one.score) for one in response
        ]
        assert [one.flags for one in again.results] == [one.flags for one in response]
        assert [one.confidence.tier for one in again.results] == [one.confidence for one in response]
        assert (again.signal, again.abstained) == (response.signal, response.abstained)
        assert [(one["memory_id"], one["score"], one["rank"]) for one in logged["shown"]] == [
            (one.memory_id, one.score, one.rank) for one in response
        ]
        assert logged["limit"] == limit


def test_another_policy_may_be_tried_on_a_logged_search(memory, three):
    response = memory.search("gauge of the pier")
    other = replay(payload(memory, response), RankingPolicy(fusion="rrf", vector_weight=0.0))
    assert {one.memory_id for one in other.results} == set(found(response))
    assert other.results[0].score != response[0].score


def test_the_filters_that_were_given_are_in_the_journal(memory, three):
    since = datetime(2026, 1, 1, tzinfo=UTC)
    response = memory.search("deploy", tags="ops", since=since, superseded=True)
    assert payload(memory, response)["filters"] == {
        "tags": ["ops"], "since": since.isoformat(), "superseded": True,
    }  # fmt: skip
    assert payload(memory, memory.search("deploy"))["filters"] == {}


# -- filters ---------------------------------------------------------------------------------------

LABELLED = {
    "plain": {},
    "decision": {"memory_type": "decision", "tags": ["ops", "It's"], "importance_tier": "important"},
    "project": {"memory_type": "project", "tags": ["ops"], "importance_tier": "critical"},
    "hidden": {"memory_type": "decision", "tags": ["ops"], "sensitivity": "secret"},
    "public": {"sensitivity": "public", "tags": ["日本語"]},
}


@pytest.fixture
def labelled(memory):
    saved = memory.save_many(
        [
            {"content": f"{FERRY} Notice number {at}.", "key": name, **labels,
             "created_at": datetime(2026, 1, 1 + at, tzinfo=UTC)}
            for at, (name, labels) in enumerate(LABELLED.items())
        ]
    )  # fmt: skip
    assert {one.status for one in saved} == {"live"}
    return memory


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"plain", "decision", "project", "public"}),
        ({"memory_type": "decision"}, {"decision"}),
        ({"memory_type": " DECISION "}, {"decision"}),
        ({"memory_type": ["decision", "project"]}, {"decision", "project"}),
        ({"memory_type": "nothing"}, set()),
        ({"tier": "important"}, {"decision"}),
        ({"tier": ("important", "critical")}, {"decision", "project"}),
        ({"tags": "ops"}, {"decision", "project"}),
        ({"tags": {"ops", "日本語"}}, {"decision", "project", "public"}),
        ({"tags": "It's"}, {"decision"}),
        ({"tags": "op"}, set()),
        ({"tags": "' OR 1=1 --"}, set()),
        ({"sensitivity": "secret"}, {"hidden"}),
        ({"sensitivity": ["secret", "public"]}, {"hidden", "public"}),
        ({"sensitivity": "public"}, {"public"}),
        ({"tags": "ops", "sensitivity": "secret"}, {"hidden"}),
        ({"memory_type": "decision", "tags": "ops", "tier": "important"}, {"decision"}),
        ({"memory_type": "decision", "tier": "critical"}, set()),
        ({"source": "p"}, {"plain", "project", "public"}),
        ({"source": "p", "tags": "ops"}, {"project"}),
        ({"since": datetime(2026, 1, 2, tzinfo=UTC)}, {"decision", "project", "public"}),
        ({"until": datetime(2026, 1, 2, tzinfo=UTC)}, {"plain"}),
        (
            {"since": datetime(2026, 1, 2, tzinfo=UTC), "until": datetime(2026, 1, 3, tzinfo=UTC)},
            {"decision"},
        ),
        ({"since": datetime(2026, 1, 2, 0, 0, 0, 1, tzinfo=UTC)}, {"project", "public"}),
        ({"until": datetime(2026, 1, 2, 0, 0, 0, 1, tzinfo=UTC)}, {"plain", "decision"}),
    ],
)  # fmt: skip
def test_filters(labelled, filters, expected):
    for query in ("ferry to the island", "notice"):
        response = labelled.search(query, limit=50, explain=True, **filters)
        assert sources(response) == expected
        assert {one.memory_id for one in response.not_shown} == set()
    logged = payload(labelled, response)["candidates"]
    allowed = {ids.memory_id("ada", name) for name in expected}
    assert {ids.memory_of(chunk) for chunk in logged.get("chunk_id", [])} <= allowed


def test_a_source_prefix_is_plain_text(memory):
    names = ["o'clock/a", "100 %/a", "100 x/a", "a_b/a", "axb/a", "ünïcode 🌊/a", "a\\b/a", 'say "hi"/a']
    memory.save_many([{"content": f"{FERRY} {at}", "key": name} for at, name in enumerate(names)])
    for name in names:
        assert sources(memory.search("ferry", source=name[:-2])) == {name}
    assert sources(memory.search("ferry", source="%")) == set()
    assert sources(memory.search("ferry", source="a")) == {"a_b/a", "axb/a", "a\\b/a"}
    assert sources(memory.search("ferry", source="clock")) == set()


def test_a_moment_in_another_time_zone_is_the_same_moment(labelled):
    from datetime import timezone

    east = timezone(timedelta(hours=9))
    assert sources(labelled.search("ferry", until=datetime(2026, 1, 2, 9, tzinfo=east))) == {"plain"}
    assert "decision" in sources(labelled.search("ferry", since=datetime(2026, 1, 2, 9, tzinfo=east)))


@pytest.mark.parametrize(
    "filters",
    [
        {"memory_type": 3}, {"memory_type": [1]}, {"memory_type": None}, {"tier": b"x"}, {"tags": {"a": 1}},
        {"tags": ["a\0"]}, {"tags": [None]}, {"sensitivity": 1.0}, {"source": None}, {"source": ["a"]},
        {"source": "a\0b"}, {"since": "2026-01-01"}, {"since": datetime(2026, 1, 1)}, {"until": 3},  # noqa: DTZ001
        {"until": datetime(2026, 1, 1).date()},  # noqa: DTZ001
    ],
)  # fmt: skip
def test_a_filter_of_the_wrong_type_is_named(memory, filters):
    (name,) = filters
    with pytest.raises(SlowwaveError, match=f"^{name} = "):
        memory.search("ferry", **filters)
    assert memory.journal.read(kinds=["search"]).height == 0


def test_what_was_superseded_is_shown_on_request_and_flagged(open_memory):
    memory = open_memory(
        reconsolidation={"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    )
    old = memory.save(DEPLOY, key="old")
    new = memory.save(DEPLOY.replace("Thursday", "Friday").replace("second", "ninth"), key="new")
    assert new.outcome == "supersede"
    assert found(memory.search("deploy day")) == [new.memory_id]
    both = {one.memory_id: one.flags for one in memory.search("deploy day", superseded=True)}
    assert both.keys() == {old.memory_id, new.memory_id}
    assert "superseded" in both[old.memory_id]
    assert "superseded" not in both[new.memory_id]
    memory.forget(new.memory_id)
    assert new.memory_id not in found(memory.search("deploy day", superseded=True))


# -- trigger phrases -------------------------------------------------------------------------------


@pytest.fixture
def triggered(open_memory):
    """More notes than a channel fetches, and one that neither words nor meaning bring in."""
    memory = open_memory(ranking={"candidates": 2})
    memory.save_many([{"content": f"{DEPLOY} kvxphrase week {at}.", "key": f"d{at}"} for at in range(8)])
    memory.save(FERRY, key="ferry", trigger_phrases=["kvxphrase week"], tags=["sea"], memory_type="procedure")
    memory.save(ROTA, key="secret", trigger_phrases=["kvxphrase week"], sensitivity="secret")
    return memory


def test_a_trigger_phrase_alone_brings_a_memory_in(triggered):
    query = "deploy day of the kvxphrase week"
    response = triggered.search(query, limit=1, explain=True)
    ferry = ids.memory_id("ada", "ferry")
    logged = payload(triggered, response)["candidates"]
    at = [ids.memory_of(chunk) for chunk in logged["chunk_id"]].index(ferry)
    assert (logged["vector_rank"][at], logged["bm25_rank"][at]) == (0, 0)
    assert logged["cosine"][at] is not None
    assert logged["triggers"] == {ferry: ["kvxphrase week", 1.0]}
    assert ferry in found(response) + [one.memory_id for one in response.not_shown]
    assert response.signal == 1.0

    (only,) = triggered.search(query, limit=1, tags="sea", explain=True)
    assert only.memory_id == ferry
    (row,) = [row for row in only.explanation.contributions if row.source == "trigger"]
    assert (row.field, row.term) == ("trigger_phrases", "kvxphrase week")
    assert row.value == pytest.approx(0.7 * triggered.policy.trigger_weight)


@pytest.mark.parametrize(
    "filters",
    [{"tags": "land"}, {"memory_type": "decision"}, {"source": "d"},
     {"until": datetime(2020, 1, 1, tzinfo=UTC)}, {"tier": "critical"}, {"sensitivity": "public"}],
)  # fmt: skip
def test_filters_hold_for_triggered_memories_too(triggered, filters):
    response = triggered.search("kvxphrase week", limit=1, explain=True, **filters)
    considered = {
        ids.memory_of(one) for one in payload(triggered, response)["candidates"].get("chunk_id", [])
    }
    assert not considered & {ids.memory_id("ada", "ferry"), ids.memory_id("ada", "secret")}


def test_a_secret_memory_is_not_triggered_unless_asked_for(triggered):
    secret = ids.memory_id("ada", "secret")
    open_ = triggered.search("kvxphrase week", limit=2, explain=True)
    assert secret not in json.dumps(payload(triggered, open_))
    assert found(triggered.search("kvxphrase week", limit=2, sensitivity="secret")) == [secret]


def test_a_forgotten_memory_is_not_triggered_and_a_new_phrase_is_at_once(triggered, open_memory):
    other = open_memory(ranking={"candidates": 2})
    ferry = ids.memory_id("ada", "ferry")
    assert "trigger" in other.search("kvxphrase week", tags="sea", explain=True)[0].explanation.channels
    triggered.save(FERRY, key="ferry", trigger_phrases=["kvxother"], tags=["sea"])
    first = other.search("kvxphrase week", tags="sea", explain=True)[0]
    assert "trigger" not in first.explanation.channels
    assert "trigger" in other.search("kvxother", tags="sea", explain=True)[0].explanation.channels
    triggered.forget(ferry)
    assert len(other.search("kvxother", tags="sea")) == 0


# -- what use has taught ---------------------------------------------------------------------------


def test_what_use_has_taught_changes_the_ranking_of_an_open_searcher(memory, three, open_memory):
    reader = open_memory()
    before = {one.memory_id: one.score for one in reader.search("deploy day")}
    teach(memory, three["deploy"], effectiveness=0.0, feedback_count=3)
    teach(memory, three["battery"], effectiveness=1.0, feedback_count=3)
    after = {one.memory_id: one for one in reader.search("deploy day")}
    assert after[three["deploy"]].score == pytest.approx(before[three["deploy"]] - 0.15, abs=1e-6)
    assert after[three["battery"]].score == pytest.approx(before[three["battery"]] + 0.15, abs=1e-6)
    assert after[three["rota"]].score == pytest.approx(before[three["rota"]], abs=1e-9)
    assert "highly_effective" in after[three["battery"]].flags


def test_the_newest_day_counts(memory, three):
    plain = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    for day, value in (("2026-03-02", 1.0), ("2026-03-01", 0.0), ("2025-12-31", 0.2)):
        teach(memory, three["deploy"], day=day, effectiveness=value, feedback_count=3)
    now = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    assert now == pytest.approx(plain + 0.15, abs=1e-6)


def test_a_row_in_which_nothing_is_said_is_neutral(memory, three):
    plain = [(one.memory_id, one.score) for one in memory.search("deploy day")]
    teach(memory, three["deploy"])
    assert [(one.memory_id, one.score) for one in memory.search("deploy day")] == plain


def test_votes_lower_a_score_unless_that_is_off(memory, three, open_memory):
    plain = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    now = datetime.now(UTC)
    teach(memory, three["deploy"], not_useful_at=[now] * 3)
    lower = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    assert lower == pytest.approx(plain * 0.7, abs=1e-4)
    off = open_memory(ranking={"negative_feedback": False})
    assert {one.memory_id: one.score for one in off.search("deploy day")}[three["deploy"]] == plain


# -- namespaces ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_read_path_of_a_search_shows_another_namespace(open_memory):
    spaces = {name: open_memory(name) for name in ("ada", "bob", "ada/b")}
    for number, (name, space) in enumerate(spaces.items()):
        first = space.save(
            f"The canary of this house is quux{number}zyx, and it sings at the window.", key="canary",
            title=f"Canary quux{number}zyx", tags=[f"tag{number}", "all"], trigger_phrases=["sing to me",
            f"phrase{number}"], memory_type="fact", sensitivity="internal",
        )  # fmt: skip
        second = space.save(f"The secret canary is quux{number}zyx too.".ljust(60, "."), key="hidden",
                   sensitivity="secret", trigger_phrases=["sing to me"])  # fmt: skip
        assert (first.status, second.status) == ("live", "live")
        for other in spaces:  # what others were taught of a memory with this id is not of this namespace
            if other != name:
                teach(space, ids.memory_id(name, "canary"), namespace=other, day="2026-05-01",
                      effectiveness=0.0, feedback_count=9, not_useful_at=[datetime.now(UTC)] * 9)  # fmt: skip
    filters = [
        {}, {"memory_type": "fact"}, {"tags": "all"}, {"sensitivity": ["secret", "internal"]},
        {"source": "canary"}, {"since": datetime(2020, 1, 1, tzinfo=UTC)}, {"tier": "normal"},
        {"until": datetime(2100, 1, 1, tzinfo=UTC)}, {"superseded": True}, {"tags": ["tag0", "tag1", "tag2"]},
    ]  # fmt: skip
    for number, (name, space) in enumerate(spaces.items()):
        mine = {ids.memory_id(name, key) for key in ("canary", "hidden")}
        following = (number + 1) % 3
        for query in (f"sing to me quux{following}zyx", f"phrase{following} canary"):
            for given in filters:
                for limit in (1, 100) if given == {} else (100,):
                    response = space.search(query, limit=limit, explain=True, **given)
                    assert set(found(response)) <= mine
                    assert {one.memory_id for one in response.not_shown} <= mine
                    shown = [response.to_dict() | {"query": ""}, payload(space, response)["candidates"]]
                    told = json.dumps(shown, default=str)
                    for other in {0, 1, 2} - {number}:
                        assert f"quux{other}zyx" not in told
                        assert ids.memory_id(list(spaces)[other], "canary") not in told
                    for result in response:
                        assert (result.explanation.feedback_count, result.explanation.multiplier) == (0, 1.0)
                    assert payload(space, response)["candidates"].get("states", {}) == {}
        assert set(found(space.search("sing to me", sensitivity=["secret", "internal"]))) == mine


# -- recall and abstention -------------------------------------------------------------------------


def test_a_short_memory_that_is_very_near_gets_a_place(open_memory):
    """The long note has the words more often; the short one is nearest, and would be cut."""
    settings = {"vector_weight": 0.0}
    memory = open_memory(ranking=settings)
    query = "deploy the ferry on Thursday at the quay"
    often = f"{LONG}\n\n## End\n\n" + "Ferry, Thursday, quay: deploy! " * 20
    long = memory.save(often, key="long")
    short = memory.save("We deploy the ferry on Thursday at the quay, as always.", key="short")
    assert (long.status, short.status) == ("live", "live")
    plain = open_memory(ranking={**settings, "sparse_recall": False}).search(query, limit=1)
    assert found(plain) == [long.memory_id]
    response = memory.search(query, limit=1, explain=True)
    assert found(response) == [short.memory_id]
    assert response[0].flags == ("recall_injected",)
    told = response[0].explanation.recall
    assert (told.memory_id, told.reason, told.displaced) == (
        short.memory_id, "sparse_doc_recall", long.memory_id,
    )  # fmt: skip
    assert told.distance <= memory.policy.sparse_distance
    assert [(one.memory_id, one.reason) for one in response.not_shown] == [(long.memory_id, "displaced")]


def test_below_the_floor_a_search_says_that_it_knows_nothing(open_memory):
    memory = open_memory(ranking={"abstention_floor": 0.999})
    memory.save(DEPLOY, key="deploy", title="Deploy day", trigger_phrases=["release train"])
    response = memory.search("the weather on the moon", explain=True)
    assert (response.results, response.abstained) == ((), True)
    assert response.signal < 0.999
    assert [(one.title, one.reason) for one in response.not_shown] == [("Deploy day", "abstained")]
    logged = payload(memory, response)
    assert (logged["abstained"], logged["signal"], logged["shown"]) == (True, response.signal, [])
    assert replay(logged).abstained
    assert memory.search("the weather on the moon").not_shown == ()
    phrase = memory.search("when does the release train leave?")
    assert (len(phrase), phrase.abstained, phrase.signal) == (1, False, 1.0)


def test_a_limit_of_nothing_is_no_abstention(memory, three):
    response = memory.search("deploy day", limit=0, explain=True)
    assert (response.results, response.abstained) == ((), False)
    assert {one.reason for one in response.not_shown} == {"cut"}
    assert len(response.not_shown) == 4


# -- confidence ------------------------------------------------------------------------------------


def test_confidence_is_that_of_the_labels(memory):
    memory.save_many(
        [
            {"content": f"{FERRY} 1", "key": "canonical", "state": "canonical"},
            {"content": f"{FERRY} 2", "key": "draft", "state": "draft"},
            {"content": f"{FERRY} 3", "key": "truth", "source_of_truth": True},
        ]
    )
    told = {one.source: one.confidence for one in memory.search("ferry")}
    assert told == {"canonical": "high", "draft": "low", "truth": "high"}


# -- policies --------------------------------------------------------------------------------------


def test_settings_of_the_ranking_reach_the_policy(open_memory, tmp_path):
    given = {"fusion": "rrf", "vector_weight": 0.11, "rrf_k": 7, "mpab": False, "negative_feedback": False,
             "sparse_recall": False, "abstention_floor": 0.12, "rerank_weight": 0.13}  # fmt: skip
    policy = open_memory(path=tmp_path / "h", ranking=given).policy
    assert {name: getattr(policy, name) for name in given} == given
    model = profile("wordllama-256")
    plain = open_memory(path=tmp_path / "p").policy
    assert (plain.vector_weight, plain.cosine_floor, plain.sparse_distance, plain.abstention_floor) == (
        model.vector_weight, model.cosine_floor, model.recall_distance, model.abstention_floor,
    )  # fmt: skip


def test_a_policy_file_is_in_force_and_settings_win_over_it(open_memory, tmp_path):
    file = tmp_path / "deep" / "policy.json"
    written = RankingPolicy(name="tuned", vector_weight=0.33, mpab_cap=float("inf"), rrf_k=5)
    write_policy(file, written, {"note": "by hand"})
    assert read_policy(file) == written
    assert [one.name for one in file.parent.iterdir()] == ["policy.json"]
    assert json.loads(file.read_text())["version"] == written.version
    memory = open_memory(ranking={"policy_file": file})
    assert memory.policy == written
    memory.save(DEPLOY)
    response = memory.search("deploy day")
    assert response.policy == written.version
    assert replay(payload(memory, response)).results[0].score == response[0].score
    assert open_memory(ranking={"policy_file": file, "rrf_k": 9}).policy.rrf_k == 9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"), ("{", "is no ranking policy"), ("[]", "is no ranking policy"),
        ("3", "is no ranking policy"), ("{}", "it has no 'policy'"),
        ('{"policy": {"mpab_koefficient": 1}}', "mpab_koefficient"),
        ('{"policy": {"rrf_k": 0}}', "rrf_k = 0"), ('{"policy": []}', "is no ranking policy"),
        ('{"policy": {"rrf_k": "ten"}}', "rrf_k = ten"), ('{"policy": null}', "is no ranking policy"),
        ('{"policy": {"vector_weight": NaN}}', "vector_weight = nan"),
        ('{"policy": "x"}', "is no ranking policy"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_policy_is_named(open_memory, tmp_path, text, words):
    file = tmp_path / "policy.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        _ = open_memory(ranking={"policy_file": file}).policy
    assert str(file) in str(caught.value)
    assert words in str(caught.value)
