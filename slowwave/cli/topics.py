"""The command `help`: texts by topic, or the options of a command."""

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
        typer.Argument(metavar="TOPIC", help="A topic or a command; default: list the topics."),
    ] = None,
) -> Output:
    """Show a help topic or the options of a command; without one, list the topics."""
    from slowwave.errors import NotFoundError
    from slowwave.views.topics import TOPICS, named, nearest

    topic = " ".join(words or ())
    topic_name = named(topic)
    if topic_name is not None:
        title, text = TOPICS[topic_name].title, TOPICS[topic_name].text
        data = {"topic": topic_name, "title": title, "text": text}
        return Output(data, lambda: print_plain(f"{title}\n\n{text}"))
    if not topic:
        wide = max(map(len, TOPICS))
        lines = [f"  {name:<{wide}}  {entry.title}" for name, entry in TOPICS.items()]
        text_ = "\n".join(["slowwave help TOPIC", "", *lines, "", "slowwave help COMMAND: its options."])
        topics = [{"topic": name, "title": entry.title} for name, entry in TOPICS.items()]
        return Output(topics, lambda: print_plain(text_))
    whole = context.find_root()
    command: Any = whole.command
    for word in topic.split():
        command = getattr(command, "commands", {}).get(word)
    if command is None:
        near = nearest(topic, [*TOPICS, *getattr(whole.command, "commands", {})])
        meant = f" Did you mean {near!r}?" if near else ""
        raise NotFoundError(f"Unknown topic or command {topic!r}.{meant} `slowwave help` lists the topics.")
    with command.make_context(topic, [], parent=whole, resilient_parsing=True) as inner:
        print_plain(command.get_help(inner))
    return Output()
