"""Connection to a Ray cluster: one per process, opened on demand, and monitored."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, Timer
from typing import TYPE_CHECKING, Any, NoReturn

from slowwave.errors import EngineError

if TYPE_CHECKING:
    from slowwave.settings.groups import EngineSettings

STORE_BYTES = 200 << 20
"""Shared memory for pieces and results of a cluster on this machine (bytes)."""
PATIENCE = 60.0
"""Maximum time a cluster may be without workers (s)."""
DAY = "86400"
"""Ray's reconnect time-out for a lost head (s)."""
IDLE = 30.0
"""Idle time after which the cluster is left (s): Ray kills a process whose cluster's head is replaced."""
_CONNECTING = RLock()
_AGAIN = "Run the same command again: it continues from what was committed."


class _Work:
    """Work in progress on this process's one connection."""

    under_way = 0
    leaving: Timer | None = None


class Cluster:
    """Ray cluster at an address, or one that this process starts on this machine.

    Args:
        settings: Name the cluster.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._alone_since: float | None = None
        self.checked_at = time.monotonic()

    def connected(self) -> Any:  # noqa: ANN401 - the module `ray`, which need not be installed
        """Connect, and return the module `ray`.

        Raises:
            EngineError: It is not installed, or there is no such cluster.
        """
        # Disable Ray's prompts and usage statistics, and require tokens: whoever reaches a cluster without
        # tokens can run any code there. Ray reads these variables on import.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        if self._settings.address:
            # Ray kills a process that cannot reach the head for a minute. Our own check reports what to do
            # instead.
            os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", DAY)
        try:
            import ray
        except ImportError as error:
            raise EngineError(
                f"engine.kind is ray, and {error}: pip install '.[distributed]' in Slowwave's folder, on "
                f"each machine of the cluster."
            ) from None
        with _CONNECTING:
            if not ray.is_initialized():
                self._connect(ray)
        return ray

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Keep the connection during the block; it is closed some time after the last work."""
        with _CONNECTING:
            _Work.under_way += 1
            if _Work.leaving is not None:
                _Work.leaving.cancel()
        try:
            yield
        finally:
            with _CONNECTING:
                _Work.under_way -= 1
                if self._settings.address and not _Work.under_way:
                    _Work.leaving = Timer(IDLE, self._leave_if_idle)
                    _Work.leaving.daemon = True
                    _Work.leaving.start()

    def _leave_if_idle(self) -> None:
        with _CONNECTING:
            if not _Work.under_way:
                self.close()

    def _connect(self, ray: Any) -> None:  # noqa: ANN401 - a module
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
        address = self._settings.address
        if address and not _answers(address):
            raise EngineError(
                f"No Ray cluster answers at engine.address = {address!r}. On its first machine: ray start "
                f"--head --port={address.rpartition(':')[2]}. Or leave engine.address empty: then a cluster "
                f"is started on this machine while the command runs."
            )
        hint = (
            " Check that this machine has the cluster's token (~/.ray/auth_token or RAY_AUTH_TOKEN)."
            if address
            else ""
        )
        try:
            if address:
                ray.init(address=address, **quiet)
            else:
                ray.init(
                    num_cpus=self._settings.workers or os.cpu_count(), include_dashboard=False,
                    object_store_memory=STORE_BYTES, **quiet,
                )  # fmt: skip
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = f"at {address!r} refused the connection" if address else "did not start on this machine"
            raise EngineError(f"A Ray cluster {where}: {error}.{hint}") from error

    def session(self) -> str:
        """Return the id of the connection to the cluster; empty without one."""
        import ray

        return str(ray.get_runtime_context().get_job_id()) if ray.is_initialized() else ""

    def workers(self) -> int:
        """Return the pieces that the cluster computes at a time (count): its CPUs."""
        return _cpus() or 1

    def check(self) -> None:
        """Check that the head answers and there are workers.

        Raises:
            EngineError: The head does not answer, or there has been no worker for a while.
        """
        import ray

        self.checked_at = time.monotonic()
        if not _answers(ray.get_runtime_context().gcs_address):
            self.lost("its head does not answer")
        if _cpus():
            self._alone_since = None
            return
        self._alone_since = self._alone_since or time.monotonic()
        if time.monotonic() - self._alone_since > PATIENCE:
            self.lost(f"it has had no worker for {PATIENCE:.0f} s")

    def lost(self, why: str) -> NoReturn:
        """Leave an unusable cluster.

        Raises:
            EngineError: Always.
        """
        self.close()
        where = f"at {self._settings.address}" if self._settings.address else "of this process"
        raise EngineError(f"The Ray cluster {where} is lost ({why}). {_AGAIN}")

    def close(self) -> None:
        """Leave the cluster; one that this process started ends."""
        ray = sys.modules.get("ray")
        with _CONNECTING:
            if ray is not None and ray.is_initialized():
                ray.shutdown()


def _cpus() -> int:
    import ray

    return int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]


def _answers(address: str) -> bool:
    """Whether a server listens at HOST:PORT."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return False
    for wait in (1.0, 2.0):
        try:
            with socket.create_connection((host, int(port)), timeout=wait):
                return True
        except OSError:
            time.sleep(0.2)
    return False
