"""Pictures of the documentation: a palette that keeps each colour, also a rare one."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from tools.pictures import compact

MARKS = ((13, 107, 120), (0, 158, 115), (240, 196, 25), (214, 53, 139), (179, 38, 30))
"""Colours of small marks on a page: the accent, parts of a score, a danger."""
GROUND = (245, 248, 248)


def screenshot() -> np.ndarray:
    """A page of greys, with many shades as of letters, and a few marks of each colour."""
    order = np.random.default_rng(7)
    pixels = np.repeat(order.integers(20, 256, (200, 300, 1), dtype=np.uint8), 3, axis=2)
    pixels[:, :, 2] -= order.integers(0, 20, (200, 300), dtype=np.uint8)
    pixels[100:] = GROUND
    for at, colour in enumerate(MARKS):
        pixels[10 * at : 10 * at + 4, 5:11] = colour
    return pixels


def test_a_small_mark_keeps_its_colour() -> None:
    pixels = screenshot()
    png = io.BytesIO()
    Image.fromarray(pixels).save(png, "PNG")
    packed = compact(png.getvalue())
    shown = np.asarray(Image.open(io.BytesIO(packed)).convert("RGB")).astype(int)
    for at, colour in enumerate(MARKS):
        mark = shown[10 * at : 10 * at + 4, 5:11]
        assert np.abs(mark - np.array(colour)).max() <= 12, colour
    assert np.abs(shown - pixels).max() <= 40
    assert (shown[100:] == GROUND).all()
    assert len(packed) < len(png.getvalue())
