"""State file of an erasure in progress; it is removed when the erasure is finished."""

from __future__ import annotations

from pathlib import Path

import orjson
from pydantic import TypeAdapter

from slowwave.common.files import replace_file
from slowwave.maintenance.erasure.model import ErasureTask

_NAME = "erasing-{}.json"
_ADAPTER = TypeAdapter(ErasureTask)


def write(home: Path, work: ErasureTask) -> None:
    """Write the state durably, readable by the owner of the home only."""
    replace_file(home / _NAME.format(work.erasure), [orjson.dumps(work)], 0o600)


def read(home: Path, erasure: str) -> ErasureTask | None:
    """Read the state of an erasure; None if there is none."""
    path = home / _NAME.format(erasure)
    return _ADAPTER.validate_json(path.read_bytes()) if path.is_file() else None


def remove(home: Path, erasure: str) -> None:
    """Remove the state file."""
    (home / _NAME.format(erasure)).unlink(missing_ok=True)


def orphans(home: Path, known: set[str]) -> list[Path]:
    """Return state files of erasures that were killed before they started: the journal does not know them."""
    head, tail = _NAME.split("{}")
    paths = [*home.glob(_NAME.format("*")), *home.glob(f".{head}*.partial")]
    return [path for path in paths if path.name.removeprefix(head).removesuffix(tail) not in known]
