"""The figures of `docs/explanation/compare.md` are those of the pages of benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPARE = (ROOT / "docs" / "explanation" / "compare.md").read_text()
BENCHMARKS = ROOT / "docs" / "benchmarks"
PEERS = (BENCHMARKS / "peers.md").read_text()
LINKED = sorted(set(re.findall(r"\.\./benchmarks/([\w-]+\.md)", COMPARE)))
MEASURED = "\n".join((BENCHMARKS / page).read_text() for page in LINKED)
NUMBER = re.compile(r"(?<![\w.@])[-+]?\d*\.?\d+(?:,\d{3})*(?:\.\d+)?")
OF_OTHERS = {"23", "24", "25", "2026"}  # dates


def numbers(text: str) -> list[str]:
    """Every number of a page, as it is written."""
    return NUMBER.findall(re.sub(r"\]\([^)]*\)|`[^`]*`", "", text))


def test_every_number_is_in_the_benchmarks():
    measured = set(numbers(MEASURED))
    found = numbers(COMPARE)
    assert len(found) > 80
    assert {one for one in found if one not in measured} <= OF_OTHERS


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each row of its tables that has numbers, by its first two cells."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {f"{cells[0]} {cells[1]}": cells for cells in lines if len(cells) > 2}


def test_the_tables_have_the_figures_of_each_peer():
    """A row of peers side by side has the figures that the page of peers has in a row for each."""
    part = PEERS.split("## Search and save")[1].split("\n## ")[0]
    peers = ("Slowwave", "LanceDB", "Chroma", "txtai", "bm25s")
    figures = {"one save": -3, "texts a second": -1, "one search": 2}
    for what, place in figures.items():
        table = COMPARE.split(f"| chunks | {what}")[1].split("\n\n")[0]
        for size in ("5,000", "50,000"):
            measured = {name: cells for name, cells in rows(part).items() if name.startswith(f"{size} ")}
            mine = [
                next(
                    cells[place]
                    for name, cells in measured.items()
                    if name.startswith(f"{size} {peer}") and len(cells) == 8
                )
                for peer in peers
            ]
            assert f"| {' | '.join([size, *mine])} |" in table
