"""First page of the reference, with the packages of the import contract."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tools.reference.drawing import COLOURS, GraphDrawing
from tools.reference.markdown import table

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ("commands.md", "every command with its arguments and options"),
    ("settings.md", "every setting: type, range, default"),
    ("tools.md", "MCP tools and resources for assistants"),
    ("http-api.md", "endpoints, rights and errors of the HTTP API"),
    ("tables.md", "every LanceDB table and its columns"),
    ("notes.md", "notes and their front matter"),
    ("damaged-notes.md", "labels, characters and dates that people's files have"),
    ("rules.md", "the numbered rules that code and pages cite"),
    ("glossary.md", "one word per concept"),
    ("night.md", "assets, jobs, schedules, sensors and checks of the nightly job, with a picture"),
    ("day.md", "calls of the Python API and the packages that each uses, with a picture"),
)
WIDTH, HIGH, LEFT = 860, 30, 16


def page() -> str:
    """Return the first page of the reference, with the picture of the packages."""
    return "\n\n".join(
        [
            "# Reference",
            "The pages about commands, settings, tools, tables, the nightly job and the API are generated "
            "from the code, and a test compares them with it.",
            table(["page", "content"], [(f"[{name}]({name})", content) for name, content in PAGES]),
            "## Packages",
            "A package imports only packages below it. The picture is drawn from the import contract in "
            "`pyproject.toml`; adjacent packages of one colour share a layer.",
            "[![Packages of Slowwave, the top layer first](rooms.svg)](rooms.svg)",
        ]
    )


def layers() -> list[list[str]]:
    """Return the packages of the import contract, highest layer first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    return [re.split(r" [|:] ", layer) for layer in contract["layers"]]


def package_contents() -> dict[str, str]:
    """Return the content of each package, from the table in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `[^`]+` \| (.+) \|$", text, re.MULTILINE)
    packages = {package for layer in layers() for package in layer}
    return {package: words.replace("`", "") for package, words in rows if package in packages}


def picture() -> str:
    """Draw the packages, highest at the top, with their content."""
    words = package_contents()
    order = [(number, room) for number, layer in enumerate(layers()) for room in layer]
    drawing = GraphDrawing(
        WIDTH,
        len(order) * HIGH + 2 * LEFT,
        "Packages of Slowwave",
        "The top layer first; each package imports only packages below it.",
    )
    for at, (number, room) in enumerate(order):
        y = LEFT + at * HIGH
        colour = COLOURS[number % len(COLOURS)]
        drawing.rect(LEFT, y, 130, HIGH - 6, kind="box", colour=colour)
        drawing.text(LEFT + 65, y + 16, room, "middle head")
        drawing.text(LEFT + 146, y + 16, words.get(room, ""), "dim")
    return drawing.done()
