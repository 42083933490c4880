"""Tables of the warehouse."""

from slowwave.warehouse.marts import notes, quality, use

MARTS = (*quality.MARTS, *use.MARTS, *notes.MARTS)
