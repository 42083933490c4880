"""Distributed embedding by the workers of an engine, with identical vectors in the same order."""

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
    """Wrap an embedder for the workers of an engine, if the engine has any.

    Args:
        own: Of this process.
        settings: Of `own`.
        engine_settings: Texts per piece, and the minimum worth distributing.
        engine: May have workers.
    """
    return DistributedEmbedder(own, settings, engine_settings, engine) if engine.spreads else own


class DistributedEmbedder:
    """Embedder with one model per worker of an engine; this process embeds queries and few texts.

    Args:
        own: Of this process.
        settings: Of the model.
        engine_settings: Texts per piece, and the minimum worth distributing.
        engine: Has the workers.
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
        """Return vectors of the texts; progress is reported per piece.

        Texts go in order of length and in whole calls of the model, as in one process. So each is embedded in
        the same batch there, and gets the identical vector.
        """
        order = sorted((at for at, text in enumerate(texts) if text.strip()), key=lambda at: len(texts[at]))
        if len(order) < self._least:
            return self._own.embed_documents(texts, progress)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        pieces = [order[at : at + self._size] for at in range(0, len(order), self._size)]
        given = ([texts[at] for at in piece] for piece in pieces)
        made = self._engine.map(partial(embedded, self._settings), given)
        for piece, piece_vectors in zip(pieces, made, strict=True):
            vectors[piece] = piece_vectors
            if progress is not None:
                progress(len(piece))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        return self._own.embed_query(text)

    def knows(self, text: str) -> float:
        """Return the model's language coverage of a text, in [0, 1]."""
        return knows(self._own, text)


@lru_cache(maxsize=2)
def local_model(settings: EmbeddingSettings) -> Embedder:
    """Return the model of this worker, loaded once."""
    return load_embedder(settings)


def embedded(settings: EmbeddingSettings, texts: list[str]) -> Vectors:
    """Return vectors (n, dimension) of some texts, by the current process's model."""
    return local_model(settings).embed_documents(texts)
