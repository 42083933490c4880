"""Answers with the texts that were returned for them, labelled as far as possible."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _data import lines, space_of

from slowwave.embedding import Embedder
from slowwave.memory import Memory
from slowwave.scoring.ranking.words import words
from slowwave.tuning import Collection

SHOWN = 10
FAITHFUL = 3.0  # least median of the marks, 1 to 4
QUOTED_WORDS = 7
SAME_TEXT = 0.4  # share of the words of two passages that both have, from which they may say the same
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_PLACE = re.compile(r"-\d+-\d+$")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text beside an answer.

    Attributes:
        kind: ``given``, or one that the answer cannot have used: ``near``, ``later`` or ``random``.
        only: nothing else was given.
        quoted: seven words in a row of the answer are from here and from no other text given.
    """

    text: str
    kind: str
    only: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """An answer to a query and the texts beside it; `group` is the conversation that it is of."""

    group: str
    query: str
    response: str
    shown: tuple[Shown, ...]
    refused: bool = False


class Answers:
    """Answers of conversations with the passages that they were given and what people said of them."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._rows = lines(path, "task_id", "question", "response", "contexts", "answerability", "human")
        self._passages: dict[str, dict[str, str]] = {}
        self._first: dict[tuple[str, str], int] = {}  # turn at which a conversation was given a passage
        for row in self._rows:
            talk, turn = _turn(row)
            for passage in row["contexts"]:
                name = passage["document_id"]
                self._passages[name] = passage
                self._first[talk, name] = min(turn, self._first.get((talk, name), turn))
        texts = {name: passage["text"] for name, passage in self._passages.items()}
        self._words = {name: frozenset(words(text)) for name, text in texts.items()}
        self._runs = {name: _runs(text) for name, text in texts.items()}
        self._vectors = dict(zip(texts, embedder.embed_documents(list(texts.values())), strict=True))
        self._embedder = embedder

    def cases(self) -> Iterator[Case]:
        """Answers of which it is known what they were given and that they kept to it, and refusals."""
        sample = random.Random(0)
        for row in self._rows:
            refused = row["answerability"] == ["UNANSWERABLE"]
            marks = row["human"].get("faithfulness") or [0.0]  # nobody said that it kept to its texts
            faithful = float(np.median(marks)) >= FAITHFUL
            if refused or (faithful and row["answerability"] == ["ANSWERABLE"]):
                shown = (*self._given(row), *self._unseen(row, sample))
                yield Case(_turn(row)[0], row["question"], row["response"], shown, refused)

    def _given(self, row: Mapping[str, Any]) -> Iterator[Shown]:
        names = [passage["document_id"] for passage in row["contexts"]]
        said = _runs(row["response"]) - _runs(row["question"])
        for name in names:
            others = set[str]().union(*(self._runs[other] for other in names if other != name))
            quoted = not (said & self._runs[name]) <= others
            yield Shown(self._passages[name]["text"], "given", len(names) == 1, quoted)

    def _unseen(self, row: Mapping[str, Any], sample: random.Random) -> Iterator[Shown]:
        talk, turn = _turn(row)
        given = [passage["document_id"] for passage in row["contexts"]]
        unseen = [name for name in self._passages if self._first.get((talk, name), turn + 1) > turn]
        unseen = [name for name in unseen if all(self._differ(name, one) for one in given)]
        asked = self._embedder.embed_query(row["question"])
        places = max(0, SHOWN - len(given))
        near = sorted(unseen, key=lambda name: -float(self._vectors[name] @ asked))[:places]
        others = [name for name in unseen if (talk, name) not in self._first]
        chosen = {
            "near": near,
            "later": [name for name in unseen if (talk, name) in self._first],
            "random": sample.sample(others, min(SHOWN, len(others))),
        }
        for kind, names in chosen.items():
            yield from (Shown(self._passages[name]["text"], kind) for name in names)

    def _differ(self, one: str, other: str) -> bool:
        """Whether two passages are of different documents and say different things."""
        titles = {self._passages[name].get("title", "") for name in (one, other)}
        if _PLACE.sub("", one) == _PLACE.sub("", other) or (len(titles) == 1 and "" not in titles):
            return False
        mine, its = self._words[one], self._words[other]
        return len(mine & its) < SAME_TEXT * len(mine | its)


def searched(collection: Collection, spaces: Mapping[str, Memory], most: int) -> list[Case]:
    """Queries of a collection that have an answer, answered with it, and what a search shows for them."""
    queries = [query for query in collection.answerable() if query.get("answer")]
    if len(queries) > most:
        queries = random.Random(0).sample(queries, most)
    found = []
    for query in queries:
        results = spaces[space_of(query)].search(query["text"], limit=SHOWN)
        grades = collection.qrels[query["_id"]]
        shown = tuple(
            Shown(one.text, "given" if grades.get(one.source, 0) > 0 else "near") for one in results
        )
        found.append(Case(query["_id"], query["text"], str(query["answer"]), shown))
    return found


def short_cases(path: Path) -> Iterator[Case]:
    """Short answers with the memories shown; `group` is the part of the set and the kind of the answer."""
    for row in lines(path, "part", "kind", "question", "answer", "shown", "used"):
        shown = tuple(
            Shown(text, "given" if at in row["used"] else "near") for at, text in enumerate(row["shown"])
        )
        yield Case(f"{row['part']}: {row['kind']}", row["question"], row["answer"], shown)


def sentences(cases: Iterable[Case]) -> list[Case]:
    """The same answers beside the single sentences of the `near` passages, which they cannot have used."""
    return [
        replace(
            case,
            shown=tuple(
                Shown(part, "near")
                for one in case.shown
                if one.kind == "near"
                for part in _SENTENCE_END.split(one.text)
                if part.strip()
            ),
        )
        for case in cases
    ]


def _turn(row: Mapping[str, Any]) -> tuple[str, int]:
    talk, _, turn = row["task_id"].partition("<::>")
    return talk, int(turn or 0)


def _runs(text: str) -> set[str]:
    said: Sequence[str] = words(text)
    return {" ".join(said[at : at + QUOTED_WORDS]) for at in range(len(said) - QUOTED_WORDS + 1)}
