"""Code versions of assets: digests of the rules that each is computed by.

The page shows what is stale since a rule changed. Words about a rule, and the layout of its lines, change no
version (see `slowwave.evaluation.code`).
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from slowwave import evaluation
from slowwave.evaluation.code import digest_of

_PACKAGE: Final = Path(evaluation.__file__).parents[1]
RULES: Final[dict[str, tuple[str, ...]]] = {}
"""Files and folders of the package that each asset's rules stand in, by the name of the asset."""


@cache
def code_version(asset: str) -> str | None:
    """Digest of an asset's rules, as 12 hex digits; None of one that declares none.

    Args:
        asset: its name.
    """
    return _digest(RULES[asset]) if asset in RULES else None


@cache
def _digest(places: tuple[str, ...]) -> str:
    if len(places) == 1:
        return digest_of([_PACKAGE / places[0]])
    return blake2b("".join(_digest((one,)) for one in places).encode(), digest_size=6).hexdigest()
