"""wordllama: static token vectors, averaged. No network, no transformer, thousands of texts a second."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from slowwave.embedding.base import MODELS, Progress, Vectors, in_batches
from slowwave.embedding.language_coverage import coverage
from slowwave.settings import EmbeddingSettings

_NAME = "wordllama-256"
_BATCH = MODELS[_NAME].texts_per_call or 1


@contextmanager
def unchanged_logging() -> Iterator[None]:
    """Undo what an import does to the root logger: wordllama makes it print every INFO message."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


@cache
def _loaded() -> Any:  # noqa: ANN401 - wordllama inference object
    """Load the model; all homes of a process share it."""
    with unchanged_logging():
        import wordllama

    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


class WordLlamaEmbedder:
    """256-number model of the wordllama wheel."""

    name = _NAME
    dimension = 256

    def __init__(self, _settings: EmbeddingSettings) -> None:
        """Accept the settings of every model; this one needs none."""

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors of the texts; a blank text, for which the model returns NaN, gets zeros."""
        embed = _loaded().embed
        return in_batches(texts, embed, dimension=self.dimension, size=_BATCH, progress=progress)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query; the model embeds queries like documents."""
        query: Vectors = self.embed_documents([text])[0]
        return query

    def knows(self, text: str) -> float:
        """Return the model's language coverage of a text, in [0, 1]."""
        return coverage(_loaded().tokenizer, text)
