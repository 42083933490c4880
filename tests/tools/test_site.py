"""The site is built as people read it: no dead link, no dead anchor, nothing from another server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("properdocs", reason="the development packages are not installed: make test")

from tools.site import slug

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
TAKEN = ("docs", "tools", "examples/README.md", "examples/history.ipynb", "properdocs.yml")
TAKEN += ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")


def build(project: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a project. (Not with --quiet: then nothing counts warnings.)"""
    return subprocess.run(
        [sys.executable, "-m", "properdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this project."""
    place = tmp_path_factory.mktemp("site")
    done = build(ROOT, place)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_the_site_has_the_pages_that_people_look_for(site):
    first = (site / "index.html").read_text()
    for group in ("Tutorials", "How-to guides", "Reference", "Explanation", "Benchmarks"):
        assert group in first
    for page in (
        "reference/commands.html",
        "decisions/index.html",
        "explanation/compare.html",
        "contributing.html",
    ):
        assert (site / page).is_file()
    assert 'href="explanation/save-gate.html"' in first  # docs/explanation/save-gate.md in the repository


def test_no_mark_of_markdown_is_left_on_a_page(site):
    """GitHub and the site read Markdown alike: tables, lists and code with the name of its file."""
    code = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)
    raw = re.compile(r"```|<p>\||\n- \w|\]\([\w.#]")
    found = {
        f"{file.relative_to(site)}: {hit}"
        for file in site.rglob("*.html")
        for hit in raw.findall(code.sub("", file.read_text()))
    }
    assert found == set()
    assert "<code>scoring/feedback/popularity.py</code>" in (site / "contributing.html").read_text()


def test_every_decision_is_a_page_of_the_site(site):
    listed = re.findall(r'href="(0\d+-[^"#]+\.html)"', (site / "decisions" / "index.html").read_text())
    assert set(listed) == {f"{file.stem}.html" for file in (ROOT / "docs" / "decisions").glob("0*.md")}


def test_no_page_loads_anything_from_elsewhere(site):
    loads = re.compile(
        r"""<(?:script|img|link|source|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//[^\s"'>]+"""
        r"""|url\(["']?(?:https?:)?//[^)]+|@import[^;]*//[^;]+"""
    )
    found = {
        f"{file.relative_to(site)}: {hit}"
        for kind in ("*.html", "*.css", "*.svg")
        for file in site.rglob(kind)
        for hit in loads.findall(file.read_text())
    }
    assert found == set()


BROKEN = [
    ("README.md", "[x](docs/nowhere-1.md)", "nowhere-1.md"),
    ("README.md", "[x](docs/explanation/save-gate.md#nowhere-2)", "#nowhere-2"),
    ("docs/tutorials/first-night.md", "[x](../../README.md#nowhere-3)", "#nowhere-3"),
    ("docs/tutorials/first-night.md", "[x](#nowhere-4)", "#nowhere-4"),
    ("docs/tutorials/first-night.md", "[x](../../nowhere-5.md)", "nowhere-5.md"),
    (
        "docs/decisions/0001-the-journal-is-the-source-of-truth.md",
        "[x](../explanation/save-gate.md#nowhere-6)",
        "#nowhere-6",
    ),
    ("docs/nowhere-7.md", "# A page that the navigation does not name", "nowhere-7.md"),
]


def test_every_link_that_leads_nowhere_is_told_and_ends_the_build(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    for name in TAKEN:
        (project / name).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, project / name)
    for page, link, _ in BROKEN:
        with (project / page).open("a") as file:
            file.write(f"\n{link}\n")
    done = build(project, tmp_path / "site")
    assert done.returncode != 0
    told = done.stdout + done.stderr
    assert [said for _, _, said in BROKEN if said not in told] == []
    assert told.count("WARNING") == len(BROKEN)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Search keys: what questions led to", "search-keys-what-questions-led-to"),
        ("A – B", "a--b"),
        ("`slowwave eval run`", "slowwave-eval-run"),
        ("learned_triggers", "learned_triggers"),
    ],
)
def test_an_anchor_is_what_it_is_in_the_repository(heading, anchor):
    assert slug(heading) == anchor
