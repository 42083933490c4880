"""Cross-encoders: a query and a text read together, and one number for how well the text answers it.

Slower by far than comparing vectors, so for the few candidates that a search has already found (Nogueira and
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
"""What a logit is divided by: as they are, those of good answers (1 to 7) all come out as 1."""
MAX_TOKENS = 256
"""Tokens of query and text together that are read; the longer of the two loses its end first.

Chunks of 150 words stay below it with their query; a limit of 128 would cost Cranfield 0.01 of MRR@5.
"""

_SHA256 = {
    "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}


class Reranker(Protocol):
    """Tells how well texts answer a query."""

    name: str

    def scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Relevance (n,) of the texts, between 0 and 1, in their order.

        A text's score depends on the query and on itself, not on the texts beside it: a search that is
        replayed with other candidates gives the same score to the same text.

        Texts should carry what their chunk lacks, a title or a speaker: chat turns without their speaker were
        ranked worse than by the search alone, with it far better.
        """


class CrossEncoder:
    """The bundled cross-encoder; loaded on first use, by one thread.

    Args:
        threads: texts that are scored at a time; 0: one per core. The scores do not depend on it.

    Raises:
        ModelError: the files are missing.
    """

    name = MINILM

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads
        self._folder = bundled_folder("reranker_en", MODEL_FILES, "reranking model")
        self._loading = Lock()
        self._model: OnnxModel | None = None

    def scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Relevance (n,): logistic function of the model's logit, softened; 0 where text or query is blank.

        Each text by itself. The weights are int8, and activations are scaled by the largest in the batch: in
        company a logit moves by up to 0.9, and a batch is slower besides, as it pads to its longest.

        Raises:
            ModelError: the files are not the ones this version was measured with.
        """
        result = np.zeros(len(texts), dtype=np.float64)
        asked = [at for at, text in enumerate(texts) if text.strip()] if query.strip() else []
        if asked:
            model = self._loaded()
            logits = embed_in_parallel(
                lambda at: model.run([(query, texts[at])])[0, 0], asked, self._threads or core_count()
            )
            relevance = np.fromiter(logits, dtype=np.float64, count=len(asked)) / SOFTNESS
            result[asked] = 1.0 / (1.0 + np.exp(-relevance))
        return result

    def _loaded(self) -> OnnxModel:
        with self._loading:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def load_reranker(threads: int = 0) -> Reranker:
    """The bundled cross-encoder; its weights are read when the first text is scored.

    Raises:
        ModelError: the files are missing.
    """
    return CrossEncoder(threads)


def _load(folder: Path) -> OnnxModel:
    for file, sha256 in _SHA256.items():
        verify_file(folder / file, sha256)
    return OnnxModel(folder, max_tokens=MAX_TOKENS)
