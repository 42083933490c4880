"""Process tags of Dagster runs, used to end the records of killed runs."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import dagster as dg

PROCESS_TAG = "slowwave/process"
"""Tag of a run: host, pid and start time of its process."""

_START_FIELD = 22  # of /proc/PID/stat: start time of the process, in ticks since boot
_AFTER_NAME = 3  # first field after the name, which may contain spaces and brackets


def process() -> str:
    """Return a unique id of this process: host, pid, and start time where the system has it.

    In containers pids repeat: each container's program has pid 1.
    """
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def is_dead(tag: str) -> bool:
    """Whether a process of this machine has ended; False for other machines and empty tags.

    Args:
        tag: Value of `process` in that process.
    """
    host, _, rest = tag.partition(":")
    number, _, began = rest.partition(":")
    if host != socket.gethostname() or not number:
        return False
    return not _alive(int(number)) or (bool(began) and began != _began(int(number)))


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs whose process has ended as failed, or canceled if requested. Return their ids."""
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
    """Mark runs of a process group that is about to end as canceling. Return their ids.

    So Dagster does not record a failure; unfinished days stay stale and are requested again.

    Args:
        instance: Of Dagster.
        group: Id of the process group.
    """
    canceled = []
    for run in _under_way(instance):
        host, _, rest = run.tags.get(PROCESS_TAG, "").partition(":")
        number = rest.partition(":")[0]
        if host == socket.gethostname() and number and _group_of(int(number)) == group:
            instance.report_run_canceling(run, "Slowwave was stopped.")
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
    """Return the start time of a process in ticks; empty if it has ended or the system has none."""
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
