"""Code versions of assets: digests of the rules that each is computed by.

The page shows what is stale since a rule changed. Words about a rule, and the layout of its lines, change no
version (see `slowwave.evaluation.code`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from slowwave import evaluation
from slowwave.evaluation.code import digest_of

_PACKAGE: Final = Path(evaluation.__file__).parents[1]
_TRIED: Final = ("scoring", "evaluation/measured.py", "evaluation/variants.py", "evaluation/judgments.py")
_LEARNED: Final = ("scoring/feedback", "scoring/nearness.py", "learning")
RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "staged_notes": ("notes", "store/staging.py"),
    "gate_verdicts": ("quality",),
    "embedded_chunks": ("notes/chunking.py", "embedding"),
    "memories": ("quality", "lifecycle/admission"),
    "search_index": ("store/text.py", "store/indexes.py", "lifecycle/reconcile.py"),
    "searches": ("journal/drain.py", "journal/kinds"),
    "events": ("journal/drain.py", "journal/kinds"),
    "usage_signals": ("scoring/feedback/signals.py", "scoring/feedback/usage.py", "feedback/fold.py"),
    "effectiveness": (
        "scoring/feedback/effectiveness.py", "scoring/feedback/votes.py", "scoring/feedback/voices.py",
        "scoring/feedback/policy.py", "feedback/fold.py",
    ),
    "strength": ("scoring/feedback/strength.py", "scoring/feedback/policy.py", "feedback/fold.py"),
    "promotions": (
        "scoring/feedback/promotion.py", "scoring/feedback/votes.py", "scoring/feedback/policy.py",
        "feedback/fold.py",
    ),
    "memory_state": ("feedback/effect.py", "feedback/states.py"),
    "judgments": ("evaluation/truth.py", "evaluation/judgments.py", "scoring/evaluation/judgments.py"),
    "evaluation_scores": _TRIED,
    "shadow_scores": _TRIED,
    "channel_attribution": ("scoring/evaluation/attribution.py", "evaluation/measured.py"),
    "interleavings": ("scoring/evaluation/interleaving.py", "evaluation/interleaved.py"),
    "evaluation_cycles": ("scoring/evaluation", "evaluation/cycles.py"),
    "learned_proposals": _LEARNED,
    "search_views": _LEARNED,
    "learned_matches": _LEARNED,
    "learned_effect": (*_LEARNED, "scoring/ranking"),
    "learning_gate": ("quality/learning_gate.py", "quality/learning_bounds.py", "learning"),
    "learned_triggers": _LEARNED,
    "search_keys": _LEARNED,
    "trend": ("scoring/evaluation/trend.py", "scoring/evaluation/beside.py", "evaluation/trend.py"),
    "warehouse": ("warehouse",),
    "at_a_glance": ("views/glance.py",),
    "backup": ("backup/making.py",),
}  # fmt: skip
"""Files and folders of the package that each asset's rules stand in."""


@cache
def code_version(asset: str) -> str | None:
    """Digest of an asset's rules, as 12 hex digits; None of one without an entry in `RULES`.

    Args:
        asset: its name.
    """
    return _digest(RULES[asset]) if asset in RULES else None


@cache
def _digest(places: tuple[str, ...]) -> str:
    if len(places) == 1:
        return digest_of([_PACKAGE / places[0]])
    return blake2b("".join(_digest((one,)) for one in places).encode(), digest_size=6).hexdigest()
