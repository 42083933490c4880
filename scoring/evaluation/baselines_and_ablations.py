"""What a ranking is measured beside (rule 6.4): simple baselines, and itself without each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.parameters import parameters
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.candidates import BM25, KEYS, LEARNED, RATED, TRIGGER, VECTOR

STAGES: Final[Mapping[str, Mapping[str, Any]]] = {
    f"no {one.spec.stage}": {one.name: one.spec.off} for one in parameters(RankingPolicy) if one.spec.stage
}
"""What switches a stage of a ranking off, by the name of the ranking without it."""

NO_RATINGS: Final = "without ratings"
NEVER_USED: Final = "never used"
"""Names of the policy without what feedback says, and without anything that use has taught."""

OF_TEXT: Final = ("no MPAB", "no neighbours", "no titles", "no sparse recall")
"""The stages that a collection has something for: nobody has used it."""


def off(stages: Iterable[str]) -> dict[str, Any]:
    """What switches all of these off."""
    return {name: value for stage in stages for name, value in STAGES[stage].items()}


def seeds(policy: RankingPolicy) -> RankingPolicy:
    """The seeds' constants; how far a cosine reaches depends on the model, so that is as in `policy`."""
    return replace(SEEDS, vector_weight=policy.vector_weight, cosine_floor=policy.cosine_floor)


def baselines(policy: RankingPolicy) -> tuple[Variant, ...]:
    """What is easily had without this project: one channel, both by their ranks, the seeds' constants."""
    fused = replace(policy, trigger_weight=0.0, learned_cap=0.0, **off(STAGES))
    others = {TRIGGER, LEARNED, KEYS}
    return (
        _named("BM25 alone", replace(fused, fusion="convex", vector_weight=0.0), {VECTOR, *others}),
        _named("vectors alone", replace(fused, fusion="convex", vector_weight=1.0), {BM25, *others}),
        _named("RRF", replace(fused, fusion="rrf"), others),
        _named("seeds", seeds(policy), {KEYS}),
    )


def _named(name: str, policy: RankingPolicy, without: Iterable[str] = ()) -> Variant:
    return Variant(name, replace(policy, name=name), frozenset(without))


def without_channels(policy: RankingPolicy, *, keys: bool = False) -> tuple[Variant, ...]:
    """The policy without each channel.

    Without a channel none abstains: the signal that decides it is made of what the channels say.

    Args:
        policy: the whole.
        keys: whether search keys are a channel; where they are off, there is nothing to take away.
    """
    sure = replace(policy, abstention_floor=0.0)
    channels = (VECTOR, BM25, TRIGGER, LEARNED, *([KEYS] if keys else []))
    return tuple(Variant(f"without {name}", sure, frozenset({name})) for name in channels)


def without_use(policy: RankingPolicy) -> tuple[Variant, ...]:
    """The policy without ratings, and without any use: as if nobody had ever given feedback (rule 8.3)."""
    return (
        Variant(NO_RATINGS, policy, frozenset({RATED})),
        Variant(NEVER_USED, policy, frozenset({RATED, LEARNED, KEYS})),
    )


def without_stages(policy: RankingPolicy) -> tuple[Variant, ...]:
    """The policy without each stage that it has."""
    others = (Variant(name, replace(policy, **off([name]))) for name in STAGES)
    return tuple(one for one in others if one.policy.version != policy.version)
