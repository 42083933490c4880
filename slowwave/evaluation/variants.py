"""Evaluated policies: the policy in force, shadow policies, baselines and ablations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from slowwave.errors import SettingsError
from slowwave.scoring.evaluation import baselines_and_ablations
from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings.ranking_file import read_policy

if TYPE_CHECKING:
    from slowwave.settings import EvaluationSettings

Role = Literal["in force", "shadow", "baseline", "channel", "stage"]
IN_FORCE = "in force"
LOGGED = "logged"
"""Name of the returned results; not a replayed variant."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Evaluated variant and its role.

    Attributes:
        variant: Policy and removed channels.
        role: in force; shadow (a candidate); baseline (available without this project); channel or stage (an
            ablation of the policy in force).
    """

    variant: Variant
    role: Role

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
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
    *,
    keys: bool = False,
) -> list[Tried]:
    """Return all variants to evaluate, the policy in force first; none if shadow scoring is off.

    Args:
        policy: Policy in force.
        settings: Name the shadow policies, and turn ablations on.
        read: Reads the policy of a file.
        keys: Whether search keys are on, so that their ablation is evaluated.

    Raises:
        SettingsError: a policy file cannot be read, or has the name of another variant.
    """
    if not settings.shadow:
        return []
    entries = [Tried(Variant(IN_FORCE, policy), "in force")]
    entries += [Tried(item, "baseline") for item in baselines_and_ablations.baselines(policy)]
    if settings.ablations:
        entries += [
            Tried(item, "channel") for item in baselines_and_ablations.without_channels(policy, keys=keys)
        ]
        entries += [Tried(item, "stage") for item in baselines_and_ablations.without_stages(policy)]
        entries += [Tried(item, "channel") for item in baselines_and_ablations.without_use(policy)]
    reserved = {LOGGED, *(item.variant.name for item in entries)}
    if clash := sorted(reserved.intersection(settings.shadow_policies)):
        raise SettingsError(
            f"evaluation.shadow_policies has a policy named {clash[0]!r}, which is a built-in variant. "
            f"Give it another name."
        )
    files = settings.shadow_policies.items()
    return entries + [Tried(Variant(name, read(path)), "shadow") for name, path in files]
