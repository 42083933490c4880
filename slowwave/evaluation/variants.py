"""What is tried on the candidates of past searches: the ranking in force, what is left of it, and others."""

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
"""Name of what searches showed, as it was shown; not a variant that is ranked again."""


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
    *,
    keys: bool = False,
) -> list[Tried]:
    """Everything that is tried, the ranking in force first; nothing where shadow scoring is off.

    Args:
        policy: the one in force.
        settings: names the shadow policies, and whether what is left without each part is tried.
        read: gives the policy of a file that they name.
        keys: whether search keys are on, so that what is left without them is tried, too.

    Raises:
        SettingsError: a policy file cannot be read, or has the name of something else that is tried.
    """
    if not settings.shadow:
        return []
    own = [Tried(Variant(IN_FORCE, policy), "in force")]
    own += [Tried(one, "baseline") for one in baselines_and_ablations.baselines(policy)]
    if settings.ablations:
        own += [Tried(one, "channel") for one in baselines_and_ablations.without_channels(policy, keys=keys)]
        own += [Tried(one, "stage") for one in baselines_and_ablations.without_stages(policy)]
        own += [Tried(one, "channel") for one in baselines_and_ablations.without_use(policy)]
    taken = {LOGGED, *(one.variant.name for one in own)}
    if clash := sorted(taken.intersection(settings.shadow_policies)):
        raise SettingsError(
            f"evaluation.shadow_policies has one called {clash[0]!r}, the name of what is tried anyway. "
            f"Give it another name."
        )
    files = settings.shadow_policies.items()
    return own + [Tried(Variant(name, read(path)), "shadow") for name, path in files]
