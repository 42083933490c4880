"""Embedding in this process and by workers of a Ray cluster on this machine, in alternation.

    python bench/distributed.py [--model NAME ...] [--texts N ...] [--workers N] [--rounds N]

Texts have 5 to 150 words each. ``local`` is this process with a thread per core, ``ray`` is a cluster with so
many workers that has run before and has the model; ``start`` is what it cost to come that far.
``ratio`` is ray over local: on one machine 1 is what there is to win. The vectors have to be equal.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from _report import bench, options, ratio, report

WORDS = (
    "harbour gauge tide pier morag reads the water every morning before ferry leaves and writes it down in "
    "book that nobody opens until winter when all of them are counted again by hand"
).split()


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure each model at each size."""
    parser = options(__doc__)
    parser.add_argument("--model", nargs="+", default=["wordllama-256", "bge-small-en-v1.5"])
    parser.add_argument("--texts", nargs="+", type=int, default=[200, 800])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args(argv)
    rows = [row for model in given.model for row in _measured(model, given)]
    report("distributed", rows, note=f"{given.workers} workers; median of {given.rounds} rounds")


def _measured(model: str, given: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - parsed arguments
    from slowwave.embedding import load_embedder
    from slowwave.embedding.distributed import distribute
    from slowwave.engine import open_engine
    from slowwave.settings import EmbeddingSettings
    from slowwave.settings.groups import EngineSettings

    settings, chosen = (
        EngineSettings(kind="ray", workers=given.workers, min_texts=1),
        EmbeddingSettings(model=model),
    )
    engine, own = open_engine(settings), load_embedder(chosen)
    spread = distribute(own, chosen, settings, engine)
    own.embed_query("warm")
    start = time.perf_counter()
    spread.embed_documents(_texts(64 * given.workers))
    begun = time.perf_counter() - start
    rows = []
    for count in given.texts:
        texts = _texts(count)
        took: dict[str, list[float]] = {"local": [], "ray": []}
        for _ in range(given.rounds):
            made = []
            for name, embedder in (("local", own), ("ray", spread)):
                start = time.perf_counter()
                made.append(embedder.embed_documents(texts))
                took[name].append(time.perf_counter() - start)
            assert np.array_equal(*made)
        local, ray = (statistics.median(took[name]) for name in ("local", "ray"))
        rows.append({
            "model": model, "texts": count, "start_s": round(begun, 1), "local_s": round(local, 3),
            "ray_s": round(ray, 3), "ratio": ratio(ray, local, 2),
            "ms/text local": round(1e3 * local / count, 2),
        })  # fmt: skip
    engine.close()
    return rows


def _texts(count: int) -> list[str]:
    random = np.random.default_rng(7)
    return [" ".join(random.choice(WORDS, random.integers(5, 150))) for _ in range(count)]


if __name__ == "__main__":
    main()
