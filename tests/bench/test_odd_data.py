"""Data that are small, lopsided or missing: a benchmark measures what there is, or says what it lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_data as made
import pytest

FAST = ("--model", "wordllama-256")
Run = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def test_a_single_answer_has_nothing_that_was_not_used(run: Run, tmp_path: Path) -> None:
    said = run("answers", "--data", made.answers(tmp_path / "a.jsonl", talks=1, turns=1), *FAST)

    rows = {row["texts"]: row for row in said["tables"]["not used"]}
    assert rows["random"]["n"] == 0
    assert rows["random"]["words"] is None
    assert {row["auroc"] for row in said["tables"]["thresholds"]} == {None}


def test_answers_given_more_texts_than_are_shown_see_no_others(run: Run, tmp_path: Path) -> None:
    file = made.answers(tmp_path / "a.jsonl", talks=2, turns=2)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[0]["contexts"] = [
        {"document_id": f"many-{at}", "text": f"Berth {at} is kept for the {thing}."}
        for at, thing in enumerate(made.THINGS * 2)
    ]
    said = run("answers", "--data", made.lines(file, rows), *FAST)
    assert "near" in said["tables"]["not used"][1]["texts"]


def test_only_refusals_cannot_be_measured(refused: Refused, tmp_path: Path) -> None:
    file = made.answers(tmp_path / "a.jsonl", answerability="UNANSWERABLE")
    assert "has no answer to an answerable question" in refused("answers", "--data", file, *FAST)


@pytest.mark.slow
def test_a_collection_of_one_row_is_measured_or_named(run: Run, refused: Refused, tmp_path: Path) -> None:
    one = made.one_row(tmp_path / "one")

    assert run("retrieval", "--data", one, *FAST)["rows"][0]["queries"] == 1
    assert "no query without an answer" in refused("abstention", "--data", one, *FAST)
    assert "no set has two queries" in refused("judge", "--data", one, *FAST)
    assert "no target" in refused("attack", "--data", one)
    assert "no need to learn" in refused("learning", "--data", one)


@pytest.mark.parametrize("name", ["abstention", "attack", "learning", "month", "retrieval", "updates"])
def test_a_collection_without_an_answer_is_named(name: str, refused: Refused, tmp_path: Path) -> None:
    folder = made.one_row(tmp_path / "one")
    made.table(folder / "qrels.tsv", "query-id corpus-id score")
    assert "no query" in refused(name, "--data", folder)

    (folder / "qrels.tsv").unlink()
    assert "one/qrels.tsv (No such file" in refused(name, "--data", folder)
    assert "there is no folder" in refused(name, "--data", tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["attack", "learning", "month"])
def test_a_namespace_that_is_not_there_is_named(name: str, refused: Refused, tmp_path: Path) -> None:
    folder = made.chats(tmp_path / "chats")
    assert "no documents of namespace 'default'" in refused(name, "--data", folder)


def test_a_query_of_a_namespace_without_documents_is_named(refused: Refused, tmp_path: Path) -> None:
    folder = made.one_row(tmp_path / "one")
    made.lines(folder / "queries.jsonl", [{"_id": "q", "text": "Who?", "namespace": "elsewhere"}])
    assert "namespace 'elsewhere', which has no documents" in refused("retrieval", "--data", folder)


@pytest.mark.parametrize("name", ["density", "gate", "ingest"])
def test_an_empty_vault_is_named(name: str, refused: Refused, tmp_path: Path) -> None:
    folder = made.vault(tmp_path / "vault", notes=0)
    assert "has no note" in refused(name, "--vault", folder)


def test_folders_without_the_data_are_named(refused: Refused, tmp_path: Path) -> None:
    empty, notes = made.vault(tmp_path / "empty", notes=0), made.vault(tmp_path / "vault", notes=1)
    assert "has no sentences" in refused("contrast", "--data", empty)
    assert "neither retrieval" in refused("gate", "--vault", notes, "--data", empty)
    assert "leaves nothing" in refused("gate", "--vault", notes, "--no-cost")
    assert "corpus.jsonl cannot be read" in refused("density", "--xquad", empty)
    assert "give --data or --esci" in refused("judge")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the header must hold"),
        ("score_0_5\ta\tb\n", "has no pair"),
        ("score_0_5\ta\tb\nmany\tOne.\tTwo.\n", "line 2 is not score_0_5, a, b"),
        ("score_0_5\ta\tb\n4.0\tOne.\n", "line 2 is not score_0_5, a, b"),
        ("relatedness_1_5\ta\tb\n4.0\tOne.\tTwo.\n", "the header must hold"),
    ],
)
def test_a_table_of_pairs_that_is_none_is_named(
    text: str, said: str, refused: Refused, tmp_path: Path
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(text, encoding="utf-8")
    assert said in refused("pairs", "--pairs", file)


def test_products_without_a_text_cannot_be_graded(refused: Refused, tmp_path: Path) -> None:
    judgments, _ = made.esci(tmp_path)
    assert "no pair can be graded; ESCI: 6 judged pairs" in refused("judge", "--esci", judgments)
    judgments.write_text("[]", encoding="utf-8")
    assert "no JSON document with judgmentRatings" in refused("judge", "--esci", judgments)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("learned_overhead", ("--chunks", 5, "--sizes", "1000000"), "learn at most"),
        ("feedback", ("--events", 3), "a day has at least"),
        ("attack", ("--data", ".", "--people", 3), "can be attackers"),
        ("journal", ("--databases", "oracle"), "is none of"),
        ("latency", ("--chunks", "0"), "is not 1 or more"),
        ("languages", ("--sentences", "/dev/null/none"), "there is no file"),
    ],
)
def test_sizes_that_cannot_be_are_refused(
    name: str, arguments: tuple[object, ...], said: str, refused: Refused
) -> None:
    assert said in refused(name, *arguments)
