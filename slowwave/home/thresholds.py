"""Cosine thresholds of a home's embedding model (rule 2.4)."""

from __future__ import annotations

from slowwave.embedding import profile
from slowwave.errors import SlowwaveError
from slowwave.quality.reconsolidation import Thresholds
from slowwave.store import Store


def stored_thresholds(store: Store) -> Thresholds:
    """Return the thresholds of the store's model: its calibration, else its profile."""
    fitted = store.get_meta(calibration_of(store.identity.model))
    if fitted is None:
        return profile(store.identity.model).thresholds
    try:
        return Thresholds(duplicate=fitted["duplicate"], merge=fitted["merge"], conflict=fitted["conflict"])
    except ValueError as error:
        raise SlowwaveError(
            f"The calibration of {store.identity.model} cannot be used: {error}. "
            f"Run `slowwave calibrate` again."
        ) from None


def calibration_of(model: str) -> str:
    """Return the name in ``meta`` of the thresholds fitted for a model."""
    return f"calibration-{model}"
