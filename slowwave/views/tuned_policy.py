"""Report of a fitted ranking policy: results, and changed parameters."""

from __future__ import annotations

from slowwave.tuning.fit import Fitted
from slowwave.tuning.run import as_rows
from slowwave.views import markdown
from slowwave.views.section import Paragraph, Part, Section, Table


def as_markdown(done: Fitted) -> str:
    """Return the whole report as Markdown."""
    columns, rows = as_rows(done)
    tried = f"{done.tried:,} policies tried on half of the queries. Results are on the other halves."
    compared = Table(columns, [[str(row[name]) for name in columns] for row in rows])
    parts: list[Part] = [Paragraph(tried), compared, Section("Parameters", [parameters(done)])]
    if done.abstention:
        rows_ = [[_number(_short(value)) for value in row.values()] for row in done.abstention]
        parts.append(Section("Queries without an answer", [Table(list(done.abstention[0]), rows_)]))
    return markdown.document(Section("A fitted ranking policy", parts))


def parameters(done: Fitted, *, changed: bool = False) -> Table:
    """Return the parameters of the present and the fitted policy; `changed`: only those that differ."""
    now, then = done.present.to_dict(), done.policy.to_dict()
    rows = [
        [name, _number(now[name]), _number(then[name])]
        for name in now
        if name != "name" and not (changed and now[name] == then[name])
    ]
    return Table(["parameter", "present", "fitted"], rows)


def _short(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _number(value: object) -> str:
    return "∞" if value is None else str(value)
