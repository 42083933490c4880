"""Pictures that nobody draws: Matplotlib takes a quarter of a night, and few tests are about pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slowwave.views import cycle_plots, plots, trend_plots

EMPTY = b"<svg/>"


@contextmanager
def undrawn() -> Iterator[None]:
    """Every picture of this block is empty."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (plots, cycle_plots, trend_plots):
            for name in ("picture", "nothing"):
                if hasattr(module, name):
                    patched.setattr(module, name, lambda *_, **__: EMPTY)
        yield
