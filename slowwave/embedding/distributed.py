"""Many texts embedded by the workers of an engine: the same vectors, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from slowwave.embedding import Embedder, knows, load_embedder
from slowwave.embedding.base import MODELS, Progress, Vectors

if TYPE_CHECKING:
    from slowwave.engine import Engine
    from slowwave.settings import EmbeddingSettings
    from slowwave.settings.groups import EngineSettings


def distribute(
    own: Embedder, settings: EmbeddingSettings, engine_settings: EngineSettings, engine: Engine
) -> Embedder:
    """An embedding model of which each worker of an engine has one, where it has workers; else this one.

    Args:
        own: this process's.
        settings: that it was made from.
        engine_settings: how many texts make a piece, and how few are not worth one.
        engine: may have workers.
    """
    return DistributedEmbedder(own, settings, engine_settings, engine) if engine.spreads else own


class DistributedEmbedder:
    """An embedding model of which each worker of an engine has one; queries and few texts are this process's.

    Args:
        own: this process's.
        settings: which model it is.
        engine_settings: how many texts make a piece, and how few are not worth one.
        engine: has the workers.
    """

    def __init__(
        self, own: Embedder, settings: EmbeddingSettings, engine_settings: EngineSettings, engine: Engine
    ) -> None:
        self._own, self._engine, self._least = own, engine, engine_settings.min_texts
        self._settings = settings.model_copy(update={"threads": 1})  # a worker is one of many
        self.name = own.name
        named = MODELS.get(own.name)
        call = (named.texts_per_call if named else None) or settings.batch_size
        self._size = -(-engine_settings.texts // call) * call

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        return self._own.dimension

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of the texts; a piece is told when it is done.

        The texts go in order of length and in whole calls of the model, as one process takes them: so each is
        embedded in the company that it has there, and gets the very same vector.
        """
        order = sorted((at for at, text in enumerate(texts) if text.strip()), key=lambda at: len(texts[at]))
        if len(order) < self._least:
            return self._own.embed_documents(texts, progress)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        pieces = [order[at : at + self._size] for at in range(0, len(order), self._size)]
        given = ([texts[at] for at in piece] for piece in pieces)
        made = self._engine.map(partial(embedded, self._settings), given)
        for piece, found in zip(pieces, made, strict=True):
            vectors[piece] = found
            if progress is not None:
                progress(len(piece))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Vector of a query."""
        return self._own.embed_query(text)

    def knows(self, text: str) -> float:
        """How well the model knows the language of a text, in [0, 1]."""
        return knows(self._own, text)


@lru_cache(maxsize=2)
def local_model(settings: EmbeddingSettings) -> Embedder:
    """The model of this worker, loaded once."""
    return load_embedder(settings)


def embedded(settings: EmbeddingSettings, texts: list[str]) -> Vectors:
    """Vectors (n, dimension) of some texts, by the model of the process that this runs in."""
    return local_model(settings).embed_documents(texts)
