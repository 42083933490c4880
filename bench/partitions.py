"""Cost and recall by number of partitions of a large namespace's vectors.

    python bench/partitions.py [--chunks 50000,200000] [--per-root 4,8,16] [--data FOLDER]

Vectors are those of `scale.py`, questions are words that follow one another in its texts. ``probes`` is what
the night would choose for `--recall`, ``of`` questions that it makes up or of `--asked` others in words;
``needed`` is what these questions need for it, and ``recall@10`` what they find with ``probes``. ``rows`` are
compared for each question. ``visit_ms`` is a question, from its vector to the products, in CPU time, and
``exact_ms`` the same of every row. ``built_s`` is the CPU time of making the partitions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from _report import bench, existing_folder, numbers, options, positive, report
from _scale_home import MODEL, Source

from slowwave.common.progress import task
from slowwave.embedding import load_embedder
from slowwave.index.partitioned_vectors import PartitionedVectors
from slowwave.index.partitions import Partitions, parted
from slowwave.settings import EmbeddingSettings

NEAREST, AT_ONCE = 10, 16_384


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Part, ask and count."""
    parser = options(__doc__)
    parser.add_argument("--chunks", type=numbers, default="50000,200000", help="sizes, in chunks")
    parser.add_argument(
        "--per-root", type=numbers, default="4,8,16", help="partitions by the root of the rows"
    )
    parser.add_argument("--recall", type=float, default=0.99, help="wanted: store.vector_index_recall")
    parser.add_argument("--questions", type=positive, default=200, help="that are measured with")
    parser.add_argument("--asked", type=positive, default=384, help="others, of which the night may choose")
    parser.add_argument("--data", type=existing_folder, help="folder of notes and collections")
    arguments = parser.parse_args(argv)
    source = Source.of(arguments.data)
    embedder = load_embedder(EmbeddingSettings(model=MODEL))
    questions, others = (
        np.array([embedder.embed_query(one) for one in asked], np.float32)
        for asked in (source.queries(arguments.questions), source.others(arguments.asked))
    )
    chosen_of = {"made up": None, "asked": others}
    rows = []
    with task("parting", len(arguments.chunks) * len(arguments.per_root) * len(chosen_of)) as advance:
        for chunks in arguments.chunks:
            vectors = source.vectors_of(chunks)
            nearest = true_neighbours(vectors, questions)
            exact = cpu_ms(PartitionedVectors(vectors).times, questions)
            for each in arguments.per_root:
                count = max(1, int(each * np.sqrt(chunks)))
                for of, asked in chosen_of.items():
                    row = measured(vectors, questions, nearest, count, arguments.recall, asked)
                    rows.append({"chunks": chunks, "per_root": each, "of": of, **row, "exact_ms": exact})
                    advance(1)
    report("partitions", rows, note=f"wanted recall {arguments.recall}; CPU time")


def measured(
    vectors: np.ndarray,
    questions: np.ndarray,
    nearest: np.ndarray,
    count: int,
    wanted: float,
    asked: np.ndarray | None,
) -> dict[str, Any]:
    """About so many partitions."""
    start = time.process_time()
    parts = parted(vectors, wanted, count=count, asked=asked)
    built = time.process_time() - start
    there, passing = (
        PartitionedVectors(vectors[parts.order], partitions=parts),
        np.ones(len(vectors), dtype=np.bool_),
    )
    ranks = ranks_of(parts, questions, nearest)
    visited = [len(there.visited(one, passing, NEAREST)[0]) for one in questions]
    return {
        "partitions": len(parts.centres),
        "built_s": round(built, 1),
        "probes": parts.probes,
        "needed": int(np.sort(ranks.ravel())[int(np.ceil(wanted * ranks.size)) - 1]) + 1,
        "recall@10": round(float(np.mean(ranks < parts.probes)), 4),
        "rows": int(np.mean(visited)),
        "visit_ms": cpu_ms(lambda one: there.visited(one, passing, NEAREST), questions),
    }


def true_neighbours(vectors: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """Rows of the nearest of each question, (questions, at most `NEAREST`), by exact search."""
    found = [np.empty((len(questions), 0), np.int64), np.empty((len(questions), 0), np.float32)]
    for at in range(0, len(vectors), AT_ONCE):
        near = questions @ vectors[at : at + AT_ONCE].T
        rows = np.broadcast_to(np.arange(at, at + near.shape[1]), near.shape)
        names, products = np.concatenate([found[0], rows], axis=1), np.concatenate([found[1], near], axis=1)
        best = np.argsort(-products, axis=1, kind="stable")[:, :NEAREST]
        found = [np.take_along_axis(names, best, 1), np.take_along_axis(products, best, 1)]
    return found[0]


def ranks_of(parts: Partitions, questions: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """The place of the partition of each neighbour among those nearest to its question, from 0 on."""
    mine = np.repeat(np.arange(len(parts.centres)), np.diff(parts.starts))[parts.place[nearest]]
    place = np.argsort(np.argsort(-(questions @ parts.centres.T), axis=1, kind="stable"), axis=1)
    return np.take_along_axis(place, mine, 1)


def cpu_ms(act: Callable[[np.ndarray], object], questions: np.ndarray) -> float:
    """Of one question, the median."""
    taken = []
    for one in questions:
        start = time.process_time()
        act(one)
        taken.append(1_000 * (time.process_time() - start))
    return round(float(np.median(taken)), 2)


if __name__ == "__main__":
    main()
