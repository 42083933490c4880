"""The rooms of the package, from the import contract, and the first page of the reference."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tools.reference.drawing import COLOURS, GraphDrawing
from tools.reference.markdown import table

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ("commands.md", "every command, its arguments and options"),
    ("settings.md", "every setting: type, range, default"),
    ("tools.md", "what the MCP server offers to an assistant"),
    ("tables.md", "every LanceDB table and its columns"),
    ("night.md", "assets, jobs, schedules, sensors and checks of Dagster, with a picture"),
    ("day.md", "what an application calls, and where each call goes, with a picture"),
)
WIDTH, HIGH, LEFT = 860, 30, 16


def page() -> str:
    """The first page of the reference, with the picture of the rooms."""
    return "\n\n".join(
        [
            "# Reference",
            "Made from the code, and held against it by a test.",
            table(["page", "what it has"], [(f"[{name}]({name})", said) for name, said in PAGES]),
            "## The rooms",
            "A room imports from those below it and from none above. The picture is drawn from the import "
            "contract in `pyproject.toml`; rooms of one colour that stand together are beside each other.",
            "[![The rooms of the package, the highest at the top](rooms.svg)](rooms.svg)",
        ]
    )


def layers() -> list[list[str]]:
    """The rooms of the import contract, the highest layer first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (rooms,) = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    return [re.split(r" [|:] ", layer) for layer in rooms["layers"]]


def said() -> dict[str, str]:
    """What lives in each room, from the table in CONTRIBUTING.md."""
    part = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## The rooms")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `[^`]+` \| (.+) \|$", part, re.MULTILINE)
    return {room: words.replace("`", "") for room, words in rows}


def picture() -> str:
    """The rooms, the highest at the top, with what lives in each."""
    words = said()
    order = [(number, room) for number, layer in enumerate(layers()) for room in layer]
    drawing = GraphDrawing(
        WIDTH,
        len(order) * HIGH + 2 * LEFT,
        "The rooms of Slowwave",
        "The highest at the top; each imports from those below it only.",
    )
    for at, (number, room) in enumerate(order):
        y = LEFT + at * HIGH
        colour = COLOURS[number % len(COLOURS)]
        drawing.rect(LEFT, y, 130, HIGH - 6, kind="box", colour=colour)
        drawing.text(LEFT + 65, y + 16, room, "middle head")
        drawing.text(LEFT + 146, y + 16, words.get(room, ""), "dim")
    return drawing.done()
