"""The parts of one home with its policies: gate, reconsolidation, feedback, learning, keys and ranking.

It is one file because it is one list: each policy says in a few lines what it is made of.
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
    """The parts of one home, and its policies: what its settings and its tables say together."""

    _checkpointed = False

    def activate_gate(self) -> None:
        """Begin the fortnight in which a gate of mode warn only warns, if it has not begun (rule 1).

        Called before notes are judged; the store remembers the moment.
        """
        self.look_at_gate()
        if self.settings.gate.mode == "warn" and self.gate_policy.activated_at is None:
            self.store.put_meta(GATE_ACTIVATED, {"at": self.now().isoformat()}, keep=True)
            self.__dict__.pop("gate_policy", None)  # another thread may have been here

    def look_at_gate(self) -> None:
        """See whether anybody has said since when the gate is to begin, in this process or another one."""
        if "gate_policy" in self.__dict__ and len(self.gate_policy.moved) != self.journal.count(
            EVERYBODY, GATE
        ):
            self.__dict__.pop("gate_policy", None)

    @cached_property
    def gate_policy(self) -> GatePolicy:
        """The save gate's settings, when it was activated, and what was said about when it begins."""
        from slowwave.home.gate_schedule import moved

        gate = self.settings.gate
        activated = self.store.get_meta(GATE_ACTIVATED)
        return GatePolicy(
            **given(gate, GatePolicy),
            mode=gate.mode,
            activated_at=None if activated is None else datetime.fromisoformat(activated["at"]),
            echo_window=timedelta(hours=gate.echo_hours),
            moved=moved(self.journal),
        )

    @cached_property
    def thresholds(self) -> Thresholds:
        """Cosine thresholds: the settings, else the calibration of the model, else its profile (rule 2.4).

        Raises:
            SettingsError: together they are out of order.
        """
        from slowwave.home.thresholds import stored_thresholds

        own = given(self.settings.reconsolidation, Thresholds)
        try:
            return replace(stored_thresholds(self.store), **own)
        except ValueError as error:
            raise SettingsError(
                f"The thresholds of reconsolidation are out of order: {error}. Set are {', '.join(own)}; the "
                f"others are those of {self.store.identity.model}. Set them all, or none."
            ) from None

    def admission(self) -> tuple[AdmissionPolicy, tuple[str, ...]]:
        """How notes enter, and what a person should know of it.

        The first time that reconsolidation is on, every table gets a checkpoint; when that fails it stays off
        (rule 2.5).
        """
        from slowwave.quality.admission.types import AdmissionPolicy
        from slowwave.store.checkpoints import ensure_checkpoint

        asked = self.settings.reconsolidation
        policy = AdmissionPolicy(
            gate=self.gate_policy.mode != "off",
            reconsolidation=asked.policy,
            thresholds=self.thresholds,
            neighbours=asked.neighbours,
        )
        if asked.policy == "off" or self._checkpointed:
            return policy, ()
        try:
            with self.writing():  # or two processes would make it at once
                ensure_checkpoint(self.store, RECONSOLIDATION_CHECKPOINT, self.now())
        except (StoreError, RuntimeError, OSError, ValueError) as error:
            warning = (
                f"Reconsolidation stays off: no checkpoint of the tables could be made before it ({error}). "
                f"Nothing was merged or superseded."
            )
            return replace(policy, reconsolidation="off"), (warning,)
        self._checkpointed = True
        return policy, ()

    @cached_property
    def feedback_policy(self) -> FeedbackPolicy:
        """What feedback counts."""
        return FeedbackPolicy(**given(self.settings.feedback, FeedbackPolicy))

    @cached_property
    def learning_policy(self) -> LearningPolicy:
        """What selections may teach."""
        from slowwave.scoring.feedback.policy import LearningPolicy

        return LearningPolicy(**given(self.settings.learning, LearningPolicy))

    @cached_property
    def key_teaching(self) -> KeyTeaching:
        """What searches teach as keys."""
        from slowwave.scoring.feedback.policy import KeyTeaching

        return KeyTeaching(**given(self.settings.search_keys, KeyTeaching))

    @cached_property
    def key_policy(self) -> KeyPolicy:
        """How keys lift: by what the ranking in force lets them add."""
        from slowwave.scoring.key_policy import KeyPolicy

        return KeyPolicy(weight=self.policy.key_weight, **given(self.settings.search_keys, KeyPolicy))

    @cached_property
    def gate_bounds(self) -> GateBounds:
        """What the learning gate asks for."""
        from slowwave.quality.learning_bounds import GateBounds

        return GateBounds(**given(self.settings.learning, GateBounds))

    @cached_property
    def usage_policy(self) -> UsagePolicy:
        """When an answer has used a memory."""
        from slowwave.scoring.feedback.policy import UsagePolicy

        own = given(self.settings.feedback, UsagePolicy)
        return UsagePolicy(**own, grey_ratio=min(own["used_ratio"], UsagePolicy().grey_ratio))

    @cached_property
    def model_policy(self) -> RankingPolicy:
        """The default ranking with what is known of the embedding model."""
        from slowwave.embedding import profile

        model = profile(self.model)
        return replace(
            RankingPolicy(),
            vector_weight=model.vector_weight,
            cosine_floor=model.cosine_floor,
            sparse_distance=model.recall_distance,
            abstention_floor=model.abstention_floor,
        )

    def policy_of(self, file: Path) -> RankingPolicy:
        """The policy of a file that the settings name; what it leaves out is as in `model_policy`."""
        return read_policy(self.settings.in_home(file), self.model_policy)

    @cached_property
    def policy(self) -> RankingPolicy:
        """The ranking in force: the settings, over the policy file, over what is known of the model."""
        ranking = self.settings.ranking
        policy = self.model_policy if ranking.policy_file is None else self.policy_of(ranking.policy_file)
        return replace(policy, **given(ranking, RankingPolicy))

    @cached_property
    def interleaved_policy(self) -> RankingPolicy | None:
        """The ranking whose results searches show in turn with those of the one in force, if any."""
        file = self.settings.evaluation.interleave
        other = None if file is None else self.policy_of(file)
        return None if other is None or other.version == self.policy.version else other
