"""Options of the commands that search, made from the arguments of a search."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from slowwave.common.search_request import DAY, LABELS, MOMENT, SEARCH_ARGUMENTS, SearchArgument
from slowwave.views.terminal import Output

WANTED: Final = "wanted"
"""Parameter of a command in whose place the options stand; it is given the arguments of `Memory.search`."""


def with_search_options(command: Callable[..., Output]) -> Callable[..., Output]:
    """Give a command an option for each argument of a search."""
    options = {_parameter(one): one for one in SEARCH_ARGUMENTS.values()}

    @functools.wraps(command)
    def searching(*words: Any, **given: Any) -> Output:  # noqa: ANN401
        wanted = {one.name: _value(one, given.pop(name)) for name, one in options.items()}
        return command(*words, **given, wanted=wanted)

    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command, eval_str=True).parameters.values():
        parameters += [_option(name, of) for name, of in options.items()] if one.name == WANTED else [one]
    searching.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    searching.__annotations__ = {one.name: one.annotation for one in parameters}
    return searching


def _parameter(argument: SearchArgument) -> str:
    """Name of the parameter: lists are given one by one."""
    return "tag" if argument.name == "tags" else argument.name


def _option(name: str, argument: SearchArgument) -> inspect.Parameter:
    kind: Any = list[str] | None if argument.kind == LABELS else bool if argument.kind is bool else str
    default = {LABELS: None, bool: argument.default}.get(argument.kind, "")
    option = typer.Option(argument.words.flag, help=argument.words.option)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _value(argument: SearchArgument, typed: Any) -> Any:  # noqa: ANN401
    """Value of an argument from what was typed."""
    if argument.kind in (MOMENT, DAY):
        from slowwave.common.arguments import parsed_day
        from slowwave.scoring.days import day_start

        if not typed:
            return None
        day = parsed_day(argument.words.flag, typed)
        return day_start(day) if argument.kind == MOMENT else day
    return typed or argument.default
