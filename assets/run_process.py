"""Which process a run of Dagster is in: so that one that was killed does not count as running for ever."""

from __future__ import annotations

import os
import socket
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
    """Mark runs whose process was killed as failed and free the pools that they held; their ids."""
    ended = []
    running = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING])
    for run in instance.get_runs(running):
        if is_dead(run.tags.get(PROCESS_TAG, "")):
            instance.report_run_failed(run, "The process of this run was killed.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            ended.append(run.run_id)
    return ended


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
