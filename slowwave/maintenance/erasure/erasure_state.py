"""What an erasure that is going on has to know, in a file of the home that goes when it is finished."""

from __future__ import annotations

from pathlib import Path

import orjson
from pydantic import TypeAdapter

from slowwave.common.files import replace_file
from slowwave.maintenance.erasure.model import ErasureTask

_NAME = "erasing-{}.json"
_ADAPTER = TypeAdapter(ErasureTask)


def write(home: Path, work: ErasureTask) -> None:
    """Keep it, durably and for the owner of the home alone."""
    replace_file(home / _NAME.format(work.erasure), [orjson.dumps(work)], 0o600)


def read(home: Path, erasure: str) -> ErasureTask | None:
    """What was kept of an erasure; None where nothing is."""
    path = home / _NAME.format(erasure)
    return _ADAPTER.validate_json(path.read_bytes()) if path.is_file() else None


def remove(home: Path, erasure: str) -> None:
    """Take the file away."""
    (home / _NAME.format(erasure)).unlink(missing_ok=True)


def orphans(home: Path, known: set[str]) -> list[Path]:
    """Files of erasures that were killed before they began: the journal does not know them."""
    head, tail = _NAME.split("{}")
    there = [*home.glob(_NAME.format("*")), *home.glob(f".{head}*.partial")]
    return [path for path in there if path.name.removeprefix(head).removesuffix(tail) not in known]
