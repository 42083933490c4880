"""Layout of a dependency graph from left to right: a band per group, a column per step.

Each step reserves a row of its band until its last dependent step, so no line crosses a box; lines change
rows between columns only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.reference.drawing import COLOURS, GraphDrawing, halves

BOX, TALL = 104, 34  # width and height of a box (pixels)
GAP, PITCH = 40, 44  # between columns, and between rows
LEFT, TOP, BAND = 16, 14, 26  # margins, and height of a band's name


@dataclass(frozen=True, slots=True)
class AssetStep:
    """Step of the graph, with its group and dependencies."""

    name: str
    group: str
    rests_on: tuple[str, ...]


def needed(steps: Sequence[AssetStep]) -> dict[str, list[str]]:
    """Return the dependencies of each step, without implied ones."""
    parents = {step.name: set(step.rests_on) for step in steps}
    above: dict[str, set[str]] = {}

    def ancestors(name: str) -> set[str]:
        if name not in above:
            above[name] = parents[name].union(*(ancestors(parent) for parent in parents[name]))
        return above[name]

    return {
        name: sorted(
            parent for parent in own if not any(parent in ancestors(other) for other in own - {parent})
        )
        for name, own in parents.items()
    }


def columns(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the column of each step: one after its last dependency, from 0."""
    result: dict[str, int] = {}

    def column(name: str) -> int:
        if name not in result:
            result[name] = max((column(parent) + 1 for parent in parents[name]), default=0)
        return result[name]

    for name in parents:
        column(name)
    return result


def rows(names: Sequence[str], at: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    """Return the row of each step of a band: the first that is free until its last dependent step."""
    taken: list[list[tuple[int, int]]] = []
    result = {}
    for name in sorted(names, key=lambda step: (at[step], -last[step], step)):
        span = (at[name], max(at[name], last[name] - 1))
        free = [all(span[0] > end or span[1] < start for start, end in spans) for spans in taken]
        row = free.index(True) if True in free else len(taken)
        if row == len(taken):
            taken.append([])
        taken[row].append(span)
        result[name] = row
    return result


def picture(steps: Sequence[AssetStep], groups: Sequence[str], title: str, about: str) -> str:
    """Draw the graph as SVG.

    Args:
        steps: All steps.
        groups: Bands, from the top.
        title: Of the picture.
        about: Description in a sentence or two.
    """
    parents = needed(steps)
    at = columns(parents)
    children = {name: [child for child in parents if name in parents[child]] for name in parents}
    last = {name: max((at[child] for child in of), default=at[name]) for name, of in children.items()}
    placed: dict[str, tuple[float, float]] = {}
    bands: list[tuple[str, float, float]] = []
    top = float(TOP)
    for group in groups:
        own = rows([step.name for step in steps if step.group == group], at, last)
        for name, row in own.items():
            placed[name] = (LEFT + 10 + at[name] * (BOX + GAP), top + BAND + row * PITCH)
        high = float(BAND) + (max(own.values(), default=0) + 1) * PITCH
        bands.append((group, top, high))
        top += high + 8
    wide = 2 * LEFT + 20 + (max(at.values()) + 1) * (BOX + GAP) - GAP
    drawing = GraphDrawing(wide, round(top + TOP - 8), title, about)
    colour = dict(zip(groups, COLOURS * len(groups), strict=False))
    for group, y, high in bands:
        drawing.rect(LEFT - 6, y, wide - 2 * LEFT + 12, high, kind="lane", colour=colour[group], round_=8)
        drawing.text(LEFT + 10, y + 17, group, "head")
    of = {step.name: step.group for step in steps}
    for name in sorted(placed):
        for parent in parents[name]:
            drawing.path(_way(placed[parent], placed[name]), colour[of[parent]])
    for name, (x, y) in sorted(placed.items()):
        drawing.rect(x, y, BOX, TALL, kind="box", colour=colour[of[name]])
        lines = halves(name)
        first = y + TALL / 2 + 4 - (len(lines) - 1) * 7
        for number, words in enumerate(lines):
            drawing.text(x + BOX / 2, first + 14 * number, words, "middle")
    return drawing.done()


def _way(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a path along its own row, then over to the other between columns."""
    x, y = start[0] + BOX, start[1] + TALL / 2
    to_x, to_y = end[0], end[1] + TALL / 2
    turn = to_x - GAP
    middle = (turn + to_x) / 2
    return f"M{x:g} {y:g} H{turn:g} C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"
