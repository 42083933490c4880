"""How another program starts this one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from slowwave.connect.entries import MODULE, PROGRAM
from slowwave.errors import SlowwaveError


def launch() -> tuple[str, ...]:
    """The words that start the `slowwave` that is running, from any folder and with any ``PATH``.

    A link keeps its own path: installers lead one to the newest version.

    Raises:
        SlowwaveError: there is no such command.
    """
    if Path(sys.argv[0]).stem == PROGRAM and (found := shutil.which(sys.argv[0])) is not None:
        return (str(Path(found).absolute()),)
    beside = Path(sys.executable).with_name(PROGRAM + (".exe" if os.name == "nt" else ""))
    if beside.is_file():
        return (str(beside),)
    if (found := shutil.which(PROGRAM)) is not None:
        return (str(Path(found).absolute()),)
    if Path(sys.executable).is_file():
        return (sys.executable, *MODULE)
    raise SlowwaveError(
        "The command `slowwave` is not on the PATH and not beside Python, so no other program can start it: "
        "install it (pipx install, from its folder), and run `slowwave connect` again."
    )
