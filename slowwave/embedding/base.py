"""Interface of embedders, and the measured profile of each model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from slowwave.common.deadline import check
from slowwave.embedding.parallel import embed_in_parallel
from slowwave.quality.reconsolidation import Thresholds

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int], None]  # called with the number of texts just finished


class Embedder(Protocol):
    """Interface of an embedding model: texts to unit vectors.

    An embedder may have a method ``knows(text)``, its language coverage of a query in [0, 1]. The vector
    channel's weight is multiplied by it. Without the method, coverage is 1.
    """

    name: str

    @property
    def dimension(self) -> int:
        """Numbers per vector."""

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return vectors (n, dimension), float32, of length 1; a text with nothing to embed gets zeros."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector (dimension,), float32, of length 1 (or zeros)."""


def knows(embedder: Embedder, text: str) -> float:
    """Return an embedder's language coverage of a text, in [0, 1]; 1 if it reports none."""
    say = getattr(embedder, "knows", None)
    return 1.0 if say is None else min(max(float(say(text)), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Profile of an embedding model for ranking, because cosines are not comparable between models.

    Attributes:
        vector_weight: Weight of the vector channel in convex fusion; the rest is BM25's.
        cosine_floor: Cosine at or below which two texts are unrelated.
        thresholds: Cosines from which two texts are duplicates, mergeable, or related.
        recall_distance: Maximum cosine distance at which a short memory is recalled (rule 3.5).
        abstention_floor: Signal below which a search abstains (rule 3.9); 0 if not measured.
        cut_share: Share of the best fit below which a result is not returned (rule 3.9); 0 if not measured.
        fit_floor: Best fit below which a search abstains, too (rule 3.9); 0 if not measured.
        same_question: Cosines of two questions between which the evidence of one counts for the other from
            not at all to fully (rules 7.2 and 8.1).
        cased: Whether letter case changes a question's vector much; then past questions are stored and looked
            up case-folded.
    """

    vector_weight: float
    cosine_floor: float
    thresholds: Thresholds = field(default_factory=Thresholds)
    recall_distance: float = 0.20
    abstention_floor: float = 0.0
    cut_share: float = 0.0
    fit_floor: float = 0.0
    same_question: tuple[float, float] = (0.83, 0.93)
    cased: bool = False


@dataclass(frozen=True, slots=True)
class NamedModel:
    """Model that the settings name without a provider.

    Attributes:
        embedder: Module of this package and class; the class takes the settings.
        profile: Measured for this model.
        texts_per_call: Texts per call of the model, if that is no setting (count).
    """

    embedder: str
    profile: ModelProfile
    texts_per_call: int | None = None


# Weight and floor are read off grids over four labelled collections, thresholds are fitted to labelled pairs
# (`slowwave calibrate`); docs/benchmarks/policy-tuning.md and docs/explanation/reconsolidation.md have them.
MODELS: Final = {
    "bge-small-en-v1.5": NamedModel(
        "bundled.BundledEmbedder",
        ModelProfile(
            vector_weight=0.75, cosine_floor=0.5, abstention_floor=0.5, cut_share=0.6, fit_floor=0.13
        ),
    ),
    "wordllama-256": NamedModel(
        "static.WordLlamaEmbedder",
        ModelProfile(
            vector_weight=0.4,
            cosine_floor=0.2,
            thresholds=Thresholds(duplicate=0.94, merge=0.87, conflict=0.61),
            recall_distance=0.28,
            abstention_floor=0.2,
            cut_share=0.55,
            fit_floor=0.06,
            same_question=(0.77, 0.88),
            cased=True,
        ),
        texts_per_call=512,
    ),
}
"""Models by name. A new model needs a line here and a module."""
_TRANSFORMER = ModelProfile(vector_weight=0.5, cosine_floor=0.0)


def profile(model: str) -> ModelProfile:
    """Return the measured profile of a model; a cautious one for unmeasured models."""
    return MODELS[model].profile if model in MODELS else _TRANSFORMER


def in_batches(
    texts: Sequence[str],
    compute: Callable[[list[str]], npt.ArrayLike],
    *,
    dimension: int,
    size: int,
    progress: Progress | None,
    threads: int = 1,
) -> Vectors:
    """Return unit vectors (n, dimension) of the texts, computed `size` at a time; blank texts get zeros.

    Texts are batched in order of length, because a batch costs as much as its longest text. Each of `threads`
    threads computes a batch.
    """
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
    batches = [order[at : at + size] for at in range(0, len(order), size)]
    computed = embed_in_parallel(lambda batch: compute([texts[i] for i in batch]), batches, threads)
    for batch, batch_vectors in zip(batches, computed, strict=True):
        check()
        vectors[batch] = batch_vectors
        if progress is not None:
            progress(len(batch))
    return unit(vectors)


def unit(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Scale rows to length 1; rows that are zero or not finite become zero."""
    clean = np.nan_to_num(np.asarray(vectors, dtype=np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    length = np.linalg.norm(clean, axis=-1, keepdims=True)
    scaled: Vectors = np.divide(clean, length, out=np.zeros_like(clean), where=length > 0)
    return scaled
