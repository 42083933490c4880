from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.content import LOW_CONTENT, WEIGHTS, parts_of
from slowwave.quality.density import signal_density
from slowwave.quality.gate_policy import GatePolicy

PASS_MARK = GatePolicy().min_quality
LISTS = ("trigger_phrases", "tags", "aliases", "links")
LABELS = {
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
}
BLANK = {
    "title": "",
    "content": "",
    **{name: [] for name in LISTS},
    "metadata": "{}",
    "front_matter": "none",
    **LABELS,
    "source_of_truth": False,
    "created_at": None,
}
SCHEMA = {name: pl.List(pl.String) if name in LISTS else pl.String for name in BLANK} | {
    "source_of_truth": pl.Boolean,
    "created_at": pl.Int64,
}


def frame(*notes: dict) -> pl.DataFrame:
    return pl.DataFrame([{**BLANK, **note} for note in notes], schema=SCHEMA)


def content_scores(notes: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(parts_of(notes, "seeds"), schema=dict.fromkeys((*WEIGHTS, "score"), pl.Float64))


def scores(**note: object) -> dict[str, float]:
    return content_scores(frame(note)).row(0, named=True)


def test_weights_and_mark_are_those_of_the_rules():
    assert WEIGHTS == {
        "title": 0.15, "triggers": 0.20, "length": 0.15, "anchors": 0.15, "metadata": 0.10, "density": 0.25
    }  # fmt: skip
    assert (PASS_MARK, LOW_CONTENT) == (0.40, "low_quality")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (None, 0.0), ("", 0.0), ("  ", 0.0),
        ("Harbour", 0.4), ("Van x 123", 0.4), ("x" * 9, 0.4), ("x" * 10, 0.6), ("x" * 19, 0.6),
        ("x" * 20, 0.8), ("x" * 49, 0.8), ("x" * 50, 1.0),
        ("  " + "x" * 9 + "  ", 0.4), ("波" * 9, 0.4), ("波" * 10, 0.6),
    ],
)  # fmt: skip
def test_a_title_is_worth_more_the_longer_it_is(title, expected):
    assert scores(title=title)["title"] == expected


@pytest.mark.parametrize(
    "title",
    [
        "memory", "Session", "NOTE", "untitled", "context", "save", "update", "new memory",
        "New Memory", "Memory 12", "memory_3", "Untitled 3", "note (2)",
        "# Notes", "2026-03-14", "2026-03-14 10:22", "14 March 2026",
        "Monday, 2 June 2025", "14.03.2026", "2026-03-14T10:22:00Z", "12345", "...", "March 14th, 2026",
        "Session 2026-03-14",
        "Notiz", "Sans titre", "Без названия", "Заметка 5", "无标题", "無題", "2026年3月14日", "بدون عنوان",
    ],
)  # fmt: skip
def test_a_title_that_any_note_could_have_is_generic(title):
    assert scores(title=title)["title"] == 0.2


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Memory leak", 0.6), ("Session store", 0.6), ("Update DNS", 0.6), ("March plan", 0.6), ("May", 0.2),
        ("Notebook", 0.4), ("2026 budget", 0.6), ("Standup 2026-03-14", 0.6), ("B2B", 0.4),
    ],
)  # fmt: skip
def test_a_title_that_only_begins_like_a_generic_one_is_not(title, expected):
    assert scores(title=title)["title"] == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 0.0),
        ({"tags": None, "aliases": None, "trigger_phrases": None}, 0.0),
        ({"tags": ["", " "]}, 0.0),
        ({"tags": ["a"]}, 0.5),
        ({"tags": ["a"], "aliases": ["b"]}, 0.5),
        ({"tags": ["a"], "aliases": ["b"], "trigger_phrases": ["c"]}, 1.0),
        ({"tags": ["a", "b", "c"]}, 1.0),
        ({"tags": ["a", "A ", "b"], "aliases": ["a"], "trigger_phrases": ["B"]}, 0.5),
        ({"tags": ["a", None]}, 0.5),
    ],
)
def test_triggers_are_counted_once_over_the_three_lists(fields, expected):
    assert scores(**fields)["triggers"] == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, 0.3), ("", 0.3), ("x" * 199, 0.3), ("x" * 200, 0.7), ("x" * 1000, 0.7), ("x" * 1001, 1.0),
        (" " * 300 + "x" * 199, 0.3), ("ü" * 200, 0.7), ("波" * 199, 0.3),
    ],
)  # fmt: skip
def test_length_is_in_characters_after_trimming(content, expected):
    assert scores(content=content)["length"] == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("no heading", 0.0),
        ("# one", 0.5),
        ("# one\n\n## two", 0.5),
        ("# one\n## two\n### three", 1.0),
        ("   ###### six", 0.5),
        ("####### seven", 0.0),
        ("#tag is no heading", 0.0),
        ("    # code, indented by four", 0.0),
        ("text {#here}", 0.5),
        ('<a id="x"></a> <a name="y"></a> <a href="z">z</a>', 0.5),
        ('<A ID="x"></A> <a class="k" name=y> {#z}', 1.0),
        ("```\n# comment\n# comment\n# comment\n```", 0.0),
        ("~~~sh\n# comment\n~~~\n# heading", 0.5),
        ("````\n```\n# comment\n```\n````", 0.0),
        ("# heading\n```py\n# never closed\n# again", 0.5),
        ("> ```\n> # quoted\n> ```\n", 0.0),
        ("one `inline` and ``` not a fence ``` here\n# heading", 0.5),
    ],
)
def test_anchors_are_headings_and_explicit_anchors_outside_code(content, expected):
    assert scores(content=content)["anchors"] == expected


@pytest.mark.parametrize(
    ("links", "expected"), [(None, 0), ([], 0), (["a"], 0.5), (["a", "a", "b"], 0.5), (["a", "b", "c"], 1)]
)
def test_links_to_other_notes_are_anchors(links, expected):
    assert scores(links=links)["anchors"] == expected


def test_headings_and_links_count_together():
    assert scores(content="# one {#a}", links=["b"])["anchors"] == 1.0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"front_matter": "none", "tags": ["a"], "state": "draft"}, 0.0),
        ({"front_matter": "broken_front_matter", "tags": ["a"]}, 0.0),
        ({"front_matter": None}, 0.0),
        ({}, 0.3),
        ({"metadata": '{"mood":"blue"}'}, 0.3),
        ({"tags": ["a"]}, 0.5),
        ({"tags": ["a"], "created_at": 0}, 0.5),
        ({"tags": ["a"], "created_at": 0, "state": "draft"}, 1.0),
        ({"source_of_truth": True, "aliases": ["a"], "trigger_phrases": ["b"]}, 1.0),
        *(({name: "other"}, 0.5) for name in LABELS),
        (dict.fromkeys(LABELS), 0.3),
    ],
)
def test_metadata_counts_the_known_fields_that_were_written(fields, expected):
    assert scores(**{"front_matter": "ok", **fields})["metadata"] == expected


def test_the_columns_of_what_only_some_notes_have_may_be_absent():
    notes = frame({"front_matter": "ok", "tags": ["a"]}).drop("source_of_truth", "created_at")
    assert content_scores(notes)["metadata"].to_list() == [0.5]


def test_the_score_is_the_weighted_mean_in_hundredths():
    content = (
        "# Pump\n\nThe pump on the north pier was serviced on 14 March; since then it runs at half speed.\n"
    )
    content += "Ishbel has the papers, and the spare impeller lies in the blue tin above the workbench.\n" * 2
    found = scores(title="Pump on the north pier", content=content, tags=["pump"], front_matter="ok")
    assert {name: found[name] for name in ("title", "triggers", "length", "anchors", "metadata")} == {
        "title": 0.8, "triggers": 0.5, "length": 0.7, "anchors": 0.5, "metadata": 0.5
    }  # fmt: skip
    assert found["density"] == signal_density(content)
    # 0.12 + 0.10 + 0.105 + 0.075 + 0.05 = 0.45
    assert found["score"] == pytest.approx(0.45 + 0.25 * found["density"], abs=0.005)
    assert found["score"] == round(found["score"], 2)


def test_half_a_hundredth_is_rounded_up():
    # 0.15 * 0.2 + 0.2 * 0 + 0.15 * 0.7 + 0.1 * 0 + 0.25 * 0 = 0.135
    assert scores(title="note", content="-" * 300)["score"] == 0.14


def test_filler_under_a_long_title_does_not_pass():
    filler = "This is some text that is here to fill the space, and more text will be added later. " * 12
    assert len(filler) > 1000
    assert (
        scores(title="A long and promising title for a note about something", content=filler)["score"]
        < PASS_MARK
    )


def test_a_short_fact_with_a_title_and_a_tag_passes():
    fact = (
        "The white van is insured with Marlow Mutual until 2027-02-14; excess is £350, drivers over 25 only."
    )
    assert scores(title="Van insurance", content=fact, tags=["van"])["score"] >= PASS_MARK


def test_no_notes_have_no_scores():
    empty = content_scores(frame({}).clear())
    assert empty.shape == (0, 7)
    assert set(empty.dtypes) == {pl.Float64}


SAID = (
    "The deploy day is Thursday since the second of March.", "ladder", "violet",
    "Kündigung bis 30. Juni, schriftlich",
    "Ключи у Марины на даче.", "gravel spoon cloud mustard", "key: value", "asdfghjkl",
    "12:30:05 INFO started",
    "第一章 会议改到周二下午三点", "Home | About us | Login", "dGhlIHF1aWNrIGJyb3duIGZveA==", "\n- item",
)  # fmt: skip
NOTES = st.fixed_dictionaries(
    {
        "title": st.sampled_from([None, "", "note 3", "Van insurance", "2026-03-14", "x" * 60]),
        "content": st.none()
        | st.text(st.sampled_from("#`~ \nab<é波"), max_size=40)
        | st.just("word " * 210)
        | st.lists(st.sampled_from(SAID), min_size=5, max_size=40).map(" ".join),
        "tags": st.none() | st.lists(st.sampled_from(["a", "A", "b", "c", "", None]), max_size=4),
        "links": st.none() | st.lists(st.sampled_from("abc"), max_size=4),
        "front_matter": st.sampled_from([None, "none", "ok"]),
        "state": st.sampled_from([None, "accepted", "draft"]),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(NOTES, min_size=1, max_size=6), st.data())
def test_a_batch_its_halves_and_single_rows_score_alike(notes, data):
    batch = frame(*notes)
    cut = data.draw(st.integers(0, len(notes)))
    whole = content_scores(batch)
    assert whole.equals(pl.concat([content_scores(batch[:cut]), content_scores(batch[cut:])]))
    assert whole.equals(pl.concat([content_scores(batch[at : at + 1]) for at in range(len(notes))]))
    values = whole.to_numpy()
    assert ((values >= 0) & (values <= 1)).all()
