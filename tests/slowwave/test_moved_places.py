"""By which names a home knows the places that it has left, and that one it came back to is none of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from slowwave.errors import StoreError
from slowwave.home.relocation import places, require_current
from slowwave.home.workspace import Workspace
from slowwave.journal import maintenance_ops
from slowwave.maintenance.moving import cutover, running
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.settings import Settings, load

URI = "SLOWWAVE_STORE__URI"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def switch(home: Path, to: str) -> None:
    """As a move ends, whose copying is of no matter here."""
    cutover.switch(load(home), MoveTargets(load(home), [to]))
    (home / "lance").mkdir(exist_ok=True)


def behind(settings: Settings) -> str:
    """What a process with these settings is told."""
    with pytest.raises(StoreError, match="was moved meanwhile") as told:
        require_current(settings)
    return str(told.value)


def put_into_a_variable(home: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "slowwave.toml"
    file.write_text("".join(line for line in file.read_text().splitlines(True) if "uri" not in line))
    monkeypatch.setenv(URI, uri)


def test_a_home_that_came_back_is_open_to_who_keeps_its_place_in_a_variable(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, third = str(tmp_path / "new"), str(tmp_path / "third")
    for to in (new, third, new):
        switch(home, to)
    put_into_a_variable(home, new, monkeypatch)
    require_current(load(home))
    monkeypatch.setenv(URI, third)
    behind(load(home))


def test_who_has_a_place_that_was_left_is_sent_to_no_other_one_that_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for to in ("new", "third"):
        switch(home, str(tmp_path / to))
    put_into_a_variable(home, str(tmp_path / "new"), monkeypatch)
    told = behind(load(home))
    assert f"no longer at {tmp_path / 'new'}" in told
    assert str(home / "lance") not in told


def killed_before_the_switch(home: Path, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, space = load(home), Workspace(load(home))
    targets = MoveTargets(settings, [to])
    facts = {"from": places(settings, targets.parts), "to": targets.places()}
    maintenance_ops.begin_op(space.journal, running.WHAT, targets.command, space.now(), facts)

    class KilledError(Exception):
        """As the end of a process."""

    def killed(path: Path, *given: Any) -> None:
        if path.suffix == ".toml":
            raise KilledError
        replace(path, *given)

    replace = cutover.replace_file
    with monkeypatch.context() as patch:
        patch.setattr(cutover, "replace_file", killed)
        with pytest.raises(KilledError):
            cutover.switch(settings, targets)
    space.close()


def test_the_place_of_a_move_that_was_given_up_was_not_left(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    switch(home, first)
    killed_before_the_switch(home, second, monkeypatch)
    assert load(home).store.uri == first
    require_current(load(home))
    running.give_up(Workspace(load(home)))
    put_into_a_variable(home, first, monkeypatch)
    require_current(load(home))
    assert cutover.old_places(load(home)) == {}
    told = json.loads((home / cutover.LEFT).read_bytes())
    assert told == {"home": str(home), "left": {"tables": [str(home / "lance")], "journal": []}}


def test_a_place_is_known_however_it_is_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(home)
    switch(home, str(tmp_path / "new"))
    for place in (tmp_path / "link" / "lance", home / "lance/", home / "x" / ".." / "lance"):
        monkeypatch.setenv(URI, str(place))
        behind(load(home))
    monkeypatch.delenv(URI)
    shutil.rmtree(home / "lance")
    monkeypatch.setenv(URI, str(tmp_path / "link" / "lance"))
    behind(load(home))
    (home / cutover.LEFT).write_text(
        json.dumps({"home": str(home), "tables": {"uri": "s3://b/p/", "options": {}}})
    )
    for place in ("s3://b/p", "s3://b/p/"):
        monkeypatch.setenv(URI, place)
        behind(load(home))


def test_another_spelling_of_where_the_home_is_is_no_other_place(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    switch(home, str(tmp_path / "new"))
    for one in (tmp_path / "link" / "new", tmp_path / "new"):
        assert MoveTargets(load(home), [str(one)]).elsewhere().parts == ()
    settings = load(home, store={"uri": str(tmp_path / "link" / "home" / "lance")})
    assert cutover.old_places(settings) == {}  # or the place where the home is would be removed


def test_the_journal_knows_a_place_however_it_is_written(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    space = Workspace(load(home))
    for was, tables in (("s3://b/p/", "s3://b/p"), (str(tmp_path / "link/lance"), str(home / "lance"))):
        facts = {"from": {"tables": was}, "to": {"tables": "s3://b/new"}}
        maintenance_ops.begin_op(space.journal, was, was, space.now(), facts)
        with pytest.raises(StoreError, match="are at s3://b/new now"):
            maintenance_ops.require_not_moved(space.journal, tables)
    space.close()


def test_who_is_told_by_a_variable_or_a_program_hears_what_to_change(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = str(home / "lance")
    before = load(home)
    switch(home, str(tmp_path / "new"))
    for settings in (before, load(home, store={"uri": old})):
        assert "the program that sets store.uri" in behind(settings)
    monkeypatch.setenv("SLOWWAVE_STORE", json.dumps({"storage_options": {"region": "x"}}))
    assert "SLOWWAVE_STORE" not in behind(before)
    monkeypatch.setenv("SLOWWAVE_STORE", json.dumps({"uri": old}))
    assert "without the variable SLOWWAVE_STORE, which has the old place" in behind(load(home))
