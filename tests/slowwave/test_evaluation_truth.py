"""What trigger phrases and use say of how well memories answer queries, from real tables."""

from __future__ import annotations

import polars as pl
import pytest
from evaluation_days import NOTES, memory_of, stage_days, with_clock
from feedback_days import HOUR, act, at, fold_days, name, observed, rating, search
from hypothesis import given, settings
from hypothesis import strategies as st
from warehouse_rows import put

from slowwave.common import ids
from slowwave.evaluation.derived_judgments import (
    clicked_results,
    impressions,
    selection_judgments,
    trigger_judgments,
)
from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.feedback.questions import with_query_ids
from slowwave.memory import Memory

BAR = 0.8


# -- which query was asked -------------------------------------------------------------------------


def test_case_white_space_and_compatible_characters_make_no_other_query():
    asked = ["When  do WE\tdeploy? ", "when do we deploy?", "ＷＨＥＮ do we deploy?", "when do we deploy"]
    rows = pl.DataFrame({"namespace": "ada", "query": asked, "place": range(4)})
    named = with_query_ids(pl.concat([rows, rows.with_columns(namespace=pl.lit("bob"))]))
    assert named["place"].to_list() == [0, 1, 2, 3] * 2
    first, *_ = names = named["query_id"].to_list()
    assert names[:3] == [first] * 3
    assert first == ids.query_id("ada", "when do we deploy?")
    assert len(set(names)) == 4  # the question mark, and the namespace


# -- trigger phrases -------------------------------------------------------------------------------


@pytest.fixture
def noted(open_memory):
    """Saves or forgets the note ``rota`` on a day of March, and takes the day in."""
    memory = open_memory()
    clock = with_clock(memory)

    def save(day: int, phrases: list[str] | None, *, who: str = "ann", content: str = NOTES["rota"]) -> str:
        clock.moment = at(day)
        if phrases is None:
            memory.forget(memory_of("rota"))
            status = "gone"
        else:
            writer = Memory(memory.settings, namespace="ada", principal=who, space=memory._space)
            status = writer.save(content, key="rota", trigger_phrases=phrases).status
        stage_days(memory._space, [name(day)])
        return status

    save.store = memory.store
    return save


def judged(store, *days: int) -> dict[tuple[str, str], float | None]:
    """Day and query of each judgment by a trigger phrase, and its grade."""
    rows = trigger_judgments(store, [name(day) for day in days])
    assert set(rows["source"]) <= {"triggers"}
    assert (rows["state"] == "graded").to_list() == rows["grade"].is_not_null().to_list()
    return {(day, query): grade for day, query, grade in rows.select("day", "query", "grade").iter_rows()}


def in_force(store, day: int) -> dict[str, float]:
    """What counts at the end of a day, by query id."""
    grades = judgment_list(judgments_until(store, name(day)), BAR).grades
    return dict(grades.select("query_id", "grade").iter_rows())


def keep(store, *days: int) -> None:
    for day in days:
        store.replace_partition("judgments", trigger_judgments(store, [name(day)]), [name(day)])


def query(text: str) -> str:
    return ids.query_id("ada", text)


def test_each_phrase_of_a_note_should_find_it(noted):
    noted(1, ["Who is awake?", "   ", "night  ROTA"])
    rows = trigger_judgments(noted.store, [name(1)]).sort("query")
    assert rows.select("query", "query_id", "grade", "state").rows() == [
        ("Who is awake?", query("who is awake?"), 3.0, "graded"),
        ("night  ROTA", query("night rota"), 3.0, "graded"),
    ]
    assert set(rows["memory_id"]) == {memory_of("rota")}
    assert set(rows["made_at"]) == {at(1)}
    assert rows["judgment_id"].n_unique() == 2
    assert judged(noted.store, 2) == {}


def test_a_phrase_that_a_later_save_drops_or_a_forget_is_withdrawn(noted):
    for day, phrases in ((1, ["a b", "b c"]), (3, ["b c", "c d"]), (5, None), (7, ["a b"])):
        noted(day, phrases)
    assert judged(noted.store, 3) == {(name(3), "a b"): None, (name(3), "b c"): 3.0, (name(3), "c d"): 3.0}
    assert judged(noted.store, 5) == {(name(5), "b c"): None, (name(5), "c d"): None}
    keep(noted.store, 1, 3, 5, 7)
    asked = {text: query(text) for text in ("a b", "b c", "c d")}
    assert in_force(noted.store, 2) == {asked["a b"]: 3.0, asked["b c"]: 3.0}
    assert in_force(noted.store, 3) == {asked["b c"]: 3.0, asked["c d"]: 3.0}
    assert in_force(noted.store, 6) == {}
    assert in_force(noted.store, 7) == {asked["a b"]: 3.0}


def test_what_one_has_written_another_may_take_away(noted):
    """The newest word of each principal counts, but a phrase is the memory's and not its writer's."""
    noted(1, ["a b"], who="ann")
    noted(2, ["c d"], who="bob")
    keep(noted.store, 1, 2)
    assert in_force(noted.store, 2) == {query("c d"): 3.0}


def test_a_phrase_written_in_another_way_is_not_withdrawn(noted):
    noted(1, ["Who is awake"])
    noted(2, ["who  is AWAKE"])
    assert judged(noted.store, 2) == {(name(2), "who  is AWAKE"): 3.0}


def test_a_refused_note_says_nothing_and_withdraws_nothing(noted):
    assert noted(1, ["a b"]) == "live"
    assert noted(2, ["c d"], content="x") == "quarantined"
    assert judged(noted.store, 2) == {}
    noted(3, ["b c"])
    assert judged(noted.store, 3) == {(name(3), "a b"): None, (name(3), "b c"): 3.0}


PHRASES = ("a b", "A  b", "b c", "c d")
acts = st.dictionaries(
    st.tuples(st.integers(1, 5), st.sampled_from("xy")),
    st.tuples(
        st.none() | st.lists(st.sampled_from(PHRASES), unique=True), st.sampled_from([False, False, True])
    ),
    min_size=4,
)


@pytest.mark.slow
@settings(max_examples=25)
@given(acts, st.sets(st.integers(1, 5), min_size=2))
def test_days_together_are_those_days_one_by_one(make_store, done, wanted):
    store = make_store()
    notes = [
        {"staged_id": f"{day}{memory}", "day": name(day), "memory_id": memory,
         "revision": f"{day:02}-{memory}", "act": "forget" if phrases is None else "save",
         "trigger_phrases": phrases, "principal": memory, "occurred_at": at(day), "refused": refused}
        for (day, memory), (phrases, refused) in done.items()
    ]  # fmt: skip
    held = [{"memory_id": one["memory_id"], "revision": one["revision"], "quarantine_id": one["staged_id"]}
            for one in notes if one.pop("refused")]  # fmt: skip
    if notes:
        put(store, "staged_notes", notes)
    if held:
        put(store, "quarantine", held)
    days = [name(day) for day in sorted(wanted)]
    whole = trigger_judgments(store, days).sort("judgment_id")
    assert not whole["judgment_id"].is_duplicated().any()
    assert whole.equals(pl.concat([trigger_judgments(store, [day]) for day in days]).sort("judgment_id"))


# -- use -------------------------------------------------------------------------------------------


def by_the_query(search_id: str, when, memory: str):
    """An answer that has a memory's words, but only those that the query has too."""
    row = {"memory_id": memory, "chunk_id": f"{memory}:00000", "verdict": "used", "evidence": "words",
           "keywords": 9, "ratio": 0.6, "ratio_beyond_query": 0.1, "similarity": None}  # fmt: skip
    return act("observation", search_id, when, {"response": search_id, "verdicts": [row]})


def cited(search_id: str, when, memory: str):
    row = {"memory_id": memory, "chunk_id": f"{memory}:00000", "verdict": "used", "evidence": "citation",
           "keywords": 0, "ratio": 0.0, "ratio_beyond_query": 0.0, "similarity": None}  # fmt: skip
    return act("observation", search_id, when, {"response": search_id, "verdicts": [row]})


def happened(space, entries, days=range(1, 6)) -> None:
    space.journal.append(entries)
    fold_days(space, [name(day) for day in days])


def test_the_verdicts_of_the_first_day_count_and_no_others(space):
    happened(
        space,
        [
            search("s1", at(1), ["a", "b", "c"]),
            search("s2", at(1), ["a", "b"]),  # nobody looked
            observed("s1", at(2), {"a": "used", "b": "ignored"}),
            rating("s1", at(3), "c", "helpful"),
        ],
    )
    rows = impressions(space.store, name(5)).sort("rank")
    assert rows.select("day", "memory_id", "rank", "clicked").rows() == [
        (name(2), "a", 1, True), (name(2), "b", 2, False), (name(2), "c", 3, False),
    ]  # fmt: skip
    assert impressions(space.store, name(1)).is_empty()


@pytest.mark.parametrize(
    ("verdict", "clicked"),
    [
        (lambda: observed("s", at(1, 13), {"a": "used"}), True),
        (lambda: observed("s", at(1, 13), {"a": "ignored"}), False),
        (lambda: by_the_query("s", at(1, 13), "a"), False),
        (lambda: cited("s", at(1, 13), "a"), True),
        (lambda: rating("s", at(1, 13), "a", "helpful"), True),
        (lambda: rating("s", at(1, 13), "a", "neutral"), False),
        (lambda: rating("s", at(1, 13), "a", "unhelpful"), False),
    ],
    ids=["used", "ignored", "words of the query", "cited", "helpful", "neutral", "unhelpful"],
)
def test_what_is_a_selection(space, verdict, clicked):
    happened(space, [search("s", at(1), ["a"]), verdict()])
    assert impressions(space.store, name(5))["clicked"].to_list() == [clicked]
    found = clicked_results(space.store, name(5), ["s", "t"])
    assert found.select("search_id", "memory_id", "day", "clicked").rows() == [("s", "a", name(1), clicked)]


def test_a_rating_that_was_corrected_is_what_it_was_corrected_to(space):
    happened(
        space,
        [
            search("s", at(1), ["a", "b"]),
            rating("s", at(1, 13), "a", "helpful"),
            rating("s", at(1, 14), "a", "unhelpful"),
            rating("s", at(1, 13), "b", "helpful"),
            rating("s", at(1, 14), "b", "unhelpful", principal="bob"),  # another's word takes nothing away
        ],
    )
    rows = impressions(space.store, name(5)).sort("rank")
    assert rows["clicked"].to_list() == [False, True]


def used_again_and_again() -> list:
    """Day after day `b` is used at the second place and `a`, above it, is not; bob's searches say nothing."""
    entries = []
    for day in range(1, 6):
        for turn in range(4):
            when, one = at(day) + turn * HOUR, f"s{day}-{turn}"
            entries += [
                search(one, when, ["a", "b", "c"]),
                observed(one, when + HOUR, {"a": "ignored", "b": "used", "c": "ignored"}),
            ]
    entries += [
        search("bob", at(2), ["a"], namespace="bob"), observed("bob", at(2), {"a": "used"}, namespace="bob"),
    ]  # fmt: skip
    return entries


def test_use_grades_pairs_by_day_and_a_range_is_its_days(space):
    happened(space, used_again_and_again())
    days = [name(day) for day in range(1, 7)]
    whole = selection_judgments(space.store, days)
    alone = pl.concat([selection_judgments(space.store, [day]) for day in days])
    assert whole.sort("judgment_id").equals(alone.sort("judgment_id"))
    last = whole.filter(day=name(5), namespace="ada").sort("memory_id")
    assert last.select("memory_id", "impressions", "clicks").rows() == [
        ("a", 20, 0.0), ("b", 20, 20.0), ("c", 20, 0.0),
    ]  # fmt: skip
    assert last["grade"][1] >= 2
    assert last["query_id"].unique().to_list() == [query("when do we deploy?")]
    first = whole.filter(day=name(1), memory_id="c")
    assert (first["state"][0] == "no opinion") == (first["grade"][0] is None)
    ends = whole.select(pl.col("made_at").dt.strftime("%Y-%m-%d") == pl.col("day")).to_series()
    assert ends.all()
    assert whole.filter(namespace="bob")["impressions"].to_list() == [1]


def test_nothing_was_used(space):
    happened(space, [search("s", at(1), ["a"])])
    assert selection_judgments(space.store, [name(1)]).is_empty()
    assert clicked_results(space.store, name(1)).is_empty()
