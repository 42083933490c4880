"""The commands about what may enter: quarantine, decisions, history, undo, reconsolidate, calibrate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import Result

from slowwave.memory import Memory
from slowwave.store.checkpoints import list_checkpoints

TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
CHANGED = f"{BATTERY}\nIt is changed by Ruaridh."
NOTES = (("Deploy", TUESDAY), ("Deploy", THURSDAY), ("Battery", BATTERY), ("Battery", CHANGED))
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given."""
    return open_memory("default")


@pytest.fixture
def said(run: Callable[..., Result]) -> Callable[..., str]:
    """What a command that ends well prints."""

    def ask(*words: str) -> str:
        done = run(*words)
        assert done.exit_code == 0, done.output
        return done.stdout

    return ask


@pytest.fixture
def data(said: Callable[..., str]) -> Callable[..., Any]:
    """What a command gives programs."""
    return lambda *words: json.loads(said(*words, "--json"))


@pytest.fixture
def refused(run: Callable[..., Result]) -> Callable[..., str]:
    """The one line that a command says when it cannot do what was asked, with and without --json."""

    def ask(*words: str) -> str:
        plain, programs = run(*words), run(*words, "--json")
        for done in (plain, programs):
            assert (done.exit_code, done.stdout) == (1, ""), done.output
        *bars, line = plain.stderr.strip().splitlines()
        assert line.startswith("Error: ")
        assert not any("Error" in bar or "Traceback" in bar for bar in bars)
        assert programs.stderr.strip().splitlines() == [line]
        return line.removeprefix("Error: ")

    return ask


def tables(memory: Memory) -> dict[str, pl.DataFrame]:
    """Every table, whole."""
    memory.store.refresh()
    return {name: memory.store.read(name).sort(spec.key) for name, spec in memory.store.specs.items()}


def assert_same(left: dict[str, pl.DataFrame], right: dict[str, pl.DataFrame]) -> None:
    for name, frame in left.items():
        assert frame.equals(right[name]), name


# -- quarantine ------------------------------------------------------------------------------------


@pytest.fixture
def twin(memory: Memory) -> str:
    """A duplicate and a note that is too short are in quarantine; the id of the duplicate's memory."""
    memory.save(BATTERY, title="Battery")
    memory.save("ok", title="Too short")
    return memory.save(BATTERY, title="Battery [copy]", key="twin").memory_id


@pytest.mark.slow
def test_quarantine_is_listed_with_the_reasons(said, data, twin):
    shown = said("quarantine", "list")
    assert "Quarantine: 2 notes" in shown
    assert twin[:8] in shown
    assert twin not in shown
    assert "exact_duplicate" in shown
    rows = data("quarantine", "list")
    assert rows[0]["reasons"] == ["exact_duplicate"]
    assert {row["status"] for row in rows} == {"held"}
    assert len(rows) == 2
    (only,) = data("quarantine", "list", "--reason", "exact_duplicate")
    assert (only["memory_id"], only["content"]) == (twin, BATTERY)
    assert len(data("quarantine", "list", "--limit", "1")) == 1
    assert "and 1 more (--limit)" in said("quarantine", "list", "--limit", "1")
    assert data("quarantine", "list", "--reason", "too_short") == []
    assert "No note in quarantine has the reason 'too_short'" in said(
        "quarantine", "list", "--reason", "too_short"
    )


@pytest.mark.slow
def test_quarantined_notes_are_discarded_and_restored(said, data, refused, twin):
    shown = said("quarantine", "discard", twin[:8])
    assert "Discarded: 1 note" in shown
    assert "Battery [copy]" in shown
    assert f"slowwave quarantine restore {twin}" in shown
    assert [row["title"] for row in data("quarantine", "list")] == ["Too short"]
    assert "discarded" in said("quarantine", "list", "--all")
    assert "In quarantine again: 1 note" in said("quarantine", "restore", twin)
    (row,) = data("quarantine", "discard", "--reason", "exact_duplicate")
    assert (row["memory_id"], row["status"]) == (twin, "discarded")
    assert "The note was discarded" in refused("quarantine", "release", twin)
    assert "Give either ids" in refused("quarantine", "discard")


def test_a_quarantined_note_is_shown_whole(said, data, memory, twin):
    row = data("quarantine", "show", twin)
    assert (row["content"], row["reasons"]) == (BATTERY, ["exact_duplicate"])
    shown = said("quarantine", "show", row["quarantine_id"])
    for part in ("Battery [copy]", "Refused: exact_duplicate", BATTERY, row["duplicate_of"]):
        assert part in shown
    (short,) = [one for one in data("quarantine", "list") if one["title"] == "Too short"]
    scored = data("quarantine", "show", short["quarantine_id"])
    assert scored["parts"]
    assert f"Content score {scored['score']:.2f}" in said("quarantine", "show", short["quarantine_id"])


@pytest.mark.slow
def test_a_quarantined_note_is_released(said, data, memory, twin):
    (done,) = data("quarantine", "release", twin)
    assert (done["memory_id"], done["status"]) == (twin, "live")
    assert memory.get(twin).status == "live"
    (left,) = data("quarantine", "list")
    assert [row["status"] for row in data("quarantine", "list", "--all")] == ["resolved", "held"]
    shown = said("quarantine", "release", left["quarantine_id"])
    assert shown.startswith("Released: Too short")
    assert left["memory_id"] in shown
    assert data("quarantine", "list") == []


@pytest.mark.slow
def test_what_is_not_held_is_refused(refused, said, twin):
    for what in ("show", "release"):
        assert "has no note 'nothing'" in refused("quarantine", what, "nothing")
    said("quarantine", "release", twin)
    assert "is resolved, not held" in refused("quarantine", "release", twin)


# -- decisions, history, undo ----------------------------------------------------------------------


@pytest.fixture
def decided(open_memory: Callable[..., Memory], memory: Memory) -> Memory:
    """A memory where one note superseded another, and one was merged."""
    guarded = open_memory("default", reconsolidation={"policy": "guarded"})
    for title, text in NOTES:
        guarded.save(text, title=title)
    return guarded


@pytest.mark.slow
def test_decisions_are_listed(said, data, decided):
    rows = data("decisions")
    assert [row["outcome"] for row in rows] == ["merge", "supersede"]
    assert [row["other_title"] for row in rows] == ["Battery", "Deploy"]
    assert len(data("decisions", "--outcome", "any")) == 4
    (only,) = data("decisions", "--outcome", "supersede")
    assert data("decisions", only["memory_id"]) == [only] == data("decisions", only["other_memory"])
    shown = said("decisions")
    for part in (
        "supersede",
        "merge",
        only["decision_id"][:8],
        "Deploy → Deploy",
        f"{only['similarity']:.3f}",
    ):
        assert part in shown
    assert data("decisions", "--outcome", "related") == []
    assert "No decisions" in said("decisions", "--outcome", "related")
    assert data("decisions", only["decision_id"][:4]) == [only]
    whole = said("decisions", only["decision_id"][:6])
    for part in (only["decision_id"], only["memory_id"], only["other_memory"], only["evidence"]):
        assert part in whole


@pytest.mark.slow
def test_a_history_is_told(said, data, refused, decided):
    (row,) = data("decisions", "--outcome", "supersede")
    events = data("history", row["memory_id"])
    assert [event["event"] for event in events] == ["saved", "supersede"]
    assert events[0]["text"] == THURSDAY
    assert events[1]["other"] == row["other_memory"]
    assert "supersede" in said("history", row["other_memory"])
    assert "has no memory 'nothing'" in refused("history", "nothing")


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["supersede", "merge"])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_decision_is_undone(run, said, data, decided, outcome, as_json):
    (row,) = data("decisions", "--outcome", outcome)
    pair = (row["memory_id"], row["other_memory"])
    if as_json:
        assert data("undo", row["decision_id"])["undone_why"] == "undo"
    else:
        assert said("undo", row["decision_id"]).startswith(f"Undone: {outcome} of {pair[0]} and {pair[1]}.")
    decided.store.refresh()
    assert [decided.get(name).status for name in pair] == ["live", "live"]
    assert f"{outcome} (undone: undo)" in said("decisions")
    assert f"{outcome} undone" in [event["event"] for event in data("history", pair[0])]


@pytest.mark.slow
def test_what_cannot_be_undone_is_refused(refused, said, data, decided):
    assert "has no decision 'nothing'" in refused("undo", "nothing")
    rows = data("decisions", "--outcome", "any")
    stored = next(row for row in rows if row["outcome"] == "complement")
    assert "nothing to undo" in refused("undo", stored["decision_id"])
    said("undo", rows[0]["decision_id"])
    assert "ended at" in refused("undo", rows[0]["decision_id"])


@pytest.mark.slow
def test_what_waits_is_listed_accepted_and_declined(run, said, data, refused, open_memory):
    guarded = open_memory("default", reconsolidation={"policy": "guarded"})
    assert "No decision waits" in said("decisions", "--waiting")
    for title, text in NOTES[:2]:
        guarded.save(text, title=title, **({"source_of_truth": True} if text == TUESDAY else {}))
    guarded.save(BATTERY, title="Battery", importance_tier="critical")
    merge = guarded.save(CHANGED, title="Battery")
    rows = data("decisions", "--waiting")
    assert [row["proposed"] for row in rows] == ["merge", "supersede"]
    shown = said("decisions", "--waiting")
    for row in rows:
        for part in (
            row["decision_id"][:8],
            row["title"],
            row["evidence"][:30],
            row["accept"],
            row["decline"],
        ):
            assert part in shown.replace("\n", " ")
    assert data("decisions", "--waiting", merge.memory_id) == rows[:1]
    assert "2 wait for a person" in run("doctor").stdout.replace("\n", " ")
    assert said("decisions", "accept", rows[0]["decision_id"]).startswith("Done: merge of")
    (done,) = data("decisions", "decline", rows[1]["decision_id"])
    assert done["undone_why"] == "undo"
    assert "related (declined)" in said("decisions", "--outcome", "related")
    assert "declined" not in said("decisions")
    guarded.store.refresh()
    assert guarded.get(merge.memory_id).status == "merged"
    assert data("decisions", "--waiting") == []
    for word in ("accept", "decline"):
        assert "ended at" in refused("decisions", word, rows[0]["decision_id"])
        assert "has no decision 'nothing'" in refused("decisions", word, "nothing")
        assert run("decisions", word).exit_code == 2
    assert run("decisions", "one", "two").exit_code == 2


# -- reconsolidate ---------------------------------------------------------------------------------


@pytest.fixture
def plain(memory: Memory) -> Memory:
    """Memories that were saved while reconsolidation was off."""
    for title, text in NOTES:
        assert memory.save(text, title=title).status == "live"
    memory.save(ROTA, title="Rota")
    return memory


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_dry_run_changes_nothing_and_the_run_does_what_it_said(said, data, plain, as_json):
    before = tables(plain)
    versions = {name: plain.store.table(name).version for name in plain.store.specs}
    if not as_json:
        shown = said("reconsolidate", "--dry-run")
        assert "5 memories under guarded" in shown
        assert "Nothing was changed" in shown
    told = data("reconsolidate", "--dry-run")
    assert_same(tables(plain), before)
    assert {name: plain.store.table(name).version for name in plain.store.specs} == versions
    assert list_checkpoints(plain.store) == []
    assert (told["policy"], told["dry_run"], told["counts"]) == (
        "guarded",
        True,
        {"merge": 1, "supersede": 1},
    )

    if as_json:
        done = data("reconsolidate", "--policy", "guarded")
        assert all(row.pop("decision_id") for row in done["decisions"])
        assert not any(row.pop("decision_id") for row in told["decisions"])
        assert done == told | {"dry_run": False}
    else:
        shown = said("reconsolidate", "--policy", "guarded")
        assert "5 memories under guarded: " in shown
        assert all(row["decision_id"][:8] in shown for row in data("decisions"))
    after = tables(plain)
    assert [one.name[:22] for one in list_checkpoints(plain.store)] == ["before-reconsolidation"]
    columns = ["memory_id", "other_memory", "outcome", "similarity", "evidence"]
    assert sorted(after["decisions"].select(columns).rows()) == sorted(
        tuple(row[name] for name in columns) for row in told["decisions"]
    )
    state = dict(after["memories"].select("memory_id", "status").rows())
    for row in told["decisions"]:
        pair = (state[row["memory_id"]], state[row["other_memory"]])
        assert pair == (("merged", "live") if row["outcome"] == "merge" else ("live", "superseded"))
    assert data("reconsolidate", "--dry-run")["counts"] == {}
    assert "nothing to do" in said("reconsolidate", "--dry-run")


@pytest.mark.slow
def test_reconsolidating_that_is_off_or_not_known_is_refused(refused, plain):
    before = tables(plain)
    assert "set reconsolidation.policy" in refused("reconsolidate")
    assert "'bold'" in refused("reconsolidate", "--policy", "bold", "--dry-run")
    assert_same(tables(plain), before)


# -- calibrate -------------------------------------------------------------------------------------


def pairs(path: Path, *, count: int = 60, label: str = "label", bad: str = "") -> Path:
    """Made-up pairs: a third says the same, a third nearly, a third something else."""
    nouns = ("harbour", "gauge", "battery", "ferry", "ledger", "antenna", "mast", "radar", "pilot", "lamp")
    lines = [f"a\tb\t{label}"]
    for number in range(count):
        noun, other = nouns[number % 10], nouns[(number * 3 + 4) % 10]
        text = f"The {noun} number {number} is kept beside the {other} of the northern station"
        lines += [
            f"{text}.\t{text}!\tsame",
            f"{text}.\tNobody ever sings about {other} and cheese.\tdifferent",
        ]
    if bad:
        lines.insert(3, bad)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_thresholds_are_fitted_to_pairs_and_in_force(said, data, memory, tmp_path, fast_embedder):
    file = pairs(tmp_path / "pairs.tsv")
    done = data("calibrate", "--pairs", str(file))
    assert (done["model"], done["pairs"]) == (fast_embedder.name, 120)
    names = ["duplicate", "merge", "recall", "conflict"]
    assert [row["threshold"] for row in done["table"]] == names
    assert done["duplicate"] >= done["merge"] >= done["recall"] >= done["conflict"] >= 0
    for row in done["table"]:
        assert row["pairs"] >= 20
        assert row["rate"] <= row["target"]
        assert row["cosine"] == done[row["threshold"]]
    assert f"Thresholds of {fast_embedder.name} from 120 pairs" in said("calibrate", "--pairs", str(file))
    memory.store.refresh()
    memory._space.__dict__.pop("thresholds", None)
    found = memory._space.thresholds
    assert [found.duplicate, found.merge, found.conflict] == [
        done[n] for n in ("duplicate", "merge", "conflict")
    ]


def test_pairs_of_several_files_and_rates_of_ones_own(data, memory, tmp_path):
    files = [pairs(tmp_path / f"{number}.tsv", count=15) for number in range(2)]
    done = data("calibrate", "--pairs", str(files[0]), "--pairs", str(files[1]), "--duplicate", "0")
    assert done["pairs"] == 60
    assert done["table"][0]["rate"] == 0


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_text(""), "as tab-separated text"),
        (lambda path: path.write_bytes(b"a\tb\tlabel\n\xff\xfe\t\xff\tsame\n"), "Cannot read"),
        (lambda path: path.write_text("left\tright\nx\ty\n"), "It needs a, b, and label"),
        (lambda path: pairs(path, bad="x\ty\tperhaps"), "line 4: cannot read label 'perhaps' or a text"),
        (lambda path: pairs(path, bad="x"), "line 4: cannot read label None or a text"),
        (lambda path: pairs(path, label="score_0_5"), "line 2: cannot read score_0_5 'same' or a text"),
        (lambda path: pairs(path, count=9), "18 pairs are too few; give at least 20"),
        (
            lambda path: path.write_text("a\tb\tlabel\n" + "x\tx\tdifferent\n" * 30),
            "no cosine keeps the different pairs",
        ),
        (lambda path: pairs(path, count=0), "0 pairs are too few"),
    ],
    ids=["missing", "empty", "bytes", "columns", "label", "row", "grade", "few", "hopeless", "none"],
)
def test_pairs_that_cannot_be_used_change_nothing(refused, memory, tmp_path, write, message):
    file = tmp_path / "pairs.tsv"
    write(file)
    before = tables(memory)
    assert message in refused("calibrate", "--pairs", str(file))
    assert_same(tables(memory), before)
