"""Cross-encoders: relevance of a text to a query, from both read together.

They are much slower than comparing vectors, so they score only the few candidates of a search (Nogueira and
Cho, "Passage re-ranking with BERT", 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from slowwave.embedding.bundled_weights import bundled_folder, verify_file
from slowwave.embedding.onnx_model import MODEL_FILES, OnnxModel
from slowwave.embedding.parallel import core_count, embed_in_parallel

MINILM = "ms-marco-MiniLM-L-12-v2"
SOFTNESS = 4.0
"""Divisor of a logit: undivided, good answers (1 to 7) would all score 1."""
MAX_TOKENS = 256
"""Maximum tokens of query and text together; the longer of the two is truncated first.

Chunks of 150 words stay below it with their query; a limit of 128 would cost Cranfield 0.01 of MRR@5.
"""

_SHA256 = {
    "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}


class Reranker(Protocol):
    """Interface of models that score how well texts answer a query."""

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the relevance (n,) of the texts, between 0 and 1, in their order.

        A text's score depends on the query and itself only, so a replayed search with other candidates gives
        equal scores. Texts should carry context that their chunk is missing, a title or a speaker: chat turns
        without their speaker were ranked worse than by the search alone.
        """


class CrossEncoder:
    """Bundled cross-encoder; loaded on first use.

    Args:
        threads: Texts scored at a time; 0: one per core. Scores do not depend on it.

    Raises:
        ModelError: The files are missing.
    """

    name = MINILM

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads
        self._folder = bundled_folder("reranker_en", MODEL_FILES, "reranking model")
        self._loading = Lock()
        self._model: OnnxModel | None = None

    def scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the relevance (n,): softened logistic of the model's logit; 0 if text or query is blank.

        Each text is scored alone. The weights are int8, and activations are scaled by the largest in the
        batch: in a batch a logit moves by up to 0.9. A batch is also slower, because it pads to its longest
        text.

        Raises:
            ModelError: The files differ from those that this version was measured with.
        """
        result = np.zeros(len(texts), dtype=np.float64)
        indices = [at for at, text in enumerate(texts) if text.strip()] if query.strip() else []
        if indices:
            model = self._loaded()
            logits = embed_in_parallel(
                lambda at: model.run([(query, texts[at])])[0, 0], indices, self._threads or core_count()
            )
            relevance = np.fromiter(logits, dtype=np.float64, count=len(indices)) / SOFTNESS
            result[indices] = 1.0 / (1.0 + np.exp(-relevance))
        return result

    def _loaded(self) -> OnnxModel:
        with self._loading:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def load_reranker(threads: int = 0) -> Reranker:
    """Return the bundled cross-encoder; its weights are read when the first text is scored.

    Raises:
        ModelError: The files are missing.
    """
    return CrossEncoder(threads)


def _load(folder: Path) -> OnnxModel:
    for file, sha256 in _SHA256.items():
        verify_file(folder / file, sha256)
    return OnnxModel(folder, max_tokens=MAX_TOKENS)
