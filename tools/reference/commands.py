"""Reference of every command with its arguments and options, from the command line itself."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import typer

from tools.reference.markdown import code, codes, paragraphs, prose, section, summary, table

ROOT = Path(__file__).resolve().parents[2]
OTHERS = "Commands"
TYPERS = ("help", "install_completion", "show_completion")
KINDS = {str: "text", int: "whole number", float: "number", Path: "path", bool: "true or false"}


def command_line() -> Any:  # noqa: ANN401 - Typer's own group
    """Return the whole command line, with the commands that packages above it register."""
    from slowwave.cli import app
    from slowwave.cli.evaluate import evaluation

    groups = {"eval": evaluation}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, place in sorted(project["entry-points"]["slowwave.commands"].items()):
        *group, own = name.split(".")
        at = groups[group[0]] if group else app
        if own not in {command.name for command in at.registered_commands}:
            module, _, function = place.partition(":")
            at.command(own)(getattr(import_module(module), function))
    return typer.main.get_command(app)


def page() -> str:
    """Return the page."""
    root = command_line()
    panels: dict[str, list[str]] = {}
    for name, command in _commands(root).items():
        panels.setdefault(_panel(command), []).append(name)
    parts = [
        "# Commands",
        "`slowwave COMMAND --help` prints the same in a terminal. Options before the name of any command:",
        _parameters(root),
        *_list(panels, root),
    ]
    for name in (name for names in panels.values() for name in names):
        parts += _described(f"slowwave {name}", root.commands[name], 2)
    return "\n\n".join(parts)


def _commands(group: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the commands of a group in the order of its help, without hidden ones."""
    context = typer.Context(group)
    named = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in named.items() if command is not None and not command.hidden}


def _panel(command: Any) -> str:  # noqa: ANN401
    """Return the panel of the help that a command is listed in."""
    panel = getattr(command, "rich_help_panel", None)
    return panel if isinstance(panel, str) and panel else OTHERS


def _list(panels: dict[str, list[str]], root: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield tables of all commands, by panel and in the order of `slowwave --help`."""
    for panel, names in panels.items():
        if len(panels) > 1:
            yield f"**{prose(panel)}**"
        rows = []
        for name in names:
            link = f"[`{name}`](#slowwave-{name})"
            rows.append((link, summary(root.commands[name].help)))
        yield table(["command", "what it does"], rows)


def _described(called: str, command: Any, level: int) -> Iterator[str]:  # noqa: ANN401
    """Yield the description of a command, or of a group with its commands."""
    if hasattr(command, "commands"):
        inner = _commands(command)
        rows = [(f"`{called} {name}`", summary(sub.help)) for name, sub in inner.items()]
        yield section(level, called, paragraphs(command.help), table(["command", "what it does"], rows))
        if getattr(command, "invoke_without_command", False):
            yield _parameters(command)
        for name, sub in inner.items():
            yield from _described(f"{called} {name}", sub, level + 1)
        return
    usage = f"```\n{called} {_usage(command)}".rstrip() + "\n```"
    yield section(level, called, paragraphs(command.help), usage, _parameters(command))


def _shown(command: Any) -> list[Any]:  # noqa: ANN401
    """Return arguments and options, except those of Typer that every command has."""
    return [each for each in command.params if not getattr(each, "hidden", False) and each.name not in TYPERS]


def _usage(command: Any) -> str:  # noqa: ANN401
    parts = []
    for each in _shown(command):
        if each.param_type_name == "argument":
            word = (each.metavar or each.name.upper()) + ("..." if each.nargs == -1 else "")
            parts.append(word if each.required else f"[{word}]")
    return " ".join([*(["[OPTIONS]"] if len(parts) < len(_shown(command)) else []), *parts])


def _parameters(command: Any) -> str:  # noqa: ANN401
    rows = []
    for each in _shown(command):
        help_text = prose(getattr(each, "help", None) or "")
        if each.param_type_name == "argument":
            name = code(each.metavar or each.name.upper())
        else:
            name = codes([*each.opts, *each.secondary_opts])
        rows.append((name, _kind(each), _default(each), help_text))
    return table(["argument or option", "takes", "default", "what it is"], rows) if rows else ""


def _kind(each: Any) -> str:  # noqa: ANN401
    if getattr(each, "is_flag", False):
        return "–"
    text = _type(each)
    low, high = each.min, each.max
    if low is not None and high is not None:
        text += f", {low} to {high}"
    elif low is not None or high is not None:
        text += f", {low} or more" if low is not None else f", {high} or less"
    return text + (", repeatable" if each.multiple or each.nargs == -1 else "")


def _type(each: Any) -> str:  # noqa: ANN401
    """Return what an argument takes: its metavar, its choices, or the kind of value."""
    if each.param_type_name == "option" and each.metavar:
        return code(each.metavar)
    kind = each.type_descriptor
    if kind.is_choice:
        return codes(str(getattr(choice, "value", choice)) for choice in kind.choices)
    annotation = get_args(kind.annotation)[0] if kind.is_list else kind.annotation
    return KINDS.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _default(each: Any) -> str:  # noqa: ANN401
    if each.required:
        return "required"
    value = each.default
    if value is None or value is False or value in ("", ()) or callable(value):
        return ""
    if value is True:
        return code(each.opts[0])
    return code(getattr(value, "value", value))
