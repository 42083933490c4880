"""What was imported counts for no condition of the learning gate, whatever it refers to (rule 7.7)."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import feedback_days as march
import polars as pl
import pytest
from evaluation_nights import asked as asked_once
from exchange_helpers import log, take_jsonl
from warehouse_rows import put

from bench._user import Clock
from slowwave.common import ids
from slowwave.evaluation import cycles, derived_judgments, interleaved, scores
from slowwave.evaluation.judging.entries import NewJudgment, drain_judgments, write_judgments
from slowwave.evaluation.variants import variants
from slowwave.journal import Entry, Journal
from slowwave.learning import boost_effect, proposals
from slowwave.learning.gate import evidence_at
from slowwave.learning.gate_evidence import Evidence
from slowwave.memory import Memory
from slowwave.quality.learning_gate import GateEvidence, decide_gate

pytestmark = pytest.mark.usefixtures("learning_on")

DAYS, LAST = 32, 32
NAMES = [march.name(day) for day in range(1, DAYS + 1)]
NOTES = {
    f"{place} {thing}": f"The {thing} of {place} is {colour} and stands by the {other}; {place} keeps it so."
    for at, place in enumerate(("Oban", "Wick", "Nairn", "Elie", "Mallaig", "Tarbert"))
    for thing, other in (("lighthouse", "quay"), ("ferry", "mast"))
    for colour in (("red", "white", "green")[at % 3],)
}
NICKNAMES = ("zuvox", "kerax", "milox", "doriax")


def nights(space: Any) -> GateEvidence:
    """What the nights make of everything, and what the gate of ``ada`` sees in the end."""
    store = space.store
    march.fold_days(space, NAMES)
    judgments = pl.concat(
        [
            drain_judgments(space.journal, NAMES).rows,
            derived_judgments.trigger_judgments(store, NAMES),
            derived_judgments.selection_judgments(store, NAMES),
        ]
    )
    store.replace_partition("judgments", judgments, NAMES)
    tried = variants(space.policy, space.settings.evaluation)
    for table, make in (
        ("evaluation_scores", lambda days: scores.score_days(space, days, tried)),
        ("channel_attribution", lambda days: scores.attribute_days(space, days)),
        ("interleavings", lambda days: interleaved.interleaved_days(space, days)),
        ("learned_proposals", lambda days: proposals.proposal_days(space, days)),
        ("learned_matches", lambda days: boost_effect.match_days(space, days)),
        ("learned_effect", lambda days: boost_effect.effect_days(space, days)),
    ):
        store.replace_partition(table, make(NAMES), NAMES)
    cycles.advance(space, NAMES[-1], tried, march.at(LAST + 1))
    return evidence_at(Evidence(space, NAMES[-1], among=["ada"]), "ada", march.at(LAST + 1, 0))


def asked(number: int, day: int, *, hour: float = 9) -> Entry:
    """An own search, whose id is one of ours."""
    found = asked_once(number, day, hour=hour)
    name = ids.digest("search", found.event_id)
    return replace(found, event_id=name, subject=name)


def line(kind: str, when: datetime, **more: Any) -> str:
    at = when.isoformat().replace("+00:00", "Z")
    return json.dumps({"type": kind, "at": at, **more})


def take(journal: Journal, folder: Path, *lines: str) -> Any:
    return take_jsonl(journal, log(folder, *lines), today=date(2026, 5, 1))


@pytest.fixture
def quiet(open_memory: Any) -> Memory:
    """A home whose searches are only ranked as they were; no judge."""
    return open_memory(judge={"kind": "off"}, evaluation={"ablations": False})


@pytest.mark.slow
@pytest.mark.soak
def test_imported_events_on_own_searches_open_no_cycle(quiet: Memory, tmp_path: Path) -> None:
    """Three hundred own searches, of which only an imported file says what answered them."""
    searches = [asked(number, 1 + number // 10, hour=number % 10) for number in range(300)]
    quiet.journal.append(searches)
    before = nights(quiet._space)
    done = take(
        quiet.journal, tmp_path,
        *(
            line("feedback", one.occurred_at + timedelta(minutes=1), search_id=one.event_id, rating="helpful",
                 memory_id=one.payload["shown"][0]["memory_id"], principal=f"invented-{at % 60}")
            for at, one in enumerate(searches)
        ),
    )  # fmt: skip
    assert done.new == 300
    after = nights(quiet._space)
    assert repr(after) == repr(before)
    assert (after.progress.cycles, after.progress.searches, after.progress.open_searches) == (0, 0, 0)
    assert (
        quiet.store.count("evaluation_cycles", "status = 'closed'") == 2
    )  # the report has them all the same
    # Said here, the same counts.
    for one in searches:
        memory = one.payload["shown"][0]["memory_id"]
        quiet.journal.append(
            [march.rating(one.event_id, one.occurred_at + timedelta(minutes=2), memory, "helpful")]
        )
    told = nights(quiet._space).progress
    assert (told.cycles, told.days) == (2, 28)
    assert told.searches >= 200


@pytest.mark.slow
@pytest.mark.soak
def test_imported_labels_open_no_cycle_and_the_same_label_given_here_does(quiet: Memory) -> None:
    searches = [asked(number, 1 + number // 10, hour=number % 10) for number in range(300)]
    quiet.journal.append(searches)
    said = [
        NewJudgment(
            f"question {number}", searches[0].payload["shown"][0]["memory_id"], 3, "graded", "", "ann",
             march.at(1 + number // 10, 11), more={"imported_from": "jsonl"})
        for number in range(300)
    ]  # fmt: skip
    before = nights(quiet._space)
    write_judgments(quiet.journal, "ada", said)
    assert repr(nights(quiet._space)) == repr(before)
    assert all(
        new for _, new in write_judgments(quiet.journal, "ada", [replace(one, more={}) for one in said])
    )
    assert nights(quiet._space).progress.cycles == 2


@pytest.mark.slow
def test_what_is_said_here_of_imported_searches_opens_nothing(quiet: Memory, tmp_path: Path) -> None:
    """Somebody brings a log of searches along and rates all of it, here and in his own name."""
    quiet.save_many([{"content": text, "key": key, "title": key} for key, text in NOTES.items()])
    known = quiet.store.read("memories", columns=["memory_id"])["memory_id"].sort().to_list()
    draw, lines, rated = random.Random(2), [], []
    for number in range(300):
        when, shown = march.at(1 + number // 10, 9 + number % 10), draw.sample(known, 6)
        about = {"search_id": own(number), "principal": "ann"}
        query = f"what is {' '.join(draw.sample(NICKNAMES, 2))} number {number}"
        lines.append(line("search", when, **about, query=query, shown=[{"memory_id": one} for one in shown]))
        rated.append((about["search_id"], when + timedelta(minutes=5), shown[5]))
        mine = replace(asked(number, 1 + number // 10), payload={**asked(number, 1).payload, "query": query})
        quiet.journal.append([mine])  # nobody says anything of the same question, asked here
    before = nights(quiet._space)
    assert take(quiet.journal, tmp_path, *lines).new == 300
    quiet.journal.append([march.rating(name, when, memory, "helpful") for name, when, memory in rated])
    after = nights(quiet._space)
    assert quiet.store.count("usage_signals") == 300
    assert repr(after) == repr(before)
    assert (after.first_proposal, after.noise.judged, after.effect.n) == (None, 0, 0)
    assert (after.progress.cycles, after.progress.open_searches) == (0, 0)


def test_what_a_file_says_of_two_rankings_shown_in_turn_is_no_preference(
    quiet: Memory, tmp_path: Path
) -> None:
    """It would take everything back that was learned, or keep it."""
    one = asked(1, 1)
    first, second = (ids.memory_id("ada", key) for key in ("first", "second"))
    shown = [{"memory_id": name, "rank": at} for at, name in enumerate((first, second), start=1)]
    in_turn = {"policy_version": "other", "teams": ["a", "b"]}
    one = replace(one, payload={**one.payload, "shown": shown, "interleaving": in_turn})
    quiet.journal.append([one])
    said = {"search_id": one.event_id, "memory_id": second, "rating": "helpful"}
    take(quiet.journal, tmp_path, line("feedback", march.at(1, 10), **said, principal="ann"))
    march.fold_days(quiet._space, NAMES[:3])
    assert interleaved.interleaved_days(quiet._space, NAMES[:3]).is_empty()
    quiet.journal.append([march.rating(one.event_id, march.at(2), first, "helpful")])
    march.fold_days(quiet._space, NAMES[:3])
    (row,) = interleaved.interleaved_days(quiet._space, NAMES[:3]).to_dicts()
    assert (row["day"], row["credit_a"], row["credit_b"]) == (NAMES[1], 1, 0)


@pytest.fixture
def lived(quiet: Memory) -> tuple[Memory, list[tuple[str, datetime, list[str]]]]:
    """Some weeks in which people select what stands low, so that there is something to propose."""
    space, clock = quiet._space, Clock(march.at(1))
    space.__dict__["now"] = clock
    quiet.save_many([{"content": text, "key": key, "title": key} for key, text in NOTES.items()])
    known = quiet.store.read("memories", columns=["memory_id"])["memory_id"].sort().to_list()
    put(quiet.store, "staged_notes", [
        {"staged_id": one, "memory_id": one, "day": "2026-01-01", "act": "save", "revision": "0",
         "occurred_at": march.at(-50), "principal": "ann"}
        for one in known
    ])  # fmt: skip
    draw, made = random.Random(1), []
    for number in range(60):
        when = march.at(1 + number // 2, 9 + number % 2)
        words = " ".join(draw.sample(NICKNAMES, 2))
        shown = _search(quiet, f"what is {words} number {number}", when, known, draw)
        name = own(number)
        made.append((name, when, shown))
        verdicts = {one: "used" if at == 5 else "ignored" for at, one in enumerate(shown)}
        if number % 3:
            by = ("ann", "bob")[number % 2]
            quiet.journal.append([march.observed(name, when + timedelta(hours=1), verdicts, principal=by)])
    return quiet, made


def own(number: int) -> str:
    return ids.digest("search", str(number))


def _search(memory: Memory, query: str, when: datetime, known: list[str], draw: random.Random) -> list[str]:
    shown = draw.sample(known, 8)
    found = march.search(own(int(query.rsplit(" ", 1)[1])), when, shown, query=query)
    chunks = [f"{one}:00000" for one in shown]
    count = len(shown)
    candidates = {
        "chunk_id": chunks, "cosine": [0.9 - 0.01 * at for at in range(count)], "bm25": [None] * count,
        "vector_rank": list(range(1, count + 1)), "bm25_rank": [0] * count, "chunk_count": [1] * count,
    }  # fmt: skip
    payload = {**found.payload, "as_of": when.isoformat(), "abstained": False, "candidates": candidates}
    memory.journal.append([replace(found, payload=payload)])
    return shown


def forged(seed: int, made: list[tuple[str, datetime, list[str]]]) -> list[str]:
    """Anything that a file may say of own searches, in the names of those who live here or of others."""
    draw = random.Random(seed)
    lines = []
    for number in range(150):
        search, when, shown = draw.choice(made)
        moment = when + timedelta(minutes=draw.randrange(-600, 3_000))
        who = {"principal": draw.choice(["ann", "bob", f"invented-{draw.randrange(60)}"])}
        about = {"search_id": search, **who}
        kind = draw.choice(["feedback", "observation", "search", "outcome"])
        if kind == "feedback":
            rating = draw.choice(["helpful", "unhelpful", "neutral"])
            lines.append(line(kind, moment, **about, memory_id=draw.choice(shown), rating=rating))
        elif kind == "observation":
            verdicts = [
                {"memory_id": one, "verdict": draw.choice(["used", "ignored"]), "evidence": "citation"}
                for one in draw.sample(shown, 4)
            ]
            lines.append(line(kind, moment, **about, verdicts=verdicts))
        elif kind == "outcome":
            lines.append(line(kind, moment, project="p", outcome="success", **who))
        else:
            query = f"what is {draw.choice(NICKNAMES)} number {draw.randrange(60)}"
            rows = [{"memory_id": one} for one in draw.sample(shown, 4)]
            extra = {"imported_from": None, "interleaving": {"policy_version": "x", "teams": ["a", "b"] * 2}}
            made_up = {"search_id": f"forged-{number}", **who}
            lines.append(line(kind, moment, **made_up, project="p", query=query, shown=rows, extra=extra))
            lines.append(line("feedback", moment, **made_up, rating="helpful", **rows[2]))
    return lines


@pytest.mark.slow
def test_the_evidence_is_what_it_is_without_what_was_imported(
    lived: tuple[Memory, list[tuple[str, datetime, list[str]]]], tmp_path: Path
) -> None:
    memory, made = lived
    space = memory._space
    before = nights(space)
    assert before.first_proposal is not None  # or there would be nothing to disturb
    assert before.noise.judged > 0
    assert before.effect.n > 0
    for seed in range(3):
        done = take(memory.journal, tmp_path, *forged(seed, made))
        assert done.new > 100
        after = nights(space)
        assert repr(after) == repr(before)
        gate = decide_gate("ada", after, march.at(LAST + 1), space.gate_bounds)
        assert gate == decide_gate("ada", before, march.at(LAST + 1), space.gate_bounds)
    assert memory.store.count("usage_signals", "imported") > 300
    theirs = memory.store.read("searches", "imported_from IS NOT NULL")
    for one in theirs.iter_rows(named=True):  # said here, of searches that were never made here
        at, first = one["occurred_at"] + timedelta(minutes=3), one["shown"][0]["memory_id"]
        memory.journal.append([march.rating(one["search_id"], at, first, "helpful", principal="ann")])
    assert repr(nights(space)) == repr(before)


@pytest.mark.slow
@pytest.mark.parametrize("rating", ["helpful", "unhelpful"])
@pytest.mark.soak
def test_a_file_that_calls_everything_good_or_bad_makes_no_term_quiet_or_noisy(
    lived: tuple[Memory, list[tuple[str, datetime, list[str]]]], tmp_path: Path, rating: str
) -> None:
    """Also of what was shown where nobody may have looked, on the day on which somebody here spoke of it."""
    memory, made = lived
    before = nights(memory._space)
    matches = memory.store.read("learned_matches").sort("match_id")
    lines = [
        line("feedback", when + timedelta(hours=2), search_id=name, memory_id=one, rating=rating,
             principal="ann")
        for name, when, shown in made for one in shown
    ]  # fmt: skip
    assert take(memory.journal, tmp_path, *lines).new == len(lines)
    assert repr(nights(memory._space)) == repr(before)
    assert memory.store.read("learned_matches").sort("match_id").equals(matches)
    assert matches["relevant"].n_unique() == 2


@pytest.mark.slow
def test_the_mark_survives_export_and_import_and_no_line_takes_it_off(
    open_memory: Any, tmp_path: Path
) -> None:
    from slowwave.evaluation.exchange.export import export

    first, second = open_memory(), open_memory(path=tmp_path / "other")
    own = asked(1, 1)
    first.journal.append([own])
    memory = own.payload["shown"][0]["memory_id"]
    about = {"search_id": own.event_id, "memory_id": memory, "rating": "helpful", "principal": "ann"}
    take(first.journal, tmp_path, line("feedback", march.at(2), **about, extra={"imported_from": ""}))
    parts: list[bytes] = []
    export(first.journal, "ada", parts.append)
    assert b"imported_from" not in b"".join(parts)
    file = tmp_path / "out.jsonl"
    file.write_bytes(b"".join(parts))
    for target in (first, second):
        take_jsonl(target.journal, str(file), today=date(2026, 5, 1))
        march.fold_days(target._space, [march.name(day) for day in range(1, 4)])
        assert target.store.read("usage_signals")["imported"].to_list() == [True]
    assert second.store.count("searches", "imported_from = 'jsonl'") == 1
    assert first.store.count("searches", "imported_from IS NULL") == 1


@pytest.mark.slow
def test_what_was_imported_in_ones_name_is_not_what_one_says_here(quiet: Memory, tmp_path: Path) -> None:
    """Or a file could say it first, and the word given here would be taken for a repetition."""
    quiet.save("The ferry of Oban leaves at seven, on Sundays at nine.", title="Ferry", key="ferry")
    found = quiet.search("when does the ferry leave?", project="trip")
    about = {"search_id": found.search_id, "principal": quiet.principal}
    take(
        quiet.journal, tmp_path,
        line("feedback", march.at(1), **about, memory_id=found[0].memory_id, chunk=0, rating="helpful"),
        line("outcome", march.at(1), project="trip", outcome="success", principal=quiet.principal),
    )  # fmt: skip
    assert quiet.feedback(found.search_id, 1, "helpful").new
    assert quiet.outcome("trip", "success").new
    assert not quiet.feedback(found.search_id, 1, "helpful").new
    assert not quiet.outcome("trip", "success").new
