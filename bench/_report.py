"""Shared parts of benchmarks: options, tables, and one JSON object as the last line."""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from slowwave.errors import SlowwaveError

Rows = Sequence[Mapping[str, Any]]
CANNOT = 2
"""Exit code of a benchmark that was given what it cannot measure, as of one whose options are wrong."""


class UnusableError(Exception):
    """What was given cannot be measured."""


def bench(main: Callable[[Sequence[str] | None], None]) -> Callable[..., None]:
    """Make a benchmark's main: what it cannot measure ends it with a line for a person and `CANNOT`."""

    @functools.wraps(main)
    def run(argv: Sequence[str] | None = None) -> None:
        try:
            main(argv)
        except (UnusableError, SlowwaveError) as error:
            told = str(error)
        except ModuleNotFoundError as error:
            told = f"{error}: what benchmarks need beside is in the dependency groups of pyproject.toml"
        else:
            return
        print(f"{Path(main.__code__.co_filename).name}: error: {told}", file=sys.stderr)
        raise SystemExit(CANNOT)

    return run


def options(doc: str | None) -> argparse.ArgumentParser:
    """A parser that shows the docstring of the script as it is written."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def positive(text: str) -> int:
    """An option that counts something: 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not 1 or more")
    return number


def numbers(text: str) -> list[int]:
    """An option of several counts, with commas."""
    return [positive(part) for part in text.split(",")]


def existing_folder(text: str) -> Path:
    """An option that names a folder."""
    path = Path(text).expanduser()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return path


def existing_file(text: str) -> Path:
    """An option that names a file."""
    path = Path(text).expanduser()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return path


def report(name: str, rows: Rows, *, note: str = "", totals: Mapping[str, Any] | None = None) -> None:
    """Print rows as a table, totals if there are any, a note, and the JSON line."""
    _show(f"bench/{name}.py", rows, note, totals)
    more = {"totals": dict(totals)} if totals else {}
    _say({"bench": name, "rows": rows, **more, "note": note})


def reports(name: str, tables: Mapping[str, tuple[Rows, str]], *, hidden: Collection[str] = ()) -> None:
    """Print several tables, each with its note, and the one JSON line of all of them.

    Args:
        name: of the benchmark.
        tables: rows and note of each.
        hidden: columns that only the JSON line has.
    """
    for title, (rows, note) in tables.items():
        shown = [{key: row[key] for key in row if key not in hidden} for row in rows]
        _show(f"bench/{name}.py: {title}", shown, note, None)
    _say(
        {
            "bench": name,
            "tables": {title: rows for title, (rows, _) in tables.items()},
            "notes": {title: note for title, (_, note) in tables.items() if note},
        }
    )


def spread(times: Sequence[float] | np.ndarray, digits: int = 2, suffix: str = "_ms") -> dict[str, float]:
    """Median and 95th percentile; nothing of no times."""
    if not len(times):
        return {}
    return {
        f"p{share}{suffix}": round(float(np.percentile(np.asarray(times), share)), digits)
        for share in (50, 95)
    }


def rounded(value: float, digits: int = 4) -> float | None:
    """A figure as it is reported; None where there is none."""
    return round(float(value), digits) if math.isfinite(value) else None


def ratio(part: float, whole: float, digits: int = 4) -> float | None:
    """A share or a quotient as it is reported; None of nothing."""
    return round(float(part / whole), digits) if whole else None


def _show(title: str, rows: Rows, note: str, totals: Mapping[str, Any] | None) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(title=title, title_justify="left")
    for column in columns:
        numeric = any(isinstance(row.get(column), int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    console = Console(width=140, markup=False, highlight=False)  # what texts say is no markup
    console.print(table)
    if totals:
        console.print("  ".join(f"{key} {_cell(value)}" for key, value in totals.items()))
    if note:
        console.print(note)


def _say(figures: Mapping[str, Any]) -> None:
    print(json.dumps(_plain(figures), allow_nan=False))


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
    """A value that JSON knows: numbers as Python has them, null for what is no number."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: object) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        return f"{value:.4f}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)
