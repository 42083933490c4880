"""Learning commands that list: terms, proposals, log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

from slowwave.cli.app import Limit, Namespace, open_namespace, reference
from slowwave.cli.learning import OneKind, fail, learning
from slowwave.common.pluralize import counted
from slowwave.views import learning_lists
from slowwave.views.section import Column, Columns, Section, Table
from slowwave.views.tables import show
from slowwave.views.terminal import Output, out, prints_output

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from slowwave.scoring.feedback.learned import Kind


@learning.command("terms")
@prints_output
def learning_terms(
    state: Annotated[
        str, typer.Option(help="Only this state: proposed, live, expired or 'taken back'.")
    ] = "",
    memory: Annotated[str, typer.Option(help="Only of this memory (id), even if secret.")] = "",
    kind: OneKind = "words",
    limit: Limit = 50,
    namespace: Namespace = "",
) -> Output:
    """List learned terms or search keys, and whether they have an effect."""
    words = _one_kind(kind) == "words"
    with open_namespace(namespace) as home:
        memory = memory and reference(home, "memory", memory)
        read = home.learning.terms if words else home.learning.keys
        rows = read(state=cast("Any", state), memory_id=memory)
    title, table = ("Learned terms", learning_lists.terms) if words else ("Search keys", learning_lists.keys)
    none = "No learned terms yet." if words else "No search keys yet."
    none = f"No such {'terms' if words else 'keys'}." if state or memory else f"{none} {learning_lists.WHEN}"
    return _listed(title, rows, limit, lambda: table(rows, limit), none)


@learning.command("proposals")
@prints_output
def learning_proposals(
    reason: Annotated[str, typer.Option(help="Only with this reason, such as rate_limited.")] = "",
    kind: OneKind = "words",
    limit: Limit = 20,
    namespace: Namespace = "",
) -> Output:
    """List selections, newest first: what each teaches, or why it teaches nothing."""
    words = _one_kind(kind) == "words"
    with open_namespace(namespace) as home:
        read = home.learning.proposals if words else home.learning.selections
        rows = read(reason=reason, limit=None)
    none = f"No selection with the reason {escape(reason)}." if reason else ""
    none = none or f"No selections yet. {learning_lists.WHEN}"
    return _listed("Selections", rows, limit, lambda: _selections(rows, limit, words=words), none)


def _selections(rows: pl.DataFrame, limit: int, *, words: bool) -> Table:
    cells = [
        [f"{row['selected_at']:%F}", row["reason"], "?" if row["rank"] is None else str(row["rank"]),
         row["principal"], row["query"], row["title"] or row["memory_id"],
         row["taught"] if words else f"{row['taken']:.2f}"]
        for row in rows.head(limit).iter_rows(named=True)
    ]  # fmt: skip
    columns: Columns = [
        Column("day", whole=True), "reason", Column("rank", "number"), "user", "query", "selected",
        "teaches" if words else Column("evidence", "number"),
    ]  # fmt: skip
    return learning_lists.first_rows(columns, cells, rows)


@learning.command("log")
@prints_output
def learning_log(
    action: Annotated[
        str,
        typer.Option(
            help="Only this action: add, refresh, expire, rollback, refuse, approve, withdraw, regression."
        ),
    ] = "",
    kind: Annotated[str, typer.Option(help="Only words or only keys.")] = "",
    limit: Limit = 20,
    namespace: Namespace = "",
) -> Output:
    """Show the audit log of learning, newest first: added, rolled back, decided.

    Selections that taught nothing are hidden: --action refuse lists them, and --json has them all.
    """
    import polars as pl

    with open_namespace(namespace) as home:
        rows, now = home.learning.log(action=action, limit=None), home.home.now()
    if kind:
        rows = rows.filter(pl.col("kind").fill_null("") == _one_kind(kind))

    decided, refused = (rows, 0) if action else learning_lists.decided(rows)

    def show() -> None:
        if decided.is_empty():
            empty = "Nothing was learned or decided yet" if refused else "The log is empty"
            out.print(f"{empty}. {learning_lists.WHEN}")
        else:
            _show("Log of learning", learning_lists.log(decided, limit, now), decided.height)
        if refused:
            count_text = f"{counted(refused, 'selection')} taught nothing:"
            out.print(f"[dim]{count_text} slowwave learning log --action refuse[/]", highlight=False)

    return Output(rows.head(limit), show)


def _one_kind(kind: str) -> Kind:
    """Return the kind of learning that --kind names."""
    from slowwave.scoring.feedback.learned import KINDS

    kinds = [known for known in KINDS if kind == known]
    if not kinds:
        fail(f"Unknown --kind {kind}. Give words or keys.")
    return kinds[0]


def _listed(title: str, rows: pl.DataFrame, limit: int, table: Callable[[], Table], none: str) -> Output:
    """Return the first rows, or a message if there are none."""
    if rows.is_empty():
        return Output(rows, none)
    return Output(rows.head(limit), lambda: _show(title, table(), rows.height))


def _show(title: str, table: Table, rows: int) -> None:
    """The first of so many rows, under a title that says how many there are."""
    show(Section(f"{title}: {rows:,}", [table]))
