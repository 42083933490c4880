"""What decides a ranking, as data: the same policy and candidates give the same ranking anywhere."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Fusion = Literal["convex", "rrf"]


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Parameters of one ranking.

    Attributes:
        fusion: ``convex`` (scores with an absolute meaning) or ``rrf`` (ranks only).
        vector_weight: weight of the vector channel in [0, 1]; the full-text channel has the rest.
        cosine_floor: cosine that counts as 0 (rule 2.4: it belongs to the embedding model).
        rrf_k: constant of reciprocal rank fusion.
    """

    fusion: Fusion = "convex"
    vector_weight: float = 0.7
    cosine_floor: float = 0.5
    rrf_k: int = 10

    def __post_init__(self) -> None:
        if self.fusion not in get_args(Fusion):
            raise ValueError(f"fusion = {self.fusion!r} is not one of {', '.join(get_args(Fusion))}")
        if not 0 <= self.vector_weight <= 1:
            raise ValueError(f"vector_weight = {self.vector_weight} is not in [0, 1]")
        if not -1 <= self.cosine_floor < 1:
            raise ValueError(f"cosine_floor = {self.cosine_floor} is not in [-1, 1)")
        if self.rrf_k < 1:
            raise ValueError(f"rrf_k = {self.rrf_k} is below 1")

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return asdict(self)

    @property
    def version(self) -> str:
        """12 hex digits that change when any parameter does; logged with every search."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:12]
