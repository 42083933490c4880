"""Slowwave beside alternatives, in one run: the same texts, queries and vectors for all.

    python bench/peers.py [--chunks 1000] [--measures search,save] [--peers slowwave,lancedb]
    python bench/peers.py --measures quality --data FOLDER [FOLDER ...] [--cut] --cache FOLDER
    python bench/peers.py --chunks 5000,50000,200000 --searches 200 --before 10000 --one-by-one 5000 \
        --seconds 30 --rest 31 --patience 1800                 # the long one

A peer is a process in an environment of its own, made under --environments with the versions of
`bench/_peers.py`, behind a driver in `bench/peers/` that does what its pages show. Times are taken inside
these processes. The peers take turns in every round; a ratio is the median over the rounds of the quotient of
two medians, `low` and `high` are the lowest and the highest round (of six rounds or more they hold the true
median in 97 of 100 cases). What failed is in the table "not measured", with the reason; `failed` counts
single searches. Chroma's local form, and mem0 as it is installed, search vectors alone, and basic-memory,
which takes no vectors, words alone; others both. It runs on Python 3.12, which has to be on the PATH.

search    the vector is given; texts of 90 words of Zipf's law, queries of six words of one of them
embedded  those searches and the time of embedding their queries, which is measured within other searches of
          Slowwave in the same round; `within` are these, whole
save      one text more, the vector given, found and on disk at its end; Slowwave after --before searches
bulk      all texts at once, on disk at its end; `index_s` are the indexes that are made after them
disk      after that, and after --one-by-one texts saved singly, then also tidied (Slowwave: by what its night
          does to these tables, without what else a night leaves)
beside    searches while another process saves once a second, where two processes can have a folder open
cold      a process from its start to its first answer; `command` is `slowwave search` with its model
quality   nDCG@10 of --data, whole documents for the peers, or with --cut the chunks that Slowwave makes
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from _peers import OURS, PINS, PeerError, Running, environment, made_up, megabytes, processor_seconds
from _peers_quality import qualities
from _report import UnusableError, bench, existing_folder, numbers, options, positive, ratio, reports, spread

from slowwave.embedding import load_embedder
from slowwave.settings import EmbeddingSettings

MEASURES = ("search", "embedded", "save", "bulk", "disk", "beside", "cold", "quality")
OTHER = "lancedb"  # the second peer that the others are compared with
WITHIN = f"{OURS}, within"
WARM_UP = 20
NAMESPACE = "bench"
Tables = dict[str, list[dict[str, Any]]]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure what was asked for, size by size."""
    parser = _parser()
    given = parser.parse_args(argv)
    given.versions = {}
    if "quality" in given.measures and not given.data:
        given.measures.remove("quality")
    tables: Tables = {}
    faults: list[dict[str, Any]] = []
    pythons = _pythons(given, faults)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        given.dimension = load_embedder(EmbeddingSettings(model=given.model)).dimension
        if set(given.measures) - {"quality"}:
            for size in given.chunks:
                _of_size(given, Path(folder) / str(size), size, pythons, tables, faults)
            if "disk" in given.measures and given.one_by_one:
                _one_by_one(given, Path(folder) / "singly", pythons, tables, faults)
        if "quality" in given.measures:
            tables["quality"] = qualities(given, Path(folder), pythons, faults)
    if faults:
        tables["not measured"] = faults
    if not any(tables.values()):
        raise UnusableError("there is nothing to measure: quality wants --data, the rest --chunks and peers")
    versions = ", ".join(f"{name} {version}" for name, version in given.versions.items())
    note = f"{given.model}; {versions}"
    reports("peers", {title: (rows, note) for title, rows in tables.items() if rows})


def _parser() -> argparse.ArgumentParser:
    parser = options(__doc__)
    add = parser.add_argument
    add("--chunks", type=numbers, default="1000", help="sizes of the corpus")
    add("--measures", type=_some(MEASURES), default=list(MEASURES), help=f"of {','.join(MEASURES)}")
    add("--peers", type=_some(PINS), default=list(PINS), help=f"of {','.join(PINS)}")
    add("--rounds", type=positive, default=6)
    add("--searches", type=positive, default=20, help="of each peer in a round")
    add("--saves", type=positive, default=3, help="of each peer in a round")
    add("--before", type=int, default=0, help="searches of Slowwave before its saves")
    add("--seconds", type=positive, default=5, help="of searches beside saves")
    add("--starts", type=positive, default=3, help="of cold processes")
    add("--one-by-one", type=int, default=0, help="texts saved singly, for their disk; 0: none")
    add(
        "--rest",
        type=float,
        default=0,
        help="seconds before these are tidied: Slowwave keeps versions for 30",
    )
    add("--patience", type=float, default=900, help="seconds for one filling, and for the saves of one peer")
    add("--data", type=existing_folder, nargs="+", help="collections in BEIR form")
    add("--cut", action="store_true", help="give the peers Slowwave's chunks of the documents")
    add("--queries", type=positive, default=100_000, help="at most so many per collection")
    add("--cache", type=Path, help="keep the vectors and homes of collections here, for the next time")
    add("--model", default="bge-small-en-v1.5", help="embedding model")
    add("--environments", type=Path, default=Path(".peers"), help="where the peers' environments are")
    add("--here", action="store_true", help="run every peer in this environment instead")
    add(
        "--folder", type=existing_folder, help="where the peers keep their data; else where the system has it"
    )
    return parser


def _some(names: Sequence[str] | Mapping[str, object]) -> Callable[[str], list[str]]:
    def chosen(text: str) -> list[str]:
        if unknown := set(text.split(",")) - set(names):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not of {', '.join(names)}")
        return [name for name in names if name in text.split(",")]

    return chosen


def _pythons(given: argparse.Namespace, faults: list[dict[str, Any]]) -> dict[str, str]:
    """What runs each peer that can be run."""
    found = {}
    for name in given.peers:
        try:
            own = name != OURS and not given.here
            found[name] = environment(given.environments.absolute(), name) if own else sys.executable
        except PeerError as error:
            faults.append({"peer": name, "of": "", "measure": "all", "why": str(error)})
    return found


@dataclass
class Stage:
    """The peers on one corpus, as many as are there: one that fails is noted and leaves."""

    given: argparse.Namespace
    folder: Path
    pythons: Mapping[str, str]
    faults: list[dict[str, Any]]
    of: object = ""
    peers: dict[str, Running] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)

    def process(self, name: str) -> Running:
        """A process of a peer, with its folder open."""
        peer = Running(name, self.pythons[name], self.folder / name, self.given.model)
        try:
            opened = peer.ask("open", folder=str(peer.folder), dimension=self.given.dimension)
        except PeerError:
            peer.end()
            raise
        self.alone[name] = opened["alone"]
        self.given.versions[name] = opened["version"]
        return peer

    def begin(self) -> None:
        """Start all."""
        for name in self.pythons:
            self.guard(name, "open", lambda name=name: self.peers.update({name: self.process(name)}))

    def guard(self, name: str, measure: str, do: Callable[[], Any]) -> Any:  # noqa: ANN401
        """What is done with a peer; None where it fails, which is noted."""
        print(f"{self.of}: {measure}: {name} ...", file=sys.stderr)
        try:
            return do()
        except PeerError as error:
            self.note(name, measure, str(error))
            if name in self.peers:
                self.peers.pop(name).end()
            return None

    def note(self, name: str, measure: str, why: str) -> None:
        """Something was not measured."""
        self.faults.append({"peer": name, "of": self.of, "measure": measure, "why": why})

    def ask(self, name: str, measure: str, do: str, **call: object) -> Any:  # noqa: ANN401
        """The answer of a peer, None where it fails."""
        call = {"corpus": str(self.folder / "corpus"), **call}
        return self.guard(name, measure, lambda: self.peers[name].ask(do, **call))

    def rounds(
        self,
        measure: str,
        do: str,
        call: Callable[[int], Mapping[str, object]],
        more: Mapping[str, tuple[str, Mapping[str, object]]] | None = None,
    ) -> dict[str, list[dict[str, Any]]]:
        """The answers of every peer in every round; each round begins with another one.

        Args:
            measure: name of it.
            do: what is asked.
            call: its arguments in a round.
            more: what is asked beside: its name, the peer, and arguments of its own.
        """
        runs: dict[str, tuple[str, Mapping[str, object]]] = {name: (name, {}) for name in self.peers}
        runs |= more or {}
        heard: dict[str, list[dict[str, Any]]] = {run: [] for run in runs}
        for number in range(self.given.rounds):
            turn = number % len(runs) if runs else 0
            for run in [*list(runs)[turn:], *list(runs)[:turn]]:
                name, own = runs[run]
                if name in self.peers:
                    answer = self.ask(name, measure, do, **call(number), **own)
                    heard[run] += [answer] if answer and answer["times"] else []
        return {run: answers for run, answers in heard.items() if len(answers) == self.given.rounds}

    def end(self) -> None:
        """End all."""
        while self.peers:
            self.peers.popitem()[1].end()


def _of_size(
    given: argparse.Namespace,
    folder: Path,
    size: int,
    pythons: Mapping[str, str],
    tables: Tables,
    faults: list[dict[str, Any]],
) -> None:
    more = given.rounds * given.saves + given.seconds
    asked = max(WARM_UP + given.rounds * given.searches, min(given.before, 1_000))
    made_up(folder / "corpus", {"docs": size, "more": more}, asked, given.dimension)
    stage = Stage(given, folder, pythons, faults, size)
    stage.begin()
    _fill(stage, tables)
    steps = {"search": _search, "embedded": _embedded, "save": _save, "beside": _beside, "cold": _cold}
    for name, step in steps.items():
        if name in given.measures:
            tables.setdefault(name, []).extend(step(stage))
    stage.end()


def _fill(stage: Stage, tables: Tables) -> None:
    rows = []
    for name in list(stage.peers):
        answer = stage.ask(name, "fill", "fill", patience=stage.given.patience)
        if answer is None:
            continue
        if answer["count"] < stage.of:  # type: ignore[operator]
            stage.note(name, "search and save", f"{answer['count']:,} texts in {answer['seconds']:,.0f} s")
            stage.peers.pop(name).end()
        speed = ratio(answer["count"], answer["seconds"], 1)
        rows.append(
            {
                "chunks": stage.of, "peer": name, "filled": answer["count"], "texts/s": speed,
                "index_s": round(answer["index"], 2), "mb": round(megabytes(stage.folder / name), 2),
            }
        )  # fmt: skip
    for title, columns in {"bulk": ("texts/s", "index_s"), "disk": ("mb",)}.items():
        if title in stage.given.measures:
            known = ("chunks", "peer", "filled", *columns)
            tables.setdefault(title, []).extend({key: row[key] for key in known} for row in rows)


def _search(stage: Stage) -> list[dict[str, Any]]:
    _warm(stage)
    count = stage.given.searches
    heard = stage.rounds("search", "search", lambda at: {"first": WARM_UP + at * count, "count": count})
    return _compared(stage, heard)


def _warm(stage: Stage, **more: object) -> None:
    for name in list(stage.peers):
        stage.ask(name, "warm up", "search", first=0, count=WARM_UP, **more)


def _embedded(stage: Stage) -> list[dict[str, Any]]:
    if OURS not in stage.peers:
        return []
    _warm(stage, live=True)
    count = stage.given.searches
    heard = stage.rounds(
        "embedded",
        "search",
        lambda at: {"first": WARM_UP + at * count, "count": count},
        {WITHIN: (OURS, {"live": True})},
    )
    if WITHIN not in heard:
        return []
    embedding = [answer["asked"] for answer in heard[WITHIN]]
    for run, answers in heard.items():
        for answer, asked in zip(answers, embedding, strict=True):
            if run != WITHIN:
                answer["times"] = [sum(both) for both in zip(answer["times"], asked, strict=True)]
    alone = {"chunks": stage.of, "peer": "the embedding alone", **spread(list(chain(*embedding)))}
    return [*_compared(stage, heard), alone]


def _save(stage: Stage) -> list[dict[str, Any]]:
    given = stage.given
    if OURS in stage.peers and given.before:
        stage.ask(OURS, "searches before", "search", first=0, count=given.before)
    patience = given.patience / given.rounds
    heard = stage.rounds(
        "save",
        "save",
        lambda at: {
            "rows": "more", "first": at * given.saves, "count": given.saves, "patience": patience
        },
    )  # fmt: skip
    return _compared(stage, heard)


def _compared(stage: Stage, heard: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """A row per peer: its times, and how many times those of Slowwave and of the other one they are."""
    times = {name: [_of_what_succeeded(answer) for answer in answers] for name, answers in heard.items()}
    medians = {
        name: np.array([np.median(one) for one in rounds])
        for name, rounds in times.items()
        if all(map(len, rounds))
    }
    rows = []
    for name, answers in heard.items():
        found = [len(ids) for answer in answers for ids in answer.get("found", ())]
        faults = [fault for answer in answers for fault in answer.get("faults", ())]
        if faults:
            stage.note(name, f"{len(faults)} of {len(found)} searches", faults[-1])
        row = {"chunks": stage.of, "peer": name, **spread(np.concatenate(times[name]))}
        for other in (OURS, OTHER):
            if {name, other} <= medians.keys():
                ratios = medians[name] / medians[other]
                row[f"to {other}"] = round(float(np.median(ratios)), 3)
                row |= {} if other == OTHER else {"low": ratios.min().round(3), "high": ratios.max().round(3)}
        row["n"] = sum(map(len, times[name]))
        rows.append(
            row | ({"results": round(float(np.mean(found)), 1), "failed": len(faults)} if found else {})
        )
    return rows


def _of_what_succeeded(answer: Mapping[str, Any]) -> np.ndarray:
    times = np.array(answer["times"])
    return times[~np.isnan(times)]


def _beside(stage: Stage) -> list[dict[str, Any]]:
    rows = []
    seconds = stage.given.seconds
    call = {"first": 0, "count": WARM_UP, "seconds": seconds}
    for name in list(stage.peers):
        if why := stage.alone[name]:
            stage.note(name, "beside", why)
            continue
        quiet = stage.ask(name, "quiet", "search", **call)
        writer = stage.guard(name, "a second process", lambda name=name: stage.process(name))
        if quiet is None or writer is None:
            continue
        first = stage.given.rounds * stage.given.saves
        writer.send("save", corpus=str(stage.folder / "corpus"), rows="more", first=first, count=seconds,
                    patience=seconds, every=1)  # fmt: skip
        busy = stage.ask(name, "beside saves", "search", **call)
        saved = stage.guard(name, "saves of a second process", writer.hear)
        writer.end()
        if busy is not None and saved is not None:
            for what, answer in {"quiet": quiet, "beside saves": busy}.items():
                found = spread(_of_what_succeeded(answer))
                tail = ratio(found["p95_ms"], found["p50_ms"], 2) if found else None
                saves = len(saved["times"]) if answer is busy else 0
                searched = {"searches": len(answer["times"]), "failed": len(answer["faults"])}
                rows.append({"chunks": stage.of, "peer": name, "run": what, **found, "p95/p50": tail,
                             **searched, "saves": saves})  # fmt: skip
    return rows


def _cold(stage: Stage) -> list[dict[str, Any]]:
    rows = []
    for name in list(stage.peers):
        if stage.alone[name]:
            stage.peers.pop(name).end()
        starts = [stage.guard(name, "cold", lambda name=name: _start(stage, name)) for _ in _starts(stage)]
        if all(starts):
            rows.append({"chunks": stage.of, "peer": name, **_medians(starts)})
    if OURS in stage.peers:
        starts = [stage.guard(OURS, "command", lambda: _command(stage)) for _ in _starts(stage)]
        if all(starts):
            rows.append({"chunks": stage.of, "peer": f"{OURS}, command", **_medians(starts)})
    return rows


def _starts(stage: Stage) -> range:
    return range(stage.given.starts)


def _medians(starts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {key: round(float(np.median([one[key] for one in starts])), 2) for key in starts[0]}


def _start(stage: Stage, name: str) -> dict[str, float]:
    """A process that opens, answers once, and ends; `further_mb` is what it adds to another one's memory."""
    first = stage.peers.get(name)
    before = first.ask("memory")["pss"] if first else 0.0
    start = time.perf_counter()
    peer = stage.process(name)
    peer.ask("search", corpus=str(stage.folder / "corpus"), first=0, count=1)
    wall = time.perf_counter() - start
    memory = peer.ask("memory")
    further = memory["pss"] + (first.ask("memory")["pss"] if first else 0.0) - before
    return {"cpu_s": peer.end(), "wall_s": wall, "rss_mb": memory["rss"], "further_mb": further}


def _command(stage: Stage) -> dict[str, float]:
    home = str(stage.folder / OURS)
    environ = {**os.environ, "SLOWWAVE_HOME": home, "SLOWWAVE_EMBEDDING__MODEL": stage.given.model}
    start = time.perf_counter()
    command = [sys.executable, "-c", "from slowwave.cli import main; main()", "search", "word7 word99"]
    process = subprocess.Popen(
        [*command, "--namespace", NAMESPACE], env=environ, stdout=subprocess.DEVNULL, text=True
    )
    used = processor_seconds(process)
    if process.returncode:
        raise PeerError(f"slowwave search ended with {process.returncode}")
    return {"cpu_s": used, "wall_s": time.perf_counter() - start}


def _one_by_one(
    given: argparse.Namespace,
    folder: Path,
    pythons: Mapping[str, str],
    tables: Tables,
    faults: list[dict[str, Any]],
) -> None:
    """Texts saved singly, and what they take on disk: then, and when everything was put in order."""
    made_up(folder / "corpus", {"docs": given.one_by_one}, 1, given.dimension)
    stage = Stage(given, folder, pythons, faults, "one by one")
    stage.begin()
    for name in list(stage.peers):
        saved = stage.ask(
            name, "saves", "save", rows="docs", first=0, count=given.one_by_one, patience=given.patience
        )
        if saved is None:
            continue
        size = megabytes(folder / name)
        time.sleep(given.rest)
        row = {"peer": name, "saved": len(saved["times"]), **spread(saved["times"]), "mb": round(size, 2)}
        if stage.guard(name, "tidy", lambda name=name: stage.peers[name].ask("tidy")) is not None:
            row["tidied_mb"] = round(megabytes(folder / name), 2)
        tables.setdefault("disk, one by one", []).append(row)
    stage.end()


if __name__ == "__main__":
    main()
