"""How much of what was learned brings up what nobody wants there (rule 6.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

LEAST_HEARD: Final = 2
"""Questions that say whether the memory was wanted, from which a key has a verdict (count)."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What was noisy of what has a verdict.

    Attributes:
        noisy: words or keys whose memory was mostly not wanted where they brought it up (count).
        judged: those with a verdict (count).
        share: part that the noisy ones have of what those with a verdict did; NaN where there are none.
    """

    noisy: int
    judged: int
    share: float

    @classmethod
    def of_counts(cls, noisy: int, judged: int) -> Noise:
        """Each one alike."""
        return cls(noisy, judged, noisy / judged if judged else float("nan"))


def of_terms(matches: pl.DataFrame) -> Noise:
    """Of learned words: noisy is a word of a memory that was wanted in less than half of its matches.

    Args:
        matches: ``memory_id``, ``term``, ``relevant``.
    """
    verdicts = matches.group_by("memory_id", "term").agg(pl.col("relevant").mean())
    return Noise.of_counts(verdicts.filter(pl.col("relevant") < 0.5).height, verdicts.height)


def of_keys(matches: pl.DataFrame) -> Noise:
    """Of search keys: noisy is one whose memory at least two more questions did not want than did.

    A key brings a memory up for many questions, some of which want another one: that alone is no noise. A
    question counts once a day, by what was mostly said of it, and it takes `LEAST_HEARD` to be a verdict.
    What a key did is what it added to the scores.

    Args:
        matches: ``memory_id``, ``term`` (the past question), ``day``, ``query_id`` (the question that was
            brought there), ``relevant``, ``share`` (of the score, that the key added).
    """
    key = ["memory_id", "term"]
    question = [*key, "day", "query_id"]
    ordered = matches.sort(*question, "share", "relevant")  # the same sums in whatever order they come
    heard = ordered.group_by(question, maintain_order=True).agg(
        wanted=pl.col("relevant").mean() >= 0.5, share=pl.col("share").mean()
    )
    verdicts = (
        heard.group_by(key, maintain_order=True)
        .agg(
            heard=pl.len(),
            margin=(~pl.col("wanted")).sum().cast(pl.Int64) - pl.col("wanted").sum().cast(pl.Int64),
            share=pl.col("share").sum(),
        )
        .filter(pl.col("heard") >= LEAST_HEARD)
    )
    noisy = verdicts.filter(pl.col("margin") >= LEAST_HEARD)
    whole = float(verdicts["share"].sum())
    part = float(noisy["share"].sum()) / whole if whole > 0 else float("nan")
    return Noise(noisy.height, verdicts.height, round(part, 9))
