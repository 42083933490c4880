"""Labelled collections, the fit on half of their queries, its report, and policies in files."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from slowwave.errors import SlowwaveError
from slowwave.home.workspace import Workspace
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.abstention import signal
from slowwave.settings import load
from slowwave.settings.ranking_file import read_policy, write_policy
from slowwave.tuning import Collection, ask, fill, fit, read_collection
from slowwave.tuning.collection import Asked, notes_of
from slowwave.tuning.fit import (
    GRID,
    MAX_LOSS,
    MIN_ANSWERED,
    MIN_GAIN,
    NDCG,
    Labelled,
    highest_floor,
    rankings,
    scores,
)
from slowwave.tuning.run import _sample, as_rows, label, run
from slowwave.views.tuned_policy import as_markdown

MODEL = "wordllama-256"
PLACES = ["harbour", "lighthouse", "railway bridge", "mill", "airfield", "chapel", "quarry", "reservoir",
          "museum", "orchard", "sawmill", "distillery"]  # fmt: skip
THINGS = {
    "battery": "lasts {n} weeks in winter and must be charged before the frost",
    "key": "hangs on hook number {n} behind the door of the porter",
    "boat": "sails at {n} minutes past seven and is back before the dark",
    "gauge": "reports a level every {n} minutes over the radio link",
    "alarm": "rings {n} times before somebody on call is woken up",
}


def documents() -> list[dict]:
    found = []
    for at, place in enumerate(PLACES):
        for number, (thing, says) in enumerate(THINGS.items()):
            text = f"The {thing} of the {place} {says.format(n=at + 3)}."
            found.append({"_id": f"d{at}-{number}", "title": f"{place.capitalize()} {thing}", "text": text})
    return found


def queries() -> list[dict]:
    asked = ["how long does the {p} battery last", "where is the {p} key", "when does the {p} boat sail",
             "how often does the gauge at the {p} report"]  # fmt: skip
    return [
        {"_id": f"q{at}-{number}", "text": text.format(p=place)}
        for at, place in enumerate(PLACES)
        for number, text in enumerate(asked)
    ]


def unknown() -> list[dict]:
    texts = ["the capital of Mongolia", "a recipe for onion soup", "who won the chess match", "copper prices",
             "phases of the moon", "how to knit a sock", "tuning a piano", "sonnets by Petrarch"]  # fmt: skip
    return [{"_id": f"u{at}", "text": text, "answerable": False} for at, text in enumerate(texts)]


def write(folder: Path, rows, asked, judged) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("corpus", rows), ("queries", asked)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, row)) + "\n" for row in judged),
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small collection as files: 60 documents, 48 queries with an answer, 8 without."""
    judged = [(one["_id"], "d" + one["_id"][1:], 1) for one in queries()]
    return write(tmp_path / "places", documents(), [*queries(), *unknown()], judged)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Labelled:
    """The candidates of its queries."""
    judged = [(one["_id"], "d" + one["_id"][1:], 1) for one in queries()]
    made = write(tmp_path_factory.mktemp("tuning") / "places", documents(), [*queries(), *unknown()], judged)
    return label(read_collection(made), MODEL, cache=None, most=500)


# -- reading ---------------------------------------------------------------------------------------


def test_a_collection_is_read(folder):
    found = read_collection(folder)
    assert (found.name, len(found.documents), len(found.queries)) == ("places", 60, 56)
    assert found.documents[0]["title"] == "Harbour battery"
    assert found.qrels["q3-2"] == {"d3-2": 1}
    assert len(found.answerable()) == 48
    assert [query["_id"] for query in found.unanswerable()] == [f"u{at}" for at in range(8)]


def test_queries_without_a_relevant_document_are_of_neither_kind(tmp_path):
    asked = [{"_id": "a", "text": "x"}, {"_id": "b", "text": "x"}, {"_id": "c", "text": "x"},
             {"_id": "d", "text": "x", "answerable": False}]  # fmt: skip
    folder = write(
        tmp_path / "c", documents()[:1], asked, [("a", "d0-0", 2), ("b", "d0-0", 0), ("d", "d0-0", 1)]
    )
    found = read_collection(folder)
    assert [query["_id"] for query in found.answerable()] == ["a"]
    assert [query["_id"] for query in found.unanswerable()] == ["d"]


def test_blank_lines_and_windows_line_ends_do_not_matter(folder):
    before = read_collection(folder)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        text = (folder / name).read_text(encoding="utf-8").replace("\n", "\r\n")
        (folder / name).write_text(text + "\r\n  \r\n", encoding="utf-8", newline="")
    again = read_collection(folder)
    assert again == before


def test_separators_within_a_text_do_not_end_its_line(tmp_path):
    rows = [{"_id": "a", "text": "one\u2028two\x85three\u2029four"}, {"_id": "b", "text": "five"}]
    folder = write(tmp_path / "c", rows, [{"_id": "q", "text": "o\u2028ne"}], [("q", "a", 1)])
    assert [one["text"] for one in read_collection(folder).documents] == [one["text"] for one in rows]


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(SlowwaveError, match="No such file") as caught:
        read_collection(folder)
    assert str(folder / name) in str(caught.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(SlowwaveError, match=r"A collection is a folder with corpus\.jsonl"):
        read_collection(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("corpus.jsonl", "{", "line 61 is not JSON"),
        ("corpus.jsonl", '{"_id": "x"}', "line 61 has no text"),
        ("corpus.jsonl", '{"title": "x"}', "line 61 has no _id, text"),
        ("corpus.jsonl", '{"_id": 7, "text": "x"}', "line 61 has no _id"),
        ("corpus.jsonl", '{"_id": "x", "text": null}', "line 61 has no text"),
        ("corpus.jsonl", "[1, 2]", "line 61 is not a JSON object"),
        ("queries.jsonl", "null", "line 57 is not a JSON object"),
        ("queries.jsonl", "nonsense", "line 57 is not JSON"),
        ("queries.jsonl", '{"text": "x"}', "line 57 has no _id"),
        ("qrels.tsv", "q0-0\td0-0", "line 50: 'q0-0\\td0-0' is not query, document, grade"),
        ("qrels.tsv", "q0-0\td0-0\tgood", "line 50"),
        ("qrels.tsv", "q0-0\t0\td0-0\t1", "line 50"),
        ("qrels.tsv", "q0-0 d0-0 1", "line 50"),
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(folder, name, line, said):
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(SlowwaveError) as caught:
        read_collection(folder)
    assert str(folder / name) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_file_that_is_not_utf_8_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b"\xff\xfe\n")
    with pytest.raises(SlowwaveError) as caught:
        read_collection(folder)
    assert str(folder / name) in str(caught.value)


def test_the_digest_changes_with_the_documents_only(folder):
    found = read_collection(folder)
    assert replace(found, queries=(), qrels={}, name="x").digest == found.digest
    other = [*found.documents[:-1], {**found.documents[-1], "title": "Other"}]
    assert replace(found, documents=other).digest != found.digest


# -- notes -----------------------------------------------------------------------------------------


def test_documents_become_notes_by_namespace():
    notes = notes_of(
        [{"_id": "a", "title": "T", "text": "x"}, {"_id": "b", "text": "y", "namespace": "bob"},
         {"_id": "c", "title": "only a title", "text": ""}, {"_id": "d", "title": "", "text": " "}]
    )  # fmt: skip
    assert notes == {
        "default": [{"key": "a", "title": "T", "content": "x"},
                    {"key": "c", "title": "only a title", "content": "only a title"}],
        "bob": [{"key": "b", "title": "", "content": "y"}],
    }  # fmt: skip


def test_turns_follow_each_other_within_their_session_and_are_titled_by_their_speaker():
    turns = [
        {"_id": "1", "text": "a", "session": "s", "speaker": "Ann"},
        {"_id": "2", "text": "b", "session": "t", "speaker": "Bob"},
        {"_id": "3", "text": "c", "session": "s", "speaker": "Bob"},
        {"_id": "4", "text": "d", "session": "s", "speaker": "Ann", "namespace": "other"},
        {"_id": "5", "text": "e", "session": "s", "title": "Own title", "speaker": "Ann"},
        {"_id": "6", "text": "f"},
        {"_id": "7", "text": "g", "session": "t", "role": "user"},
    ]
    notes = {note["key"]: note for found in notes_of(turns).values() for note in found}
    assert {key: note.get("follows") for key, note in notes.items()} == {
        "1": "", "2": "", "3": "1", "4": "", "5": "3", "6": None, "7": "2",
    }  # fmt: skip
    assert {key: note["title"] for key, note in notes.items()} == {
        "1": "Ann", "2": "Bob", "3": "Bob", "4": "Ann", "5": "Own title", "6": "", "7": "",
    }  # fmt: skip
    assert {key for key, note in notes.items() if note.get("memory_type") == "chat"} == set("123457")


def test_turns_that_only_say_when_they_were_said_are_one_chat():
    notes = notes_of([{"_id": str(at), "text": "x", "said_at": f"2026-03-0{at}"} for at in (1, 2, 3)])
    assert [note["follows"] for note in notes["default"]] == ["", "1", "2"]


# -- homes -----------------------------------------------------------------------------------------


def small(name: str = "small", **change) -> Collection:
    rows = [
        {"_id": "a", "text": "The ferry leaves at seven in the morning."},
        {"_id": "b", "text": "The gauge under the bridge reports a level.", "namespace": "bob"},
        {"_id": "no", "text": "."},  # the gate would refuse it
    ]
    return Collection(name, [{**row, **change} for row in rows], [], {})


def close(memories) -> None:
    for memory in memories.values():
        memory.close()


def test_a_home_is_filled_once(tmp_path):
    memories = fill(tmp_path / "h", small(), MODEL)
    assert sorted(memories) == ["bob", "default"]
    counted = memories["default"].store.read("memories").height
    assert counted == 3
    versions = {name: memories["default"].store.table(name).version for name in ("memories", "chunks")}
    close(memories)
    again = fill(tmp_path / "h", small("another name"), MODEL)
    assert {name: again["default"].store.table(name).version for name in versions} == versions
    close(again)


def test_a_home_of_another_collection_is_refused(tmp_path):
    close(fill(tmp_path / "h", small(), MODEL))
    with pytest.raises(SlowwaveError, match="holds another collection than other"):
        fill(tmp_path / "h", small("other", title="x"), MODEL)


def test_a_filling_that_was_stopped_goes_on(tmp_path, monkeypatch):
    from slowwave.memory import Memory

    real = Memory.save_many
    monkeypatch.setattr("slowwave.tuning.collection.BATCH", 1)
    calls = []

    def once(self, notes):
        calls.append(notes)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, notes)

    monkeypatch.setattr(Memory, "save_many", once)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "h", small(), MODEL)
    memories = fill(tmp_path / "h", small(), MODEL)
    rows = memories["default"].store.read("memories", columns=["namespace", "source", "status"])
    assert sorted(rows.iter_rows()) == [
        ("bob", "b", "live"), ("default", "a", "live"), ("default", "no", "live"),
    ]  # fmt: skip
    close(memories)


def test_what_is_asked_finds_documents_of_its_namespace_and_leaves_no_trace(tmp_path):
    memories = fill(tmp_path / "h", small(), MODEL)
    asked = ask(memories, [{"_id": "1", "text": "ferry"}, {"_id": "2", "text": "ferry", "namespace": "bob"}])
    assert [one.query_id for one in asked] == ["1", "2"]
    assert set(asked[0].documents.values()) == {"a", "no"}
    assert set(asked[1].documents.values()) == {"b"}
    assert memories["default"].journal.read(kinds=["search"]).height == 0
    close(memories)


def test_a_query_of_a_namespace_without_documents_is_named(tmp_path):
    memories = fill(tmp_path / "h", small(), MODEL)
    with pytest.raises(SlowwaveError, match="carol"):
        ask(memories, [{"_id": "1", "text": "ferry", "namespace": "carol"}])
    close(memories)


# -- halves ----------------------------------------------------------------------------------------


def bare(*names: str) -> list[Asked]:
    return [Asked(name, None, {}) for name in names]


def test_halves_are_disjoint_complete_and_stable():
    names = [f"query {at}" for at in range(400)]
    whole = Labelled("x", bare(*names), {}, bare(*[f"u{at}" for at in range(400)]))
    first, second = whole.halves()
    for attribute in ("asked", "unanswerable"):
        one, two = ({a.query_id for a in getattr(half, attribute)} for half in (first, second))
        assert not one & two
        assert one | two == {a.query_id for a in getattr(whole, attribute)}
        assert 150 < len(one) < 250
    shuffled = names[::2]
    random.Random(1).shuffle(shuffled)
    again, _ = Labelled("y", bare(*shuffled), {}).halves()
    assert {a.query_id for a in again.asked} == {a.query_id for a in first.asked} & set(shuffled)


def test_halves_are_the_same_on_every_machine():
    first, _ = Labelled("x", bare(*"abcdefghij"), {}).halves()
    assert "".join(one.query_id for one in first.asked) == "bdegi"


def test_of_very_many_queries_a_fixed_sample_is_taken():
    many = [{"_id": str(at)} for at in range(100)]
    assert _sample(many, 100) == many
    few = _sample(many, 30)
    assert few == _sample(many, 30)
    assert len({one["_id"] for one in few}) == 30


# -- the fit ---------------------------------------------------------------------------------------


def present() -> RankingPolicy:
    return RankingPolicy(name="present", abstention_floor=0.3)


def mean(half: Labelled, policy: RankingPolicy) -> float:
    return scores(half, replace(policy, abstention_floor=0.0))[str(NDCG)].mean()


@pytest.mark.slow
def test_rankings_are_of_documents(labelled):
    found = rankings(labelled, RankingPolicy(), limit=3)
    assert found.keys() == {one.query_id for one in labelled.asked}
    assert all(len(set(ones)) == len(ones) == 3 for ones in found.values())
    known = {one["_id"] for one in documents()}
    assert {document for ones in found.values() for document in ones} <= known
    assert sum(ones[0] == "d" + query[1:] for query, ones in found.items()) > 24


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        present(),
        replace(present(), vector_weight=0.0, title_weight=0.0),
        replace(present(), vector_weight=1.0, cosine_floor=0.9, mpab_cap=float("inf"), title_weight=0.0),
        replace(present(), fusion="rrf", rrf_k=60),
    ],
)
def test_what_is_fitted_is_never_worse_where_it_was_fitted(labelled, start):
    done = fit([labelled], start)
    half, other = labelled.halves()
    before, after = mean(half, start), mean(half, done.policy)
    assert after >= before
    assert done.policy.name == "tuned"
    known = [signal(one.candidates) for one in half.asked]
    floor = done.policy.abstention_floor
    assert floor == highest_floor([half])
    assert sum(one >= floor for one in known) >= MIN_ANSWERED * len(known)
    assert sum(one >= floor + 0.011 for one in known) < len(known)  # a higher one would lose a question
    alone = fit([replace(labelled, unanswerable=())], start)
    assert alone.policy.abstention_floor == start.abstention_floor  # nothing says what to abstain from
    changed = {name for name, value in done.policy.to_dict().items() if value != start.to_dict()[name]}
    assert changed <= {"name", "abstention_floor", *GRID}
    if changed - {"name", "abstention_floor"}:
        assert after >= before + MIN_GAIN
    assert done.present == start
    lines = {line.policy: line for line in done.lines}
    assert lines["fitted"].ndcg == pytest.approx(mean(other, done.policy))
    assert lines["present"].ndcg == pytest.approx(mean(other, start))
    assert lines["present"].queries == len(other.asked)
    assert lines["fitted"].against.difference == pytest.approx(lines["fitted"].ndcg - lines["present"].ndcg)
    again = fit([labelled], start)
    assert (again.policy, again.tried) == (done.policy, done.tried)


@pytest.mark.slow
def test_a_bad_start_is_left(labelled):
    """With the meaning alone, everything below a cosine of .9 is the same; there is something to gain."""
    start = replace(present(), vector_weight=1.0, cosine_floor=0.9, title_weight=0.0)
    half, _ = labelled.halves()
    done = fit([labelled], start, name="better")
    assert done.policy.name == "better"
    assert mean(half, done.policy) > mean(half, start) + 0.05


@pytest.mark.slow
def test_no_collection_loses_for_another(labelled):
    """The second one has its judgments the wrong way round: what helps the first one harms it."""
    wrong = {
        one.query_id: {name: 1 for name in one.documents.values() if name != "d" + one.query_id[1:]}
        for one in labelled.asked
    }
    other = replace(labelled, name="wrong", qrels=wrong, unanswerable=())
    start = replace(present(), vector_weight=1.0, title_weight=0.0)
    done = fit([labelled, other], start)
    for one in (labelled, other):
        half, _ = one.halves()
        assert mean(half, done.policy) >= mean(half, start) - MAX_LOSS
    assert {line.collection for line in done.lines} == {"places", "wrong"}
    assert [row["collection"] for row in done.abstention] == ["places"]


@pytest.mark.slow
def test_a_report_has_every_policy_and_parameter(labelled):
    done = fit([labelled], present())
    columns, rows = as_rows(done)
    assert [row["policy"] for row in rows] == [
        "present", "fitted", "seeds", "rrf", "fitted, no MPAB", "fitted, no neighbours",
        "fitted, no titles", "fitted, no sparse recall",
    ]  # fmt: skip
    assert all(tuple(row) == tuple(columns) for row in rows)
    assert (rows[0]["difference"], rows[0]["verdict"]) == ("", "")
    assert all(row["difference"] and row["verdict"] for row in rows[1:])
    assert all(row["low"] <= row["ndcg@10"] <= row["high"] for row in rows)
    json.dumps(rows, allow_nan=False)
    text = as_markdown(done)
    for word in ("present", "fitted", "seeds", "rrf", *GRID, "auroc", "places"):
        assert word in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in tables[: len(rows) + 2]}) == 1
    (known,) = done.abstention
    _, other = labelled.halves()
    assert (known["answerable"], known["unanswerable"]) == (len(other.asked), len(other.unanswerable))
    assert known["auroc"] > 0.7
    assert known["fitted_floor"] == done.policy.abstention_floor
    assert 0 <= known["false_answers"] <= known["answered"] <= 1
    assert SEEDS.name == "seeds"


@pytest.mark.slow
def test_a_run_from_folders_changes_nothing_in_force(folder, tmp_path, open_memory):
    memory = open_memory()
    settings = memory.settings
    before = settings.model_dump()
    policy = memory.policy
    done = run(settings, [folder], cache=tmp_path / "cache", most=500)
    assert done.present == policy
    assert settings.model_dump() == before
    assert Workspace(load(settings.home, embedding={"model": MODEL})).policy == policy
    assert memory.store.read("memories").height == 0
    again = run(settings, [folder], cache=tmp_path / "cache", most=500)
    assert again.policy == done.policy
    assert [line.ndcg for line in again.lines] == [line.ndcg for line in done.lines]
    assert [one.name for one in (tmp_path / "cache").iterdir()] == ["places"]


def test_too_few_queries_are_refused(tmp_path, open_memory):
    folder = write(
        tmp_path / "few", documents(), queries(), [(f"q{at}-0", f"d{at}-0", 1) for at in range(12)]
    )
    with pytest.raises(SlowwaveError, match="has 12 queries with a relevant document"):
        run(open_memory().settings, [folder], cache=None, most=500)


# -- policies in files -----------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [0.05, float("inf")])
def test_a_policy_goes_through_its_file_into_force(open_memory, tmp_path, cap):
    written = replace(RankingPolicy(), name="tuned", vector_weight=0.35, title_weight=0.15, mpab_cap=cap)
    file = tmp_path / "policy.json"
    plain = open_memory().policy
    write_policy(file, written, {"report": [{"ndcg@10": np.float64(0.5).item()}]})
    assert open_memory().policy == plain
    assert open_memory(ranking={"policy_file": str(file)}).policy == written
    data = json.loads(file.read_text())
    assert (data["version"], data["report"]) == (written.version, [{"ndcg@10": 0.5}])


def test_a_policy_file_is_found_by_the_settings_file(home, tmp_path, open_memory):
    file = tmp_path / "policy.json"
    write_policy(file, RankingPolicy(name="tuned", rrf_k=77), {})
    home.mkdir()
    (home / "slowwave.toml").write_text(f'[ranking]\npolicy_file = "{file}"\n')
    assert open_memory().policy == RankingPolicy(name="tuned", rrf_k=77)


def test_a_half_written_policy_never_replaces_a_good_one(tmp_path, monkeypatch):
    file = tmp_path / "policy.json"
    good = RankingPolicy(name="good", rrf_k=5)
    write_policy(file, good, {})
    bytes_before = file.read_bytes()
    with pytest.raises(TypeError):
        write_policy(file, RankingPolicy(name="bad"), {"report": object()})
    assert file.read_bytes() == bytes_before

    class Full(io.FileIO):
        def write(self, data: bytes) -> int:
            super().write(data[: len(data) // 2])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda self, mode: Full(self, mode))
    with pytest.raises(OSError, match="No space left"):
        write_policy(file, RankingPolicy(name="bad", rrf_k=6), {})
    monkeypatch.undo()
    assert file.read_bytes() == bytes_before
    assert read_policy(file) == good
    write_policy(file, RankingPolicy(name="next", rrf_k=7), {})
    assert read_policy(file).rrf_k == 7
    assert [one.name for one in tmp_path.iterdir()] == ["policy.json"]
