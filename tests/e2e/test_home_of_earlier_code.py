"""A home that earlier code wrote gives the answers that it gave then, and lives on as it would have then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import earlier_home as earlier
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

HOMES = sorted(one.parent for one in earlier.FIXTURES.glob(f"*/{earlier.ARCHIVE}"))
MOST = 20  # differences of one step that are printed (count)
FILES = [(home, file.name) for home in HOMES for file in earlier.answer_files(home)]


@pytest.fixture(scope="module", params=HOMES, ids=lambda one: one.name)
def differing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The differences of a whole replay, by the file that the answers stand in.

    It is one replay, for what is asked last is asked of what came of all acts before.
    """
    home: Path = request.param
    place = earlier.unpack(home / earlier.ARCHIVE, tmp_path_factory.mktemp("home") / "somewhere else")
    found: dict[str, list[str]] = {}
    with earlier.pinned(place.home) as pins:
        for file in earlier.answer_files(home):
            steps = earlier.read_steps(file)
            answers = earlier.replay(steps, place, pins)
            found[file.name] = [
                line for step, now in zip(steps, answers, strict=True) for line in _told(step, now)
            ]
    return found


def _told(step: dict[str, Any], now: Any) -> Iterator[str]:
    lines = list(earlier.differences(step["answer"], now, more="tables" in step))
    if lines:
        yield f"\n{earlier.called(step)}"
        yield from (f"    {line}" for line in lines[:MOST])
        if len(lines) > MOST:
            yield f"    … and {len(lines) - MOST} more"


def test_there_is_a_home_of_earlier_code():
    assert HOMES
    assert FILES


def test_every_answer_is_that_of_then(differing: dict[str, list[str]]):
    told = [line for name, lines in differing.items() if lines for line in (f"\n== {name}", *lines)]
    assert not told, "\n".join(told)
