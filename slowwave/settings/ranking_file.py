"""Ranking policies in files: what `slowwave tune` writes, and a person may put into force."""

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
    """The policy of a file.

    Args:
        path: of the file.
        base: has the parameters that the file leaves out (those of a home's embedding model); without one
            they are the generic defaults.

    Raises:
        SettingsError: the file cannot be read, is no policy, or a parameter has a value that is not allowed.
    """
    try:
        data = json.loads(path.expanduser().read_text(encoding="utf-8"))
        policy = RankingPolicy.from_dict(data["policy"], base)
    except OSError as error:
        raise SettingsError(f"The policy file {path} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise SettingsError(
            f"The policy file {path} is no ranking policy: {why}. `slowwave tune --out {path}` writes one."
        ) from None
    if policy.sparse_keeps < LEAST_KEPT:
        raise SettingsError(
            f"The policy file {path} has sparse_keeps = {policy.sparse_keeps}: give {LEAST_KEPT} or more."
        )
    return policy


def write_policy(path: Path, policy: RankingPolicy, about: Mapping[str, Any]) -> None:
    """Write a policy, and how it came about, as JSON; a half-written file never takes its place."""
    text = json.dumps({"policy": policy.to_dict(), "version": policy.version, **about}, indent=2)
    path = path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(f"{text}\n".encode())
