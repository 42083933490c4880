"""Reconsolidation of live memories, or a dry run of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.workspace import RECONSOLIDATION_CHECKPOINT
from slowwave.lifecycle.admission import reconsider_batch
from slowwave.lifecycle.decisions import titled
from slowwave.quality.reconsolidation import Policy
from slowwave.store.checkpoints import ensure_checkpoint

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Reconsolidated:
    """Outcome of a reconsolidation run, or of a dry run.

    Attributes:
        policy: guarded or literal.
        memories: Memories that were checked (count).
        counts: Decisions by outcome.
        decisions: All of them, with both titles.
    """

    policy: str
    memories: int
    counts: dict[str, int]
    decisions: list[dict[str, Any]]


def reconsolidate(tenant: Tenant, *, policy: str = "", dry_run: bool = False) -> Reconsolidated:
    """Decide on the live memories of a namespace as if they arrived now (rule 2).

    Args:
        policy: guarded or literal; empty: the setting, or guarded if that is off and it is a dry run.
        dry_run: Change nothing.

    Raises:
        SlowwaveError: The policy is unknown, or off without a dry run.
        StoreError: The checkpoint before the first change failed; nothing was changed.
    """
    space = tenant.space
    chosen = policy or space.settings.reconsolidation.policy
    if chosen == "off" and dry_run:
        chosen = "guarded"
    if chosen not in get_args(Policy) or chosen == "off":
        raise SlowwaveError(
            f"Reconsolidation policy {chosen!r}: set reconsolidation.policy, or give --policy, "
            f"as guarded or literal."
        )
    now = space.now()
    if not dry_run:
        with space.writing():
            ensure_checkpoint(space.store, f"{RECONSOLIDATION_CHECKPOINT}-{now:%Y%m%dT%H%M%S}", now)
    configured, _ = space.admission()
    wanted = replace(configured, reconsolidation=chosen, gate=False)  # type: ignore[arg-type]
    count, _, decisions = reconsider_batch(space, tenant.namespace, wanted, now, dry_run=dry_run)
    look = now.isoformat()
    frame = pl.DataFrame(
        [
            asdict(decision)
            | {"decision_id": "" if dry_run else ids.decision_id(decision.memory_id, decision.revision, look)}
            for decision in decisions
        ],
        infer_schema_length=None,
        schema_overrides={"other": pl.String, "similarity": pl.Float64},
    )
    if frame.is_empty():
        return Reconsolidated(chosen, count, {}, [])
    rows = titled(space, tenant.namespace, frame.rename({"other": "other_memory"})).to_dicts()
    counts = Counter(str(decision.outcome) for decision in decisions if decision.outcome != "complement")
    return Reconsolidated(chosen, count, dict(counts), rows)
