"""Noise of learned terms and search keys: matches of unwanted memories (rules 5, 7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

MIN_JUDGED: Final = 2
"""Minimum judged questions of a key with a verdict (count)."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of the terms or keys that have a verdict.

    Attributes:
        noisy: terms or keys whose memory was mostly not wanted in their matches (count).
        judged: terms or keys with a verdict (count).
        share: noisy share of the effect of all with a verdict; NaN without any.
    """

    noisy: int
    judged: int
    share: float

    @classmethod
    def of_counts(cls, noisy: int, judged: int) -> Noise:
        """Return the noise with each term of equal weight."""
        return cls(noisy, judged, noisy / judged if judged else float("nan"))


def of_terms(matches: pl.DataFrame) -> Noise:
    """Compute the noise of learned terms (rule 5).

    A term is noisy if its memory was relevant in less than half of its matches.

    Args:
        matches: ``memory_id``, ``term``, ``relevant``.
    """
    verdicts = matches.group_by("memory_id", "term").agg(pl.col("relevant").mean())
    return Noise.of_counts(verdicts.filter(pl.col("relevant") < 0.5).height, verdicts.height)


def of_keys(matches: pl.DataFrame) -> Noise:
    """Compute the noise of search keys (rule 7.5).

    A key is noisy if at least two more questions did not want its memory than did. A key matches many
    questions, and some want another memory: that alone is no noise. A question counts once a day, by its
    majority, and a verdict takes `MIN_JUDGED` questions. A key is weighted by what it added to scores.

    Args:
        matches: ``memory_id``, ``term`` (the past question), ``day``, ``query_id`` (the boosted question),
            ``relevant``, ``share`` (of the score that the key added).
    """
    key = ["memory_id", "term"]
    question = [*key, "day", "query_id"]
    ordered = matches.sort(*question, "share", "relevant")  # sums do not depend on the order of rows
    questions = ordered.group_by(question, maintain_order=True).agg(
        wanted=pl.col("relevant").mean() >= 0.5, share=pl.col("share").mean()
    )
    verdicts = (
        questions.group_by(key, maintain_order=True)
        .agg(
            heard=pl.len(),
            margin=(~pl.col("wanted")).sum().cast(pl.Int64) - pl.col("wanted").sum().cast(pl.Int64),
            share=pl.col("share").sum(),
        )
        .filter(pl.col("heard") >= MIN_JUDGED)
    )
    noisy = verdicts.filter(pl.col("margin") >= MIN_JUDGED)
    whole = float(verdicts["share"].sum())
    part = float(noisy["share"].sum()) / whole if whole > 0 else float("nan")
    return Noise(noisy.height, verdicts.height, round(part, 9))
