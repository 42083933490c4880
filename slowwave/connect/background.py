"""Running this command again in the background, for a client that does not wait until it has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from slowwave.connect.command import launch
from slowwave.home.heartbeat import CAPTURE_LOG

_OWN_GROUP = 0x00000200 | 0x00000008  # flags of Windows: a process group of its own, without a console


def again(given: str, home: Path) -> None:
    """Start the same command without ``--detach`` in a session of its own.

    Args:
        given: for its standard input.
        home: whose `CAPTURE_LOG` has what it says.
    """
    words = [*launch(), *(word for word in sys.argv[1:] if word != "--detach")]
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": _OWN_GROUP}
    with (home / CAPTURE_LOG).open("wb") as log:
        started = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, **apart)  # noqa: S603 - this program's own words
    pipe = started.stdin
    if pipe is not None:
        with pipe:
            pipe.write(given.encode())
