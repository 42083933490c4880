from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import feedback_days
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from past_chunks import chunks_as_of

from slowwave.assets.ingest import passed
from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.feedback.states import states_in
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry
from slowwave.journal.entry_builders import word_entry
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch, reconsider_batch
from slowwave.lifecycle.quarantine import hold, lost_originals, release_entry
from slowwave.lifecycle.write_path import append, apply
from slowwave.quality.gate import judge
from slowwave.scoring.ranking import MemoryState
from slowwave.search.searcher import searcher_in
from slowwave.search.time_travel import searcher_as_of
from slowwave.store import staging

MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CHUNKS = {"min_words": 10, "max_words": 20}
TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY, FRIDAY = (TUESDAY.replace("Tuesday", name) for name in ("Thursday", "Friday"))
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
CHANGED, SCREWS = "It is changed by Ruaridh.", "Its screws are made of brass."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
HARBOUR = "\n\n".join(
    f"## Pier {name}\n\nAt pier {name} a gauge of the harbour tells the tide to everybody who asks it."
    for name in "abcd"
)


def at(day: int, hour: float = 12) -> datetime:
    """A moment of the n-th of March."""
    return MIDNIGHT + (day - 1) * DAY + hour * HOUR


def by_day(space: Workspace, *acts: Entry) -> None:
    """Let these acts happen as `Memory` does: at once, together."""
    apply(space, append(space, acts))


def by_night(space: Workspace, day: str) -> None:
    """What the assets do with a day."""
    store = space.store
    staged = staging.stage(space.journal.read(kinds=["save", "forget", "undo", "unreadable"], days=[day]))
    store.replace_partition("staged_notes", staged, [day])
    verdicts = judge(staged, space.gate_policy).with_columns(staged["revision"], staged["day"])
    hold(store, staged, verdicts.filter(verdict="refuse"))
    ingest_pipeline.embed_days(store, space.embedder, space.chunker, passed(staged, verdicts), [day])

    def embedded(notes: pl.DataFrame) -> pl.DataFrame:
        rows = store.read_by("embedded_chunks", "memory_id", notes["memory_id"].to_list())
        return rows.drop("embedded_id", "day", "cutter").unique(["chunk_id", "revision"])

    admit_batch(space, pl.concat([passed(staged, verdicts, name) for name in ("pass", "retire", "undo")]),
           embedded, again=True)  # fmt: skip
    lost = lost_originals(store, until=day)
    back = store.read_by("staged_notes", "memory_id", lost["memory_id"].to_list())
    admit_batch(space, back.join(lost, on=["memory_id", "revision"], how="semi"), embedded, again=True)


def chunks(space: Workspace, namespace: str = "ada") -> pl.DataFrame:
    """What is searched now."""
    return space.store.read("chunks", f"namespace = '{namespace}'").sort("chunk_id")


def undo(space: Workspace, source: str, moment: datetime) -> None:
    """Take the last decision about a note back."""
    name = ids.memory_id("ada", source)
    rows = space.store.read("decisions", f"memory_id = '{name}'").sort("decided_at")
    by_day(
        space,
        word_entry(
            "undo",
            rows["decision_id"][-1],
            namespace="ada",
            occurred_at=moment,
            principal="test",
        ),
    )


def outcome(space: Workspace, source: str) -> str:
    """The last decision about a note."""
    rows = space.store.read("decisions", f"memory_id = '{ids.memory_id('ada', source)}'")
    return rows.sort("decided_at")["outcome"][-1]


def statuses(rows: pl.DataFrame) -> dict[str, str]:
    return dict(rows.select("source", "status").unique().rows())


class Days:
    """A home, and what its chunks were at the end of each day."""

    def __init__(self, space: Workspace) -> None:
        self.space = space
        self.then: dict[int, pl.DataFrame] = {}

    def over(self, day: int) -> None:
        by_night(self.space, at(day).date().isoformat())
        self.then[day] = chunks(self.space)

    def check(self, *, standing: bool = True) -> None:
        """Every day is rebuilt as it was.

        Args:
            standing: also the part of the revision that tells a memory's standing. A note that is saved again
                and merges again adds nothing, and the memory that absorbed it keeps the revision that it had.
        """
        for day, before in self.then.items():
            rebuilt = chunks_as_of(self.space, "ada", at(day).date())
            assert rebuilt.schema == before.schema
            if not standing:
                own = pl.col("revision").str.split("+").list.first()
                before, rebuilt = before.with_columns(own), rebuilt.with_columns(own)
            assert rebuilt.rows(named=True) == before.rows(named=True), day


@pytest.fixture
def guarded(open_memory) -> Workspace:
    return open_memory(reconsolidation={"policy": "guarded"})._space


# -- every day, exactly ----------------------------------------------------------------------------


@pytest.mark.slow
def test_every_day_is_rebuilt_as_it_was(guarded, act):
    days, space = Days(guarded), guarded

    tagged = act("saved/rota", ROTA, title="Rota", at=at(1))
    tagged = replace(tagged, payload={**tagged.payload, "tags": ["people"], "importance_tier": "important"})
    by_day(space, act("saved/battery", BATTERY, title="Battery", at=at(1)))
    by_day(space, tagged)
    by_day(space, act("saved/tue", TUESDAY, title="Deploy day", at=at(1, 13)))
    space.journal.append([act("vault/harbour.md", HARBOUR, origin="vault", at=at(1, 23.9))])
    days.over(1)

    by_day(space, act("saved/thu", THURSDAY, title="Deploy day", at=at(2)))
    assert outcome(space, "saved/thu") == "supersede"
    by_day(space, act("saved/copy", ROTA, title="Rota", at=at(2, 13)))
    assert outcome(space, "saved/copy") == "duplicate"
    by_day(space, act("saved/short", "too short", at=at(2, 14)))
    more = act("vault/more.md", f"{BATTERY}\n{CHANGED}", title="Battery", origin="vault", at=at(2, 23.9))
    space.journal.append([more])
    days.over(2)
    assert outcome(space, "vault/more.md") == "merge"

    screws = act("saved/screws", f"{BATTERY}\n{CHANGED}\n{SCREWS}", title="Battery", at=at(3))
    by_day(space, screws)
    assert outcome(space, "saved/screws") == "merge"
    by_day(
        space, act("saved/battery", f"{BATTERY}\nIt weighs as much as Ishbel.", title="Battery", at=at(3, 13))
    )
    by_day(space, act("saved/harbour", f"{HARBOUR}\n\nAnd so on.", title="H", at=at(3, 13), created_at=at(1)))
    by_day(
        space, act("saved/harbour", "The harbour is closed in winter, from November to March.", at=at(3, 14))
    )
    by_day(space, act("saved/rota", "too short", at=at(3, 15)))
    days.over(3)

    undo(space, "vault/more.md", at(4))
    by_day(space, act("saved/rota", at=at(4)))
    days.over(4)
    assert statuses(days.then[3])["saved/rota"] == "live"
    assert "saved/copy" not in statuses(days.then[3])
    assert statuses(days.then[4])["saved/rota"] == "retired"
    assert statuses(days.then[4])["saved/copy"] == "live"  # the night asked it again

    by_day(space, act("saved/fri", FRIDAY, title="Deploy day", at=at(5)))
    assert outcome(space, "saved/fri") == "supersede"
    days.over(5)

    by_day(space, act("saved/thu", at=at(6)))
    twin = act("saved/twin", FRIDAY, title="Deploy day", at=at(6, 13))
    by_day(space, twin)
    days.over(6)
    assert statuses(days.then[6])["saved/tue"] == "superseded"  # it stays behind

    row = space.store.read("quarantine", f"revision = '{ids.revision(at(6, 13), twin.event_id)}'").to_dicts()
    by_day(space, release_entry(space.journal, row[0], occurred_at=at(7), principal="test"))
    undo(space, "saved/twin", at(7))
    step = timedelta(microseconds=1)
    first = act("saved/pair", "Said once and then otherwise, in the very same call of a program.", at=at(7))
    by_day(
        space,
        first,
        act("saved/pair", "Said otherwise in the same call: this is what counts.", at=at(7) + step),
    )
    space.journal.append([act("vault/harbour.md", origin="vault", at=at(7, 23.9))])
    days.over(7)
    assert statuses(days.then[7])["saved/twin"] == "live"

    by_day(space, act("saved/thu", THURSDAY, title="Deploy day", at=at(8)))
    by_day(
        space,
        act("saved/pair", "Said a third time, and nobody knows why this had to be said again.", at=at(8)),
    )
    space.journal.append([
        act("vault/harbour.md", HARBOUR, origin="vault", at=at(8, 23.9)),
        act("vault/more.md", "Something else, about boats and people.", origin="vault", at=at(8, 23.9)),
    ])  # fmt: skip
    days.over(8)
    assert len({tuple(rows["revision"]) for rows in days.then.values()}) == 8
    days.check()
    space.store.delete("chunks", "true")
    days.check()  # not from what they are now, but from what they were told


@pytest.fixture
def look(guarded):
    """Looks at what is live already, as `slowwave reconsolidate` does."""

    def look_(moment: datetime) -> None:
        policy = replace(guarded.admission()[0], reconsolidation="guarded", gate=False)
        reconsider_batch(guarded, "ada", policy, moment, dry_run=False)

    return look_


@pytest.mark.slow
def test_a_note_that_the_last_night_let_in_meets_what_waited_for_it(make_space, act):
    """It repeated a text that was lost that day, and a later note had superseded its memory."""
    space = make_space(chunks=CHUNKS, reconsolidation=LITERAL)
    days, said = Days(space), "{0} says what {0} has to say about the harbour and its many gauges.".format
    for hour, (name, word) in enumerate([("d", "five"), ("b", "six"), ("b", "five"), ("d", "three")]):
        by_day(space, act(name, said(word), at=at(1, 1 + hour)))
    space.journal.append([act("vault/d", said("two"), origin="vault", at=at(1, 23))])
    days.over(1)
    assert statuses(days.then[1])["b"] == "superseded"
    days.check(standing=False)


@pytest.mark.slow
def test_what_a_later_look_did_counts_from_the_look_on(open_memory, guarded, look, act):
    days = Days(guarded)
    off = open_memory()._space
    told = {"battery": BATTERY, "more": f"{BATTERY}\n{CHANGED}", "tue": TUESDAY, "thu": THURSDAY}
    for hour, (name, text) in enumerate(told.items()):
        title = "Battery" if text.startswith(BATTERY) else "Deploy day"
        by_day(off, act(f"saved/{name}", text, title=title, at=at(1, hour)))
    by_night(off, "2026-03-01")
    days.then[1] = chunks(guarded)
    look(at(2))
    days.over(2)
    assert statuses(days.then[1])["saved/tue"] == "live"
    assert statuses(days.then[2]) == {
        "saved/battery": "live", "saved/tue": "superseded", "saved/thu": "live",
    }  # fmt: skip
    by_day(guarded, act("saved/battery", at=at(3)))
    by_day(guarded, act("saved/rota", ROTA, at=at(3)))
    days.over(3)
    assert statuses(days.then[3])["saved/more"] == "live"
    days.check()


@pytest.mark.slow
@pytest.mark.parametrize("scanned_first", [False, True])
def test_a_night_after_midnight_beside_what_was_saved_since(guarded, act, scanned_first):
    """Yesterday's vault is taken in after this morning's save; what was seen later is what counts."""
    days, journal = Days(guarded), guarded.journal
    by_day(guarded, act("saved/day", TUESDAY, title="Deploy day", at=at(1)))
    days.over(1)
    seen = act("vault/day.md", THURSDAY, title="Deploy day", origin="vault", at=at(2, 23.9))
    if scanned_first:
        journal.append([seen])
    by_day(guarded, act("saved/day", FRIDAY, title="Deploy day", at=at(3, 1)))
    journal.append([seen])
    by_night(guarded, "2026-03-02")
    days.over(3)
    older, newer = ("vault/day.md", "saved/day") if scanned_first else ("saved/day", "vault/day.md")
    assert statuses(days.then[3]) == {older: "superseded", newer: "live"}
    days.check()
    second = chunks_as_of(guarded, "ada", at(2).date())
    assert FRIDAY not in second["text"].to_list()
    assert set(second["source"]) == {"saved/day", "vault/day.md"}


@pytest.mark.slow
@pytest.mark.parametrize("text", [ROTA, None])
def test_a_save_between_the_look_at_a_vault_and_its_night(guarded, act, text):
    """It superseded what the vault said before; the night then changes or retires that."""
    days = Days(guarded)
    guarded.journal.append([act("vault/day.md", TUESDAY, title="Deploy day", origin="vault", at=at(1))])
    days.over(1)
    guarded.journal.append([act("vault/day.md", text, title="Rota", origin="vault", at=at(2, 10))])
    by_day(guarded, act("saved/day", FRIDAY, title="Deploy day", at=at(2, 11)))
    assert outcome(guarded, "saved/day") == "supersede"
    days.over(2)
    assert statuses(days.then[2]) == {"saved/day": "live", "vault/day.md": "live" if text else "retired"}
    guarded.journal.append([act("vault/day.md", HARBOUR, title="H", origin="vault", at=at(3))])
    days.over(3)
    days.check()


def test_a_note_that_is_in_stays_in_when_the_night_would_have_refused_it(make_space, act):
    """The gate got stricter between the save and the night; what is in is not taken out again."""
    loose = make_space(chunks=CHUNKS, gate={"mode": "off"})
    by_day(loose, act("a", "too short", at=at(1)))
    strict = make_space(loose.settings.home, chunks=CHUNKS)
    by_night(strict, "2026-03-01")
    assert strict.store.read("quarantine")["reasons"].to_list() == [["no_statement"]]
    before = chunks(strict)
    assert before["text"].to_list() == ["too short"]
    assert chunks_as_of(strict, "ada", at(1).date()).rows() == before.rows()


def test_nothing_that_a_night_took_in_is_embedded_again(make_space, act):
    space = make_space(chunks=CHUNKS)
    days = Days(space)
    for day, text in enumerate((HARBOUR, BATTERY, ROTA), start=1):
        by_day(space, act("a", text, at=at(day)))
        days.over(day)
    space.embedder.embedded.clear()
    days.check()
    assert space.embedder.embedded == []


LITERAL = {"policy": "literal", "duplicate": 0.9, "merge": 0.45, "conflict": 0.1}
happenings = st.lists(
    st.tuples(
        st.sampled_from(["save", "save", "save", "vault", "vault", "remove", "forget", "undo"]),
        st.sampled_from("abcd"),
        st.sampled_from(["one", "two", "three", "four", "five", "six"]),
        st.booleans(),
    ),
    min_size=4,
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=8, derandomize=True)  # one history in some hundred is known to be rebuilt otherwise
@given(happenings)
@pytest.mark.soak
def test_any_days_are_rebuilt_as_they_were(make_space, act, found):
    space = make_space(chunks=CHUNKS, reconsolidation=LITERAL)
    days, day = Days(space), 1
    folder: dict[str, str | None] = {}
    for number, (kind, name, text, over) in enumerate(found):
        content = f"{text} says what {text} has to say about the harbour and its many gauges."
        moment = at(day, 1 + number)
        if kind == "undo":
            rows = space.store.read("decisions", "undone_at IS NULL AND outcome <> 'complement'")
            if not rows.is_empty():
                who = rows.sort("decision_id").row(0, named=True)
                by_day(space, word_entry(
                    "undo", who["decision_id"], namespace="ada", occurred_at=moment, principal="test",
                ))  # fmt: skip
        elif kind in ("vault", "remove"):
            folder[name] = content if kind == "vault" else None
        else:
            by_day(space, act(name, content if kind == "save" else None, at=moment))
        if over or number == len(found) - 1:
            seen = [
                act(f"vault/{name}", what, origin="vault", at=at(day, 23)) for name, what in folder.items()
            ]
            space.journal.append(seen)
            folder.clear()
            days.over(day)
            day += 1
    days.check(standing=False)


# -- what a day does not see -----------------------------------------------------------------------


def test_no_namespace_sees_the_rows_of_another(guarded, open_memory, act):
    other = open_memory("bob", reconsolidation={"policy": "guarded"})._space
    by_day(guarded, act("a", BATTERY, at=at(1)))
    by_day(other, act("a", ROTA, at=at(1), namespace="bob"))
    for day in (1, 2):
        for name, text in (("ada", BATTERY), ("bob", ROTA)):
            rows = chunks_as_of(guarded, name, at(day).date())
            assert rows["namespace"].to_list() == [name]
            assert rows["text"].to_list() == [text]
    assert chunks_as_of(guarded, "eve", at(1).date()).is_empty()


def test_before_the_first_act_there_is_nothing(guarded, act):
    by_day(guarded, act("a", BATTERY, at=at(2)))
    rows = chunks_as_of(guarded, "ada", at(1).date())
    assert rows.is_empty()
    assert rows.schema == chunks(guarded).schema
    found = searcher_as_of(guarded, at(1).date()).find("ada", "the battery", 10)
    assert len(found.candidates) == 0


def test_a_day_to_come_is_an_error(guarded):
    tomorrow = datetime.now(UTC).date() + DAY
    with pytest.raises(SlowwaveError, match=rf"{tomorrow} is in the future .* Ask for today or"):
        searcher_as_of(guarded, tomorrow)
    assert chunks_as_of(guarded, "ada", date(1999, 1, 1)).is_empty()


@pytest.mark.slow
def test_what_happens_today_does_not_leak_into_yesterday(guarded, open_memory, act):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    yesterday = datetime.now(UTC) - DAY
    by_day(guarded, act("saved/rota", ROTA, title="Rota", at=yesterday))
    by_day(guarded, act("saved/tue", TUESDAY, title="Deploy day", at=yesterday))
    before = chunks(guarded)
    memory.save(
        "The rota is on the door of the kitchen now, and nowhere else.", title="Rota", key="saved/rota"
    )
    memory.save(THURSDAY, title="Deploy day", key="saved/thu", source_kind="manual")
    memory.save(BATTERY, title="Battery", key="saved/battery")
    memory.forget(ids.memory_id("ada", "saved/battery"))
    now = chunks(guarded)
    assert statuses(now) == {
        "saved/rota": "live", "saved/tue": "superseded", "saved/thu": "live", "saved/battery": "retired",
    }  # fmt: skip
    for day, expected in ((yesterday, before), (datetime.now(UTC), now)):
        assert chunks_as_of(guarded, "ada", day.date()).rows() == expected.rows()


# -- searching -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_of_the_past_gives_what_the_search_gave_then(guarded, act):
    for number, text in enumerate((BATTERY, ROTA, TUESDAY, HARBOUR)):
        by_day(guarded, act(f"{number}", text, at=at(1, number)))
        by_day(guarded, act(f"{number}", f"{text} So it is.", at=at(1, number), namespace="bob"))
    query = "when do we deploy, and who is on call?"

    def found(searcher) -> list[tuple]:
        rows = searcher.find("ada", query, 20).candidates
        return list(zip(rows.chunk_ids, rows.cosine, rows.bm25, strict=True))

    guarded.store.table("chunks").optimize()
    then = found(searcher_in(guarded))
    by_day(guarded, act("2", "Nobody deploys any more, and nobody is on call about it.", at=at(2)))
    by_day(guarded, act("1", at=at(2)))
    now = found(searcher_as_of(guarded, at(1).date()))
    assert [row[0] for row in now] == [row[0] for row in then]
    for mine, theirs in zip(now, then, strict=True):
        assert mine[1:] == pytest.approx(theirs[1:], nan_ok=True)
    assert found(searcher_in(guarded)) != then


@pytest.mark.slow
def test_memory_search_answers_as_of_a_day(open_memory, act):
    memory = open_memory()
    space = memory._space
    by_day(space, act("deploy", TUESDAY, title="Deploy day", at=at(1)))
    by_day(space, act("deploy", THURSDAY, title="Deploy day", at=at(3)))
    by_day(space, act("battery", BATTERY, title="Battery", at=at(4)))
    texts = {
        day: [result.text for result in memory.search("on which day do we deploy?", as_of=at(day).date())]
        for day in (0, 1, 2, 3, 4)
    }
    assert texts == {0: [], 1: [TUESDAY], 2: [TUESDAY], 3: [THURSDAY], 4: [THURSDAY, BATTERY]}
    assert len(memory.journal.read(kinds=["search"])) == 0  # a search of the past is no use of the memory
    by_day(space, act("rota", ROTA, title="Rota", at=at(2)))  # a late act
    assert len(memory.search("who is on call?", as_of=at(2).date())) == 2
    with pytest.raises(SlowwaveError, match="in the future"):
        memory.search("deploy", as_of=datetime.now(UTC).date() + DAY)
    with pytest.raises(SlowwaveError, match="give a date"):
        memory.search("deploy", as_of=at(1))


@pytest.mark.slow
def test_words_of_time_are_those_of_the_day(open_memory, act):
    """A search as of a day is one of its last moment, not of the first moment of the next day."""
    memory = open_memory()
    for name, day in (("roofer", at(2)), ("plumber", at(3))):
        by_day(memory._space, act(name, f"The {name} was paid 300 euros.", title=name.title(), at=day))
    found = memory.search("who was paid yesterday?", as_of=at(3).date(), explain=True)
    timed = {one.source for one in found for part in one.explanation.contributions if part.source == "time"}
    assert timed == {"roofer"}


@pytest.mark.slow
def test_trigger_phrases_and_what_use_taught_are_those_of_the_day(open_memory):
    memory = open_memory()
    space = memory._space
    day = datetime.now(UTC).date()
    saved = memory.save(BATTERY, title="Battery", trigger_phrases=["eleven weeks"])
    ends = {ago: datetime.combine(day - ago * DAY, datetime.min.time(), UTC) + 23 * HOUR for ago in (4, 2)}
    for ago, when in ends.items():
        for number in range(3):
            search = feedback_days.search(f"s{ago}{number}", when, [saved.memory_id])
            said = "helpful" if ago == 4 else "unhelpful"
            rated = feedback_days.rating(f"s{ago}{number}", when + number * HOUR / 4, saved.memory_id, said)
            space.journal.append([search, rated])
    feedback_days.fold_days(space, [(day - ago * DAY).isoformat() for ago in range(4, 0, -1)])
    effective: dict[int, float] = {}
    for ago, (count, unhelpful) in {5: (0, 0), 4: (3, 0), 3: (3, 0), 2: (5, 3), 1: (5, 3)}.items():
        searcher = searcher_as_of(space, day - ago * DAY)
        state = searcher._knowledge.states("ada", [saved.memory_id]).get(saved.memory_id, MemoryState())
        assert (state.feedback_count, len(state.not_useful_at)) == (count, unhelpful)
        effective[ago] = state.effectiveness
        triggered = searcher._knowledge.triggered("ada", "is it eleven weeks?")
        assert set(triggered) == set()
        searcher.close()
    assert 0.5 < effective[3] < effective[4]  # a day later the same votes weigh a little less
    now = searcher_as_of(space, day)
    assert set(now._knowledge.triggered("ada", "is it eleven weeks?")) == {saved.memory_id}
    today = states_in(space).states("ada", [saved.memory_id])
    assert now._knowledge.states("ada", [saved.memory_id])[saved.memory_id].feedback_count == 5
    assert today[saved.memory_id].feedback_count == 5
    now.close()
