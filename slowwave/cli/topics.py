"""The command `slowwave help`: short texts by topic, or the options of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slowwave.cli.app import Json, app
from slowwave.views.terminal import print_json, print_plain, reports_errors


@app.command("help")
@reports_errors
def help_topic(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", help="A topic, or a command; without one: the topics."),
    ] = None,
    json: Json = False,
) -> None:
    """A short text about one topic: `slowwave help` lists them."""
    from slowwave.errors import NotFoundError
    from slowwave.views.topics import TOPICS, named, nearest

    topic = " ".join(words or ())
    found = named(topic)
    if found is not None:
        if json:
            print_json({"topic": found, "title": TOPICS[found].title, "text": TOPICS[found].text})
        else:
            print_plain(f"{TOPICS[found].title}\n\n{TOPICS[found].text}")
        return
    if not topic:
        if json:
            print_json([{"topic": name, "title": one.title} for name, one in TOPICS.items()])
            return
        wide = max(map(len, TOPICS))
        lines = [f"  {name:<{wide}}  {one.title}" for name, one in TOPICS.items()]
        print_plain("\n".join(["slowwave help TOPIC", "", *lines, "", "slowwave help COMMAND: its options."]))
        return
    whole = context.find_root()
    command: Any = whole.command
    for word in topic.split():
        command = getattr(command, "commands", {}).get(word)
    if command is None:
        near = nearest(topic, [*TOPICS, *getattr(whole.command, "commands", {})])
        meant = f" Did you mean {near!r}?" if near else ""
        raise NotFoundError(
            f"There is no topic or command {topic!r}.{meant} `slowwave help` lists the topics."
        )
    with command.make_context(topic, [], parent=whole, resilient_parsing=True) as inner:
        print_plain(command.get_help(inner))
