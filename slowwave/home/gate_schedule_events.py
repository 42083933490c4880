"""Schedule changes of the save gate, journalled so that past days replay correctly."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.journal import Entry
from slowwave.journal.entry import EVERYBODY, GATE
from slowwave.journal.kinds.home import Gate
from slowwave.quality.gate_policy import GatePolicy

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

POSTPONE, ENFORCE = "postpone", "enforce"
MAX_DAYS = 3_650  # by which one event may postpone the gate


def postpone(space: Workspace, days: float, *, who: str, why: str = "") -> datetime:
    """Postpone the day from which the save gate refuses, even after it has begun.

    Args:
        days: Counted from the scheduled start, or from now if the gate has begun.

    Returns:
        Start of enforcement now.

    Raises:
        ArgumentError: `days` is not in (0, 3,650].
        SlowwaveError: gate.mode is not warn: there is no start to postpone.
    """
    if not 0 < days <= MAX_DAYS:
        raise ArgumentError(f"days = {days}: give a number above 0 and at most {MAX_DAYS:,}.")
    now = space.now()
    start = _policy_of_mode_warn(space).enforces_from
    return _append(space, POSTPONE, max(now, start or now) + timedelta(days=days), now, who, why)


def begin(space: Workspace, *, who: str, why: str = "") -> datetime:
    """Enforce the save gate from now on, or from an earlier start that it has; return the start.

    Raises:
        SlowwaveError: gate.mode is not warn.
    """
    now = space.now()
    policy = _policy_of_mode_warn(space)
    if policy.enforces_at(now) and policy.enforces_from is not None:
        return policy.enforces_from
    return _append(space, ENFORCE, now, now, who, why)


def _policy_of_mode_warn(space: Workspace) -> GatePolicy:
    space.look_at_gate()
    if (mode := space.settings.gate.mode) != "warn":
        raise SlowwaveError(
            f'The setting gate.mode is "{mode}", so the gate has no start to change. Set it to "warn" in '
            f"slowwave.toml: notes then enter and would-be refusals are counted until the start."
        )
    return space.gate_policy


def _append(space: Workspace, action: str, begins: datetime, now: datetime, who: str, why: str) -> datetime:
    space.activate_gate()
    event = ids.digest(
        "gate", action, now.isoformat(), begins.isoformat(), str(space.journal.count(EVERYBODY, GATE))
    )
    payload = Gate(begins=begins.isoformat()) | (Gate(why=why) if why else {})
    space.journal.append([Entry(event, GATE, EVERYBODY, action, now, who, payload=payload)])
    space.look_at_gate()
    return begins
