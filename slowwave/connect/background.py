"""Background run of the current command, for a client that does not wait."""

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
    """Start the same command without ``--detach`` in its own session.

    Args:
        given: its standard input.
        home: whose `CAPTURE_LOG` gets its output.
    """
    words = [*launch(), *(word for word in sys.argv[1:] if word != "--detach")]
    platform_options: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        platform_options = {"creationflags": _OWN_GROUP}
    with (home / CAPTURE_LOG).open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, **platform_options)  # noqa: S603 - our own command
    pipe = process.stdin
    if pipe is not None:
        with pipe:
            pipe.write(given.encode())
