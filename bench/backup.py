"""Duration and size of backups of a home, beside `cp -a` and `tar` of the same folder.

    python bench/backup.py [--notes 5000] [--searches 200] [--folder DIR] [--encrypted]

The notes are 100 made-up words each, saved as a script would. ``first`` sends everything, ``nothing new`` is
the same again, ``50 saves`` follows so many new notes, ``verify`` reads all of it, ``restore`` makes
a home of it. ``cp -a`` and ``tar -cz`` copy the folder whole each time, whoever writes to it meanwhile.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _chunks import vocabulary
from _report import bench, existing_folder, options, positive, report

import slowwave
from slowwave.backup.archive import Archive
from slowwave.backup.keys import derived
from slowwave.backup.making import make
from slowwave.backup.restoring import restore
from slowwave.backup.storage import FileStorage
from slowwave.backup.verifying import verify
from slowwave.settings import load

MODEL = {"embedding": {"model": "wordllama-256"}, "gate": {"mode": "off"}}
BATCH = 500
NEW = 50
WORDS = 100


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--notes", type=positive, default=5_000, help="notes in the home")
    parser.add_argument("--searches", type=positive, default=200, help="searches that were made in it")
    parser.add_argument("--folder", type=existing_folder, help="where it is done; default: a temporary one")
    parser.add_argument("--encrypted", action="store_true", help="with a key")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        rows = measured(Path(folder), arguments.notes, arguments.searches, encrypted=arguments.encrypted)
    report("backup", rows, note=f"{arguments.notes:,} notes{', encrypted' if arguments.encrypted else ''}")


def measured(at: Path, notes: int, searches: int, *, encrypted: bool) -> list[dict[str, Any]]:
    """A row for each thing that is done."""
    home, place, new = at / "home", at / "backups", at / "new"
    key = derived(b"b" * 32) if encrypted else None
    rows: list[dict[str, Any]] = []

    def timed(what: str, work: Callable[[], object], to: Path) -> None:
        before, start = size(to), time.perf_counter()
        work()
        seconds = round(time.perf_counter() - start, 2)
        rows.append({"what": what, "seconds": seconds, "MB": round((size(to) - before) / 1e6, 2)})

    with slowwave.open(home, namespace="bench", **MODEL) as memory:
        fill(memory, 0, notes)
        for number in range(searches):
            memory.search(f"word{number} word{number * 7} word{number * 3}")

        def back_up() -> None:
            make(memory.home, FileStorage(str(place), make=True), key)

        timed("first", back_up, place)
        timed("nothing new", back_up, place)
        fill(memory, notes, NEW)
        timed(f"{NEW} saves", back_up, place)
    rows.insert(0, {"what": "the home", "MB": round(size(home) / 1e6, 2)})
    archive = Archive(FileStorage(str(place)), key)
    timed("verify", lambda: verify(archive), place)
    timed("restore", lambda: restore(load(new, **MODEL), archive), new)
    timed("cp -a", lambda: shell("cp", "-a", str(home), str(at / "copy")), at / "copy")
    timed("tar -cz", lambda: shell("tar", "-czf", str(at / "home.tar.gz"), str(home)), at / "home.tar.gz")
    shutil.rmtree(new)
    return rows


def fill(memory: slowwave.Memory, first: int, count: int) -> None:
    """Save notes of made-up words, always the same."""
    words, share = vocabulary()
    random = np.random.default_rng(first)
    for at in range(0, count, BATCH):
        picked = random.choice(words, size=(min(BATCH, count - at), WORDS), p=share)
        memory.save_many([
            {"content": " ".join(row), "key": f"note {first + at + number}"}
            for number, row in enumerate(picked)
        ])  # fmt: skip


def size(path: Path) -> int:
    """Bytes of a file, or of all in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


def shell(*words: str) -> None:
    """Run a program of the system."""
    subprocess.run(words, check=True, capture_output=True)


if __name__ == "__main__":
    main()
