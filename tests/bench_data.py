"""Small data about a harbour in the forms that benchmarks read; none was made with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

THINGS = ("crane", "ferry", "lamp", "pump", "radar", "winch", "buoy", "sluice")
FACTS = (
    "The {0} on the north pier was painted green by Ishbel in March.",
    "A spare key of the {0} hangs behind the blue tin in the harbour office.",
    "Every second Friday Magnus greases the bearing of the {0} before the tide turns.",
)
QUESTIONS = ("Who painted the {0}?", "Where is the spare key of the {0}?", "When is the {0} greased?")
Rows = Sequence[Mapping[str, Any]]


def lines(path: Path, rows: Rows) -> Path:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def table(path: Path, header: str, *rows: Sequence[object]) -> Path:
    """A table with tabs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(map(str, row)) + "\n" for row in (header.split(), *rows))
    path.write_text(text, encoding="utf-8")
    return path


def collection(folder: Path, documents: Rows, queries: Rows, qrels: Sequence[tuple[str, str, int]]) -> Path:
    """A labelled collection."""
    lines(folder / "corpus.jsonl", documents)
    lines(folder / "queries.jsonl", queries)
    table(folder / "qrels.tsv", "query-id corpus-id score", *qrels)
    return folder


def harbour(folder: Path, things: Sequence[str] = THINGS, **more: Any) -> Path:
    """Some things of a harbour, a document and three questions each."""
    documents = [
        {"_id": one, "title": one.title(), "text": " ".join(FACTS).format(one), **more} for one in things
    ]
    queries = [
        {"_id": f"{one}-{at}", "text": text.format(one), "answer": FACTS[at].format(one), **more}
        for one in things
        for at, text in enumerate(QUESTIONS)
    ]
    return collection(folder, documents, queries, [(row["_id"], row["_id"][:-2], 1) for row in queries])


def cases(folder: Path) -> Path:
    """Two people with memories, and questions of which a case says what belongs to the answer."""
    documents = [
        {"_id": "k8s", "namespace": "ada", "title": "Cluster", "text": "The cluster runs in Oslo.",
         "aliases": ["k8s"], "tags": ["code"]},
        {"_id": "pin", "namespace": "ada", "text": "Ada wants short answers.", "pinned": True},
        {"_id": "bob", "namespace": "bob", "text": "Bob sails on Sundays."},
    ]  # fmt: skip
    asked = [
        {"namespace": "ada", "text": "where is k8s?", "tags": ["code"], "only": ["k8s"]},
        {"namespace": "bob", "text": "when does Bob sail?", "only": ["bob"]},
        {"namespace": "ada", "text": "which colour has the moon?", "only": []},
        {"namespace": "nobody", "text": "who are you?", "only": []},
        {"namespace": "ada", "text": "  ", "only": []},
    ]
    lines(folder / "corpus.jsonl", documents)
    lines(folder / "cases.jsonl", asked)
    return folder


def one_row(folder: Path) -> Path:
    """A single document with a single question, in two scripts, and a judgment of what is not there."""
    document = {"_id": "only", "title": "", "text": "Die Pumpe steht still. 泵停了。 [/bold] [x]"}
    query = {"_id": "q", "text": "Steht die Pumpe?", "answer": "ja"}
    return collection(folder, [document], [query], [("q", "only", 1), ("q", "gone", 1)])


def chats(folder: Path) -> Path:
    """Two chats with a fact that changes, and a question without an answer."""
    turns = [
        {"_id": f"{chat}:{at}", "namespace": chat, "role": role, "said_at": f"March-{at}-2025", "text": text}
        for chat in ("chat1", "chat2")
        for at, (role, text) in enumerate(
            [
                ("user", f"The meeting of {chat} about the crane is on Monday at nine."),
                ("assistant", "Noted: Monday at nine, in the harbour office."),
                ("user", f"The meeting of {chat} about the crane has moved to Thursday at ten."),
            ]
        )
    ]
    queries = [
        row
        for chat in ("chat1", "chat2")
        for row in (
            {"_id": f"{chat}-when", "namespace": chat, "kind": "knowledge_update", "answer": "Thursday",
             "text": f"When is the meeting of {chat} about the crane?", "outdated": [f"{chat}:0"],
             "updated": [f"{chat}:2"]},
            {"_id": f"{chat}-none", "namespace": chat, "kind": "abstention", "answerable": False,
             "text": "Which colour has the bishop's bicycle?", "outdated": [], "updated": []},
        )
    ]  # fmt: skip
    return collection(
        folder, turns, queries, [(f"{chat}-when", f"{chat}:2", 1) for chat in ("chat1", "chat2")]
    )


def vault(folder: Path, notes: int = 4) -> Path:
    """Notes of Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    for thing in THINGS[:notes]:
        text = f"---\ntags: [{thing}]\n---\n# The {thing}\n\n" + "\n\n".join(FACTS).format(thing) + "\n"
        (folder / f"{thing}.md").write_text(text, encoding="utf-8")
    return folder


def answers(path: Path, *, answerability: str = "ANSWERABLE", talks: int = 3, turns: int = 2) -> Path:
    """Answers of conversations with the passages that they were given."""
    rows = [
        {
            "task_id": f"talk{talk}<::>{turn + 1}", "question": QUESTIONS[turn].format(THINGS[talk]),
            "response": FACTS[turn].format(THINGS[talk]), "answerability": [answerability],
            "human": {"faithfulness": [4, 3, 4]},
            "contexts": [
                {"document_id": f"{THINGS[talk]}-{turn}", "title": f"{THINGS[talk]} {turn}",
                 "text": FACTS[turn].format(THINGS[talk])}
            ],
        }
        for talk in range(talks)
        for turn in range(turns)
    ]  # fmt: skip
    return lines(path, rows)


def esci(folder: Path) -> tuple[Path, Path]:
    """Judgments of products, and the texts of some of them."""
    ratings = [
        {"docId": f"{thing}", "rating": gain}
        for thing, gain in zip(THINGS, ("100.0", "10.0", "0.0"), strict=False)
    ]
    queries = [{"query": f"{thing} for a harbour", "ratings": ratings} for thing in THINGS[:2]]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "judgments.json"
    file.write_text(json.dumps({"judgmentRatings": queries}), encoding="utf-8")
    products = [{"product_id": thing, "product_title": f"A {thing}"} for thing in THINGS[:2]]
    return file, lines(folder / "products.jsonl", products)


def pairs(folder: Path) -> list[Path]:
    """Tables of labelled pairs in the three forms."""
    return [
        table(folder / "kinds.tsv", "label category a b",
              ("contradiction", "colours", "The crane is green.", "The crane is red."),
              ("entailment", "same", "The crane is green.", "the crane is green.")),
        table(folder / "related.tsv", "label relatedness_1_5 a b",
              ("NEUTRAL", 3.5, "A lamp burns.", "A lamp hangs there."),
              ("ENTAILMENT", 4.9, "A lamp burns.", "A lamp is burning.")),
        table(folder / "scored.tsv", "score_0_5 a b", (5.0, "A ferry sails.", "The ferry sails."),
              (0.5, "A ferry sails.", "Ishbel eats soup.")),
    ]  # fmt: skip


def shared(folder: Path) -> Path:
    """A folder with the parts that the gate and the contrast pairs are measured on."""
    harbour(folder / "retrieval" / "xquad", THINGS[:3])
    chats(folder / "retrieval" / "beam_dev")
    table(folder / "pairs" / "stsb.tsv", "score_0_5 a b", (4.0, "A ferry sails at nine.", "A ferry left."))
    return folder
