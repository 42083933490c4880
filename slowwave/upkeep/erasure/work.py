"""What an erasure that is going on has to know, in a file of the home that goes when it is finished."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from slowwave.upkeep.erasure.model import Work

_NAME = "erasing-{}.json"


def write(home: Path, work: Work) -> None:
    """Keep it, durably and for the owner of the home alone."""
    path = home / _NAME.format(work.erasure)
    new = path.with_suffix(".new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(orjson.dumps(asdict(work)))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def read(home: Path, erasure: str) -> Work | None:
    """What was kept of an erasure; None where nothing is."""
    path = home / _NAME.format(erasure)
    if not path.is_file():
        return None
    data: dict[str, Any] = orjson.loads(path.read_bytes())
    parts: dict[str, Any] = {
        name: tuple(part) if isinstance(part, list) else part for name, part in data.items()
    }
    return Work(**parts)


def remove(home: Path, erasure: str) -> None:
    """Take the file away."""
    (home / _NAME.format(erasure)).unlink(missing_ok=True)


def orphans(home: Path, known: set[str]) -> list[Path]:
    """Files of erasures that were killed before they began: the journal does not know them."""
    head, tail = _NAME.split("{}")
    there = [*home.glob(_NAME.format("*")), *home.glob(f"{head}*.new")]
    return [path for path in there if path.name.removeprefix(head).removesuffix(tail) not in known]
