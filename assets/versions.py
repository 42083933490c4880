"""Code versions of assets: digests of the code that computes them.

Dagster shows what is stale since a rule changed. Comments, docstrings and formatting change no version (see
`slowwave.evaluation.code`).
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
"""Files and folders of the package with each asset's rules, by asset name."""


@cache
def code_version(asset: str) -> str | None:
    """Return the digest of an asset's rules, as 12 hex digits; None if it declares none."""
    return _digest(RULES[asset]) if asset in RULES else None


@cache
def _digest(places: tuple[str, ...]) -> str:
    if len(places) == 1:
        return digest_of([_PACKAGE / places[0]])
    return blake2b("".join(_digest((place,)) for place in places).encode(), digest_size=6).hexdigest()
