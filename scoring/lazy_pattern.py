"""Regular expressions compiled on first use: a short process uses few of those in its modules."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first used.

    It is for its methods alone: functions of `re` do not take it.
    """
    return cast(re.Pattern[str], _LazyPattern(source, flags))


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the pattern has it
        if name.startswith("_"):
            raise AttributeError(name)
        value = vars(self)[name] = getattr(self._whole, name)  # later uses do not come here
        return value
