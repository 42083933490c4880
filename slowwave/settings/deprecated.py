"""Deprecated names of settings, which are still read as the current ones.

A renamed setting is declared in `DEPRECATED` and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from slowwave.common.home_discovery import ENV_PREFIX
from slowwave.errors import SettingsError

LOG = logging.getLogger("slowwave.settings")
ARGUMENTS, ENVIRONMENT = "the arguments", "the environment"
DEPRECATED: Final = {
    "store.vector_index_from": "store.ann_min_chunks",
    "engine.least_texts": "engine.min_texts",
    "learning.events": "learning.max_events_per_window",
    "learning.least_queries": "learning.min_queries",
    "learning.least_principals": "learning.min_users",
    "learning.frequent_from": "learning.common_term_min_memories",
    "learning.cycles": "learning.min_closed_cycles",
    "learning.noise": "learning.max_noise_rate",
    "learning.noise_terms": "learning.min_noise_samples",
    "learning.loss": "learning.max_mrr_loss",
    "search_keys.used": "search_keys.usage_weight",
    "search_keys.power": "search_keys.score_exponent",
    "search_keys.bias": "search_keys.position_bias_exponent",
    "search_keys.per_memory": "search_keys.max_per_memory",
    "search_keys.events": "search_keys.max_events_per_window",
    "search_keys.prior": "search_keys.impression_pseudocount",
    "search_keys.reach": "search_keys.max_user_boost",
    "search_keys.minority": "search_keys.minority_fraction",
    "mcp.requests": "mcp.max_concurrent_requests",
    "mcp.request_seconds": "mcp.request_timeout_seconds",
    "mcp.half_sent": "mcp.max_pending_connections",
}
"""Current name of each renamed setting, by its deprecated name."""
_warned: Final = set[str]()


def with_current_names(given: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the settings of one source under their current names. Warn of each deprecated name.

    Args:
        given: Groups of settings, nested.
        place: Source as messages name it: a path, `ARGUMENTS` or `ENVIRONMENT`.

    Raises:
        SettingsError: A setting is given under both names.
    """
    settings = {group: dict(part) if isinstance(part, dict) else part for group, part in given.items()}
    for deprecated, current in DEPRECATED.items():
        (group, old), (_, new) = deprecated.split("."), current.split(".")
        part = settings.get(group)
        if not isinstance(part, dict) or old not in part:
            continue
        if place == ENVIRONMENT:
            deprecated, current = (f"{ENV_PREFIX}{group}__{name}".upper() for name in (old, new))
        if new in part:
            raise SettingsError(
                f"Both {deprecated} (deprecated) and {current} are set in {place}. Remove {deprecated}."
            )
        part[new] = part.pop(old)
        _warn(f"{deprecated} in {place} is deprecated: use {current}")
    return settings


def _warn(message: str) -> None:
    """Log a warning once per process."""
    if message not in _warned:
        _warned.add(message)
        LOG.warning("%s", message)
