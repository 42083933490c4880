"""What CONTRIBUTING.md shows works: its examples are put into a copy of the project and used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCK = re.compile(r"```(python|diff) file=(\S+)\n(.*?)```", re.DOTALL)
OWN_TESTS = ("tests/scoring", "tests/quality", "tests/slowwave")
USE = """
import slowwave
from slowwave.cli import main
from slowwave.scoring.ranking import RankingPolicy
import sys
from pathlib import Path

with slowwave.open("home", namespace="default", embedding={"model": "wordllama-256"}) as memory:
    saved = memory.save("We deploy on Thursday since the second of March, and Friday is for repairs only.")
    found = memory.search("when do we deploy?", explain=True)
    assert found[0].memory_id == saved.memory_id
sys.argv = ["slowwave", "--home", "home", "night"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
with slowwave.open("home", namespace="default", embedding={"model": "wordllama-256"}) as memory:
    from slowwave.adapters.tools import memory_tools
    from slowwave.api.searching import router

    (tool,) = memory_tools(memory, only=["memory_popularity"])
    told = tool.call({"memory_id": saved.memory_id})
    assert told.startswith("Searches that showed it, by day:") and told.endswith(": 1"), told
    assert "/v1/popularity" in {one.path for one in router.routes}
old, new = RankingPolicy(), RankingPolicy(coverage_weight=0.1)
assert old.version != new.version
print("version", old.version)
Path("texts.json").write_text(
    '[{"text": "The ferry to the island leaves at nine since the first of May.", "date": "2026-05-01"}]'
)
sys.argv = ["slowwave", "--home", "home", "import", "texts", "texts.json"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
with slowwave.open("home", namespace="default", feedback={"popular_from": 0.5}) as memory:
    assert memory.settings.feedback.popular_from == 0.5
    assert set(memory.store.read("popularity")["asked"]) == {1}
sys.argv = ["slowwave", "--home", "home", "popular", "--json"]
main()
"""
BEFORE = """
import slowwave

with slowwave.open("home", namespace="default", embedding={"model": "wordllama-256"}) as memory:
    memory.save("The northern gauge has had its battery replaced every eleven weeks since last winter.")
"""


def applied(old: str, change: str, where: str) -> str:
    """A text with a block's change; what the block expects to find has to be there, once."""
    lines = change.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert old.count(before) == 1, f"{where} has this {old.count(before)} times:\n{before}"
    return old.replace(before, after)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with all examples of the page in it."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("scoring", "quality", "assets", "orchestration", "slowwave"):
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=skip)
    for name in ("tests/scoring/ranking", "tests/fixtures"):
        shutil.copytree(ROOT / name, folder / name)
    for name in (
        "tests/conftest.py",
        "tests/compiled_once.py",
        "tests/prepared.py",
        "tests/ranking_helpers.py",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, folder / name)
    for kind, name, text in BLOCK.findall(PAGE):
        file = folder / name
        if kind == "python":
            file.parent.mkdir(parents=True, exist_ok=True)
            assert not file.exists(), name
            file.write_text(text)
        else:
            before = file if file.exists() else ROOT / name  # a test that only this page has a use for
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(applied(before.read_text(), text, name))
    return folder


def run(project: Path, *words: str, code: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, with its code or that of another folder."""
    path = str(code or project)
    environment = {**os.environ, "PYTHONPATH": path, "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256"}
    return subprocess.run(
        [sys.executable, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def test_the_page_shows_one_of_each():
    headings = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
    assert headings == [
        "A rule", "A table", "A column", "An asset", "A command", "A threshold", "An import source", "A tool",
        "A model", "A duplicate rule", "A channel",
    ]  # fmt: skip
    assert len(BLOCK.findall(PAGE)) == PAGE.count(" file=")


@pytest.mark.parametrize(
    "section", re.split("^### ", PAGE, flags=re.MULTILINE)[1:], ids=lambda text: text[:9]
)
def test_a_change_touches_four_files_of_the_product_at_most(section):
    files = {name for _, name, _ in BLOCK.findall(section) if not name.startswith("tests/")}
    assert 1 <= len(files) <= 4, files


def test_the_examples_fit_the_code_as_it_is(project):
    for name in {name for _, name, _ in BLOCK.findall(PAGE) if name.endswith(".py")}:
        compile((project / name).read_text(), name, "exec")


@pytest.mark.slow
@pytest.mark.soak
def test_the_tests_of_the_examples_and_of_rankings_pass(project):
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OWN_TESTS)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]


@pytest.mark.slow
@pytest.mark.soak
def test_the_table_the_asset_and_the_command_and_the_import_work_in_a_home_of_before(project):
    before = run(project, "-c", BEFORE, code=ROOT)
    assert before.returncode == 0, before.stderr[-3_000:]
    done = run(project, "-c", USE)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-3_000:]
    told = done.stdout[done.stdout.index('{\n  "popular"') :]
    assert '"share": 1.0' in told
    assert "Import of texts into default" in done.stdout
    version = subprocess.run(
        [sys.executable, "-c", "from slowwave.scoring.ranking import RankingPolicy as P; print(P().version)"],
        cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout.strip()  # fmt: skip
    assert f"version {version}\n" in done.stdout  # a term of weight 0 is no new ranking
