"""Jobs with which a person decides about learning from the web page (Launchpad)."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import dagster as dg
from pydantic import Field

from slowwave.assets.learning import conditions_table
from slowwave.assets.report import table
from slowwave.assets.resources import SlowwaveResource
from slowwave.learning.events import LearningError, LearningEvent
from slowwave.learning.review import ApprovalRefusedError, Learning
from slowwave.scoring.feedback import learned as taught

PRINCIPAL = "web page"
_TAGS = {"dagster/max_retries": "0"}  # a person has decided once


class Scope(Enum):
    """What a rollback takes back."""

    everything = "everything"
    memory = "memory"
    search = "search"
    principal = "principal"
    since = "since"


class Kind(Enum):
    """What is learned."""

    words = "words"
    keys = "keys"


_KINDS: dict[Kind, taught.Kind] = dict(zip(Kind, taught.KINDS, strict=True))
_SCOPES: dict[Scope, taught.Scope] = dict(zip(Scope, taught.SCOPES, strict=True))


class DecisionConfig(dg.Config):
    """Who decides about the learning of which namespace, and why."""

    namespace: str = Field("", description="Whose learning; empty: the namespace of the settings.")
    kind: Kind = Field(Kind.words, description="words, or keys: past questions that lead somewhere.")
    who: str = Field("", description="Your name. It is recorded; without one nothing is decided.")
    why: str = Field("", description="Why, in words. It is recorded.")

    def learning(self, slowwave: SlowwaveResource) -> Learning:
        """What there is to decide.

        Raises:
            LearningError: nobody was named.
        """
        if not self.who.strip():
            raise LearningError("Say who decides: fill in `who` with your name. It is recorded.")
        space = slowwave.space
        return Learning(space, self.namespace or space.settings.namespace, PRINCIPAL)


class RollbackDecision(DecisionConfig):
    """And what is to be taken back."""

    scope: Scope = Field(
        Scope.memory, description="What to take back: everything, memory, search, principal or since."
    )
    value: str = Field(
        "",
        description="The memory's, search's or principal's id, or a moment (ISO, UTC) for since; empty for "
        "everything.",
    )


def _form(op: str, decision: type[DecisionConfig]) -> dg.ConfigMapping:
    """What the Launchpad asks: the fields of a decision, and nothing else."""
    return dg.ConfigMapping(
        config_fn=lambda given: {"ops": {op: {"config": given}}},
        config_schema=decision.to_config_schema().as_field().config_type,
    )


@dg.op(description="Approve that selections teach from today on; refused while anything else is missing.")
def approve(context: dg.OpExecutionContext, config: DecisionConfig, slowwave: SlowwaveResource) -> None:
    """Approve, with the evidence in the run's log."""
    with _refusal():
        learning = config.learning(slowwave)
        act = learning.approve(who=config.who, why=config.why, kind=_KINDS[config.kind])
    now = learning.gate(_KINDS[config.kind])
    context.add_output_metadata(_metadata(act) | {"evidence": conditions_table([now])})


@dg.op(description="Withdraw the approval: nothing that was learned is used from now on.")
def withdraw(context: dg.OpExecutionContext, config: DecisionConfig, slowwave: SlowwaveResource) -> None:
    """Withdraw."""
    with _refusal():
        act = config.learning(slowwave).withdraw(who=config.who, why=config.why, kind=_KINDS[config.kind])
    context.add_output_metadata(_metadata(act))


@dg.op(description="Take back what was learned, as if it had never been taught.")
def roll_back(context: dg.OpExecutionContext, config: RollbackDecision, slowwave: SlowwaveResource) -> None:
    """Take back."""
    with _refusal():
        done = config.learning(slowwave).roll_back(
            _SCOPES[config.scope], config.value, who=config.who, why=config.why, kind=_KINDS[config.kind]
        )
    assert done.act is not None
    context.add_output_metadata(
        _metadata(done.act)
        | {
            "lessons": done.proposed.height,
            "deleted rows": done.applied.height,
            f"{'terms' if done.kind == taught.WORDS else 'keys'} that lost their effect": done.live,
            "taken back": table(done.proposed.drop("term"), rows=60),
        }
    )


@dg.job(
    tags=_TAGS,
    config=_form("approve", DecisionConfig),
    description="Approve what selections teach in a namespace. Look at the check learning_gate of "
    "learned_triggers first, then say in the Launchpad who you are. It is recorded with your name.",
)
def approve_learning() -> None:
    """A person's approval."""
    approve()


@dg.job(
    tags=_TAGS,
    config=_form("withdraw", DecisionConfig),
    description="Withdraw the approval of a namespace: what was learned is kept, not used. Say in the "
    "Launchpad who you are.",
)
def withdraw_learning() -> None:
    """A person's withdrawal."""
    withdraw()


@dg.job(
    tags=_TAGS,
    config=_form("roll_back", RollbackDecision),
    description="Take back what was learned: everything, or of a memory, search or principal. Say in the "
    "Launchpad who you are and what is to go.",
)
def rollback_learning() -> None:
    """A rollback."""
    roll_back()


JOBS = [approve_learning, withdraw_learning, rollback_learning]


@contextmanager
def _refusal() -> Iterator[None]:
    """Fail the run, with the evidence, where a decision is refused."""
    try:
        yield
    except LearningError as error:
        shown = (
            {"evidence": conditions_table([error.decision])}
            if isinstance(error, ApprovalRefusedError)
            else {}
        )
        raise dg.Failure(description=str(error), metadata=shown, allow_retries=False) from None


def _metadata(act: LearningEvent) -> dict[str, Any]:
    return {
        "namespace": act.namespace,
        "who": act.who,
        "at": act.at.isoformat(),
        "why": act.why or "not said",
    }
