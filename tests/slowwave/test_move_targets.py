"""Where a home is told to go, in words and in a file with secrets, and what it knows of its last place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from slowwave.errors import SettingsError, StoreError
from slowwave.home.workspace import Workspace
from slowwave.maintenance.moving import cutover, running
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.memory import Memory
from slowwave.settings import load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_command_that_goes_on_with_a_move_has_no_password(home: Path) -> None:
    def command(*to: str, only: Any = None) -> str:
        return MoveTargets(load(home), to, only).command

    assert command("files") == "slowwave move --to files"
    assert command("new place", only="tables") == f"slowwave move --to '{Path.cwd()}/new place' --only tables"
    assert command("s3://bucket/ada", "postgresql://ada:hush@db/ada") == (
        "slowwave move --to s3://bucket/ada --to 'postgresql://ada:***@db/ada'"
    )


def test_a_target_file_with_secrets_has_to_be_private(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "a target.toml"
    open_ones = ['[store]\nuri = "s3://bucket/ada"', '[journal]\nurl = "postgresql://db/ada"']
    secret = ['[journal]\nurl = "postgresql://ada:hush@db/ada"']
    secret += [open_ones[0] + '\n[store.storage_options]\naws_secret_access_key = "hush"']
    for text in (*open_ones, *secret):
        file.write_text(text)
        file.chmod(0o640)
        if text in secret:
            with pytest.raises(
                SettingsError, match=rf"Other users .* may read .*Run: chmod 600 '{file}'"
            ) as told:
                MoveTargets(load(home), [str(file)])
            assert "hush" not in str(told.value)
            file.chmod(0o600)
        assert "hush" not in MoveTargets(load(home), [str(file)]).command


def test_a_target_file_that_the_settings_would_not_take_is_refused(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "target.toml"
    file.write_text('[store]\nuri = "s3://bucket/ada"\n[store.storage_options]\nallow_http = true\n')
    with pytest.raises(SettingsError, match=r"store\.storage_options\.allow_http is not a text.* quotation"):
        MoveTargets(load(home), [str(file)])


def test_what_a_home_knows_of_its_last_place_has_to_be_readable(home: Path) -> None:
    for text in ("{}", "no JSON", '{"home": "", "tables": 1}'):
        (home / cutover.LEFT).write_text(text)
        with pytest.raises(
            StoreError, match=r"Cannot read .*moved-from.json, which has the previous places .*: rm "
        ):
            cutover.refuse_second(load(home), ["tables"])
        (told,) = cutover.still_there(load(home))
        assert "Cannot read" in told


def test_what_a_move_that_was_killed_before_its_switch_knows_is_no_old_place(home: Path) -> None:
    settings = load(home)
    cutover._remember(settings, MoveTargets(settings, [str(home.parent / "new")]))
    cutover.refuse_second(settings, ["tables"])
    assert cutover.still_there(settings) == []
    with pytest.raises(StoreError, match="there is nothing to remove"):
        cutover.remove(settings)
    assert (home / cutover.LEFT).exists()


def test_what_a_copy_leaves_is_its_own_alone(home: Path, tmp_path: Path) -> None:
    cutover.switch(load(home), MoveTargets(load(home), [str(tmp_path / "new"), "postgresql://db/ada"]))
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    cutover.switch(load(copy), MoveTargets(load(copy), [str(tmp_path / "other")]))
    assert json.loads((home / cutover.LEFT).read_bytes()).keys() == {"home", "tables", "journal", "left"}
    assert json.loads((copy / cutover.LEFT).read_bytes()).keys() == {"home", "tables", "left"}
    assert cutover.old_places(load(copy)) == {"tables": str(tmp_path / "new")}


def test_a_place_that_was_left_takes_the_home_back_whatever_nights_made_there(
    home: Path, tmp_path: Path
) -> None:
    def move(to: str) -> None:
        space = Workspace(load(home))
        running.move(space, MoveTargets(space.settings, [to], "tables"))
        space.close()

    with Memory(load(home, embedding={"model": "wordllama-256"}), namespace="ada") as memory:
        memory.save("The kiln in the yard of the boat shed is fired every second Friday.", key="kiln")
    made_again = home / "lance" / "_search" / "snapshot"  # as a night leaves one for all processes
    made_again.parent.mkdir()
    made_again.touch()
    move(str(tmp_path / "elsewhere"))
    cutover.remove(load(home))
    assert not (home / "lance").exists()
    made_again.parent.mkdir(parents=True)
    made_again.touch()  # of a version that left it there
    move("files")
    with Memory(load(home), namespace="ada") as memory:
        assert memory.search("when is the kiln fired?").results[0].source == "kiln"


def test_a_home_that_was_renamed_says_what_is_left_and_removes_nothing(home: Path, tmp_path: Path) -> None:
    told = {"home": str(home), "tables": {"uri": "s3://bucket/before", "options": {}}}
    (home / cutover.LEFT).write_text(json.dumps(told))
    renamed = home.rename(tmp_path / "renamed")
    (said,) = cutover.still_there(load(renamed))
    assert said.startswith(f"s3://bucket/before, the previous place of the home {home}")
    with pytest.raises(StoreError, match="belongs to another home"):  # it may be a copy from another machine
        cutover.remove(load(renamed))
