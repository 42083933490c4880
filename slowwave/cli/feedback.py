"""The commands that give feedback and say what it came to: feedback, observe, outcome, stats."""

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

SearchId = Annotated[str, typer.Argument(help="Id of the search, from its results; last: your last one.")]
_TAKEN = "The next night takes it up; from then on it counts for questions like this one."


@app.command()
@prints_output
def feedback(
    search_id: SearchId,
    result: Annotated[str, typer.Argument(help="Rank, memory id or chunk id of a result of it.")],
    rating: Annotated[
        str, typer.Argument(help="helpful, neutral (true, beside the point) or unhelpful (outdated, false)")
    ],
    namespace: Namespace = "",
) -> Output:
    """Say how one result of a search served."""
    with open_namespace(namespace) as memory:
        search_id = reference(memory, "search", search_id)
        done = memory.feedback(search_id, _result(memory, result), rating)
    told = escape(f"Rated {rating}" if done.new else f"Was rated {rating} before")
    return Output(done, f"{told}: [bold]{escape(done.memory_id)}[/]. {_TAKEN if done.new else ''}".rstrip())


@app.command()
@prints_output
def observe(
    search_id: SearchId,
    response: Annotated[str, typer.Argument(help="Text of the answer; '-' reads standard input.")] = "-",
    cited: Annotated[
        list[str] | None, typer.Option(help="Rank or id of a result that was used for certain; repeatable.")
    ] = None,
    namespace: Namespace = "",
) -> Output:
    """Look at the answer that a search was for: which of the memories that it was shown did it use?"""
    text = sys.stdin.read() if response == "-" else response
    with open_namespace(namespace) as memory:
        search_id = reference(memory, "search", search_id)
        done = memory.observe(search_id, text, cited=[_result(memory, one) for one in cited or ()])

    def show() -> None:
        rows = [
            [
                one.rank, one.verdict, one.evidence, one.keywords, one.ratio, one.ratio_beyond_query,
                one.memory_id,
            ]
            for one in done.verdicts
        ]  # fmt: skip
        columns = ["rank", "verdict", "evidence", "keywords", "ratio", "beyond query", "memory"]
        caption = _TAKEN if done.new else "This answer was looked at before; nothing was added."
        print_table("What the answer used", columns, rows, caption=caption)

    return Output(done, show)


@app.command()
@prints_output
def outcome(
    project: Annotated[str, typer.Argument(help="Name that searches were made for (search --project).")],
    ended: Annotated[str, typer.Argument(metavar="OUTCOME", help="success or failure")],
    namespace: Namespace = "",
) -> Output:
    """Say how a project ended; credited to what its searches brought."""
    with open_namespace(namespace) as memory:
        done = memory.outcome(project, ended)

    name, how = f"[bold]{escape(project)}[/]", escape(ended)
    if not done.new:
        return Output(done, f"{name} ended in {how} before; no search was made for it since.")
    return Output(done, f"{name}: {how}, for {counted(done.searches, 'search', 'searches')}. {_TAKEN}")


@app.command()
@prints_output
def stats(
    memory_id: MemoryId,
    namespace: Namespace = "",
) -> Output:
    """What use says of a memory."""
    with open_namespace(namespace) as memory:
        done, now = memory.stats(reference(memory, "memory", memory_id)), memory.home.now()

    def show() -> None:
        rows = [list(row) for row in usage.usage_text(done, now)]
        print_table(done.title or done.memory_id, ["", "what use says"], rows)
        if done.recent:
            recent = [
                [since(one["at"], now), one["verdict"], one["by"], one["search_id"]] for one in done.recent
            ]
            print_table("Lately said", ["when", "said", "by", "search"], recent)

    return Output(done, show)


def _result(memory: Memory, text: str) -> str | int:
    """A rank, or the id of a memory or of one of its chunks."""
    if text.isascii() and text.isdigit():
        return int(text)
    return text if ":" in text else reference(memory, "memory", text)
