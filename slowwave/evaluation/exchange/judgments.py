"""Import and export of judgments: TREC qrels and JSON lines (`docs/how-to/judge-results.md`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import orjson
import polars as pl
from pydantic import AwareDatetime, Field, ValidationError

from slowwave.common import ids
from slowwave.evaluation.exchange.forms import Number, Strict
from slowwave.evaluation.exchange.frame import FEW, LineCounts, LineProblem, read_each
from slowwave.evaluation.exchange.lines import read_lines
from slowwave.evaluation.exchange.values import ExchangeError, Malformed, written_moment
from slowwave.evaluation.judging.active_sampling import last_words
from slowwave.evaluation.judging.entries import NewJudgment, write_judgments
from slowwave.evaluation.judging.labels import known_memories
from slowwave.evaluation.judging.model import JudgmentError
from slowwave.journal.kinds.judgment import GradedBy
from slowwave.journal.kinds.judgment import JudgmentPayload as Payload
from slowwave.scoring.days import day_of
from slowwave.scoring.evaluation.judgments import JUDGE, MANUAL

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

FORMATS = ("jsonl", "qrels")
"""Judgment forms."""

Named = tuple[str, Callable[[str], NewJudgment]]
"""Name of a memory (id or source), and a function from its id to the judgment."""


@dataclass(slots=True)
class JudgmentsReport(LineCounts):
    """Counts of one judgment import.

    Attributes:
        lines: Lines that are not blank.
        written: New judgments.
        already: Judgments that were the latest ones already.
        unknown: Lines about no memory of the namespace; none is written.
        unknown_names: First few of these names.
        malformed: Unreadable lines.
        problems: First few unreadable lines, with the reason.
    """

    lines: int = 0
    written: int = 0
    already: int = 0
    unknown: int = 0
    unknown_names: list[str] = field(default_factory=list)
    malformed: int = 0
    problems: list[LineProblem] = field(default_factory=list)

    def miss(self, name: str) -> None:
        """Count a line about an unknown memory."""
        self.unknown += 1
        if len(self.unknown_names) < FEW and name not in self.unknown_names:
            self.unknown_names.append(name)


@dataclass(frozen=True, slots=True)
class JudgmentOptions:
    """Options of a judgment import.

    Attributes:
        namespace: The tenant.
        principal: Principal of lines that name none.
        now: Time of lines that have none.
        first_day: First partition of the nightly job; older lines are rejected.
        queries: Text of each query id, for qrels.
    """

    namespace: str
    principal: str
    now: datetime
    first_day: str
    queries: Mapping[str, str] = field(default_factory=dict)


class _Judge(Strict):
    name: str
    model: str
    version: str
    prompt_hash: str


class _JudgmentLine(Strict):
    query: str
    memory_id: str = ""
    source: str = ""
    grade: Number | None = None
    state: str = "graded"
    explanation: str = ""
    principal: str = ""
    at: Annotated[AwareDatetime, Field(strict=True)] | None = None
    judge: _Judge | None = None
    text_hash: str | None = None


def import_judgments(
    space: Workspace, files: Sequence[str], form: str, options: JudgmentOptions
) -> JudgmentsReport:
    """Write the judgments of files to the journal, atomically and idempotently.

    Args:
        space: Workspace of the home.
        files: Paths, or `-` for standard input; plain, .gz or .zip.
        form: One of `FORMATS`.
        options: Options of the import.

    Raises:
        ExchangeError: an unknown form, or a file is damaged or has no line of that form.
        OSError: a file cannot be read.
        JournalError: the journal cannot be written; nothing was imported.
    """
    if form not in FORMATS:
        raise ExchangeError(f"The form {form!r} is unknown; use one of {', '.join(FORMATS)}.")
    read_line = _qrels_line if form == "qrels" else _jsonl_line

    def read(text: bytes) -> Named:
        name, make = read_line(text, options)
        try:
            make("")  # raises if the judgment is invalid
        except JudgmentError as error:
            raise Malformed(str(error)) from error
        return name, make

    def otherwise(problem: LineProblem) -> str:
        return f"No line is a judgment of form {form}; nothing was written. {problem}"

    report = JudgmentsReport()
    lines = (line for file in files for line in read_lines(file))
    parsed = [named for _, named in read_each(lines, read, report, otherwise)]
    memories = {ids.memory_id(options.namespace, name) for name, _ in parsed} | {name for name, _ in parsed}
    existing = known_memories(space.store, options.namespace, memories)
    judgments = []
    for name, make in parsed:
        memory = name if name in existing else ids.memory_id(options.namespace, name)
        if memory in existing:
            judgments.append(make(memory))
        else:
            report.miss(name)
    written = sum(new for _, new in write_judgments(space.journal, options.namespace, judgments))
    report.written, report.already = written, len(judgments) - written
    return report


def _jsonl_line(text: bytes, options: JudgmentOptions) -> Named:
    try:
        line = _JudgmentLine.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"] if isinstance(part, str) and part.islower())
        raise Malformed(f"{where}: {fault['msg']}" if where else fault["msg"]) from None
    if bool(line.memory_id) == bool(line.source):
        raise Malformed("give either memory_id or source")
    at = (line.at or options.now).astimezone(UTC)
    if not options.first_day <= day_of(at) <= day_of(options.now):
        raise Malformed(f"at: {at:%F} is before night.first_day ({options.first_day}) or in the future")
    if (line.judge is None) != (line.text_hash is None):
        raise Malformed("judge and text_hash belong together")
    more = Payload(imported_from="jsonl")
    if line.judge is not None and line.text_hash is not None:
        by = GradedBy(
            name=line.judge.name, model=line.judge.model, version=line.judge.version,
            prompt_hash=line.judge.prompt_hash,
        )  # fmt: skip
        more |= Payload(judge=by, text_hash=line.text_hash)
    principal = line.principal or (line.judge.name if line.judge else options.principal)
    source = JUDGE if line.judge else MANUAL
    return line.memory_id or line.source, lambda memory: NewJudgment(
        line.query, memory, line.grade, line.state, line.explanation, principal, at, source, more
    )


def _qrels_line(text: bytes, options: JudgmentOptions) -> Named:
    try:
        query_id, _iteration, name, grade = text.decode().split()
        number = int(grade)
    except ValueError:
        raise Malformed("is not query-id, 0, document, grade") from None
    query = options.queries.get(query_id)
    if query is None:
        raise Malformed(f"no query has the id {query_id!r}")
    more = Payload(imported_from="qrels")
    return name, lambda memory: NewJudgment(
        query, memory, number, "graded", "", options.principal, options.now, MANUAL, more
    )


def read_queries(file: str) -> dict[str, str]:
    """Read query texts by id: JSON lines with ``_id`` and ``text``, or id, tab, text.

    Raises:
        ExchangeError: a line is neither.
    """
    queries = {}
    for line in read_lines(file):
        try:
            if line.text.startswith(b"{"):
                row = orjson.loads(line.text)
                name, text = row["_id"], row["text"]
            else:
                name, text = line.text.decode().split("\t", 1)
        except (ValueError, KeyError):
            raise ExchangeError(
                f'{line.file}, line {line.number}: write {{"_id": …, "text": …}} or id, tab, text.'
            ) from None
        queries[str(name)] = str(text)
    return queries


def export_judgments(
    journal: Journal,
    namespace: str,
    write: Callable[[bytes], object],
    *,
    judge: str = "",
    closed: Collection[str] = (),
) -> int:
    """Write the latest judgment of each principal on each pair as JSON lines; return the count.

    Imported into an empty home they are the same judgments, and give the same lines.

    Args:
        journal: Journal of the home.
        namespace: The tenant.
        write: Writes a line, including its end.
        judge: Only the grades of this judge; empty: labels by hand; ``*``: everything.
        closed: Ids of memories and queries that are left out.
    """
    rows = wanted(journal, namespace, judge, closed).sort("query_id", "memory_id", "source", "principal")
    entries = journal.entries(rows["judgment_id"].to_list())
    for row in rows.iter_rows(named=True):
        entry = entries[row["judgment_id"]]
        payload = entry.payload
        line = {name: payload[name] for name in ("query", "memory_id", "grade", "state")}
        if payload["explanation"]:
            line["explanation"] = payload["explanation"]
        line |= {"principal": entry.principal, "at": written_moment(entry.occurred_at)}
        line |= {name: payload[name] for name in ("judge", "text_hash") if name in payload}
        write(orjson.dumps(line) + b"\n")
    return rows.height


def export_qrels(
    journal: Journal,
    namespace: str,
    write: Callable[[bytes], object],
    write_query: Callable[[bytes], object],
    *,
    judge: str = "",
    closed: Collection[str] = (),
) -> int:
    """Write grades as TREC qrels and queries as JSON lines; return the number of grades.

    Grades of a pair by several people become their mean, rounded with halves up. Judgments without a grade
    are left out. Arguments as in `export_judgments`.
    """
    rows = wanted(journal, namespace, judge, closed).filter(pl.col("state") == "graded")
    grades = (
        rows.group_by("query_id", "memory_id")
        .agg(grade=(pl.col("grade").mean() + 0.5).floor().cast(pl.Int64), query=pl.col("query").first())
        .sort("query_id", "memory_id")
    )
    for query_id, memory_id, grade, _ in grades.iter_rows():
        write(f"{query_id} 0 {memory_id} {grade}\n".encode())
    for query_id, query in grades.select("query_id", "query").unique("query_id").sort("query_id").iter_rows():
        write_query(json.dumps({"_id": query_id, "text": query}, ensure_ascii=False).encode() + b"\n")
    return grades.height


def wanted(journal: Journal, namespace: str, judge: str = "", closed: Collection[str] = ()) -> pl.DataFrame:
    """Return the latest judgments of people, one judge or (``*``) all, as ``judgments`` rows."""
    rows = last_words(journal, namespace)
    rows = rows.filter(~pl.any_horizontal(pl.col("memory_id", "query_id").is_in(list(closed))))
    if judge == "*":
        return rows
    if judge:
        return rows.filter((pl.col("source") == JUDGE) & (pl.col("principal") == judge))
    return rows.filter(pl.col("source") == MANUAL)
