from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tools.reference.drawing import halves
from tools.reference.graph import AssetStep, columns, needed, picture, rows

STEPS = [
    AssetStep("a", "first", ()),
    AssetStep("b", "first", ("a",)),
    AssetStep("c", "second", ("a", "b")),
    AssetStep("d", "first", ("a", "c")),
    AssetStep("e", "first", ("a",)),
]


def test_a_line_that_follows_from_others_is_left_out():
    assert needed(STEPS) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"], "e": ["a"]}


def test_a_step_stands_after_the_last_that_it_rests_on():
    assert columns(needed(STEPS)) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 1}


def test_a_row_is_free_up_to_the_last_step_that_needs_it():
    at = {"far": 0, "near": 0, "beside": 1, "later": 2}
    last = {"far": 3, "near": 1, "beside": 2, "later": 2}
    assert rows(list(at), at, last) == {"far": 0, "near": 1, "beside": 1, "later": 1}
    assert rows(["far", "later"], at, last | {"far": 2}) == {"far": 0, "later": 0}


def test_no_line_crosses_a_box():
    drawn = ET.fromstring(picture(STEPS, ["first", "second"], "Steps", "And what they rest on"))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        [float(one.attrib[name]) for name in ("x", "y", "width", "height")]
        for one in drawn.iter(f"{space}rect")
        if one.attrib["class"] == "box"
    ]
    lines = [one.attrib["d"] for one in drawn.iter(f"{space}path")]
    assert (len(boxes), len(lines)) == (len(STEPS), 4)
    for line in lines:
        start, straight = line.split(" C")[0].removeprefix("M").split(" H")
        x, y = map(float, start.split())
        for left, top, width, height in boxes:
            assert not (top < y < top + height and x < left + width and left < float(straight))
    assert [one.text for one in drawn.iter(f"{space}title")] == ["Steps"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [("memories", ["memories"]), ("evaluation_cycles", ["evaluation_", "cycles"]), ("x" * 20, ["x" * 20])],
)
def test_a_long_name_breaks_after_an_underscore(name, lines):
    assert halves(name) == lines
