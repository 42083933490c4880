"""Models run by fastembed: the bundled bge-small, and its catalogue."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from slowwave.embedding.base import Progress, Vectors, in_batches, unit
from slowwave.embedding.carrier import bundled_folder, verify_file
from slowwave.embedding.known import known
from slowwave.errors import ModelError
from slowwave.settings import EmbeddingSettings

BGE = "bge-small-en-v1.5"
_BGE_DIMENSION = 384
_BGE_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
_BGE_FILES = ("model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json")
_BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
_ENGLISH = re.compile(r"\), (?:supports )?English(?: only|,)")
"""What fastembed's catalogue says of a model that knows no other language."""


class FastEmbedder:
    """A model run by fastembed on onnxruntime.

    Args:
        name: name that is stored with the tables.
        dimension: numbers per vector.
        query_prefix: what the model wants in front of a query.
        english: whether it was made for English alone; of others nobody knows what their tokenisers say.
        model: fastembed's name of it; `folder` holds its files when they are not to be downloaded.
    """

    def __init__(
        self,
        name: str,
        dimension: int,
        settings: EmbeddingSettings,
        *,
        model: str,
        folder: Path | None = None,
        query_prefix: str = "",
        english: bool = False,
    ) -> None:
        self.name = name
        self.dimension = dimension
        self._settings = settings
        self._model = model
        self._folder = folder
        self._query_prefix = query_prefix
        self._english = english

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401 - fastembed.TextEmbedding
        from fastembed import TextEmbedding

        if self._folder is not None:
            _register_bundled(TextEmbedding, self._model)
        return TextEmbedding(
            self._model,
            specific_model_path=None if self._folder is None else str(self._folder),
            threads=self._settings.threads or os.cpu_count(),
        )

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of the texts."""
        size = self._settings.batch_size

        def compute(batch: list[str]) -> list[Vectors]:
            return list(self._session.embed(batch, batch_size=size))

        return in_batches(texts, compute, dimension=self.dimension, size=size, progress=progress)

    def embed_query(self, text: str) -> Vectors:
        """Vector of a query, with the model's query prefix."""
        if not text.strip():
            return np.zeros(self.dimension, dtype=np.float32)
        return unit(next(iter(self._session.embed([self._query_prefix + text]))))

    def knows(self, text: str) -> float:
        """How well the model knows the language of a text, in [0, 1]."""
        return known(self._session.model.tokenizer, text) if self._english else 1.0


def bundled_bge(settings: EmbeddingSettings) -> FastEmbedder:
    """The default model, from the files that travel with the installation.

    Raises:
        ModelError: the files are missing or are not the ones this version was measured with.
    """
    folder = _bundled_folder()
    return FastEmbedder(
        BGE,
        _BGE_DIMENSION,
        settings,
        model=f"slowwave/{BGE}",
        folder=folder,
        query_prefix=_BGE_QUERY_PREFIX,
        english=True,
    )


def catalogue_model(name: str, settings: EmbeddingSettings) -> FastEmbedder:
    """A model of fastembed's catalogue by name; its files are downloaded on first use.

    Raises:
        ModelError: fastembed does not know it.
    """
    from fastembed import TextEmbedding

    for listed in TextEmbedding.list_supported_models():
        if listed["model"].lower() == name.lower():
            return FastEmbedder(
                f"fastembed:{listed['model']}", listed["dim"], settings, model=listed["model"],
                english=bool(_ENGLISH.search(listed["description"])),
            )  # fmt: skip
    raise ModelError(
        f"fastembed has no model {name!r}. Its catalogue: "
        f"{', '.join(sorted(known['model'] for known in TextEmbedding.list_supported_models()))}."
    )


def verify_bundled() -> Path:
    """Check the bundled weights bit by bit; returns their folder.

    Raises:
        ModelError: the file differs from the one this version was measured with.
    """
    folder = _bundled_folder()
    verify_file(folder / "model.onnx", _BGE_SHA256)
    return folder


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    told = json.loads((_bundled_folder() / "tokenizer.json").read_text(encoding="utf-8"))
    return frozenset(told["model"]["vocab"])


def is_word(word: str) -> bool:
    """Whether the tokeniser of the bundled model has a lower-case word whole: then it is a frequent one."""
    return word in _vocabulary()


def _bundled_folder() -> Path:
    return bundled_folder("bge_small_en", _BGE_FILES, "embedding model")


def _register_bundled(text_embedding: Any, model: str) -> None:  # noqa: ANN401 - fastembed class
    from fastembed.common.model_description import ModelSource, PoolingType

    if any(known["model"] == model for known in text_embedding.list_supported_models()):
        return
    text_embedding.add_custom_model(
        model=model,
        pooling=PoolingType.CLS,
        normalization=True,
        sources=ModelSource(url="local://bundled"),
        dim=_BGE_DIMENSION,
        model_file="model.onnx",
    )
