"""Check of an adapter's dependencies."""

from __future__ import annotations

from importlib.util import find_spec

from slowwave.errors import SlowwaveError


def require(extra: str, *packages: str) -> None:
    """Require a framework.

    Args:
        extra: of Slowwave that installs it.
        *packages: to look for.

    Raises:
        SlowwaveError: a package is missing; the message says how to install it.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise SlowwaveError(
            f"The adapter needs {', '.join(missing)}: pip install '.[{extra}]' in Slowwave's folder."
        )
