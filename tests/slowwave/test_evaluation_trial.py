"""Two rankings tried on what past searches considered, by all judgments that are known now."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from statistics import mean

import pytest
from evaluation_days import QUERIES, fill, judge, memory_of, said, take_in, with_clock
from feedback_days import HOUR, at, name

from slowwave.errors import SettingsError, SlowwaveError
from slowwave.evaluation.compare_policies import PolicyComparison, compare_policies
from slowwave.journal import Entry
from slowwave.memory import Memory
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.ranking import SEEDS
from slowwave.search.log import replay
from slowwave.settings.ranking_file import write_policy

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 3)
RIGHT = dict(zip(QUERIES, ("deploy", "battery", "rota", "gauge", "ferry", "deploy", "mast"), strict=False))


@pytest.fixture
def searched(open_memory) -> Memory:
    """Every query on each of three days; a day later it is known what answers all but one of them."""
    memory = open_memory()
    clock = with_clock(memory)
    fill(memory)
    for day in (1, 2, 3):
        clock.moment = at(day)
        for query in QUERIES:
            memory.search(query, limit=4)
            clock.moment += HOUR / 60
    take_in(memory._space, [name(day) for day in (1, 2, 3)])
    judge(memory.store, [said(name(4), query, memory_of(key), 2.0) for query, key in RIGHT.items()])
    clock.moment = at(4, 13)
    return memory


def tried(
    memory: Memory, first: str, second: str, since: date = FIRST, until: date = LAST
) -> PolicyComparison:
    return compare_policies(memory._space, memory.namespace, first, second, since=since, until=until)


def test_each_query_is_the_mean_of_its_searches_under_both(searched):
    done = tried(searched, "logged", "seeds")
    assert (done.searches, done.judged) == (24, 21)
    assert (done.since, done.until) == ("2026-03-01", "2026-03-03")
    by_query: dict[str, list[tuple[float, float]]] = {}
    for search_id in searched.journal.read(kinds=("search",))["event_id"]:
        payload = searched.journal.get(search_id).payload
        if payload["query"] not in RIGHT:
            continue
        seeds = replace(
            SEEDS, vector_weight=searched.policy.vector_weight, cosine_floor=searched.policy.cosine_floor
        )
        lists = [[one["memory_id"] for one in payload["shown"]],
                 [one.memory_id for one in replay(payload, seeds).results]]  # fmt: skip
        qrels = {"q": {memory_of(RIGHT[payload["query"]]): 2.0}}
        values = tuple(evaluate({"q": one}, qrels)["nDCG@10"][0] for one in lists)
        by_query.setdefault(payload["query"], []).append(values)
    for at_, attribute in enumerate(("baseline", "candidate")):
        expected = mean(mean(one[at_] for one in values) for values in by_query.values())
        assert getattr(done.by_metric["nDCG@10"], attribute) == pytest.approx(expected, abs=1e-12)
    found = done.by_metric["nDCG@10"]
    assert found.n == found.wins + found.ties + found.losses == len(RIGHT)
    assert found.verdict == "insufficient evidence"
    assert found.margin == searched.settings.evaluation.margin


def test_the_same_question_twice_has_the_same_answer(searched):
    assert tried(searched, "logged", "no MPAB") == tried(searched, "logged", "no MPAB")


def test_the_ranking_in_force_is_what_was_shown(searched):
    found = tried(searched, "logged", "in force").by_metric
    assert {one.ties for one in found.values()} == {len(RIGHT)}
    assert {one.p_value for one in found.values()} == {1.0}


@pytest.mark.slow
def test_two_that_were_not_shown_are_compared_and_the_other_way_round(searched):
    one = tried(searched, "BM25 alone", "without vector").by_metric["MRR@5"]
    other = tried(searched, "without vector", "BM25 alone").by_metric["MRR@5"]
    assert one.n == len(RIGHT)
    assert (one.wins, one.losses, one.difference) == (other.losses, other.wins, -other.difference)


@pytest.mark.slow
def test_a_policy_of_a_file_is_tried_also_from_the_home_folder(searched, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_policy(tmp_path / "mine.json", replace(searched.policy, name="mine"), {})
    for file in (str(tmp_path / "mine.json"), "~/mine.json"):
        done = tried(searched, "logged", file)
        assert done.second == file
        assert done.by_metric["MRR@5"].ties == len(RIGHT)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(SettingsError, match=r"bad\.json is not a ranking policy"):
        tried(searched, "logged", str(tmp_path / "bad.json"))


def test_who_is_not_known_is_told_who_is(searched):
    with pytest.raises(
        SlowwaveError, match=r"'nobody' is neither a policy file nor one of: logged, in force,"
    ):
        tried(searched, "logged", "nobody")
    with pytest.raises(SlowwaveError, match="without trigger"):
        tried(searched, "nobody", "seeds")
    with pytest.raises(SlowwaveError, match="Name two different ones"):
        tried(searched, "seeds", "seeds")


@pytest.mark.slow
def test_days_that_end_before_they_begin_are_told(searched):
    with pytest.raises(SlowwaveError, match="end on 2026-03-01, before they begin on 2026-03-03"):
        tried(searched, "logged", "seeds", LAST, FIRST)


def test_without_judgments_nothing_is_said(searched):
    done = tried(searched, "logged", "seeds", date(2026, 2, 1), date(2026, 2, 2))
    assert (done.searches, done.judged) == (0, 0)
    assert {one.n for one in done.by_metric.values()} == {0}
    assert {one.verdict for one in done.by_metric.values()} == {"insufficient evidence"}


@pytest.mark.slow
def test_both_are_measured_on_the_same_searches(searched):
    """An import has shown something, good or bad, but says nothing of what others would have shown."""
    before = tried(searched, "logged", "in force")
    shown = [{"memory_id": memory_of("mast"), "rank": 1, "score": 0.9, "channels": []}]
    payload = {"query": QUERIES[0], "limit": 4, "shown": shown, "imported_from": "elsewhere"}
    searched.journal.append(
        [
            Entry(event_id="imported", kind="search", namespace="ada", subject="imported",
                  occurred_at=at(2, 20), principal="p", payload=payload)
        ]
    )  # fmt: skip
    take_in(searched._space, [name(2), name(3)])
    after = tried(searched, "logged", "in force")
    assert (after.searches, after.judged) == (before.searches + 1, before.judged)
    assert after.by_metric == before.by_metric


def test_another_namespace_has_trials_of_its_own(searched):
    bob = Memory(searched.settings, namespace="bob", space=searched._space)
    assert tried(bob, "logged", "seeds").searches == 0
