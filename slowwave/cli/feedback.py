"""Feedback commands: feedback, observe, outcome, stats."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import MemoryId, Namespace, app, open_namespace, reference
from slowwave.common.pluralize import counted
from slowwave.views import usage
from slowwave.views.moments import since
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, prints_output

if TYPE_CHECKING:
    from slowwave.memory import Memory

SearchId = Annotated[str, typer.Argument(help="Id of a search; last: your last search.")]
_RECORDED = "The next nightly job applies it; then it counts for similar questions."


@app.command()
@prints_output
def feedback(
    search_id: SearchId,
    result: Annotated[str, typer.Argument(help="Rank, memory id or chunk id of one of its results.")],
    rating: Annotated[
        str, typer.Argument(help="helpful, neutral (true, beside the point) or unhelpful (outdated, false).")
    ],
    namespace: Namespace = "",
) -> Output:
    """Rate one result of a search."""
    with open_namespace(namespace) as memory:
        search_id = reference(memory, "search", search_id)
        done = memory.feedback(search_id, _result(memory, result), rating)
    status = escape(f"Rated {rating}" if done.new else f"Already rated {rating}")
    return Output(
        done, f"{status}: [bold]{escape(done.memory_id)}[/]. {_RECORDED if done.new else ''}".rstrip()
    )


@app.command()
@prints_output
def observe(
    search_id: SearchId,
    response: Annotated[str, typer.Argument(help="Text of the answer; '-' reads standard input.")] = "-",
    cited: Annotated[
        list[str] | None, typer.Option(help="Rank or id of a result that the answer cites; repeatable.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Record the answer written after a search, and detect which results it used."""
    text = sys.stdin.read() if response == "-" else response
    with open_namespace(namespace) as memory:
        search_id = reference(memory, "search", search_id)
        done = memory.observe(search_id, text, cited=[_result(memory, verdict) for verdict in cited or ()])

    def show() -> None:
        rows = [
            [
                verdict.rank, verdict.verdict, verdict.evidence, verdict.keywords, verdict.ratio,
                verdict.ratio_beyond_query, verdict.memory_id,
            ]
            for verdict in done.verdicts
        ]  # fmt: skip
        columns = ["rank", "verdict", "evidence", "keywords", "ratio", "beyond query", "memory"]
        caption = _RECORDED if done.new else "This answer was recorded before; nothing was added."
        print_table("What the answer used", columns, rows, caption=caption)

    return Output(done, show)


@app.command()
@prints_output
def outcome(
    project: Annotated[str, typer.Argument(help="Project name given to searches (search --project).")],
    ended: Annotated[str, typer.Argument(metavar="OUTCOME", help="success or failure.")],
    namespace: Namespace = "",
) -> Output:
    """Report that a project succeeded or failed. Results of its searches are credited or penalised."""
    with open_namespace(namespace) as memory:
        done = memory.outcome(project, ended)

    name, how = f"[bold]{escape(project)}[/]", escape(ended)
    if not done.new:
        return Output(done, f"{name}: {how} was reported before; there is no new search for it.")
    return Output(done, f"{name}: {how}, for {counted(done.searches, 'search', 'searches')}. {_RECORDED}")


@app.command()
@prints_output
def stats(
    memory_id: MemoryId,
    namespace: Namespace = "",
) -> Output:
    """Show the usage of a memory: selections, ratings, effectiveness."""
    with open_namespace(namespace) as memory:
        done, now = memory.stats(reference(memory, "memory", memory_id)), memory.home.now()

    def show() -> None:
        rows = [list(row) for row in usage.usage_text(done, now)]
        print_table(done.title or done.memory_id, ["", "value"], rows)
        if done.recent:
            recent = [
                [since(event["at"], now), event["verdict"], event["by"], event["search_id"]]
                for event in done.recent
            ]
            print_table("Recent feedback", ["when", "verdict", "by", "search"], recent)

    return Output(done, show)


def _result(memory: Memory, text: str) -> str | int:
    """Return a rank, or the id of a memory or chunk."""
    if text.isascii() and text.isdigit():
        return int(text)
    return text if ":" in text else reference(memory, "memory", text)
