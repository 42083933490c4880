"""The frame of every import: each line is read by the reader of its form, and what is not taken is told.

Logs (`importing`) and judgments (`judgments`) fill it with their readers, reports and ways of writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from slowwave.evaluation.exchange.errors import ExchangeError, Malformed
from slowwave.evaluation.exchange.lines import LogLine

T = TypeVar("T")

FEW = 10
"""Problems that are kept with their reasons; the others are only counted."""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that was not taken: where it stands, and why."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


class LineCounts:
    """What every report of an import counts; the report declares the fields, in the order of its JSON.

    Attributes:
        lines: lines that are not blank.
        malformed: lines that were not taken.
        problems: the first few of them, with the reason.
    """

    lines: int
    malformed: int
    problems: list[LineProblem]

    def refuse(self, file: str, line: int, reason: str) -> None:
        """Count a line that is not taken."""
        self.malformed += 1
        if len(self.problems) < FEW:
            self.problems.append(LineProblem(file, line, reason))


class NotTaken(Enum):
    """Why nothing is made of a line that is as it should be."""

    TO_LEARN = "a document that says nothing of a result"
    IN_IT = "no document, but it belongs to the form"


def read_each(
    lines: Iterable[LogLine],
    read: Callable[[bytes], T | NotTaken],
    report: LineCounts,
    otherwise: Callable[[LineProblem], str],
    *,
    patience: int | None = None,
) -> Iterator[tuple[LogLine, T]]:
    """What each line says that says anything; the report counts the lines, and those that are refused.

    Args:
        lines: of one log, or of all.
        read: what a line says; raises `Malformed`.
        report: of the import.
        otherwise: says that these lines are of another form, of which the first problem is an example.
        patience: lines that may be wrong at the beginning before the rest is not read; None reads all.

    Raises:
        ExchangeError: lines are wrong, and not one is of the form.
    """
    taken, wrong, first = False, 0, None
    for line in lines:
        report.lines += 1
        try:
            said = read(line.text)
        except Malformed as reason:
            report.refuse(line.file, line.number, str(reason))
            wrong += 1
            first = first or LineProblem(line.file, line.number, str(reason))
            if not taken and wrong == patience:
                break
            continue
        taken |= said is not NotTaken.IN_IT
        if not isinstance(said, NotTaken):
            yield line, said
    if first and not taken:
        raise ExchangeError(otherwise(first))
