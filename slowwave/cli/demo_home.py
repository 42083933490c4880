"""Demo home of a checkout: `examples/demo.py` makes it once, `slowwave page --demo` opens it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from slowwave.common.progress import task
from slowwave.errors import SlowwaveError
from slowwave.views.terminal import bars, err

ROOT: Final = Path(__file__).parents[2]
DONE: Final = "demo-is-complete"
"""File that the demo leaves in its home at its end."""
_STEPS: Final = 9  # numbered headings of the demo (count)
_STEP: Final = re.compile(r"^\W*(\d+)\. ")
_LINES: Final = 15  # of the output of a demo that failed (count)


def demo_home(root: Path = ROOT) -> Path:
    """Return the demo's home, and make it if it is missing or incomplete.

    Args:
        root: Checkout that has `examples/`; the home is `.demo` in it, as of `make demo`.

    Raises:
        SlowwaveError: This installation has no examples, or the demo failed.
    """
    script, home = root / "examples" / "demo.py", root / ".demo"
    if not script.is_file():
        raise SlowwaveError(
            "The demo is in Slowwave's repository, not in the installed package. Clone the repository and "
            "run the command there, or open your own home: `slowwave page`."
        )
    if not (home / DONE).exists():
        err.print(f"Making the demo home {home} (once, about a minute) ...", markup=False, soft_wrap=True)
        _make(script, home)
    return home


def _make(script: Path, home: Path) -> None:
    """Run the demo with a progress bar instead of its output."""
    output: list[str] = []
    with (
        bars(),
        task("making the demo", _STEPS) as advance,
        subprocess.Popen(  # noqa: S603 - the checkout's own script
            [sys.executable, script, "--home", home],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            output = [*output[1 - _LINES :], line.rstrip()]
            advance(1 if _STEP.match(line) else 0)
    if process.returncode:
        shown = "\n".join(output)
        raise SlowwaveError(f"The demo failed. Run `make demo` to see all of it. It ended with:\n{shown}")
