"""A search with its account, its filters and its line in the journal, over a real store."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import polars as pl
import pytest
from feedback_days import fold_days
from search_helpers import DEPLOY, FERRY, LONG, ROTA, found, payload, rows_of, sources

from slowwave.common import ids
from slowwave.embedding import profile
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.scoring.ranking import RankingPolicy
from slowwave.search.log import replay
from slowwave.search.searcher import searcher_in
from slowwave.settings.ranking_file import read_policy, write_policy


def teach(memory, memory_id: str, *, day: str = "2026-03-01", namespace: str = "ada", **taught) -> None:
    """Write what use has taught of a memory by hand."""
    row = {"state_id": memory_id, "day": day, "namespace": namespace,
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


def rate(memory, query: str, memory_id: str, *ratings: str) -> None:
    """Rate a result of a question, each time in a search of its own, and let the night take it in."""
    days = set()
    for rating in ratings:
        said = memory.feedback(memory.search(query).search_id, memory_id, rating)
        days.add(memory.journal.get(said.event_id).occurred_at.date().isoformat())
    fold_days(memory._space, sorted(days))


OF_MEMORY = {"feedback_scope": "memory"}
"""Feedback on a memory counts in every search (rules 3.4 and 3.7)."""


# -- the account -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["question", "memory"])
def test_an_account_sums_to_the_score_down_to_the_words(memory, three, open_memory, scope):
    query = "who is awake on the deploy day of the gauge?"
    if scope == "question":
        rate(memory, query, three["deploy"], "helpful", "unhelpful", "helpful", "helpful")
        # One person has one vote: of three for it and one against it the mean, beside a prior of one.
        effective, rows = (0.5 + 0.75) / 2, "4 ratings on questions like this (nearest 1.00: “"
    else:
        now = datetime.now(UTC)
        teach(memory, three["deploy"], effectiveness=0.9, feedback_count=4, not_useful_at=[now])
        effective, rows = 0.9, "4 data points"
    response = open_memory(ranking={"feedback_scope": scope}).search(query, explain=True)
    words = {"who", "is", "awake", "on", "the", "deploy", "day", "of", "gauge"}
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
    assert deploy.effectiveness_score == pytest.approx(effective, abs=2e-3)  # it fades by the end of the day
    assert deploy.feedback_count == 4
    assert deploy.combined_score == pytest.approx(
        0.7 * deploy.semantic_score + 0.3 * deploy.effectiveness_score
    )
    assert deploy.multiplier == pytest.approx(0.9, abs=1e-3)
    assert f"{deploy.effectiveness_score:.3f}" in deploy.formula
    assert "(not useful)" in deploy.formula
    (said,) = [row.term for row in deploy.contributions if row.source == "effectiveness"]
    assert said.startswith(rows)
    (said,) = [row.term for row in deploy.contributions if row.source == "negative_feedback"]
    assert said == ("1 not useful on questions like this" if scope == "question" else "1 not useful")
    json.dumps(response.to_dict(), default=str)


def parts_and_wholes(memory, query: str) -> list[tuple[float, float]]:
    """Of every chunk that the words found: the sum of its words' scores, and the score of the query."""
    searcher = searcher_in(memory._space)
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
    assert searcher_in(memory._space).term_scores("ada", ["deploy"], []) == {}


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
    assert {one.reason for one in response.not_shown} <= {"limit", "displaced"}
    assert [one.score for one in response.not_shown] == sorted(
        (one.score for one in response.not_shown), reverse=True
    )
    assert all(one.title for one in response.not_shown)


def test_explain_is_a_search_with_an_account_that_reads_as_lines(memory, three):
    [told] = memory.explain("deploy day", limit=1)
    [same] = memory.search("deploy day", limit=1, explain=True)
    assert str(told.explanation) == str(same.explanation)
    *rows, formula = str(told.explanation).splitlines()
    assert formula == told.explanation.formula
    assert len(rows) == len(told.explanation.contributions)
    assert sum(float(row.split()[0]) for row in rows) == pytest.approx(told.score, abs=1e-3)
    with pytest.raises(SlowwaveError, match="-1"):
        memory.explain("deploy day", limit=-1)


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 2, 10])
@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("scope", ["question", "memory"])
def test_what_is_in_the_journal_ranks_to_what_was_shown(memory, three, open_memory, limit, explain, scope):
    now = datetime.now(UTC)
    rate(memory, "deploy day", three["deploy"], "unhelpful", "helpful", "unhelpful")
    rate(memory, "battery in winter", three["battery"], "helpful")
    teach(memory, three["deploy"], effectiveness=0.1, feedback_count=5, not_useful_at=[now, now])
    teach(memory, three["battery"], effectiveness=1.0, feedback_count=3)
    memory = open_memory(ranking={"feedback_scope": scope})
    asked = payload(memory, memory.search("deploy day"))["candidates"]["states"][three["deploy"]]
    assert asked["question_effectiveness"] < 0.5
    assert [near for _, near in asked["question_not_useful"]] == [1.0, 1.0]
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


@pytest.mark.slow
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
    reader, of_questions = open_memory(ranking=OF_MEMORY), open_memory()
    before = {one.memory_id: one.score for one in reader.search("deploy day")}
    assert {one.memory_id: one.score for one in of_questions.search("deploy day")} == before
    teach(memory, three["deploy"], effectiveness=0.0, feedback_count=3)
    teach(memory, three["battery"], effectiveness=1.0, feedback_count=3)
    after = {one.memory_id: one for one in reader.search("deploy day")}
    assert after[three["deploy"]].score == pytest.approx(before[three["deploy"]] - 0.15, abs=1e-6)
    assert after[three["battery"]].score == pytest.approx(before[three["battery"]] + 0.15, abs=1e-6)
    assert after[three["rota"]].score == pytest.approx(before[three["rota"]], abs=1e-9)
    assert "highly_effective" in after[three["battery"]].flags
    # What a memory is worth as a whole is not in a search whose question nobody rated (rule 8).
    unmoved = of_questions.search("deploy day")
    assert {one.memory_id: one.score for one in unmoved} == before
    assert not any("highly_effective" in one.flags for one in unmoved)


def test_ratings_of_a_question_change_its_ranking_in_an_open_searcher(memory, three, open_memory):
    reader, of_memories = open_memory(), open_memory(ranking=OF_MEMORY)
    before, other = (
        {one.memory_id: one.score for one in reader.search(query)} for query in ("deploy day", "odd weeks")
    )
    rate(memory, "deploy day", three["deploy"], "unhelpful")
    rate(memory, "deploy day", three["battery"], "helpful", "helpful", "helpful")
    after = {one.memory_id: one for one in reader.search("deploy day")}
    # 0.3 · 0.25 below neutral and above it, and one step of the multiplier.
    lowered = (before[three["deploy"]] - 0.075) * 0.9
    assert after[three["deploy"]].score == pytest.approx(lowered, abs=1e-3)
    assert after[three["battery"]].score == pytest.approx(before[three["battery"]] + 0.075, abs=1e-3)
    assert after[three["rota"]].score == before[three["rota"]]
    assert after[three["battery"]].flags == ()  # of one person: three quarters, which is not high
    assert {one.memory_id: one.score for one in reader.search("odd weeks")} == other
    moved = {one.memory_id: one.score for one in of_memories.search("odd weeks")}
    assert moved[three["battery"]] > other[three["battery"]] + 0.05


def test_a_rating_counts_for_the_very_same_question_however_it_is_spelled(memory, three):
    """To the small model "Who is Ishbel?" and "who is ishbel?" have a cosine of .75, below its .77."""
    query = "Who is Ishbel?"
    before = {one.memory_id: one.score for one in memory.search(query)}
    rate(memory, query, three["battery"], "helpful")
    after = {one.memory_id: one.score for one in memory.search(query)}
    assert after[three["battery"]] == pytest.approx(before[three["battery"]] + 0.075, abs=1e-3)


def test_what_was_taught_before_is_replaced(open_memory, three):
    memory = open_memory(ranking=OF_MEMORY)

    def combined() -> float:
        response = memory.search("deploy day", explain=True)
        return {one.memory_id: one.explanation.combined_score for one in response}[three["deploy"]]

    plain = combined()
    for value in (0.0, 1.0):
        teach(memory, three["deploy"], effectiveness=value, feedback_count=3)
    now = combined()
    assert now == pytest.approx(plain + 0.15, abs=1e-6)


@pytest.mark.parametrize("scope", ["question", "memory"])
def test_a_row_in_which_nothing_is_said_is_neutral(open_memory, three, scope):
    memory = open_memory(ranking={"feedback_scope": scope})
    plain = [(one.memory_id, one.score) for one in memory.search("deploy day")]
    teach(memory, three["deploy"])
    assert [(one.memory_id, one.score) for one in memory.search("deploy day")] == plain


def test_votes_on_a_question_lower_a_score_unless_that_is_off(memory, three, open_memory):
    weightless = {"effectiveness_weight": 0.0, "soft_from": 1.0}
    reader, off = (open_memory(ranking={**weightless, "negative_feedback": on}) for on in (True, False))
    plain = {one.memory_id: one.score for one in reader.search("deploy day")}[three["deploy"]]
    rate(memory, "deploy day", three["deploy"], *["unhelpful"] * 3)
    lower = {one.memory_id: one.score for one in reader.search("deploy day")}[three["deploy"]]
    assert lower == pytest.approx(plain * 0.7, abs=1e-3)
    assert {one.memory_id: one.score for one in off.search("deploy day")}[three["deploy"]] == plain


def test_votes_lower_a_score_unless_that_is_off(open_memory, three):
    memory = open_memory(ranking=OF_MEMORY)
    plain = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    now = datetime.now(UTC)
    teach(memory, three["deploy"], not_useful_at=[now] * 3)
    lower = {one.memory_id: one.score for one in memory.search("deploy day")}[three["deploy"]]
    assert lower == pytest.approx(plain * 0.7, abs=1e-4)
    off = open_memory(ranking={**OF_MEMORY, "negative_feedback": False})
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
    """The long notes have the words more often; the short one is nearest, and would be cut."""
    settings = {"vector_weight": 0.0}
    memory = open_memory(ranking=settings)
    query = "deploy the ferry on Thursday at the quay"
    often = f"{LONG}\n\n## End\n\n" + "Ferry, Thursday, quay: deploy! " * 20
    long = memory.save_many(
        [{"content": f"Pier {at}.\n\n{often}", "key": f"long {at}", "title": f"Pier {at}"} for at in range(7)]
    )
    short = memory.save("We deploy the ferry on Thursday at the quay, as always.", key="short")
    assert {one.status for one in (*long, short)} == {"live"}
    plain = open_memory(ranking={**settings, "sparse_recall": False})
    for limit in range(1, 6):  # a better result is never given up for it among the first five
        assert found(memory.search(query, limit=limit)) == found(plain.search(query, limit=limit))
    cut = found(plain.search(query, limit=6))
    assert short.memory_id not in cut
    response = memory.search(query, limit=6, explain=True)
    assert found(response) == [*cut[:5], short.memory_id]
    assert response[5].flags == ("recall_injected",)
    told = response[5].explanation.recall
    assert (told.memory_id, told.reason, told.displaced) == (short.memory_id, "sparse_doc_recall", cut[5])
    assert told.distance <= memory.policy.sparse_distance
    assert (response.not_shown[0].memory_id, response.not_shown[0].reason) == (cut[5], "displaced")


def test_the_candidates_say_what_is_superseded(open_memory):
    """So a replay, too, gives it no place for being short."""
    memory = open_memory(
        reconsolidation={"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    )
    old = memory.save(DEPLOY, key="old")
    memory.save(DEPLOY.replace("Thursday", "Friday").replace("second", "ninth"), key="new")
    assert memory.get(old.memory_id).status == "superseded"
    kept = payload(memory, memory.search("deploy day", superseded=True))["candidates"]
    assert kept["superseded"] == [old.memory_id]
    assert "superseded" not in payload(memory, memory.search("deploy day"))["candidates"]


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
    assert {one.reason for one in response.not_shown} == {"limit"}
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


def test_settings_of_the_ranking_reach_the_policy(open_memory, tmp_path, monkeypatch):
    given = {"fusion": "rrf", "vector_weight": 0.11, "rrf_k": 7, "mpab": False, "negative_feedback": False,
             "sparse_recall": False, "abstention_floor": 0.12, "rerank_weight": 0.13}  # fmt: skip
    policy = open_memory(path=tmp_path / "h", ranking=given).policy
    assert {name: getattr(policy, name) for name in given} == given
    for name in ("ABSTENTION_FLOOR", "CUT_SHARE", "FIT_FLOOR"):  # which the tests have for one another
        monkeypatch.delenv(f"SLOWWAVE_RANKING__{name}")
    model = profile("wordllama-256")
    assert model.abstention_floor > 0
    assert model.cut_share > 0
    assert model.fit_floor > 0
    plain = open_memory(path=tmp_path / "p").policy
    of_model = ("vector_weight", "cosine_floor", "abstention_floor", "cut_share", "fit_floor")
    assert [getattr(plain, name) for name in of_model] == [getattr(model, name) for name in of_model]
    assert plain.sparse_distance == model.recall_distance


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
        (None, "Cannot read"), ("{", "is not a ranking policy"), ("[]", "is not a ranking policy"),
        ("3", "is not a ranking policy"), ("{}", "it has no 'policy'"),
        ('{"policy": {"mpab_koefficient": 1}}', "mpab_koefficient"),
        ('{"policy": {"rrf_k": 0}}', "rrf_k = 0"), ('{"policy": []}', "is not a ranking policy"),
        ('{"policy": {"rrf_k": "ten"}}', "rrf_k = ten"), ('{"policy": null}', "is not a ranking policy"),
        ('{"policy": {"vector_weight": NaN}}', "vector_weight = nan"),
        ('{"policy": "x"}', "is not a ranking policy"),
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


# -- titles and turns ------------------------------------------------------------------------------


def test_a_title_that_the_query_says_adds_to_the_score(memory, three):
    response = memory.search("when is the deploying day of the gauges?", explain=True)
    by_source = {result.source: result for result in response}
    weight = memory.policy.title_weight
    for source, share in {"deploy": 1.0, "long": 1.0, "battery": 0.0, "rota": 0.0}.items():
        said = rows_of(by_source[source], "title")
        assert [row.value for row in said] == ([pytest.approx(0.7 * weight * share)] if share else [])
        assert [(row.field, row.term) for row in said] == [("title", "words of the query")] * bool(share)
    half = memory.search("the deploy team", explain=True)
    (row,) = rows_of(next(one for one in half if one.source == "deploy"), "title")
    assert row.value == pytest.approx(0.7 * weight / 2)


def test_first_words_are_no_title(open_memory):
    """Three texts without a title, short, long, and with a first line of their own, and a heading."""
    memory = open_memory(gate={"mode": "off"}, reconsolidation={"policy": "off"})
    part = "Gauge number one hangs under the pier and reports every six minutes to the station. " * 30
    memory.save_many(
        [
            {"content": "The deploy day is Thursday.", "key": "short"},
            {"content": f"The deploy day of the gauges {part}", "key": "long"},
            {"content": f"The deploy day\n\n{part}", "key": "line"},
            {"content": f"# The deploy day\n\n{part}", "key": "heading"},
            {"content": f"Pier. {part}", "title": "The deploy day", "key": "given"},
        ]
    )
    for query in ("the deploy day of the gauges under the pier", "which deploy day has the station"):
        response = memory.search(query, explain=True, limit=10)
        titled = {result.source for result in response if rows_of(result, "title")}
        assert sources(response) == {"short", "long", "line", "heading", "given"}
        assert titled == {"heading", "given"}
    assert {one.title for one in response} >= {"The deploy day is Thursday.", "The deploy day"}


def test_a_chat_is_found_by_its_speaker(memory):
    lines = {
        "a": ("Caroline", "I went to the pottery class and made a bowl with two handles."),
        "b": ("Melanie", "My brother bought a boat, and he means to sail it to Norway."),
        "c": ("Caroline", "The cat slept on the roof of the neighbour's shed all night long."),
    }
    memory.save_many(
        [{"key": key, "title": who, "content": text, "memory_type": "chat"}
         for key, (who, text) in lines.items()]
    )  # fmt: skip
    response = memory.search("What did Caroline do?", explain=True)
    titled = {result.source for result in response if rows_of(result, "title")}
    assert titled == {"a", "c"}
    for result in response:
        assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score)


@pytest.fixture
def talk(memory):
    """A question, its answer and what follows; the answer has no word of the question."""
    saved = memory.save_many(
        [
            {
                "key": "one",
                "content": "The harbour master called about the new mooring fees.",
                "title": "Ann",
            },
            {
                "key": "two",
                "content": "Did the grey heron come back to the pond behind the mill?",
                "follows": "one",
            },
            {
                "key": "three",
                "content": "Yes, on Tuesday it stood there until noon, and then it flew off.",
                "follows": "two",
            },
            {"key": "apart", "content": "Sourdough wants eleven hours of rest in a cold kitchen."},
        ]
    )
    assert {one.status for one in saved} == {"live"}
    return memory


def test_a_turn_gets_a_part_of_the_score_of_the_turn_beside_it(talk):
    response = talk.search("grey heron pond", explain=True)
    by_source = {result.source: result for result in response}
    assert response[0].source == "two"
    policy = talk.policy
    texts = {
        source: sum(row.value for row in result.explanation.contributions if row.source in ("vector", "bm25"))
        for source, result in by_source.items()
    }
    for source, beside in {"one": ["two"], "two": ["one", "three"], "three": ["two"]}.items():
        (row,) = rows_of(by_source[source], "neighbour")
        assert (row.field, row.term) == ("follows", "before or after")
        assert row.value == pytest.approx(policy.neighbour_weight * max(texts[one] for one in beside))
    assert rows_of(by_source["apart"], "neighbour") == []
    for result in response:
        assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score)
    again = replay(payload(talk, response))
    assert [(one.memory_id, one.score) for one in again.results] == [
        (one.memory_id, one.score) for one in response
    ]


def test_the_turn_beside_it_has_to_be_found(talk):
    response = talk.search("grey heron pond", explain=True, source="three")
    assert sources(response) == {"three"}
    assert rows_of(response[0], "neighbour") == []
    talk.forget(ids.memory_id("ada", "two"))
    for result in talk.search("grey heron pond", explain=True):
        assert rows_of(result, "neighbour") == []


def test_a_question_that_asks_when_ranks_the_text_that_says_a_time_first(open_memory):
    with open_memory(ranking={"time_weight": 0.0}) as memory:
        said = memory.save("Last night we painted the old boat by the pier.").memory_id
        memory.save("We did paint the old boat by the pier.")
        memory.save(FERRY)
        question = "When did we paint the old boat by the pier?"
        assert found(memory.search(question))[0] != said
    with open_memory() as memory:
        response = memory.search(question, explain=True)
        assert found(response)[0] == said
        gained = {one.source: one for one in response.results[0].explanation.contributions}["time"]
        assert (gained.term, gained.value > 0) == ("when did", True)
        assert found(replay(payload(memory, response)).results) == found(response)
        assert found(memory.search(question.replace("When did", "Who did")))[0] != said
