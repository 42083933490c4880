"""What people said about when the save gate begins: acts in the journal, so that past days replay right."""

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
LONGEST = 3_650  # days that one act may put it off


def postpone(space: Workspace, days: float, *, who: str, why: str = "") -> datetime:
    """Put off the day from which the gate refuses; also where it has begun.

    Args:
        space: the home.
        days: from the day on which it would begin, or from now where it has begun.
        who: says so.
        why: in words.

    Returns:
        When it begins now.

    Raises:
        ArgumentError: a period that is none.
        SlowwaveError: the gate's mode is not warn: there is nothing to put off.
    """
    if not 0 < days <= LONGEST:
        raise ArgumentError(f"days = {days}: say how many, more than 0 and at most {LONGEST:,}.")
    now = space.now()
    known = _policy_of_mode_warn(space).enforces_from
    return _say(space, POSTPONE, max(now, known or now) + timedelta(days=days), now, who, why)


def begin(space: Workspace, *, who: str, why: str = "") -> datetime:
    """Let the gate refuse from now on.

    Raises:
        SlowwaveError: the gate's mode is not warn.
    """
    now = space.now()
    policy = _policy_of_mode_warn(space)
    if policy.enforces_at(now) and policy.enforces_from is not None:
        return policy.enforces_from
    return _say(space, ENFORCE, now, now, who, why)


def _policy_of_mode_warn(space: Workspace) -> GatePolicy:
    space.look_at_gate()
    if (mode := space.settings.gate.mode) != "warn":
        raise SlowwaveError(
            f'The setting gate.mode is "{mode}", so there is no day on which it begins. Set it to "warn" '
            f"in slowwave.toml: then notes enter and what it would refuse is counted, until that day."
        )
    return space.gate_policy


def _say(space: Workspace, act: str, begins: datetime, now: datetime, who: str, why: str) -> datetime:
    space.activate_gate()
    event = ids.digest(
        "gate", act, now.isoformat(), begins.isoformat(), str(space.journal.count(EVERYBODY, GATE))
    )
    payload = Gate(begins=begins.isoformat()) | (Gate(why=why) if why else {})
    space.journal.append([Entry(event, GATE, EVERYBODY, act, now, who, payload=payload)])
    space.look_at_gate()
    return begins
