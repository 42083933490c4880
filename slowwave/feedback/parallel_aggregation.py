"""Parallel aggregation of feedback by namespace on the workers of an engine.

Namespaces are independent; days depend on earlier days. So a worker gets all days of a part for some
namespaces, with their state from before.
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
"""Aggregates in this process."""
ROWS: Final = 100_000
"""Minimum signals of a piece (count); sending fewer costs more than aggregating them."""

Rule = Callable[..., pl.DataFrame]


def by_namespace(
    engine: Engine, rule: Rule, frames: Sequence[pl.DataFrame], policy: FeedbackPolicy
) -> pl.DataFrame:
    """Aggregate the signals of some days, in one process or by namespace on the workers.

    Args:
        engine: Engine that computes it.
        rule: Module-level function of these frames and the policy.
        frames: Signals, then the state that the rule needs; each with ``namespace``.
        policy: Feedback policy.

    Returns:
        Rows of the rule: in its own order in one process, else namespace by namespace.
    """
    if not engine.spreads or frames[0].height < 2 * ROWS:
        return rule(*frames, policy)
    return pl.concat(engine.map(partial(folded, rule, policy), _pieces(frames)))


def folded(rule: Rule, policy: FeedbackPolicy, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Apply the rule to a piece; a pure function, so any worker may compute it."""
    return rule(*frames, policy)


def _pieces(frames: Sequence[pl.DataFrame]) -> Iterator[list[pl.DataFrame]]:
    """Yield the frames of some namespaces, with at least `ROWS` signals per piece."""
    sizes = frames[0].group_by("namespace").len().sort("namespace")
    some, rows = list[str](), 0
    for namespace, count in sizes.iter_rows():
        some.append(namespace)
        rows += count
        if rows >= ROWS:
            yield [_of_namespaces(frame, some) for frame in frames]
            some, rows = [], 0
    if some:
        yield [_of_namespaces(frame, some) for frame in frames]


def _of_namespaces(frame: pl.DataFrame, namespaces: Sequence[str]) -> pl.DataFrame:
    return frame.filter(pl.col("namespace").is_in(namespaces))
