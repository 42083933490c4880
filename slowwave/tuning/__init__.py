"""Fitting of a ranking policy to labelled queries; the policy in force stays unchanged."""

from slowwave.tuning.collection import Asked, Collection, ask, fill, opened, read_collection
from slowwave.tuning.fit import Fitted, fit

__all__ = ["Asked", "Collection", "Fitted", "ask", "fill", "fit", "opened", "read_collection"]
