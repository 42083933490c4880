"""wordllama: static token vectors, averaged. No network, no transformer, thousands of texts a second."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from slowwave.embedding.base import Progress, Vectors, unit

_BATCH = 512


class WordLlamaEmbedder:
    """The 256-number model that the wordllama wheel carries."""

    name = "wordllama-256"
    dimension = 256

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - wordllama inference object
        import wordllama

        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of the texts; an empty text, for which the model gives NaN, gets zeros."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        wanted = [i for i, text in enumerate(texts) if text.strip()]
        for at in range(0, len(wanted), _BATCH):
            batch = wanted[at : at + _BATCH]
            vectors[batch] = self._model.embed([texts[i] for i in batch])
            if progress is not None:
                progress(len(batch))
        return unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Vector of a query; this model makes no difference between queries and documents."""
        query: Vectors = self.embed_documents([text])[0]
        return query
