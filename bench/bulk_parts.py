"""CPU of `save_many` by part, vectors given, in the texts of `peers.py`.

    python bench/bulk_parts.py --texts 5000 [--rounds 3]

One process saves made-up texts of 90 words, 2,000 a call, into a fresh home, as the ``bulk`` measure of
`peers.py` does. A part is timed by wrapping its functions with the CPU clock of the process, so work of other
threads counts; ``inside`` names the part that it belongs to, so the rows are no sum. ``us`` is microseconds
of CPU a text, the least of the rounds. The two clocks of a call add about 1 us to each part.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from _part_timer import Parts, time_parts
from _peers import made_up
from _report import bench, options, positive, report

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from of_slowwave import Slowwave
from serving import read

from slowwave.home.open_home import OpenHome
from slowwave.journal import Journal, entry_builders
from slowwave.lifecycle import ingest_pipeline, write_path
from slowwave.lifecycle.admission import apply
from slowwave.lifecycle.admission.context_loader import ContextLoader
from slowwave.notes import arguments
from slowwave.quality import content, gate
from slowwave.quality.density import counts
from slowwave.quality.density import parts as density
from slowwave.store import Store, staging

DIMENSION = 384
WARM_UP = 200
PARTS: Parts = {
    "arguments": ("save", ((arguments, "note_of"),)),
    "events": ("save", ((entry_builders, "save_entry"),)),
    "journal append": ("save", ((Journal, "append_next"),)),
    "staging": ("save", ((staging, "stage"),)),
    "gate": ("save", ((write_path, "judge"),)),
    "content score": ("gate", ((gate, "score_notes"),)),
    "density": ("content score", ((content, "signal_densities"),)),
    "counts": ("density", ((counts, "count_block"),)),
    "kinds of words": ("counts", ((counts, "kinds_of"),)),
    "novelty": ("density", ((density, "novelty_of"),)),
    "vocabulary": ("density", ((density, "vocabulary_of"), (density, "breadth_of"))),
    "spelling": ("density", ((density, "spelling_of"),)),
    "syntax": ("density", ((density, "syntax_of"),)),
    "passages": (
        "density",
        tuple((density, f"{name}_of") for name in ("encoding", "prose", "substance", "menu", "licence")),
    ),
    "statement": ("content score", ((content, "states_something"),)),
    "junk": ("gate", ((gate, "find_junk"),)),
    "structure": ("gate", ((gate, "faults_of"),)),
    "cut": ("save", ((ingest_pipeline, "cut"),)),
    "embed": ("save", ((ingest_pipeline, "embed"),)),
    "admission": ("save", ((write_path, "admit_batch"),)),
    "neighbours": ("admission", ((ContextLoader, "neighbours"),)),
    "records": ("admission", ((apply, "_events_of"),)),
    "decisions": ("admission", ((apply, "admit"),)),
    "rows": ("admission", ((apply, "carry_out"),)),
    "upserts": ("rows", ((Store, "upsert"),)),
    "commits": ("save", ((Store, "settle"),)),
    "upkeep": ("save", ((OpenHome, "keep_fresh"),)),
}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure a few times."""
    parser = options(__doc__)
    parser.add_argument("--texts", type=positive, default=5_000, help="texts of a round")
    parser.add_argument("--rounds", type=positive, default=3, help="fresh homes")
    arguments_ = parser.parse_args(argv)
    size = arguments_.texts
    least: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        made_up(corpus, {"docs": size, "more": WARM_UP}, 1, DIMENSION)
        for number in range(arguments_.rounds):
            spent = _round(corpus, Path(folder) / f"home{number}")
            least = {name: min(took, least.get(name, took)) for name, took in spent.items()}
    rows = [
        {"part": name, "inside": PARTS[name][0] if name in PARTS else "", "us": round(took / size * 1e6, 1)}
        for name, took in least.items()
    ]
    report("bulk_parts", rows, note=f"CPU a text of {size:,}; least of {arguments_.rounds} rounds")


def _round(corpus: Path, home: Path) -> dict[str, float]:
    """Seconds of CPU of a whole filling, and of its parts."""
    peer = Slowwave()
    peer.open(home, DIMENSION)
    try:
        for name in ("docs", "more"):
            peer.given |= {text: vector for _, text, vector in read(str(corpus), name)}
        peer.add(read(str(corpus), "more"))
        rows = list(read(str(corpus), "docs"))
        with time_parts(PARTS, time.process_time) as spent:
            wall, start = time.perf_counter(), time.process_time()
            peer.add(iter(rows))
            whole = {"save": time.process_time() - start, "wall": time.perf_counter() - wall}
        return {**whole, **{name: spent.get(name, 0.0) for name in PARTS}}
    finally:
        peer.close()


if __name__ == "__main__":
    main()
