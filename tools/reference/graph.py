"""A graph of steps drawn from left to right: a band for each group, a column for each step on the way.

Each step keeps a row of its band free until the last step that rests on it, so no line crosses a box; lines
change rows between the columns only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.reference.drawing import COLOURS, GraphDrawing, halves

BOX, TALL = 104, 34  # width and height of a box (pixels)
GAP, PITCH = 40, 44  # between two columns, and from row to row
LEFT, TOP, BAND = 16, 14, 26  # margins, and what a band's name takes


@dataclass(frozen=True, slots=True)
class AssetStep:
    """One step: its group, and what it rests on."""

    name: str
    group: str
    rests_on: tuple[str, ...]


def needed(steps: Sequence[AssetStep]) -> dict[str, list[str]]:
    """What each step rests on, without what follows from the others."""
    parents = {one.name: set(one.rests_on) for one in steps}
    above: dict[str, set[str]] = {}

    def ancestors(name: str) -> set[str]:
        if name not in above:
            above[name] = parents[name].union(*(ancestors(one) for one in parents[name]))
        return above[name]

    return {
        name: sorted(one for one in own if not any(one in ancestors(other) for other in own - {one}))
        for name, own in parents.items()
    }


def columns(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The column of each step: one after the last that it rests on, from 0."""
    found: dict[str, int] = {}

    def column(name: str) -> int:
        if name not in found:
            found[name] = max((column(one) + 1 for one in parents[name]), default=0)
        return found[name]

    for name in parents:
        column(name)
    return found


def rows(names: Sequence[str], at: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    """The row of each step of a band: the first that is free from its column to the last that needs it."""
    taken: list[list[tuple[int, int]]] = []
    found = {}
    for name in sorted(names, key=lambda one: (at[one], -last[one], one)):
        span = (at[name], max(at[name], last[name] - 1))
        free = [all(span[0] > end or span[1] < start for start, end in spans) for spans in taken]
        row = free.index(True) if True in free else len(taken)
        if row == len(taken):
            taken.append([])
        taken[row].append(span)
        found[name] = row
    return found


def picture(steps: Sequence[AssetStep], groups: Sequence[str], title: str, about: str) -> str:
    """The graph as SVG.

    Args:
        steps: all of them.
        groups: the bands, from the top.
        title: what the picture shows.
        about: the same in a sentence or two.
    """
    parents = needed(steps)
    at = columns(parents)
    children = {name: [one for one in parents if name in parents[one]] for name in parents}
    last = {name: max((at[one] for one in of), default=at[name]) for name, of in children.items()}
    placed: dict[str, tuple[float, float]] = {}
    bands: list[tuple[str, float, float]] = []
    top = float(TOP)
    for group in groups:
        own = rows([one.name for one in steps if one.group == group], at, last)
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
    of = {one.name: one.group for one in steps}
    for name in sorted(placed):
        for parent in parents[name]:
            drawing.path(_way(placed[parent], placed[name]), colour[of[parent]])
    for name, (x, y) in sorted(placed.items()):
        drawing.rect(x, y, BOX, TALL, kind="box", colour=colour[of[name]])
        said = halves(name)
        first = y + TALL / 2 + 4 - (len(said) - 1) * 7
        for number, words in enumerate(said):
            drawing.text(x + BOX / 2, first + 14 * number, words, "middle")
    return drawing.done()


def _way(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Straight along its own row, then over to the other one between two columns."""
    x, y = start[0] + BOX, start[1] + TALL / 2
    to_x, to_y = end[0], end[1] + TALL / 2
    turn = to_x - GAP
    middle = (turn + to_x) / 2
    return f"M{x:g} {y:g} H{turn:g} C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"
