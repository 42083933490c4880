"""What the README promises of the first hour: a command can be installed, and works from anywhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from packages import TOP, Packages

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
README = (ROOT / "README.md").read_text()
FACT = "We deploy on Thursday since the second of March, and Friday is for repairs only."


def settled(home: Path) -> dict[str, str]:
    """An environment without settings of this machine, as of a person who has just come."""
    ours = ("SLOWWAVE_", "DAGSTER_", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256", "COLUMNS": "100"}


@pytest.fixture(scope="module")
def installed(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`slowwave`, from a wheel of this folder, in an environment of its own that sees our libraries."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False)
    own = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "venv"),
         "install", "--quiet", "--no-deps", "--no-index", str(packages.wheel_of_sdist)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert own.returncode == 0, own.stderr
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (libraries,) = {path for path in map(Path, sys.path) if path.name == "site-packages" and path.exists()}
    (site / "libraries.pth").write_text(f"{libraries}\n")  # after its own
    return folder / "venv" / "bin" / "slowwave"


@pytest.mark.slow
def test_an_installed_command_works_from_elsewhere_with_the_commands_of_every_room(
    installed: Path, tmp_path: Path
) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [installed, *words], cwd=tmp_path, env=settled(tmp_path), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    told = run("--help")
    assert all(f" {name} " in told for name in ("save", "search", "night", "ui", "eval", "mcp"))
    assert "range" in run("night", "--help")
    assert "--port" in run("ui", "--help")
    assert "Evaluate now" in run("eval", "run", "--help")
    run("--home", "home", "save", FACT)
    found = json.loads(run("--home", "home", "search", "when do we deploy?", "--json"))
    assert found["results"][0]["text"] == FACT


@pytest.mark.slow
@pytest.mark.parametrize("how", ["by a link on the PATH", "as a module"])
def test_it_is_called_as_tools_install_it(installed: Path, tmp_path: Path, how: str) -> None:
    """`pipx` and `uv tool` put a link to the command into a folder of the PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "slowwave").symlink_to(installed)
    words = (
        ["slowwave"]
        if how == "by a link on the PATH"
        else [str(installed.with_name("python")), "-m", "slowwave"]
    )
    environment = settled(tmp_path) | {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    for folder in (tmp_path, tmp_path / "bin", Path("/")):
        done = subprocess.run(
            [*words, "--version"], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (0, VERSION), done.stderr
    helped = subprocess.run(
        [*words, "save", "--help"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "--title" in helped.stdout, helped.stderr


@pytest.mark.slow
def test_an_installation_claims_one_name_and_an_application_keeps_the_others(
    installed: Path, tmp_path: Path
) -> None:
    """Run from a folder that has packages of its own under the names of the repository's folders."""
    for name in TOP:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWN = True\n")
    code = (
        f"import slowwave, slowwave.orchestration.definitions as night, {', '.join(TOP)}\n"
        f"assert all(one.OWN for one in ({', '.join(TOP)})), 'not the application\\'s own'\n"
        f"memory = slowwave.open('home', namespace='default')\n"
        f"memory.save({FACT!r})\n"
        f"print(memory.search('when do we deploy?').results[0].text)\n"
        f"print(slowwave.__file__, night.__file__, slowwave.scoring.__file__)"
    )
    done = subprocess.run(
        [installed.with_name("python"), "-c", code], cwd=tmp_path, env=settled(tmp_path),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, files = done.stdout.strip().splitlines()
    assert found == FACT
    assert all(Path(one).is_relative_to(installed.parents[1]) for one in files.split())  # not this folder's
    (site,) = (installed.parents[1] / "lib").glob("python*/site-packages")
    assert {path.name for path in site.iterdir()} & {*TOP, "slowwave"} == {"slowwave"}


def test_readme_tutorials_and_mcp_page_are_about_one_home_and_one_namespace() -> None:
    own = r"(?!notes\b|export\b)"  # a person's own files, which are not a home
    pages = ("tutorials/first-15-minutes.md", "tutorials/first-night.md", "how-to/mcp-server.md")
    for page in (README, *((ROOT / "docs" / name).read_text() for name in pages)):
        assert set(re.findall(r"(?:--namespace\W+|namespace=\")(\w+)", page)) <= {"default"}
        assert set(re.findall(rf"(?:~|/home/\w+)/{own}([\w.]+)", page)) <= {"assistant", ".local"}


def test_no_page_promises_a_release() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        assert "install 'slowwave" not in page.read_text(), page.name
        assert "install slowwave" not in page.read_text(), page.name


def test_the_last_hint_of_the_demo_has_an_answer_in_its_vault() -> None:
    (hint,) = re.findall(r'^HINT = "(.*)"$', (ROOT / "examples" / "demo.py").read_text(), re.MULTILINE)
    questions = map(json.loads, (ROOT / "examples" / "questions.jsonl").read_text().splitlines())
    (expected,) = [one["expected"] for one in questions if one["text"] == hint]
    assert (ROOT / "examples" / "vault" / expected).exists()


def test_the_demos_assistant_saves_what_a_person_can_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The chats of the demo are of no file, and the newer berth outdates the older one."""
    import slowwave

    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    import demo
    from rich.console import Console

    demo.chat(Console())
    shown = capsys.readouterr().out
    assert all(title in shown for _, title, *_ in demo.CHATS)
    with slowwave.open(namespace="default", principal="ida") as memory:
        rows = memory.store.read("memories", columns=["title", "principal", "origin", "status"])
        assert sorted(rows["title"]) == sorted(title for _, title, *_ in demo.CHATS)
        assert set(rows.drop("title").rows()) == {("claude", "", "live")}
        newer, older = memory.search("Where is the berth of our boat?").results[:2]
        assert (newer.title, older.title) == ("New berth", "Berth of the boat")
        assert older.outdated_by == newer.memory_id
        assert older.valid_until is not None
        assert f"{older.valid_until:%F}" == "2026-09-21"
        assert not newer.outdated_by
