"""Timer of parts of a program, by wrapping their functions with a CPU clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

Parts = Mapping[str, tuple[str, tuple[tuple[Any, str], ...]]]
"""Parts by name: the part that each is inside, and its functions, each as owner and name."""


@contextmanager
def time_parts(parts: Parts, clock: Callable[[], float]) -> Iterator[dict[str, float]]:
    """Time the functions of parts: seconds by part, added up until cleared."""
    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - as of the function
            start = clock()
            try:
                return function(*args, **named)
            finally:
                spent[name] = spent.get(name, 0.0) + clock() - start

        return run

    with ExitStack() as stack:
        for name, (_, functions) in parts.items():
            for owner, attribute in functions:
                wrapped = timed(name, getattr(owner, attribute))
                stack.enter_context(mock.patch.object(owner, attribute, wrapped))
        yield spent
