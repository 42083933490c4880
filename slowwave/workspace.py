"""The parts of one home, opened when they are first needed and shared by all who use it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from quality.gate import GatePolicy
from scoring.ranking import RankingPolicy
from slowwave.settings import Settings

if TYPE_CHECKING:
    from slowwave.chunking import Chunker
    from slowwave.embedding import Embedder
    from slowwave.journal import Journal
    from slowwave.search import Searcher
    from slowwave.store import Store


class Workspace:
    """Store, journal, embedder, chunker and policies of one home."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model that the settings name."""
        from slowwave.embedding import load_embedder

        return load_embedder(self.settings.embedding)

    @cached_property
    def store(self) -> Store:
        """The tables, made when they are not there."""
        from datetime import UTC, datetime

        from slowwave.store import Store
        from slowwave.store.migrations import migrate

        store = Store(
            self.settings.store_uri,
            model=self.embedder.name,
            dimension=self.embedder.dimension,
            storage_options=self.settings.store.storage_options,
        )
        migrate(store, datetime.now(UTC))
        return store

    @cached_property
    def journal(self) -> Journal:
        """The journal, made when it is not there."""
        from slowwave.journal import Journal

        journal = self.settings.journal
        if journal.url:
            return Journal(journal.url, durability=journal.durability)
        return Journal.open_path(self.settings.journal_file, durability=journal.durability)

    @cached_property
    def chunker(self) -> Chunker:
        """How notes are cut."""
        from slowwave.chunking import Chunker

        return Chunker(self.settings.chunks.min_words, self.settings.chunks.max_words)

    @cached_property
    def searcher(self) -> Searcher:
        """Finds candidates."""
        from slowwave.search import Searcher

        return Searcher(self.store, self.embedder)

    @cached_property
    def gate_policy(self) -> GatePolicy:
        """The save gate's settings."""
        gate = self.settings.gate
        return GatePolicy(mode=gate.mode, min_characters=gate.min_characters)

    @cached_property
    def policy(self) -> RankingPolicy:
        """The ranking in force: the settings, over what is known of the embedding model."""
        from slowwave.embedding import profile

        ranking, model = self.settings.ranking, profile(self.settings.embedding.model)
        return RankingPolicy(
            fusion=ranking.fusion,
            vector_weight=model.vector_weight if ranking.vector_weight is None else ranking.vector_weight,
            cosine_floor=model.cosine_floor,
            rrf_k=ranking.rrf_k,
        )

    def close(self) -> None:
        """Release connections and threads of the parts that were opened."""
        if "journal" in self.__dict__:
            self.journal.close()
        if "searcher" in self.__dict__:
            self.searcher.close()
