"""The way in: `slowwave`, and `python -m slowwave` for the very Python that is asked.

A memory that runs already is asked before anything is loaded that takes time.
"""

from __future__ import annotations

import sys

from slowwave.ipc.client import ask
from slowwave.ipc.hook_session import with_session


def main() -> None:
    """Entry point of the `slowwave` command."""
    sys.argv[1:] = with_session(sys.argv[1:])
    code = ask(sys.argv[1:])
    if code is not None:
        raise SystemExit(code)
    from slowwave.common.slim_imports import uncollected

    with uncollected():
        from slowwave.cli import main as cold
    cold()


if __name__ == "__main__":
    main()
