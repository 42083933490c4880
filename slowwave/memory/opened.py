"""Open namespace of a home: what the calls of :class:`slowwave.Memory` stand on."""

from __future__ import annotations

import re
from types import TracebackType
from typing import TYPE_CHECKING, Self

from slowwave.common.error_translation import api_calls
from slowwave.errors import SlowwaveError
from slowwave.home.tenant import Tenant
from slowwave.settings import Settings

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.quality.gate_policy import GatePolicy
    from slowwave.scoring.ranking import RankingPolicy
    from slowwave.store import Store

_NAMESPACE = re.compile(r"\w[\w\-./]*")


@api_calls
class OpenMemory:
    """Parts of one namespace of a home, opened when they are first needed; see :class:`slowwave.Memory`."""

    def __init__(
        self,
        settings: Settings,
        *,
        namespace: str,
        principal: str = "application",
        space: Workspace | None = None,
    ) -> None:
        if not _NAMESPACE.fullmatch(namespace):
            raise SlowwaveError(
                f"Namespace {namespace!r}: begin with a letter or digit, then letters, digits, '_', '-', "
                f"'.' and '/'."
            )
        from slowwave.home.workspace import Workspace

        self.namespace = namespace
        self.principal = principal
        self._space = space or Workspace(settings, namespace=namespace)
        self.tenant = Tenant(self._space, namespace, principal)

    # -- parts -----------------------------------------------------------------------------------

    @property
    def home(self) -> Workspace:
        """The home, for what is not about one namespace: its clock, tables, journal, models and policies."""
        return self._space

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._space.settings

    @property
    def store(self) -> Store:
        """The tables."""
        return self._space.store

    @property
    def journal(self) -> Journal:
        """The journal."""
        return self._space.journal

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self._space.embedder

    @property
    def policy(self) -> RankingPolicy:
        """The ranking policy in force."""
        return self._space.policy

    @property
    def gate_policy(self) -> GatePolicy:
        """The save gate's settings, and from when it refuses."""
        self._space.look_at_gate()
        return self._space.gate_policy

    def prepare(self) -> None:
        """Open now what calls open when they first need it: tables, journal, embedding model, policies."""
        from slowwave.lifecycle.echo_window import served_passages
        from slowwave.search.searcher import searcher_in

        served_passages(self._space), searcher_in(self._space)
        _ = self.store, self.journal, self.policy, self.gate_policy

    def close(self) -> None:
        """Release the journal's connections and the search thread."""
        self._space.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
