"""What a judge is, and what is judged (rule 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.journal.kinds.judgment import GradedBy


class JudgmentError(SlowwaveError):
    """A judgment that is none: a grade out of range, an unknown state, or an empty query."""


class JudgeError(SlowwaveError):
    """A judge cannot work at all: it is switched off, not set up, or refuses every request."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the memory that is to be graded by it."""

    query: str
    title: str
    text: str

    @property
    def text_hash(self) -> str:
        """Changes when the title or the text does."""
        return ids.digest("judged text", self.title, self.text)


@dataclass(frozen=True, slots=True)
class Grade:
    """What a judge makes of one pair.

    Attributes:
        grade: 0 to `HIGHEST`; None when there is none.
        explanation: of the judge.
        problem: why there is no grade.
        tokens: read and written for it (count).
        answered: whether the judge was reached at all.
    """

    grade: int | None
    explanation: str = ""
    problem: str = ""
    tokens: int = 0
    answered: bool = True


class Judge(Protocol):
    """Grades pairs; a pair's grade depends on that pair alone.

    Attributes:
        name: whose grades these are; two models are two judges.
        version: of the rules that make a grade of what the model says.
        model: that is asked.
        prompt_hash: of all that the model is told beside the pair, or of the rules where nothing is told.
        remote: whether the texts leave this machine; it is shown nothing that is secret then.
        batch: pairs that are graded before the grades are written to the journal (count).
    """

    name: str
    version: str
    model: str
    prompt_hash: str
    remote: bool
    batch: int

    def cost(self, pair: Pair) -> int:
        """Tokens that grading a pair may take, an estimate from above."""

    def grade(self, pairs: Sequence[Pair]) -> list[Grade]:
        """The grades of the pairs, in their order.

        Raises:
            JudgeError: no request would be answered; what was graded before is lost, so ask in batches.
        """


def judge_payload(judge: Judge) -> GradedBy:
    """Who graded, as the journal keeps it; where one of it differs it is another judge."""
    return GradedBy(name=judge.name, model=judge.model, version=judge.version, prompt_hash=judge.prompt_hash)


def identity_of(who: GradedBy) -> str:
    """A judge (as in `judge_payload`) as the column ``judge`` of `judgments` names it."""
    return "/".join((who["name"], who["model"], who["version"], who["prompt_hash"][:8]))


def identity(judge: Judge) -> str:
    """The judge as the column ``judge`` names it: another version, model or prompt is another one."""
    return identity_of(judge_payload(judge))
