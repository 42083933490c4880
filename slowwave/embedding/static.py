"""wordllama: static token vectors, averaged. No network, no transformer, thousands of texts a second."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from slowwave.common.slim_imports import when_used
from slowwave.embedding.base import MODELS, Progress, Vectors, in_batches
from slowwave.embedding.language_coverage import coverage
from slowwave.quality.density.remembered import RememberedWords
from slowwave.settings import EmbeddingSettings

_NAME = "wordllama-256"
_BATCH = MODELS[_NAME].texts_per_call or 1
_SPACE = "\u2581"  # as the tokeniser writes it
_CUT = "\0"
"""Mark where no token of the model goes on: before spaces, which begin a token, and around line breaks."""


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
    with unchanged_logging(), when_used("requests"):  # only for downloads
        import wordllama

    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


class TokenMeans:
    """Means of token vectors: exactly those of `WordLlama.embed`, in a fifth of its time.

    The library tokenises each text as a single word, and pads it to the longest of its batch.
    """

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - wordllama inference object
        """Read the tokeniser and the token vectors of a model."""
        self._tokenizer, self._vectors = model.tokenizer, model.embedding
        self._special = [token.content for token in model.tokenizer.get_added_tokens_decoder().values()]
        self._special.append(_CUT)
        tokenize = model.tokenizer.model.tokenize
        self._ids_of = RememberedWords(
            lambda piece: array("i", [token.id for token in tokenize(piece)]).tobytes()
        ).__getitem__

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text, (n, dimension); no text may be empty."""
        return np.array([self._mean(text) for text in texts])

    def _mean(self, text: str) -> Vectors:
        ids = self._ids(text)
        mean: Vectors = self._vectors.take(ids, axis=0).sum(axis=0) / np.float32(len(ids))
        return mean

    def _ids(self, text: str) -> npt.NDArray[np.int32]:
        if any(map(text.__contains__, self._special)):
            return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int32)
        cut = f" {text}".replace(" ", _SPACE).replace(_SPACE, _CUT + _SPACE).replace(_SPACE + _CUT, _SPACE)
        pieces = cut.replace("\n", f"{_CUT}\n{_CUT}").split(_CUT)
        return np.frombuffer(b"".join(map(self._ids_of, pieces)), np.int32)


@cache
def _means() -> TokenMeans:
    return TokenMeans(_loaded())


class WordLlamaEmbedder:
    """256-number model of the wordllama wheel."""

    name = _NAME
    dimension = 256

    def __init__(self, _settings: EmbeddingSettings) -> None:
        """Accept the settings of every model; this one needs none."""

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors of the texts; a blank text, for which the model returns NaN, gets zeros."""
        return in_batches(texts, _means().embed, dimension=self.dimension, size=_BATCH, progress=progress)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query; the model embeds queries like documents."""
        query: Vectors = self.embed_documents([text])[0]
        return query

    def knows(self, text: str) -> float:
        """Return the model's language coverage of a text, in [0, 1]."""
        return coverage(_loaded().tokenizer, text)
