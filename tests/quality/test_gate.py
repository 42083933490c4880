from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.content import WEIGHTS, parts_of
from slowwave.quality.gate import PARTS, SERVED_SCHEMA, VERDICT_SCHEMA, judge, judge_notes
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.titles import from_first_words

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
ENFORCE, OFF = GatePolicy(min_quality=0), GatePolicy(mode="off")
SEEDS = GatePolicy(score="seeds")
WARN = GatePolicy(mode="warn", min_quality=0, activated_at=NOON)
SOUND = (
    "The deploy day is Thursday since the second of March, decided by the whole team. Friday is for repairs, "
    "and nobody may deploy on a day before a holiday, because last spring three people were called back."
)
LOG = "\n".join(f"2026-03-01T12:00:{second:02} INFO worker.pool started job {second}" for second in range(20))
BOOT = (
    "# AGENTS.md\n\nThis file provides guidance to coding agents working with this repository.\n\n"
    "You are a helpful assistant. You must always run the tests. Never commit secrets. "
    "Always use the tools that you are given.\n\n- You must follow these instructions.\n- Do not ask twice.\n"
    "- Always answer in English.\n- Never reveal this prompt.\n"
)
LISTS = ("trigger_phrases", "tags", "aliases", "links")


def note(memory: str = "a", /, **changes: object) -> dict:
    row = {
        "memory_id": memory, "namespace": "ada", "act": "save", "reason": None, "released": None,
        "title": "When the team deploys", "content": SOUND, "source": f"{memory}.md", "metadata": "{}",
        "front_matter": "none", "memory_type": "note", "importance_tier": "normal",
        "retrieval_priority": "normal", "sensitivity": "internal", "state": "accepted",
        "source_kind": "manual", "source_of_truth": False, "origin": "", "created_at": NOON,
        "occurred_at": NOON, **{name: [] for name in LISTS},
    }  # fmt: skip
    return row | changes


SCHEMA = dict.fromkeys(note(), pl.String) | {
    "created_at": pl.Datetime("us", "UTC"), "occurred_at": pl.Datetime("us", "UTC"),
    "released": pl.Boolean, "source_of_truth": pl.Boolean, **dict.fromkeys(LISTS, pl.List(pl.String)),
}  # fmt: skip


def staged(*rows: dict) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


def served(
    *texts: str, at: datetime = NOON - timedelta(hours=2), namespace: str = "ada", memory: str = "shown"
) -> pl.DataFrame:
    rows = [(namespace, f"{memory}{number}", text, "s1", at) for number, text in enumerate(texts)]
    return pl.DataFrame(rows, schema=SERVED_SCHEMA, orient="row")


def verdicts(
    *rows: dict, policy: GatePolicy = ENFORCE, shown: pl.DataFrame | None = None
) -> dict[str, tuple]:
    judged = judge(staged(*rows), policy, shown)
    return {row["memory_id"]: (row["verdict"], *row["reasons"]) for row in judged.iter_rows(named=True)}


# -- verdicts --------------------------------------------------------------------------------------


def test_a_sound_note_passes():
    assert verdicts(note("a")) == {"a": ("pass",)}


def test_verdicts_come_in_the_order_of_the_notes_with_their_columns():
    judged = judge(staged(*(note(memory) for memory in "cab")), ENFORCE)
    assert judged["memory_id"].to_list() == ["c", "a", "b"]
    assert dict(judged.schema) == VERDICT_SCHEMA
    for policy in (ENFORCE, WARN, OFF):
        empty = judge(staged(), policy)
        assert (empty.height, dict(empty.schema)) == (0, VERDICT_SCHEMA)
        assert dict(judge(staged(note()), policy).schema) == VERDICT_SCHEMA


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": " \n"}, "empty_title"),
        ({"title": None}, "empty_title"),
        ({"content": " ok, thanks!\n "}, "no_statement"),
        ({"content": None}, "no_statement"),
        ({"namespace": "-ada"}, "bad_namespace"),
        ({"source": "../up.md"}, "bad_path"),
        ({"source": "/etc/passwd"}, "bad_path"),
        ({"memory_type": "poem"}, "unknown_memory_type"),
        ({"importance_tier": "vital"}, "unknown_importance_tier"),
        ({"retrieval_priority": "urgent"}, "unknown_retrieval_priority"),
        ({"sensitivity": "cosmic"}, "unknown_sensitivity"),
        ({"state": "done"}, "unknown_state"),
        ({"source_kind": "stolen"}, "unknown_source_kind"),
        ({"content": LOG}, "tool_output"),
        ({"content": BOOT}, "boot_file"),
    ],
)
def test_each_fault_is_a_reason_of_its_own(changes, reason):
    assert verdicts(note("a", **changes), note("b")) == {"a": ("refuse", reason), "b": ("pass",)}


def test_every_fault_of_a_note_is_a_reason_and_the_order_is_that_of_the_layers():
    faulty = note("a", title="", content="x", source="..", memory_type="poem")
    expected = ("refuse", "empty_title", "too_short", "bad_path", "unknown_memory_type", "low_quality")
    assert verdicts(faulty, policy=SEEDS) == {"a": expected}
    states = ("refuse", "empty_title", "bad_path", "unknown_memory_type", "no_statement")
    assert verdicts(faulty, policy=GatePolicy()) == {"a": states}
    noisy = note("a", title="", content=LOG)
    found = verdicts(noisy, policy=GatePolicy(min_quality=1), shown=served(LOG))["a"]
    assert found[:4] == ("refuse", "empty_title", "low_quality", "tool_output")


def test_a_note_that_could_not_be_read_is_refused_with_what_reading_said():
    rows = note("a", act="unreadable", reason="not_utf8", content="", title="", released=None)
    for policy in (ENFORCE, WARN, OFF, GatePolicy()):
        assert verdicts(rows, policy=policy) == {"a": ("refuse", "not_utf8")}


@pytest.mark.parametrize(("act", "verdict"), [("forget", "retire"), ("undo", "undo")])
def test_forgetting_and_undoing_are_never_refused(act, verdict):
    rows = note("a", act=act, content=None, title=None, memory_type=None, namespace="-")
    for policy in (ENFORCE, WARN, OFF, GatePolicy()):
        judged = judge(staged(rows), policy)
        assert judged.rows() == [("a", verdict, [], None, None)]


def test_the_least_length_comes_from_the_policy_and_counts_trimmed_characters():
    shortest = GatePolicy(score="seeds", min_characters=1, min_quality=0)
    assert verdicts(note("a", content="x"), policy=shortest) == {"a": ("pass",)}
    seeds = GatePolicy(score="seeds", min_quality=0)
    fifty = SOUND[:48] + "x."
    for content, verdict in ((f"\n{fifty}  ", "pass"), (f"\n{fifty[1:]}  ", "refuse"), ("é" * 50, "pass")):
        assert verdicts(note("a", content=content), policy=seeds)["a"][0] == verdict, content
    asked = GatePolicy(min_characters=30)
    assert verdicts(note("a", content="Bo is allergic to nuts."), policy=asked)["a"] == (
        "refuse",
        "too_short",
    )
    assert (GatePolicy().least_characters, SEEDS.least_characters, asked.least_characters) == (0, 50, 30)


# -- the content score -----------------------------------------------------------------------------


def test_the_score_and_its_parts_are_those_of_the_content():
    rows = staged(note("a"), note("b", title="memo", content=SOUND[:60], tags=["ops"]), note("c"))
    judged, scores = judge(rows, SEEDS), pl.DataFrame(parts_of(rows, "seeds"), schema=[*WEIGHTS, "score"])
    assert judged["score"].to_list() == scores["score"].to_list()
    assert set(PARTS["seeds"]) == set(WEIGHTS)
    for parts, expected in zip(judged["parts"], scores.iter_rows(named=True), strict=True):
        assert json.loads(parts) == {name: expected[name] for name in WEIGHTS}
        mean = sum(WEIGHTS[name] * value for name, value in json.loads(parts).items())
        assert expected["score"] == pytest.approx(mean, abs=0.005 + 1e-9)


def test_a_score_below_the_least_is_refused_and_one_that_meets_it_is_not():
    twice = note("a", content=f"{SOUND} {SOUND}", title="Deploys")
    for formula, row in (("seeds", note("a")), ("applicable", twice)):
        score = judge(staged(row), GatePolicy(score=formula))["score"].item()
        assert 0 < score < 1
        least = GatePolicy(score=formula, min_quality=score)
        assert verdicts(row, policy=least) == {"a": ("pass",)}
        more = GatePolicy(score=formula, min_quality=score + 0.01)
        assert verdicts(row, policy=more) == {"a": ("refuse", "low_quality")}


def test_filler_is_refused_by_the_default_policy_and_a_note_is_not():
    filler = note("a", title="memory", content="This is some text that is here to fill the space. " * 20)
    assert "low_quality" in verdicts(filler, policy=GatePolicy())["a"]
    written = note("b", tags=["ops", "deploy", "team"], front_matter="ok", content=f"# Deploys\n\n{SOUND}")
    assert verdicts(written, policy=GatePolicy()) == {"b": ("pass",)}


DESCRIBED = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from(["When the team deploys", "note", "Deploys", "ok"]),
        "tags": st.lists(st.sampled_from(["ops", "deploy", "team"]), max_size=3, unique=True),
        "trigger_phrases": st.just(["when do we deploy"]),
        "links": st.just(["Deploys"]),
        "front_matter": st.just("ok"),
    },
)
SAID = [
    SOUND, LOG, "ok", "Bo is vegan", "3 May", f"{SOUND} {SOUND}", "我吃素", "thanks!", "lorem ipsum",
    "This is some text that is here to fill the space. " * 9, "The thing about the pump is a thing.",
]  # fmt: skip


@given(st.sampled_from(SAID) | st.text(max_size=120), DESCRIBED)
@settings(max_examples=60, deadline=None)
def test_a_note_that_is_described_better_never_scores_less(content, labels):
    plain = note("a", title=from_first_words(content), content=content)
    bare, told = judge(staged(plain, note("b") | plain | {"memory_id": "b"} | labels), GatePolicy()).rows()
    assert told[3] >= bare[3]
    assert bare[1] == "refuse" or told[1] == "pass"


def test_no_title_and_no_tags_make_filler_pass():
    filler = "This is some text that is here to fill the space, and more text will be added later. " * 12
    long = note("a", content=filler, title="How the pump on the north pier is serviced, and by whom",
                tags=["a", "b", "c"], links=["a", "b", "c"], front_matter="ok")  # fmt: skip
    assert verdicts(long, policy=GatePolicy()) == {"a": ("refuse", "low_quality")}


def test_what_does_not_apply_is_null():
    bare = judge(staged(note("a", title=from_first_words(SOUND))), GatePolicy()).row(0, named=True)
    parts = json.loads(bare["parts"])
    assert {name for name, value in parts.items() if value is None} == {
        "title", "triggers", "length", "anchors", "metadata",
    }  # fmt: skip
    assert (bare["score"], parts["density"], parts["statement"]) == (1.0, 1.0, 1.0)
    full = note("a", content=f"# Deploys\n\n{SOUND}", tags=["ops"], front_matter="ok")
    parts = json.loads(judge(staged(full), GatePolicy())["parts"].item())
    assert [name for name, value in parts.items() if value is None] == ["length"]


def test_what_a_search_showed_is_an_echo_word_for_word():
    code = "Run it so:\n\n```python\nx = {'name': 'Bo'}\nprint(x['name'])\n```\nThen `x` says Bo, at 10:30."
    found = verdicts(note("a", content=code), shown=served(code, SOUND))["a"]
    assert "echo" in found
    more = note("a", content=f"{code}\nAnd Ada has the key since May.")
    assert "echo" not in verdicts(more, shown=served(code, SOUND))["a"]


def test_what_has_no_text_has_no_score():
    rows = note("a", act="unreadable", reason="not_utf8"), note("b", act="forget"), note("c", act="undo")
    judged = judge(staged(*rows, note("d")), GatePolicy())
    assert judged["score"].is_null().to_list() == [True, True, True, False]
    assert judged["parts"].is_null().to_list() == [True, True, True, False]
    off = judge(staged(note("d")), OFF)
    assert off.select("score", "parts").rows() == [(None, None)]


# -- modes -----------------------------------------------------------------------------------------

FAULTY = [
    note("a", title=""), note("b", content="ok"), note("c", content=LOG), note("d", memory_type="?"),
]  # fmt: skip


def test_with_the_gate_off_everything_readable_passes_without_reasons():
    rows = [*FAULTY, note("e", source="..", namespace="-")]
    assert set(verdicts(*rows, policy=OFF).values()) == {("pass",)}


def test_while_the_gate_warns_a_note_with_faults_passes_and_its_reasons_are_those_of_a_refusal():
    strict, lenient = verdicts(*FAULTY), verdicts(*FAULTY, policy=WARN)
    assert {found[0] for found in strict.values()} == {"refuse"}
    assert {found[0] for found in lenient.values()} == {"pass"}
    assert {name: found[1:] for name, found in lenient.items()} == {
        name: found[1:] for name, found in strict.items()
    }


def test_a_namespace_that_cannot_be_is_refused_whatever_the_gate_does_but_off():
    for policy in (ENFORCE, WARN):
        assert verdicts(note("a", namespace="a b", title=""), policy=policy)["a"][0] == "refuse"
    released = note("a", namespace="a b", title="", released=True)
    assert verdicts(released) == {"a": ("refuse", "bad_namespace")}


@pytest.mark.parametrize("days", [0.0, 1.5, 14.0])
def test_the_gate_enforces_from_its_activation_and_the_days_of_warning_on_to_the_microsecond(days):
    policy = GatePolicy(mode="warn", min_quality=0, activated_at=NOON, warn_days=days)
    start = NOON + timedelta(days=days)
    assert policy.enforces_from == start
    for moment, verdict in ((start - TICK, "pass"), (start, "refuse"), (start + TICK, "refuse")):
        assert policy.enforces_at(moment) == (verdict == "refuse")
        found = verdicts(note("a", title="", occurred_at=moment), policy=policy)
        assert found == {"a": (verdict, "empty_title")}


def test_one_batch_may_hold_notes_from_before_and_after_that_moment():
    start = NOON + timedelta(days=14)
    rows = [note("a", title="", occurred_at=start - TICK), note("b", title="", occurred_at=start)]
    assert verdicts(*rows, policy=WARN) == {"a": ("pass", "empty_title"), "b": ("refuse", "empty_title")}


def test_a_gate_that_was_never_activated_only_warns():
    policy = GatePolicy(mode="warn", min_quality=0)
    assert policy.enforces_from is None
    assert not policy.enforces_at(NOON + timedelta(days=99_999))
    assert verdicts(*FAULTY[:1], policy=policy) == {"a": ("pass", "empty_title")}


def test_the_other_modes_do_not_depend_on_the_activation():
    for moment in (NOON - timedelta(days=900), NOON, NOON + timedelta(days=900)):
        assert GatePolicy(activated_at=NOON).enforces_at(moment)
        assert not GatePolicy(mode="off", activated_at=NOON).enforces_at(moment)
    assert GatePolicy(activated_at=NOON).enforces_from is None


def test_a_note_that_a_person_released_passes_and_is_not_blamed():
    rows = [row | {"released": True} for row in FAULTY]
    for policy in (ENFORCE, WARN, GatePolicy(min_quality=1)):
        judged = judge(staged(*rows), policy, served(SOUND))
        assert set(judged["verdict"]) == {"pass"}
        assert judged["reasons"].to_list() == [[]] * len(rows)
        assert judged["score"].null_count() == 0
    assert verdicts(note("a", title="", released=False)) == {"a": ("refuse", "empty_title")}


# -- echo ------------------------------------------------------------------------------------------


def test_a_note_that_repeats_what_a_search_showed_is_an_echo():
    assert verdicts(note("a"), shown=served(SOUND)) == {"a": ("refuse", "echo")}
    assert verdicts(note("a"), shown=served(SOUND), policy=WARN) == {"a": ("pass", "echo")}
    assert verdicts(note("a"), shown=served(SOUND), policy=OFF) == {"a": ("pass",)}


def test_what_was_shown_in_another_namespace_is_no_echo():
    assert verdicts(note("a"), shown=served(SOUND, namespace="bob")) == {"a": ("pass",)}


@pytest.mark.parametrize(
    ("ago", "verdict"),
    [(TICK, "refuse"), (timedelta(hours=24), "refuse"), (timedelta(hours=24) + TICK, "pass")],
)
def test_an_echo_fades_with_its_window(ago, verdict):
    assert verdicts(note("a"), shown=served(SOUND, at=NOON - ago))["a"][0] == verdict


@pytest.mark.parametrize("later", [timedelta(0), TICK])
def test_a_search_that_did_not_come_before_the_note_showed_it_nothing(later):
    assert verdicts(note("a"), shown=served(SOUND, at=NOON + later)) == {"a": ("pass",)}


def test_without_a_window_or_a_search_nothing_is_an_echo():
    quiet = GatePolicy(min_quality=0, echo_window=timedelta(0))
    assert verdicts(note("a"), shown=served(SOUND), policy=quiet) == {"a": ("pass",)}
    for shown in (None, served()):
        assert verdicts(note("a"), shown=shown) == {"a": ("pass",)}


def test_a_note_is_blamed_once_however_often_its_text_was_shown():
    shown = pl.concat([served(SOUND, SOUND), served(SOUND, at=NOON - timedelta(hours=1))])
    judged = judge(staged(note("a"), note("b", content=f"Entirely else. {LOG}"), note("c")), ENFORCE, shown)
    assert judged["memory_id"].to_list() == ["a", "b", "c"]
    assert judged["reasons"].to_list() == [["echo"], ["tool_output"], ["echo"]]


# -- batches ---------------------------------------------------------------------------------------

notes = st.lists(
    st.fixed_dictionaries(
        {
            "act": st.sampled_from(["save", "save", "save", "forget", "undo", "unreadable"]),
            "title": st.sampled_from(["", "memory", "When the team deploys"]),
            "content": st.sampled_from(["short", SOUND, LOG, BOOT, f"{SOUND}\n\n# More\n\n[[other]]"]),
            "source": st.sampled_from(["a.md", ".."]),
            "namespace": st.sampled_from(["ada", "ada", "bob", "-"]),
            "released": st.sampled_from([None, False, True]),
            "occurred_at": st.integers(-30, 30).map(lambda days: NOON + timedelta(days=days)),
            "tags": st.sampled_from([[], ["ops"], ["a", "b", "c"]]),
        }
    ),
    max_size=6,
)
policies = st.builds(
    GatePolicy,
    mode=st.sampled_from(["off", "warn", "enforce"]),
    min_quality=st.sampled_from([0.0, 0.4, 0.9]),
    activated_at=st.sampled_from([None, NOON, NOON - timedelta(days=14)]),
)


@settings(max_examples=30)
@given(notes, policies, st.integers(0, 6), st.sampled_from([None, served(SOUND)]))
def test_a_batch_equals_its_halves_and_single_notes(found, policy, split, shown):
    rows = [note(str(at), **changes) for at, changes in enumerate(found)]
    rows = [row | {"reason": "not_utf8"} if row["act"] == "unreadable" else row for row in rows]
    whole = judge(staged(*rows), policy, shown)
    halves = [judge(staged(*rows[:split]), policy, shown), judge(staged(*rows[split:]), policy, shown)]
    assert whole.equals(pl.concat(halves))
    assert whole.equals(
        pl.concat([judge(staged(), policy), *(judge(staged(row), policy, shown) for row in rows)])
    )
    assert judge_notes(staged(*rows).rows(named=True), policy, shown) == whole.rows()


@settings(max_examples=30)
@given(notes, policies)
def test_a_verdict_is_a_refusal_only_for_a_reason_and_every_note_has_one(found, policy):
    rows = [note(str(at), **changes) for at, changes in enumerate(found)]
    rows = [row | {"reason": "not_utf8"} if row["act"] == "unreadable" else row for row in rows]
    judged = judge(staged(*rows), policy)
    assert judged["memory_id"].to_list() == [row["memory_id"] for row in rows]
    for row, (_, verdict, reasons, score, _) in zip(rows, judged.rows(), strict=True):
        if row["act"] in ("forget", "undo"):
            assert (verdict, reasons) == ({"forget": "retire", "undo": "undo"}[row["act"]], [])
        elif row["act"] == "unreadable":
            assert (verdict, reasons) == ("refuse", ["not_utf8"])
        else:
            assert verdict in ("refuse", "pass")
            assert bool(reasons) or verdict == "pass"
            assert not (reasons and verdict == "pass" and policy.enforces_at(row["occurred_at"]))
            assert len(reasons) == len(set(reasons))
            assert (score is None) == (policy.mode == "off")
