"""Searches that show two rankings in turn: what is shown, what the journal keeps, and who gets the credit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from evaluation_days import NOTES, QUERIES, memory_of, take_in, with_clock
from feedback_days import HOUR, at, name

from slowwave.evaluation.interleaved import interleaved_days
from slowwave.memory import Memory
from slowwave.scoring.evaluation.interleaving import team_draft
from slowwave.scoring.ranking import RankingPolicy
from slowwave.scoring.ranking.results import RECALL_INJECTED
from slowwave.search.log import replay
from slowwave.settings.ranking_file import LEAST_KEPT, write_policy

OTHER = RankingPolicy(name="other", vector_weight=0.0, title_weight=0.6, effectiveness_weight=0.0)
PLACES = ("harbour", "island", "pier", "office", "station", "yard")
THINGS = ("ferry", "gauge", "crane", "battery")
LOGGED = {
    "query", "limit", "as_of", "filters", "policy", "policy_version", "abstained", "signal", "shown",
    "candidates",
}  # fmt: skip


@pytest.fixture
def interleaving(open_memory, tmp_path) -> Callable[..., Memory]:
    """A memory of 32 notes whose searches show another policy's results in turn with those in force."""

    def made(other: RankingPolicy | None = OTHER, **ranking) -> Memory:
        file = tmp_path / "other.json"
        if other is not None:
            write_policy(file, other, {})
        memory = open_memory(evaluation={"interleave": file if other else None}, ranking=ranking)
        with_clock(memory)
        notes = [{"content": text, "key": key, "title": key.capitalize()} for key, text in NOTES.items()]
        notes += [
            {"content": f"The {thing} at the {place} was looked at in week {4 * row + turn}: it is in order.",
             "key": f"{thing}-{place}", "title": f"{place.capitalize()}, week {4 * row + turn}"}
            for row, place in enumerate(PLACES) for turn, thing in enumerate(THINGS)
        ]  # fmt: skip
        assert all(one.status == "live" for one in memory.save_many(notes))
        return memory

    return made


def payload(memory: Memory, response) -> dict:
    return memory.journal.get(response.search_id).payload


def ranked(ranking) -> list[tuple]:
    return [(one.rank, one.memory_id, one.score) for one in ranking.results]


def shown(response) -> list[tuple]:
    return [(one.rank, one.memory_id, one.score) for one in response]


@pytest.mark.parametrize("limit", [1, 2, 5, 10, 50])
def test_the_list_is_drawn_from_both_rankings_of_the_same_candidates(interleaving, limit):
    memory = interleaving()
    contested = 0
    for query in QUERIES:
        response = memory.search(query, limit=limit)
        kept = payload(memory, response)
        mine, its = (
            {one.memory_id: one for one in replay(kept, policy).results} for policy in (memory.policy, OTHER)
        )
        drawn = team_draft(list(mine), list(its), seed=response.search_id, limit=limit)
        assert tuple(one.memory_id for one in response) == drawn.results
        assert tuple(kept["interleaving"]["teams"]) == drawn.teams
        assert [one.rank for one in response] == list(range(1, len(response) + 1))
        for one, team in zip(response, drawn.teams, strict=True):
            assert one.score == (its if team == "b" else mine)[one.memory_id].score
        teams = kept["interleaving"]["teams"]
        assert abs(teams.count("a") - teams.count("b")) <= 1
        contested += len(teams) - teams.count("")
    assert contested > 0 or limit == 1
    assert response.policy == memory.policy.version


def test_the_journal_gives_back_what_was_shown(interleaving):
    memory = interleaving()
    for query in QUERIES:
        response = memory.search(query, limit=7)
        kept = payload(memory, response)
        again = replay(kept)
        assert ranked(again) == shown(response)
        assert [one.flags for one in again.results] == [tuple(row["flags"]) for row in kept["shown"]]
        assert [row["memory_id"] for row in kept["shown"]] == [one.memory_id for one in response]
        interleaved = kept["interleaving"]
        assert RankingPolicy.from_dict(interleaved["policy"]) == OTHER
        assert interleaved["policy_version"] == OTHER.version
        assert kept["policy_version"] == memory.policy.version


def test_teams_have_names_that_mean_nothing_beyond_their_search(interleaving):
    memory = interleaving()
    seen: set[str] = set()
    for query in (*QUERIES, QUERIES[0]):
        response = memory.search(query, limit=10)
        teams = payload(memory, response)["interleaving"]["teams"]
        names: dict[str, set[str]] = {team: set() for team in teams}
        for one, team in zip(response, teams, strict=True):
            names[team].add(one.team)
        assert names.pop("", {""}) == {""}
        assert all(len(own) == 1 for own in names.values())
        own = set().union(*names.values())
        assert len(own) == len(names) <= 2
        assert not own & seen
        assert own.isdisjoint({"a", "b", "", OTHER.version, memory.policy.version})
        seen |= own
    assert len(seen) > len(QUERIES)
    assert [one["team"] for one in response.to_dict()["results"]] == [one.team for one in response]


def test_every_account_sums_to_the_score_by_its_own_policy(interleaving):
    memory = interleaving()
    for query in QUERIES:
        response = memory.search(query, limit=8, explain=True)
        teams = payload(memory, response)["interleaving"]["teams"]
        for one, team in zip(response, teams, strict=True):
            account = one.explanation
            assert sum(row.value for row in account.contributions) == pytest.approx(one.score, abs=1e-9)
            weight = (OTHER if team == "b" else memory.policy).effectiveness_weight
            assert account.formula.startswith(f"{1 - weight:g} · ")
            assert account.formula.endswith(f"= {one.score:.3f}")


def test_a_short_memory_that_one_ranking_recalls_has_its_own_reason(interleaving):
    """Only the other ranking gives short memories a place here; it is drawn by chance, so ask until it is."""
    memory = interleaving(
        replace(OTHER, sparse_distance=2.0, sparse_keeps=LEAST_KEPT),
        vector_weight=0.0, title_weight=0.6, effectiveness_weight=0.0, sparse_recall=False,
    )  # fmt: skip
    recalled = []
    for query in QUERIES * 50:
        found = memory.search(query, limit=LEAST_KEPT + 1, explain=True)
        recalled += [one for one in found if RECALL_INJECTED in one.flags]
        if recalled:
            break
    assert recalled
    for one in recalled:
        assert one.explanation.recall is not None
        assert one.explanation.recall.memory_id == one.memory_id


def test_a_policy_that_is_the_one_in_force_is_not_shown_in_turn(interleaving, open_memory, tmp_path):
    file = tmp_path / "same.json"
    write_policy(file, replace(interleaving(None).policy, name="another name"), {})
    memory = open_memory(evaluation={"interleave": file})
    with_clock(memory, 2)
    response = memory.search(QUERIES[0])
    assert set(payload(memory, response)) == LOGGED
    assert {one.team for one in response} == {""}


def test_where_the_other_ranking_abstains_the_one_in_force_is_shown_alone(interleaving):
    memory = interleaving(replace(OTHER, abstention_floor=1.0))
    response = memory.search(QUERIES[0])
    assert set(payload(memory, response)) == LOGGED
    assert ranked(replay(payload(memory, response), memory.policy)) == shown(response)
    assert len(response) == 10


def test_where_the_ranking_in_force_abstains_nothing_is_shown(interleaving):
    memory = interleaving(abstention_floor=0.99)
    response = memory.search(QUERIES[0])
    assert (response.abstained, len(response)) == (True, 0)
    assert set(payload(memory, response)) == LOGGED


def test_nothing_is_drawn_where_nothing_is_asked_for(interleaving):
    memory = interleaving()
    assert set(payload(memory, memory.search(QUERIES[0], limit=0))) == LOGGED


def test_a_search_of_the_past_is_by_the_ranking_in_force_alone(interleaving):
    memory = interleaving()
    memory._space.now.moment = at(4)
    memory.search(QUERIES[1])
    then = memory.search(QUERIES[1], as_of=at(2).date())
    assert {one.team for one in then} == {""}
    today = memory.search(QUERIES[1], as_of=at(4).date())
    assert {one.team for one in today} == {""}
    entries = memory.journal.read(kinds=("search",))
    assert entries.height == 1
    own = replay(memory.journal.get(entries["event_id"][0]).payload, memory.policy)
    assert [one.memory_id for one in today] == [one.memory_id for one in own.results]


def test_while_it_is_off_searches_and_the_journal_are_what_they_were(interleaving):
    memory = interleaving(None)
    for query in QUERIES:
        response = memory.search(query)
        kept = payload(memory, response)
        assert set(kept) == LOGGED
        assert ranked(replay(kept)) == ranked(replay(kept, memory.policy)) == shown(response)
        assert {one.team for one in response} == {""}


def test_results_that_are_used_are_credited_to_their_ranking(interleaving):
    memory = interleaving()
    clock, expected = memory._space.now, {}
    for turn, query in enumerate(QUERIES):
        clock.moment = at(1, 13) + turn * HOUR / 10
        found = memory.search(query, limit=6)
        teams = payload(memory, found)["interleaving"]["teams"]
        if turn % 4 == 1:
            memory.feedback(found.search_id, 2, "helpful")
        elif turn % 4 == 2:
            memory.observe(found.search_id, " ".join((found[0].text, found[3].text)))
        elif turn % 4 == 3:
            memory.feedback(found.search_id, 1, "unhelpful")
        team = dict(zip((one.memory_id for one in found), teams, strict=True))
        if turn % 4:  # nothing is said of the others
            expected[found.search_id] = team
    take_in(memory._space, [name(1)])
    store = memory.store
    signals = store.read("usage_signals")
    rows = interleaved_days(memory._space, [name(1)])
    assert set(rows["search_id"]) == set(expected)
    for row in rows.iter_rows(named=True):
        team = expected[row["search_id"]]
        said = signals.filter(search_id=row["search_id"]).to_dicts()
        used = {
            one["memory_id"] for one in said if one["verdict"] in ("used", "helpful") and one["weight"] > 0
        }
        counted = [team[one] for one in used]
        assert (row["credit_a"], row["credit_b"]) == (counted.count("a"), counted.count("b"))
        assert (row["policy_a"], row["policy_b"]) == (memory.policy.version, OTHER.version)
    assert rows.select("credit_a", "credit_b").sum().row(0) != (0, 0)
    store.replace_partition("interleavings", rows, [name(1)])
    assert interleaved_days(memory._space, [name(2)]).is_empty()


def test_searches_that_were_not_interleaved_have_no_row(interleaving):
    memory = interleaving(None)
    memory.feedback(memory.search(QUERIES[0]).search_id, 1, "helpful")
    take_in(memory._space, [name(1)])
    assert interleaved_days(memory._space, [name(1)]).is_empty()


def test_feedback_finds_a_result_of_either_ranking_by_its_memory(interleaving):
    memory = interleaving()
    found = memory.search(QUERIES[4], limit=6)
    for rank, one in enumerate(found, start=1):
        rated = memory.feedback(found.search_id, rank, "neutral")
        assert (rated.memory_id, memory.feedback(found.search_id, one.memory_id, "neutral").new) == (
            one.memory_id, False,
        )  # fmt: skip
    assert memory_of("ferry") in {one.memory_id for one in found}
