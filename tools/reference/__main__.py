"""Generate the reference, or list outdated pages.

python -m tools.reference            # writes docs/reference/ and docs/decisions/README.md
python -m tools.reference --check    # writes nothing; exits with 1 if a file differs
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = 12  # of a difference that are printed per file (count)


def main(argv: Sequence[str] | None = None) -> int:
    """Write or compare the files. Return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.reference",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="write nothing, list the differences")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as home:
        _plain_environment(home)
        from tools.reference import MADE_BY, made  # not before: modules read the environment

        texts = made()
    stale = [path for path, text in texts.items() if _text(ROOT / path) != text]
    if not options.check:
        for path in stale:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(texts[path], encoding="utf-8")
            _say(f"written: {path}")
        _say(f"{len(texts)} files, {len(stale)} of them new or changed.")
        return 0
    for path in stale:
        _say("\n".join(_difference(path, texts[path])))
    _say(
        f"{len(stale)} of {len(texts)} files differ from the code. To regenerate them, run:\n    {MADE_BY}"
        if stale
        else f"{len(texts)} files are up to date."
    )
    return 1 if stale else 0


def _plain_environment(home: str) -> None:
    """Remove everything about this machine and its home from the environment."""
    for name in [*os.environ]:
        if name.startswith("SLOWWAVE_") or name in ("DAGSTER_HOME", "FORCE_COLOR", "COLUMNS"):
            del os.environ[name]
    os.environ |= {"SLOWWAVE_HOME": home, "NO_COLOR": "1", "TERMINAL_WIDTH": "100"}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _difference(path: str, new: str) -> list[str]:
    old = _text(ROOT / path).splitlines()
    lines = [*difflib.unified_diff(old, new.splitlines(), path, f"{path} (regenerated)", n=0, lineterm="")]
    more = len(lines) - LINES
    return lines[:LINES] + ([f"… and {more} more lines"] if more > 0 else [])


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
