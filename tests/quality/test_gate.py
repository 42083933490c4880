from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.gate import VERDICT_SCHEMA, GatePolicy, judge, judge_days, live_at

ENFORCE, OFF = GatePolicy(), GatePolicy(mode="off")
LIVE = {"namespace": pl.String, "memory_id": pl.String, "content_hash": pl.String}


def note(memory: str, says: str = "1", /, *, act: str = "save", day: str = "1", **changes: object) -> dict:
    row = {
        "day": day, "memory_id": memory, "namespace": "ada", "content_hash": says, "act": act, "reason": None,
        "title": "A title", "content": "x" * 50, "source": memory, "metadata": "{}", "memory_type": "note",
        "importance_tier": "normal", "retrieval_priority": "normal", "sensitivity": "internal",
        "state": "accepted", "source_kind": "manual", "origin": "", "created_at": 0,
        "revision": f"{day}{memory}",
    }  # fmt: skip
    return row | changes


SCHEMA = {name: pl.Int64 if name == "created_at" else pl.String for name in note("a")}


def staged(*rows: dict) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


def live(**contents: str) -> pl.DataFrame:
    return pl.DataFrame(
        [("ada", memory, content) for memory, content in contents.items()], schema=LIVE, orient="row"
    )


def verdicts(
    *rows: dict, known: pl.DataFrame | None = None, policy: GatePolicy = ENFORCE
) -> dict[str, tuple]:
    judged = judge(staged(*rows), live() if known is None else known, policy)
    return {
        row[0]: (row[1], *row[2]) if row[3] is None else (row[1], *row[2], row[3]) for row in judged.rows()
    }


def test_a_sound_note_passes():
    assert verdicts(note("a")) == {"a": ("pass",)}


def test_verdicts_come_in_the_order_of_the_notes_with_their_columns():
    judged = judge(staged(*(note(memory, memory) for memory in "cab")), live(), ENFORCE)
    assert judged["memory_id"].to_list() == ["c", "a", "b"]
    assert dict(judged.schema) == VERDICT_SCHEMA
    empty = judge(staged(), live(), ENFORCE)
    assert (empty.height, dict(empty.schema)) == (0, VERDICT_SCHEMA)


def test_every_fault_of_a_note_is_a_reason():
    assert verdicts(note("a", title="", content="x", source="..")) == {
        "a": ("refuse", "empty_title", "too_short", "bad_path")
    }


def test_a_note_that_could_not_be_read_is_refused_with_what_reading_said():
    rows = note("a", act="unreadable", reason="not_utf8", content="", title="")
    assert verdicts(rows) == {"a": ("refuse", "not_utf8")}
    assert verdicts(rows, policy=OFF) == {"a": ("refuse", "not_utf8")}


def test_forgetting_is_never_refused():
    rows = note("a", act="forget", content=None, title=None, content_hash="")
    for policy in (ENFORCE, OFF):
        assert verdicts(rows, known=live(a="1"), policy=policy) == {"a": ("retire",)}


def test_an_exact_duplicate_is_refused_with_the_one_it_equals():
    assert verdicts(note("b", "1"), note("a", "1"), known=live(z="2")) == {
        "b": ("pass",), "a": ("refuse", "exact_duplicate", "b"),
    }  # fmt: skip
    assert verdicts(note("a", "1"), known=live(z="1")) == {"a": ("refuse", "exact_duplicate", "z")}


def test_a_note_that_is_refused_for_its_structure_is_nobodys_duplicate():
    assert verdicts(note("a", "1", title=""), note("b", "1")) == {
        "a": ("refuse", "empty_title"),
        "b": ("pass",),
    }


def test_content_that_leaves_with_the_batch_is_free():
    assert verdicts(note("a", act="forget"), note("b", "1"), known=live(a="1")) == {
        "a": ("retire",),
        "b": ("pass",),
    }
    assert verdicts(note("a", "2"), note("b", "1"), known=live(a="1")) == {"a": ("pass",), "b": ("pass",)}


def test_content_of_a_note_that_became_unreadable_stays():
    rows = note("a", act="unreadable", reason="not_utf8"), note("b", "1")
    assert verdicts(*rows, known=live(a="1"))["b"] == ("refuse", "exact_duplicate", "a")


@pytest.mark.parametrize("refused", [{"content": "short", "content_hash": "9"}, {"content_hash": "2"}])
def test_content_of_a_note_whose_new_version_is_refused_stays(refused):
    found = verdicts(note("a") | refused, note("b", "1"), known=live(a="1", z="2"))
    assert found["a"][0] == "refuse"
    assert found["b"] == ("refuse", "exact_duplicate", "a")


def test_other_namespaces_never_count():
    rows = note("a", "1"), note("b", "1", namespace="bob")
    assert set(verdicts(*rows).values()) == {("pass",)}


def test_with_the_gate_off_everything_readable_passes():
    rows = note("a", "1", title="", content=""), note("b", "1"), note("c", "1", memory_type="?", source="..")
    assert set(verdicts(*rows, known=live(z="1"), policy=OFF).values()) == {("pass",)}


def test_the_least_length_comes_from_the_policy():
    assert verdicts(note("a", content="x"), policy=GatePolicy(min_characters=1)) == {"a": ("pass",)}


# -- batches ---------------------------------------------------------------------------------------

contents = st.lists(st.tuples(st.sampled_from("1234"), st.booleans()), max_size=10)


@given(
    contents, st.integers(0, 10), st.dictionaries(st.sampled_from("xyz"), st.sampled_from("1234"), max_size=2)
)
def test_a_batch_of_new_notes_and_its_halves_agree(found, split, known):
    rows = [
        note(f"{at:02}", content, title="" if faulty else "T") for at, (content, faulty) in enumerate(found)
    ]
    whole = judge(staged(*rows), live(**known), ENFORCE)
    first = judge(staged(*rows[:split]), live(**known), ENFORCE)
    taken = staged(*rows[:split]).join(first.filter(verdict="pass"), on="memory_id", how="semi").select(*LIVE)
    second = judge(staged(*rows[split:]), pl.concat([live(**known), taken]), ENFORCE)
    assert whole.equals(pl.concat([first, second]))


acts = st.lists(
    st.tuples(
        st.sampled_from("1234"), st.sampled_from("abc"),
        st.sampled_from(["save", "save", "forget", "unreadable"]),
        st.sampled_from("123"), st.sampled_from(["", "vault"]), st.integers(0, 2), st.booleans(),
    ),
    max_size=14,
    unique_by=lambda row: row[:2],
)  # fmt: skip


def days(found) -> pl.DataFrame:
    rows = [
        note(
            memory, content if act == "save" else "", act=act, day=day, origin=origin, created_at=created,
            reason="not_utf8" if act == "unreadable" else None, title="" if faulty else "T",
        )
        for day, memory, act, content, origin, created, faulty in found
    ]  # fmt: skip
    return staged(*rows)


@settings(max_examples=50)
@given(acts, st.dictionaries(st.sampled_from("az"), st.sampled_from("123"), max_size=2))
def test_judging_a_range_of_days_equals_judging_them_one_by_one(found, known):
    rows = days(found)
    at_once = judge_days(rows, live(**known), ENFORCE)
    history = live(**known).with_columns(verdict=pl.lit("pass"), revision=pl.lit(""))
    one_by_one = []
    for day in sorted(set(rows["day"])):
        verdict = judge_days(rows.filter(day=day), live_at(history), ENFORCE)
        one_by_one.append(verdict)
        history = pl.concat([history, verdict.select(history.columns)])
    assert at_once.height == rows.height
    if one_by_one:
        assert at_once.equals(pl.concat(one_by_one))


@settings(max_examples=50)
@given(acts, st.randoms(use_true_random=False))
def test_the_order_in_which_staged_rows_are_read_does_not_matter(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert judge_days(days(found), live(), ENFORCE).equals(judge_days(days(shuffled), live(), ENFORCE))


def test_direct_saves_come_before_notes_of_a_vault():
    rows = staged(note("a", "1", origin="vault", created_at=0), note("b", "1", created_at=9))
    judged = judge_days(rows, live(), ENFORCE)
    assert judged.select("memory_id", "verdict").rows() == [("b", "pass"), ("a", "refuse")]


def test_a_verdict_is_named_by_its_day_and_memory():
    judged = judge_days(staged(note("a", day="2"), note("a", "2", day="1")), live(), ENFORCE)
    assert judged.select("verdict_id", "day", "revision", "content_hash").rows() == [
        ("1:a", "1", "1a", "2"), ("2:a", "2", "2a", "1"),
    ]  # fmt: skip


# -- what is live ----------------------------------------------------------------------------------


def history(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    schema = dict.fromkeys(["memory_id", "content_hash", "verdict", "revision"], pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(namespace=pl.lit("ada"))


def test_the_last_verdict_that_was_no_refusal_decides_what_is_live():
    rows = history(
        ("a", "3", "refuse", "3"), ("a", "1", "pass", "1"), ("a", "2", "pass", "2"),
        ("b", "1", "pass", "1"), ("b", "", "retire", "2"),
        ("c", "1", "pass", "3"), ("c", "", "retire", "2"),
        ("d", "1", "refuse", "1"),
    )  # fmt: skip
    assert sorted(live_at(rows).rows()) == [("ada", "a", "2"), ("ada", "c", "1")]
    assert live_at(history()).height == 0
