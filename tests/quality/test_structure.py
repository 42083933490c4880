from __future__ import annotations

import polars as pl
import pytest

from slowwave.quality.structure import KNOWN_WORDS, structure_faults

SOUND = {
    "title": "A title",
    "content": "x" * 50,
    "namespace": "ada",
    "source": "notes/a.md",
    "metadata": "{}",
    "memory_type": "note",
    "importance_tier": "normal",
    "retrieval_priority": "normal",
    "sensitivity": "internal",
    "state": "accepted",
    "source_kind": "manual",
}


def faults(**changes: object) -> list[str]:
    frame = pl.DataFrame([{**SOUND, **changes}], schema=dict.fromkeys(SOUND, pl.String))
    return structure_faults(frame, min_characters=50)[0]


def test_a_sound_note_has_no_fault():
    assert faults() == []


@pytest.mark.parametrize("title", ["", " ", "\n\t", "\u00a0", None])
def test_a_title_has_to_say_something(title):
    assert faults(title=title) == ["empty_title"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x" * 50, []),
        ("x" * 49, ["too_short"]),
        ("x" * 49 + " \n", ["too_short"]),
        (" \n" + "x" * 50 + "\t", []),
        ("x" * 24 + " " + "x" * 25, []),
        ("ü" * 50, []),
        ("🌊" * 50, []),
        ("🌊" * 49, ["too_short"]),
        ("", ["too_short"]),
        (None, ["too_short"]),
    ],
)
def test_a_content_is_measured_in_characters_after_trimming(content, expected):
    assert faults(content=content) == expected


def test_the_least_length_is_a_parameter():
    frame = pl.DataFrame([{**SOUND, "content": ""}])
    assert structure_faults(frame, min_characters=0)[0] == []


@pytest.mark.parametrize(
    "namespace", ["ada", "a", "_a", "9", "ada/b", "a.b-c_d", "ünïcode", "日本", "a//b", "a/"]
)
def test_a_namespace_may_be_a_word_of_letters_digits_and_marks(namespace):
    assert faults(namespace=namespace) == []


@pytest.mark.parametrize("namespace", ["", None, "-a", ".a", "/a", "a b", "a\n", "a'b", "a:b", " a", "a\\b"])
def test_a_namespace_that_is_not_one_is_refused(namespace):
    assert faults(namespace=namespace) == ["bad_namespace"]


@pytest.mark.parametrize(
    "source",
    [
        "a.md", "a b/c d.md", "📎/clip 🌊.md", "日本/セ.md", "a..b.md", "..a.md", "a/b../c.md", "...",
        "a/.../b",
        "facts.jsonl#x", "key", "o'clock.md", "C", "note: a.md", "~/a.md", ".hidden", "./a.md", "a\\b.md",
    ],
)  # fmt: skip
def test_a_path_may_have_spaces_emoji_and_dots_in_its_names(source):
    assert faults(source=source) == []


@pytest.mark.parametrize(
    "source",
    [
        "", None, "/a.md", "\\a.md", "C:/a.md", "c:\\a.md", "\\\\server\\a.md", "..", "../a.md", "a/../b.md",
        "a/..",
        "a\\..\\b.md", "..\\a.md", "a\tb.md", "a\nb.md",
        "a\r", "a\x7fb", "a\x85b", "a\x1bb", "a\x9fb", "a\x01",
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_vault_or_has_control_characters_is_refused(source):
    assert faults(source=source) == ["bad_path"]


def test_a_date_that_could_not_be_read_is_no_fault():
    assert faults(metadata='{"created_invalid":"soon"}') == []


@pytest.mark.parametrize("column", sorted(KNOWN_WORDS))
def test_every_word_field_knows_its_words_and_no_others(column):
    for word in KNOWN_WORDS[column]:
        assert faults(**{column: word}) == []
    for word in ("vital!", "", None, next(iter(KNOWN_WORDS[column])).upper()):
        assert faults(**{column: word}) == [f"unknown_{column}"]


def test_the_known_words_are_those_of_the_rules():
    assert KNOWN_WORDS["importance_tier"] == {"temporary", "normal", "important", "critical"}
    assert KNOWN_WORDS["state"] == {"draft", "candidate", "accepted", "canonical"}
    assert {"constraint", "decision", "project", "preference", "note"} <= KNOWN_WORDS["memory_type"]


def test_every_fault_is_listed_at_once():
    found = faults(
        title="", content="", namespace="-", source="..", **dict.fromkeys(KNOWN_WORDS, "?")
    )  # fmt: skip
    assert sorted(found) == sorted(
        [
            "empty_title",
            "too_short",
            "bad_namespace",
            "bad_path",
            *(f"unknown_{name}" for name in KNOWN_WORDS),
        ]
    )


def test_each_note_gets_its_own_faults_in_order():
    frame = pl.DataFrame([SOUND, {**SOUND, "title": ""}, {**SOUND, "source": "..", "state": "?"}, SOUND])
    assert structure_faults(frame, min_characters=50) == [
        [],
        ["empty_title"],
        ["bad_path", "unknown_state"],
        [],
    ]
    assert structure_faults(frame.clear(), min_characters=50) == []
