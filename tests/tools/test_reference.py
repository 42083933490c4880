"""The reference says what the code says, whatever else has been imported in this process."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
COMMAND = [sys.executable, "-m", "tools.reference"]


@pytest.mark.slow
def test_the_reference_is_what_the_code_says():
    """Make it anew with `python -m tools.reference`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SLOWWAVE_NIGHT__HOUR": "5", "COLUMNS": "40"}
    done = subprocess.run(
        [*COMMAND, "--check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}\nMake it anew: python -m tools.reference"


def test_a_page_that_is_stale_is_told_with_the_command_that_makes_it_anew(tmp_path, monkeypatch, capsys):
    from tools.reference import __main__ as running

    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("old\n")
    monkeypatch.setattr(running, "ROOT", tmp_path)
    monkeypatch.setattr("tools.reference.made", lambda: {"docs/page.md": "new\n"})
    assert running.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "-old\n+new" in told
    assert "1 of 1 files differ" in told
    assert "python -m tools.reference\n" in told
    assert running.main([]) == 0
    assert page.read_text() == "new\n"
    assert running.main(["--check"]) == 0


def test_every_command_and_option_of_a_group_has_its_place():
    text = (REFERENCE / "commands.md").read_text()
    for title in ("## slowwave night", "## slowwave ui", "### slowwave eval run", "### slowwave import ubi"):
        assert f"\n{title}\n" in text
    assert "| `--limit`, `-k` | whole number, 0 or more | `5` |" in text
    assert "\x1b" not in text


def test_a_setting_has_its_range_and_its_default():
    text = (REFERENCE / "settings.md").read_text()
    assert "| `night.hour` | whole number, from 0 to 23 | `2` |" in text
    assert "| `gate.mode` | `off`, `warn`, `enforce` | `warn` |" in text
    assert "| `gate.min_characters` | whole number, or unset, from 0 | unset |" in text


@pytest.mark.parametrize("name", ["night", "day", "rooms"])
def test_a_picture_can_be_read_on_a_light_and_a_dark_page_without_anything_from_elsewhere(name):
    text = (REFERENCE / f"{name}.svg").read_text()
    drawn = ET.fromstring(text)
    assert "prefers-color-scheme: dark" in text
    assert {one.tag.rpartition("}")[2] for one in drawn} >= {"title", "desc", "style", "rect", "text"}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(drawn.findall("{*}text")) > 20
