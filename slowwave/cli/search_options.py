"""Search options of commands, generated from the arguments of a search."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from slowwave.common.search_request import DAY, LABELS, MOMENT, SEARCH_ARGUMENTS, SearchArgument
from slowwave.views.terminal import Output

WANTED: Final = "wanted"
"""Parameter that the options replace; it receives the arguments of `Memory.search`."""


def with_search_options(command: Callable[..., Output]) -> Callable[..., Output]:
    """Add an option to a command for each argument of a search."""
    options = {_parameter(argument): argument for argument in SEARCH_ARGUMENTS.values()}

    @functools.wraps(command)
    def searching(*words: Any, **values: Any) -> Output:  # noqa: ANN401
        wanted = {argument.name: _value(argument, values.pop(name)) for name, argument in options.items()}
        return command(*words, **values, wanted=wanted)

    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        parameters += (
            [_option(name, of) for name, of in options.items()] if parameter.name == WANTED else [parameter]
        )
    searching.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    searching.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return searching


def _parameter(argument: SearchArgument) -> str:
    """Return the parameter name of an argument. Lists are given one item at a time."""
    return "tag" if argument.name == "tags" else argument.name


def _option(name: str, argument: SearchArgument) -> inspect.Parameter:
    kind: Any = list[str] | None if argument.kind == LABELS else bool if argument.kind is bool else str
    default = {LABELS: None, bool: argument.default}.get(argument.kind, "")
    option = typer.Option(argument.words.flag, help=argument.words.option)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _value(argument: SearchArgument, typed: Any) -> Any:  # noqa: ANN401
    """Return the value of an argument from its typed text."""
    if argument.kind in (MOMENT, DAY):
        from slowwave.common.arguments import parsed_day
        from slowwave.scoring.days import day_start

        if not typed:
            return None
        day = parsed_day(argument.words.flag, typed)
        return day_start(day) if argument.kind == MOMENT else day
    return typed or argument.default
