"""Judge protocol, and the pairs and grades it works on (rule 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.journal.kinds.judgment import GradedBy


class JudgmentError(SlowwaveError):
    """Invalid judgment: grade out of range, unknown state, or empty query."""


class JudgeError(SlowwaveError):
    """Judge that cannot work: off, not set up, or refusing every request."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Query and memory to grade."""

    query: str
    title: str
    text: str

    @property
    def text_hash(self) -> str:
        """Return a digest that changes with the title or the text."""
        return ids.digest("judged text", self.title, self.text)


@dataclass(frozen=True, slots=True)
class Grade:
    """Grade of one pair by a judge.

    Attributes:
        grade: 0 to `HIGHEST`; None without a grade.
        explanation: Explanation of the judge.
        problem: Reason why there is no grade.
        tokens: Tokens read and written (count).
        answered: Whether the judge answered at all.
    """

    grade: int | None
    explanation: str = ""
    problem: str = ""
    tokens: int = 0
    answered: bool = True


class Judge(Protocol):
    """Grader of pairs; the grade of a pair depends on that pair alone.

    Attributes:
        name: Name of the judge; two models are two judges.
        version: Version of the rules that turn model output into a grade.
        model: Model in use.
        prompt_hash: Digest of the prompt without the pair, or of the rules if there is no prompt.
        remote: Whether texts leave this machine; a remote judge never gets secret memories.
        batch: Pairs graded before the grades are written to the journal (count).
    """

    name: str
    version: str
    model: str
    prompt_hash: str
    remote: bool
    batch: int

    def cost(self, pair: Pair) -> int:
        """Estimate the tokens of grading a pair, from above."""

    def grade(self, pairs: Sequence[Pair]) -> list[Grade]:
        """Return the grades of the pairs, in their order.

        Raises:
            JudgeError: no request would be answered. Earlier grades of this call are lost, so ask in batches.
        """


def judge_payload(judge: Judge) -> GradedBy:
    """Return the identity of a judge for the journal; any difference makes another judge."""
    return GradedBy(name=judge.name, model=judge.model, version=judge.version, prompt_hash=judge.prompt_hash)


def identity_of(grader: GradedBy) -> str:
    """Format a judge (as in `judge_payload`) for the column ``judge`` of `judgments`."""
    return "/".join((grader["name"], grader["model"], grader["version"], grader["prompt_hash"][:8]))


def identity(judge: Judge) -> str:
    """Format the judge for the column ``judge``: version, model and prompt are part of it."""
    return identity_of(judge_payload(judge))
