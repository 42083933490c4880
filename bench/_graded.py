"""Query-document pairs with human grades, for measuring judges."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _data import labelled, lines
from _report import UnusableError
from rich.progress import track

from slowwave.embedding.reranking import load_reranker
from slowwave.evaluation.judging.default_judge import Signal, WordsAndModel
from slowwave.evaluation.judging.model import Pair
from slowwave.scoring.ranking import rank
from slowwave.tuning import ask, opened
from slowwave.tuning.fit import AS_OF

SEED = 0
SHOWN = 10
ESCI = {100.0: 3, 10.0: 2, 1.0: 1, 0.0: 0}
"""Gains of Exact, Substitute, Complement and Irrelevant as they are in the file, and our grades."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A pair and what people said of it.

    Attributes:
        half: 0 or 1; the pairs of a query are in one half.
        grade: of people, 0 to 3; 3 for relevant where they only said yes or no.
        judged: whether it is in the collection's judgments; else it is taken for not relevant.
        shown: whether it is among the first results of a search.
        cosine: of the best chunk with the query; 0 where it is not among the candidates.
    """

    collection: str
    query_id: str
    half: int
    pair: Pair
    grade: int
    judged: bool
    shown: bool
    cosine: float


def of_collection(folder: Path, model: str, cache: Path | None, most: int) -> list[Graded]:
    """The first results of some queries of a collection in BEIR form, and every pair that was judged."""
    collection = labelled(folder)
    queries = collection.answerable()
    if len(queries) > most:
        queries = random.Random(SEED).sample(queries, most)
    texts = {document["_id"]: document for document in collection.documents}
    highest = max(grade for row in collection.qrels.values() for grade in row.values())
    found: list[Graded] = []
    with opened(collection, model, cache=cache) as spaces:
        policy = next(iter(spaces.values())).policy
        for at, (query, one) in enumerate(zip(queries, ask(spaces, queries), strict=True)):
            ranking = rank(one.candidates, policy, as_of=AS_OF, limit=SHOWN)
            shown = [one.documents[result.memory_id] for result in ranking.results]
            judged = collection.qrels[query["_id"]]
            cosines: dict[str, float] = {}
            for memory, cosine in zip(one.candidates.memory_ids, one.candidates.cosine, strict=True):
                document = one.documents[memory]
                cosines[document] = max(cosines.get(document, 0.0), float(np.nan_to_num(cosine)))
            for document in dict.fromkeys([*shown, *(name for name in judged if name in texts)]):
                grade = judged.get(document, 0)
                text = texts[document]
                found.append(
                    Graded(
                        collection.name, query["_id"], at % 2,
                        Pair(query["text"], text.get("title") or text.get("speaker") or "", text["text"]),
                        3 if highest == 1 and grade else grade,
                        document in judged, document in shown, cosines.get(document, 0.0),
                    )
                )  # fmt: skip
    return found


def of_esci(file: Path, products: Path | None, most: int) -> tuple[list[Graded], int]:
    """Pairs of query and product with the ESCI grades, and how many pairs have no product text here.

    Args:
        file: judgments as the Search Relevance Workbench imports them: ids and gains, no texts.
        products: JSON lines with ``product_id``, ``product_title`` and perhaps ``product_description``.
        most: at most so many pairs.
    """
    texts: dict[str, Mapping[str, Any]] = {}
    if products is not None:
        texts = {row["product_id"]: row for row in lines(products, "product_id", "product_title")}
    found, lacking = list[Graded](), 0
    try:
        queries = json.loads(file.read_text(encoding="utf-8"))["judgmentRatings"]
    except (ValueError, KeyError, TypeError):
        raise UnusableError(f"{file} is no JSON document with judgmentRatings") from None
    for at, query in enumerate(queries):
        for row in query["ratings"]:
            text = texts.get(row["docId"])
            if text is None:
                lacking += 1
                continue
            pair = Pair(query["query"], text["product_title"], text.get("product_description") or "")
            gain = float(row["rating"])
            if gain not in ESCI:
                raise UnusableError(f"{file}: {gain} is none of the gains {list(ESCI)}")
            grade = ESCI[gain]
            found.append(Graded("esci", query["query"], at % 2, pair, grade, True, True, 0.0))
    return (found if len(found) <= most else random.Random(SEED).sample(found, most)), lacking


def signals(pairs: Sequence[Graded], cache: Path | None) -> list[Signal]:
    """What the default judge sees of each pair; kept in a file of the cache folder if one is given."""
    file = None if cache is None else cache / "judge-signals.json"
    known: dict[str, list[float]] = {}
    if file is not None and file.exists():
        known = json.loads(file.read_text())
    judge = WordsAndModel(load_reranker())
    seen = []
    for at, one in enumerate(track(pairs, description="cross-encoder")):
        key = f"{judge.model} {one.pair.query} {one.pair.text_hash}"
        if key not in known:
            signal = judge.signal(one.pair)
            known[key] = [signal.relevance, signal.words]
        seen.append(Signal(*known[key]))
        if file is not None and (at % 200 == 199 or at + 1 == len(pairs)):
            file.write_text(json.dumps(known))
    return seen
