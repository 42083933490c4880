"""Values that nobody should give and somebody will: one generator for calls, tools and commands.

A call that is given one may do its work or raise a `SlowwaveError`; anything else is a fault.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

TEXTS: tuple[str, ...] = (
    "", " ", "\t\n", "\0", "a\0b", "\ud800", "caf\udce9", "\x1b[2J\x1b[31mred", "\r\n\x07\x08", "\ufeff",
    "\u2028\u2029\x85", "\u202eright to left", "🌊", "é", "ﬁ", "'", '"', "' OR 1=1 --", "%", "%s%n", "{}",
    "{0.__class__}", "[bold]", "[/]", "\\", "../../etc/passwd", "/dev/null", "/proc/self/mem", "-1", "--help",
    "0", "00", "1e309", "nan", "inf", "-inf", "None", "true", "2026-02-30", "0001-01-01", "9999-12-31",
    "2026-01-01T00:00:00+99:00", "0001-01-01T00:00:00+14:00", "9" * 400, "x" * 5_000, "a b", "http://[",
    "\U000e0001", "a/../b", ".", "..", "~", "~nobody/x", "$HOME", "☃" * 300, "CON", "file://x", "s3://",
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    -1, 0, 1, 2**31, -(2**31), 2**63, 2**64, 10**400, True, False, 0.5, -0.0, float("nan"), float("inf"),
)  # fmt: skip
EARLY, LATE = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
FIRST, LAST = datetime.min, datetime.max  # noqa: DTZ901 - naive on purpose
MOMENTS: tuple[Any, ...] = (
    FIRST, LAST, FIRST.replace(tzinfo=EARLY), LAST.replace(tzinfo=LATE),
    FIRST.replace(tzinfo=UTC), LAST.replace(tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC),
    datetime(2026, 1, 1), date.min, date.max, timedelta.max,  # noqa: DTZ001 - naive on purpose
)  # fmt: skip


class Awkward:
    """An object that does not even like to be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        return 0


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


THINGS: tuple[Any, ...] = (
    None, b"", b"\xff", bytearray(b"x"), (), [], {}, set(), [None], ["\ud800"], [1, "a"], {"a": 1}, {1: 2},
    {"\ud800": "\0"}, _deep(600), _endless(), object(), object, len, lambda *_: 1 / 0,
    Path("\ud800"), Path("a\0b"), Path("/dev/null"), range(3), 1j, Awkward(), Ellipsis, (one for one in "ab"),
)  # fmt: skip
EVERYTHING: tuple[Any, ...] = (*TEXTS, *NUMBERS, *MOMENTS, *THINGS)
# One of each sort that has ever gone through to a traceback; every parameter is given all of these.
WORST: tuple[Any, ...] = (
    None, "", "\ud800", "\0", "5", 5, -1, 2**64, True, float("nan"), b"\xff", [None], {"a": 1}, FIRST,
    FIRST.replace(tzinfo=EARLY), date.min, Awkward(), _endless(),
)  # fmt: skip
WORST_WORDS: tuple[str, ...] = ("", "caf\udce9", "\x1b[2J", "-1", "0001-01-01", "9" * 400, "/dev/null")


def odd(name: str, count: int) -> Sequence[Any]:
    """The worst values, and `count` others that depend on the name alone."""
    return (*WORST, *_drawn(EVERYTHING, name, count))


def odd_words(name: str, count: int) -> Sequence[str]:
    """Words of a command line: `count` of the worst ones and one other, which depend on the name alone."""
    return (*_drawn(WORST_WORDS, name, count), *_drawn(TEXTS, name, 1))


def _drawn(values: Sequence[Any], name: str, count: int) -> Sequence[Any]:
    """With SLOWWAVE_TEST_ODD=1 in the environment, all of them."""
    if os.environ.get("SLOWWAVE_TEST_ODD"):
        return values
    return random.Random(ascii(name)).sample(values, count)
