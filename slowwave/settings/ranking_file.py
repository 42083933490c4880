"""Files of ranking policies, written by `slowwave tune` and put into force by a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slowwave.common.files import atomic_write
from slowwave.errors import SettingsError
from slowwave.scoring.ranking import RankingPolicy
from slowwave.scoring.ranking_policy import LEAST_KEPT


def read_policy(path: Path, base: RankingPolicy | None = None) -> RankingPolicy:
    """Read a policy file.

    Args:
        path: Of the file.
        base: Values of omitted parameters (those of a home's embedding model); None: generic defaults.

    Raises:
        SettingsError: The file cannot be read, is not a policy, or a parameter has an invalid value.
    """
    try:
        data = json.loads(path.expanduser().read_text(encoding="utf-8"))
        policy = RankingPolicy.from_dict(data["policy"], base)
    except OSError as error:
        raise SettingsError(f"Cannot read the policy file {path}: {error.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise SettingsError(
            f"The policy file {path} is not a ranking policy: {why}. Create one with `slowwave tune --out "
            f"{path}`."
        ) from None
    if policy.sparse_keeps < LEAST_KEPT:
        raise SettingsError(
            f"The policy file {path} has sparse_keeps = {policy.sparse_keeps}: give {LEAST_KEPT} or more."
        )
    return policy


def write_policy(path: Path, policy: RankingPolicy, about: Mapping[str, Any]) -> None:
    """Write a policy and its origin as JSON, atomically."""
    text = json.dumps({"policy": policy.to_dict(), "version": policy.version, **about}, indent=2)
    path = path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(f"{text}\n".encode())
