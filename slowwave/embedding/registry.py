"""Models of LanceDB's embedding registry: OpenAI, Ollama, sentence-transformers, Cohere, ..."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from slowwave.common.slim_imports import import_lancedb
from slowwave.embedding.base import Progress, Vectors, in_batches, unit
from slowwave.errors import ModelError

_BATCH = 128


class RegistryEmbedder:
    """Model of LanceDB's registry, by provider and name; keys come from the provider's environment."""

    def __init__(self, provider: str, model: str) -> None:
        self.name = f"lancedb:{provider}/{model}"
        self._provider = provider
        self._model_name = model

    @cached_property
    def _function(self) -> Any:  # noqa: ANN401 - lancedb EmbeddingFunction
        import_lancedb()
        from lancedb.embeddings import get_registry

        try:
            return get_registry().get(self._provider).create(name=self._model_name)
        except KeyError:
            raise ModelError(
                f"LanceDB's embedding registry has no provider {self._provider!r}; it has "
                f"{', '.join(sorted(get_registry()._functions))}."
            ) from None
        except Exception as error:
            raise ModelError(f"Cannot load {self.name}: {error}") from error

    @cached_property
    def dimension(self) -> int:
        """Numbers per vector, from the provider."""
        return int(self._function.ndims())

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors of the texts; blank texts are not sent."""
        compute = self._function.compute_source_embeddings
        return in_batches(texts, compute, dimension=self.dimension, size=_BATCH, progress=progress)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, with the provider's query embedding."""
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        return unit(np.asarray(self._function.compute_query_embeddings(text)[0]))
