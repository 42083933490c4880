"""Common import loop: read each line with a form's reader, and report rejected lines.

Logs (`importing`) and judgments (`judgments`) supply readers, reports and writers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from slowwave.evaluation.exchange.lines import LogLine
from slowwave.evaluation.exchange.values import ExchangeError, Malformed

T = TypeVar("T")

FEW = 10
"""Maximum problems reported with a reason; the others are counted."""


@dataclass(frozen=True, slots=True)
class LineProblem:
    """Rejected line: its place and the reason."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


class LineCounts:
    """Counts common to all import reports.

    Subclasses declare the fields, in the order of their JSON.

    Attributes:
        lines: Lines that are not blank.
        malformed: Rejected lines.
        problems: First few rejected lines, with the reason.
    """

    lines: int
    malformed: int
    problems: list[LineProblem]

    def refuse(self, file: str, line: int, reason: str) -> None:
        """Count a rejected line."""
        self.malformed += 1
        if len(self.problems) < FEW:
            self.problems.append(LineProblem(file, line, reason))


class NotTaken(Enum):
    """Reason why a valid line gives no entry."""

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
    """Yield each line with its content; count all lines and the rejected ones.

    Args:
        lines: Lines of one log, or of all.
        read: Parses a line; raises `Malformed`.
        report: Report of the import.
        otherwise: Builds the message that these lines have another form, from the first problem.
        patience: Maximum invalid lines at the start before reading stops; None reads all.

    Raises:
        ExchangeError: some lines are invalid and none has the form.
    """
    recognised, wrong, first = False, 0, None
    for line in lines:
        report.lines += 1
        try:
            content = read(line.text)
        except Malformed as reason:
            report.refuse(line.file, line.number, str(reason))
            wrong += 1
            first = first or LineProblem(line.file, line.number, str(reason))
            if not recognised and wrong == patience:
                break
            continue
        recognised |= content is not NotTaken.IN_IT
        if not isinstance(content, NotTaken):
            yield line, content
    if first and not recognised:
        raise ExchangeError(otherwise(first))
