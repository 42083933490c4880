"""Jobs with which a person decides about learning on Dagster's page (Launchpad)."""

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
_TAGS = {"dagster/max_retries": "0"}  # a decision is not repeated


class Scope(Enum):
    """Scope of a rollback."""

    everything = "everything"
    memory = "memory"
    search = "search"
    principal = "principal"
    since = "since"


class Kind(Enum):
    """Kind of learning: learned terms (words) or search keys."""

    words = "words"
    keys = "keys"


_KINDS: dict[Kind, taught.Kind] = dict(zip(Kind, taught.KINDS, strict=True))
_SCOPES: dict[Scope, taught.Scope] = dict(zip(Scope, taught.SCOPES, strict=True))


class DecisionConfig(dg.Config):
    """Decision of a person about the learning of a namespace, with the reason."""

    namespace: str = Field("", description="Namespace of the learning; empty: that of the settings.")
    kind: Kind = Field(Kind.words, description="words: learned terms; keys: search keys (past questions).")
    who: str = Field("", description="Your name. Required and recorded.")
    why: str = Field("", description="Reason. It is recorded.")

    def learning(self, slowwave: SlowwaveResource) -> Learning:
        """Open the learning of the namespace.

        Raises:
            LearningError: `who` is empty.
        """
        if not self.who.strip():
            raise LearningError("`who` is empty. Fill in your name; it is recorded with the decision.")
        space = slowwave.space
        return Learning(space, self.namespace or space.settings.namespace, PRINCIPAL)


class RollbackDecision(DecisionConfig):
    """Decision to roll back, with its scope."""

    scope: Scope = Field(
        Scope.memory, description="Scope of the rollback: everything, memory, search, principal or since."
    )
    value: str = Field(
        "",
        description="Id of the memory, search or principal, or a time (ISO, UTC) for since; empty for "
        "everything.",
    )


def _form(op: str, decision: type[DecisionConfig]) -> dg.ConfigMapping:
    """Return the Launchpad form: the fields of a decision only."""
    return dg.ConfigMapping(
        config_fn=lambda values: {"ops": {op: {"config": values}}},
        config_schema=decision.to_config_schema().as_field().config_type,
    )


@dg.op(
    description="Approve learning from selections from today on. Refused while another condition is missing."
)
def approve(context: dg.OpExecutionContext, config: DecisionConfig, slowwave: SlowwaveResource) -> None:
    """Approve, and attach the evidence to the run."""
    with _refusal():
        learning = config.learning(slowwave)
        act = learning.approve(who=config.who, why=config.why, kind=_KINDS[config.kind])
    now = learning.gate(_KINDS[config.kind])
    context.add_output_metadata(_metadata(act) | {"evidence": conditions_table([now])})


@dg.op(description="Withdraw the approval: nothing learned is used from now on.")
def withdraw(context: dg.OpExecutionContext, config: DecisionConfig, slowwave: SlowwaveResource) -> None:
    """Withdraw the approval."""
    with _refusal():
        act = config.learning(slowwave).withdraw(who=config.who, why=config.why, kind=_KINDS[config.kind])
    context.add_output_metadata(_metadata(act))


@dg.op(description="Roll back learning, as if it had never been applied.")
def roll_back(context: dg.OpExecutionContext, config: RollbackDecision, slowwave: SlowwaveResource) -> None:
    """Roll back learning."""
    with _refusal():
        done = config.learning(slowwave).roll_back(
            _SCOPES[config.scope], config.value, who=config.who, why=config.why, kind=_KINDS[config.kind]
        )
    assert done.act is not None
    context.add_output_metadata(
        _metadata(done.act)
        | {
            "proposals": done.proposed.height,
            "deleted rows": done.applied.height,
            f"{'terms' if done.kind == taught.WORDS else 'keys'} without effect now": done.live,
            "rolled back": table(done.proposed.drop("term"), rows=60),
        }
    )


@dg.job(
    tags=_TAGS,
    config=_form("approve", DecisionConfig),
    description="Approve learning from selections in a namespace. Review the check learning_gate of "
    "learned_triggers first, then fill in your name in the Launchpad; it is recorded.",
)
def approve_learning() -> None:
    """Approve learning in a namespace."""
    approve()


@dg.job(
    tags=_TAGS,
    config=_form("withdraw", DecisionConfig),
    description="Withdraw the approval of a namespace: learned terms and keys are kept but not used. Fill in "
    "your name in the Launchpad.",
)
def withdraw_learning() -> None:
    """Withdraw the approval of a namespace."""
    withdraw()


@dg.job(
    tags=_TAGS,
    config=_form("roll_back", RollbackDecision),
    description="Roll back learning: everything, or that of a memory, search or principal. Fill in your name "
    "and the scope in the Launchpad.",
)
def rollback_learning() -> None:
    """Roll back learning in a namespace."""
    roll_back()


JOBS = [approve_learning, withdraw_learning, rollback_learning]


@contextmanager
def _refusal() -> Iterator[None]:
    """Fail the run with the evidence if a decision is refused."""
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
        "why": act.why or "not given",
    }
