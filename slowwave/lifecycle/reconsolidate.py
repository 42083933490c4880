"""Reconsolidating what is live already, or showing what that would do."""

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
    """What became of the live memories, or would become of them.

    Attributes:
        policy: guarded or literal.
        memories: how many were looked at.
        counts: decisions by outcome.
        decisions: all of them, with the titles of both memories.
    """

    policy: str
    memories: int
    counts: dict[str, int]
    decisions: list[dict[str, Any]]


def reconsolidate(tenant: Tenant, *, policy: str = "", dry_run: bool = False) -> Reconsolidated:
    """Look at the live memories of a namespace as if they came in now, one after the other (rule 2).

    Args:
        tenant: the namespace.
        policy: guarded or literal; empty: the setting, or guarded while that is off and it is a dry run.
        dry_run: change nothing.

    Raises:
        SlowwaveError: the policy is not known, or is off and this is no dry run.
        StoreError: the checkpoint before the first change cannot be made; nothing was changed.
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
    given, _ = space.admission()
    wanted = replace(given, reconsolidation=chosen, gate=False)  # type: ignore[arg-type]
    count, _, decisions = reconsider_batch(space, tenant.namespace, wanted, now, dry_run=dry_run)
    look = now.isoformat()
    told = pl.DataFrame(
        [
            asdict(one)
            | {"decision_id": "" if dry_run else ids.decision_id(one.memory_id, one.revision, look)}
            for one in decisions
        ],
        infer_schema_length=None,
        schema_overrides={"other": pl.String, "similarity": pl.Float64},
    )
    if told.is_empty():
        return Reconsolidated(chosen, count, {}, [])
    rows = titled(space, tenant.namespace, told.rename({"other": "other_memory"})).to_dicts()
    counts = Counter(str(one.outcome) for one in decisions if one.outcome != "complement")
    return Reconsolidated(chosen, count, dict(counts), rows)
