"""Signal density: informative share of a text (rule 1, L2)."""

from slowwave.quality.density.parts import density_parts, signal_densities, signal_density
from slowwave.quality.density.statistics import INSPECTED

__all__ = ["INSPECTED", "density_parts", "signal_densities", "signal_density"]
