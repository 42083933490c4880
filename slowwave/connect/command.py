"""Launch command of this program, for configuration files."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from slowwave.connect.entries import MODULE, PROGRAM
from slowwave.errors import SlowwaveError


def launch() -> tuple[str, ...]:
    """Return the command of the running `slowwave`, valid in any folder and with any ``PATH``.

    A link keeps its own path, because installers update its target.

    Raises:
        SlowwaveError: there is no such command.
    """
    if Path(sys.argv[0]).stem == PROGRAM and (executable := shutil.which(sys.argv[0])) is not None:
        return (str(Path(executable).absolute()),)
    sibling = Path(sys.executable).with_name(PROGRAM + (".exe" if os.name == "nt" else ""))
    if sibling.is_file():
        return (str(sibling),)
    if (executable := shutil.which(PROGRAM)) is not None:
        return (str(Path(executable).absolute()),)
    if Path(sys.executable).is_file():
        return (sys.executable, *MODULE)
    raise SlowwaveError(
        "The command `slowwave` is neither on the PATH nor beside Python, so other programs cannot start it. "
        "Install it (pipx install, from its folder), and run `slowwave connect` again."
    )
