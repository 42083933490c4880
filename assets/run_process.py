"""Which process a run of Dagster is in: so that one that was killed does not count as running for ever."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

PROCESS_TAG = "slowwave/process"
"""Tag of a run: host, number and start of its process."""

_START_FIELD = 22  # of /proc/PID/stat: when the process began, in ticks since the machine did
_AFTER_NAME = 3  # the first field behind the name, which may have spaces and brackets


def process() -> str:
    """What tells this process from all others: host, number, and when it began where the system says so.

    In containers numbers come again: the program of each is number 1.
    """
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def is_dead(told: str) -> bool:
    """Whether a process of this machine is no more; False of other machines, and where nothing is told.

    Args:
        told: what `process` said in it.
    """
    host, _, rest = told.partition(":")
    number, _, began = rest.partition(":")
    if host != socket.gethostname() or not number:
        return False
    return not _alive(int(number)) or (bool(began) and began != _began(int(number)))


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs whose process is no more as failed, or as canceled where that was asked for; their ids."""
    ended = []
    for run in _under_way(instance):
        if not is_dead(run.tags.get(PROCESS_TAG, "")):
            continue
        if run.status == dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, "The process of this run has ended.")
        else:
            instance.report_run_failed(run, "The process of this run was killed.")
        ended.append(run.run_id)
    return ended


def cancel_runs(instance: dg.DagsterInstance, group: int) -> list[str]:
    """Mark the runs in a group of processes that is about to be ended as canceling; their ids.

    So their end is no failure: what was not done is due, and asked for again.

    Args:
        instance: of Dagster.
        group: number of the group.
    """
    canceled = []
    for run in _under_way(instance):
        host, _, rest = run.tags.get(PROCESS_TAG, "").partition(":")
        number = rest.partition(":")[0]
        if host == socket.gethostname() and number and _group_of(int(number)) == group:
            instance.report_run_canceling(run, "Slowwave was asked to end.")
            canceled.append(run.run_id)
    return canceled


def _under_way(instance: dg.DagsterInstance) -> Sequence[dg.DagsterRun]:
    status = dg.DagsterRunStatus
    return instance.get_runs(dg.RunsFilter(statuses=[status.STARTED, status.STARTING, status.CANCELING]))


def _group_of(number: int) -> int | None:
    try:
        return os.getpgid(number)
    except OSError:
        return None


def _began(number: int) -> str:
    """When a process began, in ticks; empty where it is no more, and where the system does not say."""
    try:
        behind_name = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except (OSError, UnicodeDecodeError):
        return ""
    return behind_name[_START_FIELD - _AFTER_NAME]


def _alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
