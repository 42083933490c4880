"""Report of an import or its preview."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from slowwave.views.gate_text import words_of
from slowwave.views.section import Column, Paragraph, Section, Table, most_first

if TYPE_CHECKING:
    from slowwave.imports.report import Example, NoteImportReport

_STATUS = {
    "live": "imported",
    "merged": "imported, merged with a similar one",
    "superseded": "imported, superseded by a newer one",
    "replaced": "replaced by a later record of the same name",
    "quarantined": "refused by the save gate",
}


_WHY = 22
"""Minimum width of a reason (characters)."""


def sections(report: NoteImportReport) -> list[Section]:
    """Return the report: counts, accepted examples, refused examples."""
    new = sum(report.new.values())
    when = report.first_day
    if report.last_day != report.first_day:
        when = f"{report.first_day} to {report.last_day}"
    rows: list[list[object]] = [["found", sum(report.found.values()), _listed(report.found)]]
    rows += [["skipped", count, why] for why, count in most_first(report.skipped)]
    rows += [["no memories", count, _why(reason)] for reason, count in most_first(report.left_out)]
    rows += [["unchanged", count, why] for why, count in most_first(report.kept)]
    if report.already:
        rows.append(["already imported", report.already, "and unchanged since"])
    if report.unread:
        rows.append(["unreadable", report.unread, "listed below"])
    details = ", ".join(filter(None, [when, f"{report.undated:,} without a date" if report.undated else ""]))
    rows.append(["would be imported" if report.dry_run else "new", new, details])
    if report.changed:
        rows.append(["of these changed", report.changed, "the new text replaces the previous one"])
    rows += [["refused", count, _why(reason)] for reason, count in most_first(report.refused)]
    rows += [
        ["warned", count, f"{_why(reason)}; once the gate enforces it refuses such notes"]
        for reason, count in most_first(report.warned)
    ]
    if report.status != {"live": new}:
        rows += [[status, count, _STATUS.get(status, "")] for status, count in most_first(report.status)]
    counts = Table([Column("what", whole=True), Column("count", "number"), Column("", "text")], rows)
    title = f"{'Preview' if report.dry_run else 'Import'} of {report.source} into {report.namespace}"
    parts = [Section(title, [counts], note=f"gate: {report.gate}")]
    if report.entering and report.dry_run:
        parts.append(Section("First notes that would be imported", [_examples(report.entering, why=False)]))
    if report.staying_out:
        title = "First notes that would not" if report.dry_run else "First notes that the save gate refused"
        parts.append(Section(title, [_examples(report.staying_out, why=True)]))
    if report.notes:
        parts.append(Section("", [Paragraph(note) for note in report.notes]))
    return parts


def _examples(examples: Iterable[Example], *, why: bool) -> Table:
    rows = [
        [example.day or "no date", example.why if why else example.kind, example.text] for example in examples
    ]
    widest = max(len(row[1]) for row in rows)
    columns = [
        Column("day", whole=True, least=10),
        Column("why" if why else "kind", whole=True, least=min(widest, _WHY)),
        Column("begins with", "text", whole=True, cut=True),
    ]
    return Table(columns, rows)


def _why(reason: str) -> str:
    return f"{reason}: {words_of(reason).why}"


def _listed(counts: Mapping[str, int]) -> str:
    names = {"reply": "replies", "memory": "memories", "entity": "entities"}
    return ", ".join(
        f"{count:,} {name if count == 1 else names.get(name, f'{name}s')}"
        for name, count in most_first(counts)
    )
