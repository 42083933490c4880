"""A fold of feedback by the workers of an engine: namespaces know nothing of each other, days rest on days.

A worker gets all days of a part of the run for some namespaces, and what the days before left of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.engine import LocalEngine

if TYPE_CHECKING:
    from slowwave.engine import Engine
    from slowwave.scoring.feedback.policy import FeedbackPolicy

HERE: Final = LocalEngine()
"""Folds in this process."""
ROWS: Final = 100_000
"""Signals that a piece has at least (count); to send fewer costs more than to fold them."""

Rule = Callable[..., pl.DataFrame]


def by_namespace(
    engine: Engine, rule: Rule, frames: Sequence[pl.DataFrame], policy: FeedbackPolicy
) -> pl.DataFrame:
    """Fold the signals of some days, all namespaces at once or some by each worker.

    Args:
        engine: computes it.
        rule: a function of a module, of these frames and the policy.
        frames: the signals, then what the rule has to know of their memories; each with ``namespace``.
        policy: what counts.

    Returns:
        The rule's rows: in its own order if one process makes all, else namespace by namespace.
    """
    if not engine.spreads or frames[0].height < 2 * ROWS:
        return rule(*frames, policy)
    return pl.concat(engine.map(partial(folded, rule, policy), _pieces(frames)))


def folded(rule: Rule, policy: FeedbackPolicy, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """What the rule makes of a piece; a function of what it is given alone."""
    return rule(*frames, policy)


def _pieces(frames: Sequence[pl.DataFrame]) -> Iterator[list[pl.DataFrame]]:
    """The frames of some namespaces, so many that they have `ROWS` signals."""
    sizes = frames[0].group_by("namespace").len().sort("namespace")
    some, rows = list[str](), 0
    for namespace, count in sizes.iter_rows():
        some.append(namespace)
        rows += count
        if rows >= ROWS:
            yield [_of(frame, some) for frame in frames]
            some, rows = [], 0
    if some:
        yield [_of(frame, some) for frame in frames]


def _of(frame: pl.DataFrame, namespaces: Sequence[str]) -> pl.DataFrame:
    return frame.filter(pl.col("namespace").is_in(namespaces))
