"""The lists of learning: terms and keys, selections, the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

from slowwave.cli.app import Json, Namespace, open_namespace, reference
from slowwave.cli.learning import Limit, OneKind, fail, learning
from slowwave.common.plurals import counted
from slowwave.views import learned
from slowwave.views.section import Column, Columns, Section, Table
from slowwave.views.tables import show
from slowwave.views.terminal import out, print_json, reports_errors

if TYPE_CHECKING:
    from slowwave.scoring.feedback.learned import Kind


@learning.command("terms")
@reports_errors
def learning_terms(
    state: Annotated[str, typer.Option(help="Only proposed, live, expired or 'taken back'.")] = "",
    memory: Annotated[str, typer.Option(help="Only of this memory (id), also of a secret one.")] = "",
    kind: OneKind = "words",
    limit: Limit = 50,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """The words, or the past questions, that lead to memories, and whether they have an effect."""
    if _one_kind(kind) == "keys":
        _print_keys(state, memory, limit, namespace, json)
        return
    with open_namespace(namespace) as home:
        memory = memory and reference(home, "memory", memory)
        rows = home.learning.terms(state=cast("Any", state), memory_id=memory)
    if json:
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print(
            "No such terms." if state or memory else f"No selection has taught anything yet. {learned.WHEN}"
        )
        return
    _show("Learned terms", learned.terms(rows, limit), rows.height)


@learning.command("proposals")
@reports_errors
def learning_proposals(
    reason: Annotated[str, typer.Option(help="Only with this reason, for instance rate_limited.")] = "",
    kind: OneKind = "words",
    limit: Limit = 20,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """Selections, the newest first: what each could teach, and why others teach nothing."""
    words = _one_kind(kind) == "words"
    with open_namespace(namespace) as home:
        if words:
            rows = home.learning.proposals(reason=reason, limit=None)
        else:
            rows = home.learning.selections(reason=reason, limit=None)
    if json:
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print(
            f"No selection with the reason {escape(reason)}."
            if reason
            else f"No selection is known yet. {learned.WHEN}"
        )
        return
    cells = [
        [f"{row['selected_at']:%F}", row["reason"], "?" if row["rank"] is None else str(row["rank"]),
         row["principal"], row["query"], row["title"] or row["memory_id"],
         row["taught"] if words else f"{row['taken']:.2f}"]
        for row in rows.head(limit).iter_rows(named=True)
    ]  # fmt: skip
    columns: Columns = [
        Column("day", whole=True), "reason", Column("rank", "number"), "who", "query", "selected",
        "teaches" if words else Column("taken", "number"),
    ]  # fmt: skip
    table = Table(columns, cells, left_out=rows.height - len(cells), option="--limit")
    _show("Selections", table, rows.height)


@learning.command("log")
@reports_errors
def learning_log(
    action: Annotated[
        str,
        typer.Option(help="Only add, refresh, expire, rollback, refuse, approve, withdraw or regression."),
    ] = "",
    kind: Annotated[str, typer.Option(help="Only of words or of keys.")] = "",
    limit: Limit = 20,
    namespace: Namespace = "",
    json: Json = False,
) -> None:
    """The audit log: what was learned, taken back and decided, the newest first.

    Selections that taught nothing are most of it: --action refuse lists them, and --json has them all.
    """
    import polars as pl

    with open_namespace(namespace) as home:
        rows, now = home.learning.log(action=action, limit=None), home.home.now()
    if kind:
        rows = rows.filter(pl.col("kind").fill_null("") == _one_kind(kind))
    if json:
        print_json(rows.head(limit))
        return
    rows, refused = (rows, 0) if action else learned.decided(rows)
    if rows.is_empty():
        out.print(
            f"{'Nothing was learned or decided' if refused else 'Nothing is in the log'}. {learned.WHEN}"
        )
    else:
        _show("Log of learning", learned.log(rows, limit, now), rows.height)
    if refused:
        told = f"{counted(refused, 'selection')} taught nothing:"
        out.print(f"[dim]{escape(told)} slowwave learning log --action refuse[/]", highlight=False)


def _one_kind(kind: str) -> Kind:
    """The kind of learning that is meant."""
    from slowwave.scoring.feedback.learned import KINDS

    found = [one for one in KINDS if kind == one]
    if not found:
        fail(f"--kind {kind}: say words or keys.")
    return found[0]


def _print_keys(state: str, memory: str, limit: int, namespace: str, json: bool) -> None:
    """Past questions that lead to memories."""
    with open_namespace(namespace) as home:
        memory = memory and reference(home, "memory", memory)
        rows = home.learning.keys(state=cast("Any", state), memory_id=memory)
    if json:
        print_json(rows.head(limit))
        return
    if rows.is_empty():
        out.print("No such keys." if state or memory else f"No search has led anywhere yet. {learned.WHEN}")
        return
    _show("Search keys", learned.keys(rows, limit), rows.height)


def _show(title: str, table: Table, rows: int) -> None:
    """The first of so many rows, under a title that says how many there are."""
    show(Section(f"{title}: {rows:,}", [table]))
