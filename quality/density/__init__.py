"""Signal density: how much of a text says something (rule 1, L2)."""

from slowwave.quality.density.parts import density_parts, signal_density
from slowwave.quality.density.statistics import INSPECTED

__all__ = ["INSPECTED", "density_parts", "signal_density"]
