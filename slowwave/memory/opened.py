"""Open namespace of a home, the base of :class:`slowwave.Memory`."""

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
    """Parts of one namespace, opened on first use; see :class:`slowwave.Memory`."""

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
        """Home with its clock, tables, journal, models and policies."""
        return self._space

    @property
    def settings(self) -> Settings:
        """Settings in force."""
        return self._space.settings

    @property
    def store(self) -> Store:
        """Tables."""
        return self._space.store

    @property
    def journal(self) -> Journal:
        """Journal."""
        return self._space.journal

    @property
    def embedder(self) -> Embedder:
        """Embedding model."""
        return self._space.embedder

    @property
    def policy(self) -> RankingPolicy:
        """Ranking policy in force."""
        return self._space.policy

    @property
    def gate_policy(self) -> GatePolicy:
        """Settings of the save gate, and the start of enforcement."""
        self._space.look_at_gate()
        return self._space.gate_policy

    def prepare(self) -> None:
        """Open tables, journal, embedding model and policies now, not on first use."""
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
