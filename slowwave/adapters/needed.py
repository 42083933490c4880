"""What an adapter needs, and how it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from slowwave.errors import SlowwaveError


def require(extra: str, *packages: str) -> None:
    """See that a framework is installed.

    Args:
        extra: of Slowwave that has it.
        *packages: that have to be there.

    Raises:
        SlowwaveError: one of them is not; says how to install it.
    """
    lacking = [one for one in packages if find_spec(one) is None]
    if lacking:
        raise SlowwaveError(
            f"The adapter needs {', '.join(lacking)}: pip install '.[{extra}]' in Slowwave's folder."
        )
