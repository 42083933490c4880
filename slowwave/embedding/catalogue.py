"""Models of fastembed's catalogue, by name; their files are downloaded on first use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from slowwave.embedding.base import Progress, Vectors, in_batches, unit
from slowwave.embedding.language_coverage import coverage
from slowwave.embedding.parallel import core_count
from slowwave.errors import ModelError
from slowwave.settings import EmbeddingSettings

_ENGLISH = re.compile(r"\), (?:supports )?English(?: only|,)")
"""Pattern of an English-only model's description in fastembed's catalogue."""


class FastEmbedder:
    """Model run by fastembed.

    Args:
        name: Fastembed's name of it.
        dimension: Numbers per vector.
        english: Whether it is English only; only then is language coverage measured.
    """

    def __init__(self, name: str, dimension: int, settings: EmbeddingSettings, *, english: bool) -> None:
        self.name = f"fastembed:{name}"
        self.dimension = dimension
        self._settings = settings
        self._model = name
        self._english = english

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401 - fastembed.TextEmbedding
        from fastembed import TextEmbedding

        return TextEmbedding(self._model, threads=self._settings.threads or core_count())

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors of the texts."""
        size = self._settings.batch_size

        def compute(batch: list[str]) -> list[Vectors]:
            return list(self._session.embed(batch, batch_size=size))

        return in_batches(texts, compute, dimension=self.dimension, size=size, progress=progress)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        return unit(next(iter(self._session.embed([text]))))

    def knows(self, text: str) -> float:
        """Return the model's language coverage of a text, in [0, 1]."""
        return coverage(self._session.model.tokenizer, text) if self._english else 1.0


def catalogue_model(name: str, settings: EmbeddingSettings) -> FastEmbedder:
    """Return a model of fastembed's catalogue by name; its files are downloaded on first use.

    Raises:
        ModelError: fastembed does not have it.
    """
    from fastembed import TextEmbedding

    models = TextEmbedding.list_supported_models()
    for listed in models:
        if listed["model"].lower() == name.lower():
            english = bool(_ENGLISH.search(listed["description"]))
            return FastEmbedder(listed["model"], listed["dim"], settings, english=english)
    raise ModelError(
        f"fastembed has no model {name!r}. Its catalogue: "
        f"{', '.join(sorted(listed['model'] for listed in models))}."
    )
