"""The commands about backups, as a person and a program call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from slowwave.cli import app
from slowwave.memory import Memory


@pytest.fixture
def made(memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a note; commands are about it."""
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    memory.save("The harbour light is lit at six in the evening, and put out at seven.", key="light")
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "100")
    return home


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def data(*words: object) -> object:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_backup_is_made_listed_read_and_restored(made: Path, tmp_path: Path) -> None:
    place, new = tmp_path / "backups", tmp_path / "new"
    assert "No backup place is set" in run("backups").stdout
    told = data("backup", place)
    assert told["backups"] == 1
    assert told["sent"] > 0
    assert not told["encrypted"]
    assert "1 backup in all" in run("backup", place, "--keep", 1).stdout
    (listed,) = data("backups", place)
    assert listed["acts"] == told["acts"]
    assert data("verify", place)["sound"]
    assert "no damage" in run("verify", place).stdout
    restored = data("--home", new, "restore", place)
    assert restored["home"] == str(new)
    assert restored["changed"] == []
    found = data("--home", new, "search", "when is the light lit", "-n", "ada")
    assert found["results"][0]["source"] == "light"
    again = run("--home", new, "restore", place)
    assert again.exit_code == 1
    assert "is not empty" in again.stderr


def test_verify_ends_with_1_names_what_is_wrong_and_takes_it_away(made: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    run("backup", place)
    piece = sorted((place / "pieces").rglob("*"))[-1]
    piece.write_bytes(piece.read_bytes() + b"x")
    done = run("verify", place)
    assert done.exit_code == 1
    assert "is damaged" in done.stdout
    assert "these can be restored: none" in done.stdout
    told = json.loads(run("verify", place, "--json").stdout)
    assert told["faults"][0]["where"] == str(piece.relative_to(place))
    assert "1 damaged file deleted" in run("verify", place, "--mend").stdout
    run("backup", place)
    assert run("verify", place).exit_code == 0


def test_a_folder_that_is_no_home_is_not_backed_up(made: Path, tmp_path: Path) -> None:
    other, place = tmp_path / "old", tmp_path / "backups"
    other.mkdir()
    (other / "letter.txt").write_text("Dear Ada")
    done = run("--home", other, "backup", place)
    assert done.exit_code == 1
    assert f"There is no home at {other}" in " ".join(done.stderr.split())
    assert "slowwave --home FOLDER" in " ".join(done.stderr.split())
    assert [one.name for one in other.iterdir()] == ["letter.txt"]
    assert not place.exists()
    assert "There is no home at" in run("--home", tmp_path / "none", "backup", place).stderr


def test_a_home_without_acts_is_backed_up(made: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    assert run("--home", empty, "init").exit_code == 0
    assert data("--home", empty, "backup", tmp_path / "backups")["backups"] == 1


@pytest.mark.parametrize("command", ["verify", "restore"])
def test_what_is_no_moment_is_told_which_form_is_wanted(made: Path, tmp_path: Path, command: str) -> None:
    place = tmp_path / "backups"
    run("backup", place)
    done = run("--home", tmp_path / "new", command, place, "--at", "yesterday")
    assert done.exit_code == 1
    told = " ".join(done.stderr.split())
    assert "'yesterday'" in told
    assert "a day (YYYY-MM-DD) or a time (YYYY-MM-DDTHH:MM)" in told


def test_keys_and_places_that_cannot_be(made: Path, tmp_path: Path) -> None:
    key, place = tmp_path / "key", tmp_path / "backups"
    assert "for its owner alone" in run("backup", "--new-key", key).stdout
    assert data("backup", place, "--key-file", key)["encrypted"]
    for words, told in (
        (("backup",), "No place of backups is given"),
        (("verify",), "No place of backups is given"),
        (("backup", "--new-key", key), "exists already"),
        (("backup", place), "Give it with --key-file"),
        (("verify", tmp_path / "none"), "There are no backups"),
        (("restore", place, "--key-file", tmp_path / "none"), "Cannot read the key file"),
        (("backup", place, "--key-file", key, "--keep", "-1"), "keep is -1"),
    ):
        done = run(*words)
        assert done.exit_code == 1, words
        assert told in done.stderr, words
