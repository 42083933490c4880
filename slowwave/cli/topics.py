"""The command `slowwave help`: short texts by topic, or the options of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slowwave.cli.app import app
from slowwave.views.terminal import Output, print_plain, prints_output


@app.command("help")
@prints_output
def help_topic(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", help="A topic, or a command; without one: the topics."),
    ] = None,
) -> Output:
    """A short text about one topic: `slowwave help` lists them."""
    from slowwave.errors import NotFoundError
    from slowwave.views.topics import TOPICS, named, nearest

    topic = " ".join(words or ())
    found = named(topic)
    if found is not None:
        title, text = TOPICS[found].title, TOPICS[found].text
        data = {"topic": found, "title": title, "text": text}
        return Output(data, lambda: print_plain(f"{title}\n\n{text}"))
    if not topic:
        wide = max(map(len, TOPICS))
        lines = [f"  {name:<{wide}}  {one.title}" for name, one in TOPICS.items()]
        told = "\n".join(["slowwave help TOPIC", "", *lines, "", "slowwave help COMMAND: its options."])
        topics = [{"topic": name, "title": one.title} for name, one in TOPICS.items()]
        return Output(topics, lambda: print_plain(told))
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
    return Output()
