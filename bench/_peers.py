"""Peers in processes and environments of their own, and their shared synthetic corpus."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from _chunks import BATCH, vocabulary

HERE = Path(__file__).parent
CLUSTERS = 200
WORDS_PER_TEXT = 90  # one chunk of Slowwave
WORDS_PER_QUERY = 6
OURS = "slowwave"
PINS: dict[str, tuple[str, ...]] = {
    OURS: (),
    "lancedb": ("lancedb==0.40.0",),
    "chroma": ("chromadb==1.5.9",),
    "txtai": ("txtai==9.14.0", "torch==2.13.0"),  # where there is no wheel for processors alone: gigabytes
    "mem0": ("mem0ai==2.2.1",),
    "basic-memory": ("basic-memory==0.24.1",),
    "bm25s": ("bm25s==0.3.16", "py-rust-stemmers==0.1.8"),
}
"""What is installed for each peer; Slowwave is measured in the environment of the benchmark."""
PYTHONS = {"basic-memory": "python3.12"}
"""Python of a peer that does not run on the benchmark's."""


class PeerError(Exception):
    """A peer could not do what it was asked."""


def environment(folder: Path, name: str) -> str:
    """The Python of a peer's own environment, which is made where it is not there.

    Raises:
        PeerError: it cannot be made.
    """
    own, pins = folder / name, " ".join(PINS[name])
    made, python = own / "pins", own / "bin" / "python"
    if not made.exists() or made.read_text() != pins:
        print(f"making an environment for {name}: {pins} ...", file=sys.stderr)
        shutil.rmtree(own, ignore_errors=True)
        if name not in PYTHONS:
            venv.create(own, with_pip=True)
        elif interpreter := shutil.which(PYTHONS[name]):
            subprocess.run([interpreter, "-m", "venv", str(own)], check=True)
        else:
            raise PeerError(f"needs {PYTHONS[name]} on the PATH")
        command = [str(python), "-m", "pip", "install", "--quiet", *PINS[name]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeerError(f"cannot be installed: {(done.stderr.strip().splitlines() or [''])[-1]}")
        made.write_text(pins)
    return str(python)


class Running:
    """A peer's process.

    Args:
        name: of the peer.
        python: that runs it.
        folder: where the peer keeps what it is given; what it says on standard error is put beside it.
        model: embedding model of Slowwave's home.
    """

    def __init__(self, name: str, python: str, folder: Path, model: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder.with_suffix(".log")
        environ = {**os.environ, "SLOWWAVE_EMBEDDING__MODEL": model, "HF_HUB_OFFLINE": "1"}
        environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if name == OURS and path)
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [python, str(HERE / "peers" / f"of_{name.replace('-', '_')}.py")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environ,
            )  # fmt: skip

    def send(self, do: str, **call: object) -> None:
        """Ask for something; `hear` has the answer."""
        assert self._process.stdin is not None
        try:
            print(json.dumps({"do": do, **call}), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise PeerError(self._last_words()) from None

    def hear(self) -> dict[str, Any]:
        """The answer to what was sent.

        Raises:
            PeerError: it could not be done, or the process is no more.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(self._last_words())
        answer = dict(json.loads(line))
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def ask(self, do: str, **call: object) -> dict[str, Any]:
        """Send, and hear."""
        self.send(do, **call)
        return self.hear()

    def _last_words(self) -> str:
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"its process has ended: {said[-1] if said else 'it said nothing'}"

    def end(self) -> float:
        """Let it end; seconds of processor that it has taken (user and system)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self.ask("close")
        except PeerError as error:
            print(f"{self.folder.name}: {error}", file=sys.stderr)
        self._process.stdin.close()
        self._process.stdout.close()
        return processor_seconds(self._process)


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Wait for a process; what it has taken (user and system)."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def megabytes(folder: Path) -> float:
    """Size of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def write(folder: Path, name: str, rows: Iterator[tuple[str, str]], vectors: np.ndarray) -> None:
    """Texts with their ids and vectors, as `peers/serving.py` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.npy", vectors.astype(np.float32))
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": one, "text": text}) + "\n" for one, text in rows)


def made_up(folder: Path, sizes: Mapping[str, int], queries: int, dimension: int) -> None:
    """Texts of Zipf's words with clustered vectors, and queries of words and a vector near to a document's.

    Args:
        folder: where they are written.
        sizes: rows of each file; queries are about those of ``docs``.
        queries: how many.
        dimension: of the vectors.
    """
    random = np.random.default_rng(sizes["docs"])
    words, share = vocabulary()
    centres = random.normal(size=(CLUSTERS, dimension))
    about = set(random.choice(sizes["docs"], size=min(queries, sizes["docs"]), replace=False).tolist())
    asked: list[tuple[str, np.ndarray]] = []
    for name, size in sizes.items():
        vectors = np.zeros((size, dimension), dtype=np.float32)
        texts: list[str] = []
        for at in range(0, size, BATCH):
            count = min(BATCH, size - at)
            places = random.integers(0, CLUSTERS, count)
            vectors[at : at + count] = _unit(centres[places] + 0.7 * random.normal(size=(count, dimension)))
            picked = random.choice(len(words), size=(count, WORDS_PER_TEXT), p=share)
            texts += [" ".join(words[row]) for row in picked]
        for number in sorted(about) if name == "docs" else ():
            own = np.array(list(dict.fromkeys(texts[number].split())))
            text = " ".join(random.choice(own, size=WORDS_PER_QUERY, replace=False))
            noise = random.normal(size=dimension) * 0.7 / np.sqrt(dimension)
            asked.append((text, _unit(vectors[number] + noise)))
        write(folder, name, ((f"{name}{number}", text) for number, text in enumerate(texts)), vectors)
    random.shuffle(asked)  # type: ignore[arg-type]
    named = ((f"query{number}", text) for number, (text, _) in enumerate(asked))
    write(folder, "queries", named, np.array([vector for _, vector in asked]))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
