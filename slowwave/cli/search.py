"""Search commands: search, show, explain, wakeup."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace
from slowwave.cli.search_options import with_search_options
from slowwave.views.section import Column, Columns, Table
from slowwave.views.tables import print_table, rich_table
from slowwave.views.terminal import PLAIN, Output, out, print_plain, prints_output, say, warn

if TYPE_CHECKING:
    from rich.text import Text

    from slowwave.memory import Memory
    from slowwave.search import Explanation, Result, SearchResponse
    from slowwave.search.log import RecordedSearch

COLOURS = {
    "vector": "dodger_blue1", "bm25": "green3", "title": "spring_green2", "trigger": "gold1",
    "mpab": "medium_purple", "neighbour": "plum2", "rerank": "dark_orange", "effectiveness": "grey62",
    "learned": "deep_pink2", "key": "pink1", "confidence": "turquoise2", "negative_feedback": "red",
    "clamp": "red3", "outdated": "dark_cyan",
}  # fmt: skip
NOTHING_YET = (
    "There are no memories yet. `slowwave save` adds a note, `slowwave ingest` and `slowwave night` a folder "
    "of notes. Secret memories need --secret."
)
EXCERPT = 320  # of a result's text (characters)
TITLED_BY_TEXT = 200  # of a text that is shown once, as its title (characters)
SHORT = 8  # shown of a memory's id (characters)
BAR = 48  # greatest width of a score of 1 (characters)
BESIDE_BAR = 26  # width of rank, score and flags (characters)

Query = Annotated[str, typer.Argument(help="A question or words.")]
Plain = Annotated[bool, PLAIN]


@app.command()
@prints_output
@with_search_options
def search(
    query: Query,
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Memories to show.")] = 5,
    *,
    wanted: dict[str, Any],
    plain: Plain = False,
    namespace: Namespace = "",
) -> Output:
    """Search the memory for the best answers to a question."""
    with open_namespace(namespace, known=True) as memory:
        response = memory.search(query, limit=limit, **wanted)
        short = _short(memory, response)
    if plain:
        return Output(response.to_dict, lambda: _print_words(response))

    def show() -> None:
        _print_unknown(response)
        for result in response:
            _print_result(result, query)
        _print_end(response, short)

    return Output(response.to_dict, show)


@app.command()
@prints_output
def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH|MEMORY", help="Id of a search or of a memory; last: your last search."
        ),
    ] = "last",
    namespace: Namespace = "",
) -> Output:
    """Show the results of a past search again with ids, or one memory."""
    from slowwave.cli.memories import memory_shown
    from slowwave.errors import NotFoundError
    from slowwave.home.id_resolution import MIN_PREFIX, resolve_either
    from slowwave.search.log import shown_by

    with open_namespace(namespace) as memory:
        kind, found_id = resolve_either(memory.tenant, ("search", "memory"), what)
        if kind is None:
            raise NotFoundError(
                f"Namespace {memory.namespace!r} has no search and no memory {what!r}. Give last, an id from "
                f"search or save, or at least {MIN_PREFIX} characters of one."
            )
        if kind == "memory":
            return memory_shown(memory, found_id)
        done, now = shown_by(memory.home, memory.namespace, found_id), memory.home.now()
    return Output(done, lambda: _print_shown(done, now))


@app.command()
@prints_output
@with_search_options
def explain(
    query: Query,
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Memories to show.")] = 3,
    *,
    wanted: dict[str, Any],
    plain: Plain = False,
    namespace: Namespace = "",
) -> Output:
    """Search, and explain every score: its parts, applied feedback, results left out."""
    with open_namespace(namespace, known=True) as memory:
        response = memory.search(query, limit=limit, explain=True, **wanted)
        policy = memory.policy
        short = _short(memory, response)
    if plain:
        return Output(response.to_dict, lambda: _print_words(response, account=True))

    def show() -> None:
        out.print(f"[bold]{_line(query)}[/]", highlight=False)
        header = f"policy {policy.name} {response.policy} · namespace {response.namespace}"
        out.print(f"[dim]{_line(header)}[/]\n", highlight=False)
        _print_unknown(response)
        _print_bars(response)
        for result in response:
            if result.explanation is not None:
                _print_breakdown(result, result.explanation)
        _print_not_shown(response)
        floor = f"{policy.abstention_floor:.3f}"
        say(f"signal {response.signal:.3f}; the policy abstains below {floor}", "dim")
        _print_end(response, short)

    return Output(response.to_dict, show)


@app.command()
@prints_output
def wakeup(
    budget: Annotated[int, typer.Option(help="Maximum size of the packet (tokens).")] = 2_000,
    secret: Annotated[bool, typer.Option("--secret", help="Include secret memories.")] = False,
    session: Annotated[str, typer.Option(help="Id of the conversation that gets it; it begins again.")] = "",
    table: Annotated[bool, typer.Option("--table", help="As a table, with scores.")] = False,
    plain: Annotated[bool, typer.Option("--plain", hidden=True, help="The default output.")] = False,
    namespace: Namespace = "",
) -> Output:
    """Print the wake-up packet: memories for a starting session, within a token budget."""
    with open_namespace(namespace, known=True) as memory:
        packet = memory.wakeup(budget=budget, secret=secret, session=session)
    if not packet.text:
        return Output(packet.to_dict, lambda: out.print(NOTHING_YET, highlight=False))
    if plain or not table:
        return Output(packet.to_dict, lambda: print_plain(packet.text))

    def show() -> None:
        for section in packet.sections:
            title = f"{section.name.capitalize()}" + (
                f"  ({section.left_out:,} left out)" if section.left_out else ""
            )
            cells = [
                [
                    item.score,
                    item.confidence,
                    item.importance_tier,
                    item.title,
                    item.text + item.mark,
                    item.tokens,
                ]
                for item in section.items
            ]
            if cells:
                print_table(title, ["score", "confidence", "tier", "title", "text", "tokens"], cells)
            else:
                say(title, "dim")
        out.print(f"[dim]about {packet.tokens:,} of {packet.budget:,} tokens[/]", highlight=False)

    return Output(packet.to_dict, show)


def _line(text: str) -> str:
    """Return a text in one line, with markup escaped."""
    return escape(" ".join(text.split()))


def _print_unknown(response: SearchResponse) -> None:
    """Print which identifiers of the question no memory mentions, before what is near them."""
    if message := response.unknown_message:
        out.print(f"[bold yellow]{_line(message)}[/]\n", highlight=False)


def _print_result(result: Result, query: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from slowwave.views.excerpts import excerpt
    from slowwave.views.scores import contradiction_text, others_say_it, outdated_text

    part = excerpt(result.text, query, EXCERPT)
    headings = (part.headings or result.headings)[-2:]
    where = " ".join(" › ".join((result.source, *headings)).split())
    flags = "".join(f" · {flag.replace('_', ' ')}" for flag in result.flags)
    title, body = _title_and_body(result.title, part.text)
    out.print(f"[bold]{_line(f'{result.rank}. {title}')}[/]  [cyan]{result.score:.3f}[/]", highlight=False)
    facts = f"{result.memory_type} of {result.created_at:%F} · {where} · {result.memory_id[:SHORT]}"
    flags += f" · {others_say_it(len(result.duplicates))}" if result.duplicates else ""
    details = Text(f"{facts}\nfit {result.fit} · confidence in it {result.confidence}{flags}", style="dim")
    if outdated := outdated_text(result.outdated_by[:SHORT], result.newer_title, result.valid_until):
        details.append(f"\n{outdated}", style="yellow")
    for other in result.contradicts:
        details.append(f"\n{contradiction_text(other.memory_id[:SHORT], other.title)}", style="yellow")
    out.print(Padding(details, (0, 0, 0 if body else 1, 3), expand=False))
    if body:
        out.print(Padding(Text(body), (0, 0, 1, 3)))


def _title_and_body(title: str, text: str) -> tuple[str, str]:
    """Return title and text as printed; a short text that begins with its title is printed once."""
    title = " ".join(title.split())
    begins = text.startswith(title.removesuffix("…").rstrip())
    return (text, "") if begins and len(text) <= TITLED_BY_TEXT else (title, text)


def _print_words(response: SearchResponse, *, account: bool = False) -> None:
    """Print the text that an assistant gets over MCP."""
    from slowwave.views import mcp_text as wording
    from slowwave.views.answers import Found

    next_step = f"slowwave observe {response.search_id} records which of these an answer used."
    if response.nothing:
        next_step = response.nothing.message
    print_plain(wording.found(Found.of(response, next_step, account=account)))


def _short(memory: Memory, response: SearchResponse) -> str:
    """Return the shortest id of a search; "" if it is not in the journal."""
    from slowwave.home.id_resolution import short_ids

    return short_ids(memory.tenant, "search", [response.search_id])[response.search_id]


def _print_shown(done: RecordedSearch, now: datetime) -> None:
    from slowwave.views.moments import since

    say(done.query, "bold")
    facts = [f"search {done.search_id}", since(done.asked_at, now), done.principal]
    facts += [f"project {done.project}"] * bool(done.project)
    say(" · ".join(facts), "dim")
    if not done.results:
        out.print("It returned no results.")
        return
    cells = [
        [result.rank, result.title, "" if result.score is None else f"{result.score:.3f}", result.memory_id]
        for result in done.results
    ]
    columns: Columns = [
        "rank",
        Column("title", cut=True, least=12),
        Column("score", "number"),
        Column("id", "id"),
    ]
    out.print(rich_table(Table(columns, cells)))
    out.print("[dim]slowwave feedback last 1 helpful rates the first result as helpful.[/]")


def _print_end(response: SearchResponse, short: str) -> None:
    if response.nothing and response.nothing.kind == "abstained":
        message = escape(response.nothing.message)
        out.print(f"{message} [dim]`slowwave explain` shows the candidates, `slowwave list` all memories.[/]")
    elif response.nothing:
        say(response.nothing.message)
    if response.left_out:
        from slowwave.common.pluralize import counted
        from slowwave.views.mcp_text import MAX_NAMED

        already = counted(len(response.left_out), "result", "results")
        say(f"{already} already given in this session, left out; --repeat shows them:")
        for result in response.left_out[:MAX_NAMED]:
            say(f"  {result.memory_id[:SHORT]} {' '.join(result.title.split())[:60]}", "dim")
        if len(response.left_out) > MAX_NAMED:
            say(f"  and {len(response.left_out) - MAX_NAMED} more", "dim")
    for warning in response.warnings:
        warn(warning)
    took = response.timings
    out.print(f"[dim]search {escape(short)} · {took.total:.0f} ms (embedding {took.embedding:.0f})[/]")
    if response.results:
        out.print("[dim]Did it help? slowwave feedback last 1 helpful[/]", highlight=False)


def stacked_bar(parts: Iterable[tuple[str, float]], width: int = BAR) -> Text:
    """Return a bar of coloured segments. A score of 1 is `width` characters; negative parts are left out."""
    from rich.text import Text

    bar, end, drawn = Text(), 0.0, 0
    for source, value in parts:
        end += max(value, 0.0)
        until = round(end * width)
        bar.append("█" * (until - drawn), style=COLOURS.get(source, "white"))
        drawn = max(drawn, until)
    return bar


def _print_bars(response: SearchResponse) -> None:
    """Print one line per result: the parts of its score, side by side."""
    from rich.table import Table as Grid
    from rich.text import Text

    from slowwave.views.scores import MEANING, by_source

    table = Grid(box=None, pad_edge=False, show_header=False)
    for style in ("bold", "", "cyan", ""):
        table.add_column(style=style, overflow="ellipsis", no_wrap=True, max_width=BAR)
    width = min(BAR, out.width * 3 // 10)
    of_title = min(40, out.width - width - BESIDE_BAR)
    seen: dict[str, None] = {}
    for result in response:
        if result.explanation is None:
            continue
        sums = by_source(result.explanation.contributions)
        seen |= dict.fromkeys(sums)
        flags = " ".join(flag.replace("_", " ") for flag in result.flags)
        bar = stacked_bar(sums.items(), width)
        table.add_row(f"{result.rank}. {_line(result.title)[:of_title]}", bar, f"{result.score:.3f}", flags)
    if seen:
        out.print(table)
        legend = Text("   ").join(
            Text("█ ", COLOURS.get(source, "white")) + Text(MEANING.get(source, source), "dim")
            for source in seen
        )
        out.print(legend)
        out.print()


def _print_breakdown(result: Result, account: Explanation) -> None:
    cells: list[list[Any]] = [
        [row.source, row.field, row.term, f"{row.value:+.4f}"] for row in account.contributions
    ]
    total = sum(row.value for row in account.contributions)
    cells.append(["", "", "sum = score", f"{total:.4f}"])
    scores = " · ".join(f"{name} {value:.3f}" for name, value in account.scores.items())
    caption = f"{account.formula}\nfound by {' + '.join(account.channels) or 'nothing'}"
    caption += f" ({scores})" if scores else ""
    if account.recall is not None:
        took = account.recall.displaced or "a free place"
        caption += (
            f"\nplaced here because it is short and very near (distance {account.recall.distance:.3f}, "
            f"{account.recall.reason}), instead of {took}"
        )
    title = f"{result.rank}. {' '.join(result.title.split())}  {result.memory_id}"
    print_table(title, ["source", "field", "term", "contribution"], cells, caption=caption)


def _print_not_shown(response: SearchResponse) -> None:
    cells = [
        [candidate.place, candidate.title, f"{candidate.score:.3f}", candidate.reason]
        for candidate in response.not_shown[:10]
    ]
    if cells:
        print_table("Candidates not returned", ["place", "title", "score", "reason"], cells)
