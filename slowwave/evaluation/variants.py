"""What is tried on the candidates of past searches: the ranking in force, what is left of it, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from slowwave.errors import SettingsError
from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.candidates import BM25, LEARNED, TRIGGER, VECTOR
from slowwave.settings.ranking_file import read_policy

if TYPE_CHECKING:
    from slowwave.settings import EvaluationSettings

Role = Literal["in force", "shadow", "baseline", "channel", "stage"]
IN_FORCE = "in force"
LOGGED = "logged"
"""Name of what searches showed, as it was shown; not a variant that is ranked again."""

_PLAIN: dict[str, Any] = {
    "title_weight": 0.0, "trigger_weight": 0.0, "mpab": False, "neighbour_weight": 0.0,
    "effectiveness_weight": 0.0, "confidence_point": 0.0, "negative_feedback": False, "sparse_recall": False,
    "abstention_floor": 0.0, "rerank_weight": 0.0, "learned_cap": 0.0,
}  # fmt: skip
_STAGES: dict[str, dict[str, Any]] = {
    "no MPAB": {"mpab": False},
    "no titles": {"title_weight": 0.0},
    "no neighbours": {"neighbour_weight": 0.0},
    "no cross-encoder": {"rerank_weight": 0.0},
    "no effectiveness": {"effectiveness_weight": 0.0},
    "no confidence": {"confidence_point": 0.0},
    "no negative feedback": {"negative_feedback": False},
    "no sparse recall": {"sparse_recall": False},
    "no abstention": {"abstention_floor": 0.0},
}


@dataclass(frozen=True, slots=True)
class Tried:
    """A variant, and why it is tried.

    Attributes:
        variant: the policy, and the channels taken away from it.
        role: in force; shadow (a candidate for it); baseline (what is easily had without this project);
            channel or stage (what is left of the one in force without it).
    """

    variant: Variant
    role: Role

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            "role": self.role,
            "policy": self.variant.policy.to_dict(),
            "policy_version": self.variant.policy.version,
            "without": sorted(self.variant.without),
        }


def variants(
    policy: RankingPolicy,
    settings: EvaluationSettings,
    read: Callable[[Path], RankingPolicy] = read_policy,
) -> list[Tried]:
    """Everything that is tried, the ranking in force first; nothing where shadow scoring is off.

    Args:
        policy: the one in force.
        settings: names the shadow policies, and whether what is left without each part is tried.
        read: gives the policy of a file that they name.

    Raises:
        SettingsError: a policy file cannot be read, or has the name of something else that is tried.
    """
    if not settings.shadow:
        return []
    own = [Tried(Variant(IN_FORCE, policy), "in force"), *baselines(policy)]
    own += ablations(policy) if settings.ablations else []
    taken = {LOGGED, *(one.variant.name for one in own)}
    if clash := sorted(taken.intersection(settings.shadow_policies)):
        raise SettingsError(
            f"evaluation.shadow_policies has one called {clash[0]!r}, the name of what is tried anyway. "
            f"Give it another name."
        )
    files = settings.shadow_policies.items()
    return own + [Tried(Variant(name, read(path)), "shadow") for name, path in files]


def baselines(policy: RankingPolicy) -> list[Tried]:
    """One channel alone, the two by their ranks, and the seeds' constants."""
    plain = replace(policy, **_PLAIN)
    own = {"vector_weight": policy.vector_weight, "cosine_floor": policy.cosine_floor}
    return [
        _baseline(
            "BM25 alone", replace(plain, fusion="convex", vector_weight=0.0), {VECTOR, TRIGGER, LEARNED}
        ),
        _baseline(
            "vectors alone", replace(plain, fusion="convex", vector_weight=1.0), {BM25, TRIGGER, LEARNED}
        ),
        _baseline("RRF", replace(plain, fusion="rrf"), {TRIGGER, LEARNED}),
        _baseline("seeds", replace(SEEDS, **own)),  # type: ignore[arg-type]
    ]


def _baseline(name: str, policy: RankingPolicy, without: Iterable[str] = ()) -> Tried:
    return Tried(Variant(name, replace(policy, name=name), frozenset(without)), "baseline")


def ablations(policy: RankingPolicy) -> list[Tried]:
    """The policy without each channel, and without each stage that it has.

    Without a channel none abstains: the signal that decides it is made of what the channels say.
    """
    sure = replace(policy, abstention_floor=0.0)
    channels = [
        Tried(Variant(f"without {name}", sure, frozenset({name})), "channel")
        for name in (VECTOR, BM25, TRIGGER, LEARNED)
    ]
    stages = [(name, replace(policy, **change)) for name, change in _STAGES.items()]
    return channels + [
        Tried(Variant(name, without), "stage")
        for name, without in stages
        if without.version != policy.version
    ]
