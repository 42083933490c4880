"""Cost of the bundled embedding model, beside fastembed with the same files.

    python bench/embedding.py [--questions 100] [--documents 100]

Each run is a process of its own. ``start_ms`` is the CPU until the first question has its vector;
then questions one at a time (``p50_ms``, ``p95_ms``, and CPU each in ``cpu_ms``); then documents of 20 to 150
words at once (``per_s``, and CPU each in ``doc_ms``). ``beside`` are processes that do
nothing but count, as many as there are cores. Ratios are over fastembed with its threads (one per core) in
the same company: of the question's p50, the documents' rate, and the CPU of all.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from _processes import child, peak_mb
from _report import bench, options, positive, ratio, report, spread

RUNS = ("fastembed", "fastembed, 1 thread", "slowwave", "slowwave, 1 thread")
WORDS = (
    "the harbour gauge was moved to northern quay after storm and battery lasts eleven weeks in winter so we "
    "deploy new version on thursday afternoon when nobody is at sea because last backup took two hours longer"
).split()

Embed = Callable[[Sequence[str]], Any]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure each run alone and in company."""
    parser = options(__doc__)
    parser.add_argument("--questions", type=positive, default=100, help="questions, one at a time")
    parser.add_argument("--documents", type=positive, default=100, help="documents, all at once")
    parser.add_argument("--run", choices=RUNS, help="measure this one in this process, and nothing else")
    arguments = parser.parse_args(argv)
    if arguments.run:
        print(json.dumps(_measure(arguments.run, arguments.questions, arguments.documents)))
        return
    from slowwave.embedding.parallel import core_count

    rows: list[dict[str, Any]] = []
    for others in (0, core_count()):
        with _busy(others):
            for name in RUNS:
                print(f"{name}, {others} beside ...", file=sys.stderr)
                row = child(
                    __file__, "--run", name,
                    "--questions", arguments.questions, "--documents", arguments.documents,
                )  # fmt: skip
                rows.append({"run": name, "beside": others, **row})
    for row in rows:
        first = next(one for one in rows if one["beside"] == row["beside"])
        row["question"] = ratio(row["p50_ms"], first["p50_ms"], 2)
        row["documents"] = ratio(row["per_s"], first["per_s"], 2)
        row["cpu"] = ratio(row["cpu_s"], first["cpu_s"], 2)
    report("embedding", rows, note="question, documents, cpu: over fastembed")


def _measure(name: str, questions: int, documents: int) -> dict[str, Any]:
    kind, _, one = name.partition(", ")
    question, many = (_fastembed if kind == "fastembed" else _slowwave)(1 if one else 0)
    question(["on which day do we deploy"])
    start = time.process_time()
    draw = np.random.default_rng(7)
    times = []
    for text in _texts(draw, questions, 5, 15):
        begin = time.perf_counter()
        question([text])
        times.append((time.perf_counter() - begin) * 1e3)
    asked = time.process_time()
    texts = _texts(draw, documents, 20, 150)
    begin = time.perf_counter()
    many(texts)
    seconds = time.perf_counter() - begin
    return {
        "start_ms": round(start * 1e3),
        **spread(times),
        "cpu_ms": round((asked - start) / questions * 1e3, 2),
        "per_s": round(documents / seconds, 1),
        "doc_ms": round((time.process_time() - asked) / documents * 1e3, 2),
        "cpu_s": round(time.process_time(), 2),
        "peak_mb": peak_mb(),
    }


def _slowwave(threads: int) -> tuple[Embed, Embed]:
    from slowwave.embedding import load_embedder
    from slowwave.settings import EmbeddingSettings

    embedder = load_embedder(EmbeddingSettings(threads=threads))
    return lambda texts: embedder.embed_query(texts[0]), embedder.embed_documents


def _fastembed(threads: int) -> tuple[Embed, Embed]:
    import os

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    from slowwave.embedding.bundled import _bundled_folder

    if not any(known["model"] == "bundled/bge" for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model="bundled/bge", pooling=PoolingType.CLS, normalization=True,
            sources=ModelSource(url="local://bundled"), dim=384, model_file="model.onnx",
        )  # fmt: skip
    model = TextEmbedding(
        "bundled/bge", specific_model_path=str(_bundled_folder()), threads=threads or os.cpu_count()
    )
    prefix = "Represent this sentence for searching relevant passages: "
    return (
        lambda texts: list(model.embed([prefix + text for text in texts])),
        lambda texts: list(model.embed(sorted(texts, key=len), batch_size=1)),
    )


def _texts(draw: np.random.Generator, count: int, least: int, most: int) -> list[str]:
    return [" ".join(draw.choice(WORDS, size)) for size in draw.integers(least, most + 1, count)]


@contextmanager
def _busy(count: int) -> Iterator[None]:
    others = [multiprocessing.Process(target=_count, daemon=True) for _ in range(count)]
    for one in others:
        one.start()
    try:
        yield
    finally:
        for one in others:
            one.terminate()
            one.join()


def _count() -> None:
    while True:
        pass


if __name__ == "__main__":
    main()
