"""Default model, bge-small, from files that are part of the installation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

import numpy as np

from slowwave.embedding.base import Progress, Vectors, in_batches, unit
from slowwave.embedding.bundled_weights import bundled_folder, verify_file
from slowwave.embedding.language_coverage import coverage
from slowwave.embedding.onnx_model import MODEL_FILES, OnnxModel
from slowwave.embedding.parallel import core_count
from slowwave.settings import EmbeddingSettings

BGE = "bge-small-en-v1.5"
_DIMENSION = 384
_MAX_TOKENS = 512
_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
_LOADING = Lock()
_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "


class BundledEmbedder:
    """bge-small: the output at the first token, scaled to length 1. Loaded on first use.

    Args:
        settings: `threads` is the number of documents embedded at a time. A query is embedded by the calling
            thread; several may call at once.

    Raises:
        ModelError: Its files are missing.
    """

    name = BGE
    dimension = _DIMENSION

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._folder = _bundled_folder()

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors of the texts."""
        return in_batches(
            texts,
            self._vectors,
            dimension=_DIMENSION,
            size=self._settings.batch_size,
            progress=progress,
            threads=self._settings.threads or core_count(),
        )

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, with the model's query prefix."""
        if not text.strip():
            return np.zeros(_DIMENSION, dtype=np.float32)
        return unit(self._vectors([_QUERY_PREFIX + text])[0])

    def knows(self, text: str) -> float:
        """Return the model's language coverage of a text, in [0, 1]."""
        return coverage(_loaded(self._folder).tokenizer, text)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return _loaded(self._folder).run([(text,) for text in texts])[:, 0]


def _loaded(folder: Path) -> OnnxModel:
    """Load the model once; all homes of a process share it."""
    with _LOADING:
        return _model_of(folder)


@cache
def _model_of(folder: Path) -> OnnxModel:
    return OnnxModel(folder, max_tokens=_MAX_TOKENS)


def verify_bundled() -> Path:
    """Verify the bundled weights by hash. Return their folder.

    Raises:
        ModelError: The file differs from the one that this version was measured with.
    """
    folder = _bundled_folder()
    verify_file(folder / "model.onnx", _SHA256)
    return folder


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    document = json.loads((_bundled_folder() / "tokenizer.json").read_text(encoding="utf-8"))
    return frozenset(document["model"]["vocab"])


def is_word(word: str) -> bool:
    """Whether a lower-case word is a single token of the bundled model, and so frequent."""
    return word in _vocabulary()


def _bundled_folder() -> Path:
    return bundled_folder("bge_small_en", MODEL_FILES, "embedding model")
