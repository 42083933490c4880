"""Workspace: an open home with its policies (gate, reconsolidation, feedback, learning, keys, ranking).

One file because it is one list: each policy takes a few lines.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.errors import SettingsError, StoreError
from slowwave.home.open_home import OpenHome
from slowwave.journal.entry import EVERYBODY, GATE
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.reconsolidation import Thresholds
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings.policies import given
from slowwave.settings.ranking_file import read_policy

if TYPE_CHECKING:
    from slowwave.quality.admission.types import AdmissionPolicy
    from slowwave.quality.learning_bounds import GateBounds
    from slowwave.scoring.feedback.policy import KeyTeaching, LearningPolicy, UsagePolicy
    from slowwave.scoring.key_policy import KeyPolicy

GATE_ACTIVATED = "gate-activated"
RECONSOLIDATION_CHECKPOINT = "before-reconsolidation"


class Workspace(OpenHome):
    """Open home with the policies that its settings and tables define."""

    _checkpointed = False
    _gate_events = 0  # read for `gate_policy`

    def activate_gate(self) -> None:
        """Start the warning period of a gate of mode warn, unless it started (rule 1).

        Called before notes are judged; ``meta`` keeps the moment.
        """
        self.look_at_gate()
        if self.settings.gate.mode == "warn" and self.gate_policy.activated_at is None:
            self.store.put_meta(GATE_ACTIVATED, {"at": self.now().isoformat()}, keep=True)
            self.__dict__.pop("gate_policy", None)  # another thread may have stored it first

    def look_at_gate(self) -> None:
        """Reload the gate policy if its start or a trusted source has changed since."""
        if "gate_policy" in self.__dict__ and self._gate_events != self.journal.count(EVERYBODY, GATE):
            self.__dict__.pop("gate_policy", None)

    @cached_property
    def gate_policy(self) -> GatePolicy:
        """Policy of the save gate: settings, activation, changes of its start, trusted sources."""
        from slowwave.home.gate_schedule import gate_changes

        gate = self.settings.gate
        activated = self.store.get_meta(GATE_ACTIVATED)
        moved, trusted, self._gate_events = gate_changes(self.journal)
        return GatePolicy(
            **given(gate, GatePolicy),
            mode=gate.mode,
            activated_at=None if activated is None else datetime.fromisoformat(activated["at"]),
            echo_window=timedelta(hours=gate.echo_hours),
            moved=moved,
            trusted=trusted,
        )

    @cached_property
    def thresholds(self) -> Thresholds:
        """Cosine thresholds: the settings, else the model's calibration, else its profile (rule 2.4).

        Raises:
            SettingsError: Together they are out of order.
        """
        from slowwave.home.thresholds import stored_thresholds

        own = given(self.settings.reconsolidation, Thresholds)
        try:
            return replace(stored_thresholds(self.store), **own)
        except ValueError as error:
            raise SettingsError(
                f"The thresholds of reconsolidation are out of order: {error}. You set {', '.join(own)}; the "
                f"others are those of {self.store.identity.model}. Set all of them, or none."
            ) from None

    def admission(self) -> tuple[AdmissionPolicy, tuple[str, ...]]:
        """Return the admission policy of notes, and warnings for the user.

        Before reconsolidation first runs, every table gets a checkpoint. If that fails, reconsolidation
        stays off (rule 2.5).
        """
        from slowwave.quality.admission.types import AdmissionPolicy
        from slowwave.store.checkpoints import ensure_checkpoint

        chosen = self.settings.reconsolidation
        policy = AdmissionPolicy(
            gate=self.gate_policy.mode != "off",
            reconsolidation=chosen.policy,
            thresholds=self.thresholds,
            neighbours=chosen.neighbours,
        )
        if chosen.policy == "off" or self._checkpointed:
            return policy, ()
        try:
            with self.writing():  # else two processes might create it at once
                ensure_checkpoint(self.store, RECONSOLIDATION_CHECKPOINT, self.now())
        except (StoreError, RuntimeError, OSError, ValueError) as error:
            warning = (
                f"Reconsolidation stays off: the checkpoint before it could not be created ({error}). "
                f"Nothing was merged or superseded."
            )
            return replace(policy, reconsolidation="off"), (warning,)
        self._checkpointed = True
        return policy, ()

    @cached_property
    def feedback_policy(self) -> FeedbackPolicy:
        """Weights and bounds of feedback."""
        return FeedbackPolicy(**given(self.settings.feedback, FeedbackPolicy))

    @cached_property
    def learning_policy(self) -> LearningPolicy:
        """Bounds of learned terms."""
        from slowwave.scoring.feedback.policy import LearningPolicy

        return LearningPolicy(**given(self.settings.learning, LearningPolicy))

    @cached_property
    def key_teaching(self) -> KeyTeaching:
        """Bounds of learning search keys."""
        from slowwave.scoring.feedback.policy import KeyTeaching

        return KeyTeaching(**given(self.settings.search_keys, KeyTeaching))

    @cached_property
    def key_policy(self) -> KeyPolicy:
        """Policy of query boosts, with the weight of the active ranking."""
        from slowwave.scoring.key_policy import KeyPolicy

        return KeyPolicy(weight=self.policy.key_weight, **given(self.settings.search_keys, KeyPolicy))

    @cached_property
    def gate_bounds(self) -> GateBounds:
        """Bounds that the learning gate requires."""
        from slowwave.quality.learning_bounds import GateBounds

        return GateBounds(**given(self.settings.learning, GateBounds))

    @cached_property
    def usage_policy(self) -> UsagePolicy:
        """Thresholds for counting a memory as used by an answer."""
        from slowwave.scoring.feedback.policy import UsagePolicy

        own = given(self.settings.feedback, UsagePolicy)
        return UsagePolicy(**own, grey_ratio=min(own["used_ratio"], UsagePolicy().grey_ratio))

    @cached_property
    def model_policy(self) -> RankingPolicy:
        """Default ranking with the constants of the embedding model's profile."""
        from slowwave.embedding import profile

        model = profile(self.model)
        return replace(
            RankingPolicy(),
            vector_weight=model.vector_weight,
            cosine_floor=model.cosine_floor,
            sparse_distance=model.recall_distance,
            abstention_floor=model.abstention_floor,
            cut_share=model.cut_share,
            fit_floor=model.fit_floor,
        )

    def policy_of(self, file: Path) -> RankingPolicy:
        """Read a ranking policy file named by the settings; `model_policy` fills what it omits."""
        return read_policy(self.settings.in_home(file), self.model_policy)

    @cached_property
    def policy(self) -> RankingPolicy:
        """Active ranking: settings override the policy file, which overrides `model_policy`."""
        ranking = self.settings.ranking
        policy = self.model_policy if ranking.policy_file is None else self.policy_of(ranking.policy_file)
        return replace(policy, **given(ranking, RankingPolicy))

    @cached_property
    def interleaved_policy(self) -> RankingPolicy | None:
        """Ranking whose results are interleaved with the active one's, if any."""
        file = self.settings.evaluation.interleave
        other = None if file is None else self.policy_of(file)
        return None if other is None or other.version == self.policy.version else other
