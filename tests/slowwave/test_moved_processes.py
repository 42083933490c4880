"""Who began before a home was moved and goes on after it, and a dry run, which writes nothing anywhere."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import servers
import sqlalchemy as sa
from backup_helpers import FAST_MODEL
from moving_helpers import move

from slowwave.errors import JournalError, SettingsError, StoreError
from slowwave.home.relocation import MoveWatch, require_current
from slowwave.home.workspace import Workspace
from slowwave.journal import maintenance_ops
from slowwave.maintenance import upgrading
from slowwave.maintenance.moving import cutover, running
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.maintenance.rebuild import rebuild
from slowwave.memory import Memory
from slowwave.serving.health import MOVED, OK, Health
from slowwave.settings import load
from slowwave.store.tables import SCHEMA_VERSION

pytestmark = pytest.mark.slow

LATE = "The tide table of the boat shed hangs behind the door of the harbour office."


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with servers.postgres() as url:
        yield url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> str:
    """The URL, with a password, of a new and empty database."""
    name = "db_" + re.sub(r"\W", "_", request.node.name)[-50:].lower()
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    url = sa.make_url(server).set(database=name, password="hush")
    return url.render_as_string(hide_password=False)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("lived") / "home"
    home.mkdir(mode=0o700)
    home.joinpath("slowwave.toml").write_text(f'namespace = "ada"\n[embedding]\nmodel = "{FAST_MODEL}"\n')
    with Memory(load(home), namespace="ada") as memory:
        memory.save("The kiln in the yard of the boat shed is fired every second Friday.", key="kiln")
    return home


@pytest.fixture
def home(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived, tmp_path / "home"))


def refused(at: str) -> Any:
    """What the one who comes too late is told: where the home is, and what to do."""
    words = (
        rf"was moved meanwhile: its tables and journal are at {re.escape(at)} now. Start this process again"
    )
    return pytest.raises(StoreError, match=words)


def kept(folder: Path) -> dict[str, bytes]:
    """All files, without those that SQLite keeps beside one that is read."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() for path in files if not path.name.endswith(("-wal", "-shm"))}


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("journal_open", [False, True])
def test_who_opens_the_tables_only_after_they_were_moved_is_told(
    home: Path, tmp_path: Path, journal_open: bool, removed: bool
) -> None:
    new = tmp_path / "new"
    with Memory(load(home), namespace="ada") as old, Memory(load(home), namespace="ada") as other:
        if journal_open:
            _ = old.journal, other.journal
        move(home, str(new))
        if removed:
            cutover.remove(load(home))
        before = kept(home)
        with refused(f"{new}, {home / 'journal.db'}"):
            old.search("when is the kiln fired?")
        with refused(f"{new}, {home / 'journal.db'}"):
            _ = other.store
        assert kept(home).keys() == before.keys()
        assert (home / "lance").exists() is not removed


@pytest.mark.parametrize("removed", [False, True])
def test_who_opens_the_journal_only_after_it_was_moved_is_told(
    home: Path, database: str, removed: bool
) -> None:
    shown = database.replace("hush", "***")
    with Memory(load(home), namespace="ada") as old:
        move(home, database, only="journal")
        if removed:
            cutover.remove(load(home))
        before = kept(home)
        with refused(f"{home / 'lance'}, {shown}"):
            old.save(LATE, key="late")
        with refused(f"{home / 'lance'}, {shown}"):
            old.search("when is the kiln fired?")
        assert kept(home).keys() == before.keys()
        assert (home / "journal.db").exists() is not removed
    with Memory(load(home), namespace="ada") as memory:
        assert memory.save(LATE, key="late").status == "live"


def test_who_has_a_journal_open_that_was_moved_is_not_told_to_finish_the_move(
    home: Path, tmp_path: Path, database: str
) -> None:
    with Memory(load(home), namespace="ada") as old, Memory(load(home), namespace="ada") as with_tables:
        _ = old.journal, with_tables.store
        move(home, str(tmp_path / "new"), database)
        for one in (old, with_tables):
            with refused(f"{tmp_path / 'new'}, {database.replace('hush', '***')}"):
                one.search("when is the kiln fired?")


def test_a_journal_that_was_left_says_where_the_home_may_be(home: Path, database: str) -> None:
    """It does not know its own end, which is in the new one alone; a copy of the home has nothing else."""
    copy = Path(shutil.copytree(home, home.with_name("copy")))
    move(home, database, only="journal")
    (copy / "journal.db").unlink()
    shutil.copy(home / "journal.db", copy / "journal.db")
    with Workspace(load(copy)).journal as journal, pytest.raises(maintenance_ops.PendingOpError) as told:
        maintenance_ops.require_none_pending(journal)
    assert f"The move of this home to {database.replace('hush', '***')} was begun" in str(told.value)
    assert "If it has ended, the home is there: start this process again" in str(told.value)
    assert "hush" not in str(told.value)
    assert str(told.value).endswith("finish it: " + MoveTargets(load(copy), [database], "journal").command)


CALLS: dict[str, Callable[[Memory, str], object]] = {
    "get": Memory.get,
    "search": lambda memory, _: memory.search("when is the kiln fired?"),
    "save": lambda memory, _: memory.save(LATE, key="late"),
    "count": lambda memory, _: memory.count(),
    "history": Memory.history,
    "wakeup": lambda memory, _: memory.wakeup(),
    "forget": Memory.forget,
}


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("part", ["tables", "journal"])
def test_who_had_both_parts_open_is_told_by_every_call(
    home: Path, tmp_path: Path, part: str, removed: bool
) -> None:
    new, beside = tmp_path / "new", tmp_path / "target.toml"
    beside.write_text(f'[journal]\nurl = "sqlite:///{tmp_path}/acts.db"\n')
    at = {
        "tables": f"{new}, {home / 'journal.db'}",
        "journal": f"{home / 'lance'}, sqlite:///{tmp_path}/acts.db",
    }[part]
    with Memory(load(home), namespace="ada") as old:
        (kiln,) = [one.memory_id for one in old.search("when is the kiln fired?").results]
        move(home, str(new if part == "tables" else beside))
        if removed:
            cutover.remove(load(home))
        for name, call in [*CALLS.items(), *CALLS.items()]:
            with refused(at):
                pytest.fail(f"{name}: {call(old, kiln)}")
        with refused(at):
            running.give_up(old.home)
        assert Health(old.home).look() == (False, {"journal": MOVED, "tables": MOVED, "model": OK})
    assert (home / "lance").exists() is (part == "journal" or not removed)
    assert (home / "journal.db").exists() is (part == "tables" or not removed)


def test_who_looked_before_a_move_is_told_when_the_turn_to_write_comes(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as old:
        space = old.home
        _ = old.store
        with space.call():
            move(home, str(tmp_path / "new"))
            with refused(f"{tmp_path / 'new'}, {home / 'journal.db'}"), space.writing():
                pytest.fail("it may write")
        with refused(f"{tmp_path / 'new'}, {home / 'journal.db'}"):
            _ = space.store  # the call is over


def test_a_call_looks_once_and_once_more_before_it_writes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = MoveWatch.__call__
    monkeypatch.setattr(MoveWatch, "__call__", lambda watch: [looks.append(watch), look(watch)][1])
    with Memory(load(home), namespace="ada") as memory:
        memory.prepare()
        for call, most in (
            (lambda: memory.search("when is the kiln fired?"), 1),
            (lambda: memory.save(LATE), 2),
        ):
            looks.clear()
            call()
            assert len(looks) == most


def test_a_reader_of_tables_that_were_removed_meanwhile_is_not_told_to_make_them_again(
    home: Path, tmp_path: Path
) -> None:
    with Memory(load(home), namespace="ada") as old:
        store = old.store
        assert store.read("memories").height == 1
        move(home, str(tmp_path / "new"))
        cutover.remove(load(home))
        with refused(f"{tmp_path / 'new'}, {home / 'journal.db'}"):
            store.read("memories")


def test_a_journal_that_was_removed_is_not_made_again_by_who_has_it_open(home: Path) -> None:
    with Workspace(load(home)).journal as journal:
        assert journal.count(maintenance_ops.EVERYBODY, maintenance_ops.WORK) == 0
        for end in ("", "-wal", "-shm"):
            (home / f"journal.db{end}").unlink(missing_ok=True)
        journal._connections._engine.dispose()
        for _ in range(2):
            with pytest.raises(JournalError, match="unable to open database file"):
                journal.count(maintenance_ops.EVERYBODY, maintenance_ops.WORK)
        assert not (home / "journal.db").exists()


def test_whoever_is_two_moves_behind_is_told(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as old, Memory(load(home), namespace="ada") as unopened:
        _ = old.store
        for name in ("second", "third"):
            move(home, str(tmp_path / name))
            cutover.remove(load(home))
        for one in (old, unopened):
            with refused(f"{tmp_path / 'third'}, {home / 'journal.db'}"):
                _ = one.search("when is the kiln fired?")
        assert not (home / "lance").exists()


def test_a_home_that_came_back_is_open_to_those_who_never_left(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as old:
        move(home, str(tmp_path / "new"))
        cutover.remove(load(home))
        with Memory(load(home), namespace="ada") as between:
            move(home, "files")
            with refused(f"{home / 'lance'}, {home / 'journal.db'}"):
                between.search("when is the kiln fired?")
        assert old.search("when is the kiln fired?").results[0].source == "kiln"
        cutover.remove(load(home))
        assert old.save(LATE, key="late").status == "live"


def test_a_variable_that_says_the_old_place_does_not_open_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(home, str(tmp_path / "new"))
    monkeypatch.setenv("SLOWWAVE_STORE__URI", str(home / "lance"))
    with (
        Memory(load(home), namespace="ada") as memory,
        refused(f"{tmp_path / 'new'}, {home / 'journal.db'}") as told,
    ):
        memory.search("when is the kiln fired?")
    assert "without the variable SLOWWAVE_STORE__URI" in str(told.value)
    (home / "slowwave.toml").write_text("[store\n")
    with pytest.raises(SettingsError, match="is not valid TOML"):
        require_current(Workspace(load(tmp_path)).settings.model_copy(update={"home": home}))


def test_a_rebuilding_that_waited_for_a_move_makes_nothing_at_the_old_place(
    home: Path, tmp_path: Path
) -> None:
    space = Workspace(load(home))
    _ = space.journal
    move(home, str(tmp_path / "new"))
    before = kept(home / "lance")
    with refused(f"{tmp_path / 'new'}, {home / 'journal.db'}"):
        rebuild(space)
    space.close()
    assert kept(home / "lance") == before
    with Memory(load(home), namespace="ada") as memory:
        assert memory.search("when is the kiln fired?").results[0].source == "kiln"


def test_what_was_removed_is_nobodys_to_remove_again(home: Path, tmp_path: Path, database: str) -> None:
    move(home, database)
    move(home, str(tmp_path / "new"))
    cutover.remove(load(home))
    move(home, "files", only="journal")
    assert "hush" in (home / cutover.LEFT).read_text()
    cutover.remove(load(home))
    assert "hush" not in (home / cutover.LEFT).read_text()
    copy = Path(shutil.copytree(home, tmp_path / "copy"))
    for one in (home, copy):
        with pytest.raises(StoreError, match="there is nothing to remove"):
            cutover.remove(load(one))
        assert cutover.still_there(load(one)) == []
        assert cutover.old_places(load(one)) == {}


def test_a_dry_run_writes_nothing_anywhere(home: Path, tmp_path: Path, database: str) -> None:
    file = tmp_path / "target.toml"
    file.write_text(f'[journal]\nurl = "sqlite:///{tmp_path}/beside/acts.db"\n')
    before = kept(home)
    for to in ([str(tmp_path / "new"), database], [str(tmp_path / "new"), str(file)]):
        would = move(home, *to, dry_run=True)
        assert not would.done
        assert would.acts > 0
        assert would.rows["memories"] == 1
        assert kept(home) == before
        assert not (tmp_path / "new").exists()
        assert not (tmp_path / "beside").exists()
    engine = sa.create_engine(database)
    assert sa.inspect(engine).get_table_names() == []
    engine.dispose()
    assert move(home, str(tmp_path / "new"), database).rows == would.rows


def test_a_dry_run_knows_a_work_that_is_in_the_way(home: Path, tmp_path: Path) -> None:
    with Workspace(load(home)).journal as journal:
        maintenance_ops.begin_op(journal, "a work", "slowwave work", Workspace(load(home)).now(), {})
    with pytest.raises(maintenance_ops.PendingOpError, match="finish it: slowwave work"):
        move(home, str(tmp_path / "new"), dry_run=True)


def test_a_dry_run_does_not_upgrade_a_home(home: Path, tmp_path: Path) -> None:
    with Memory(load(home), namespace="ada") as memory:
        memory.store.recorder = None
        memory.store.put_meta("schema", {"version": SCHEMA_VERSION - 1})
    before = kept(home)
    for to in ([str(tmp_path / "new")], ["files"]):
        with pytest.raises(StoreError, match=r"earlier version .* slowwave upgrade"):
            move(home, *to, dry_run=True)
    assert kept(home) == before
    assert upgrading.look(load(home)).tables == SCHEMA_VERSION - 1


def test_where_there_is_no_home_nothing_is_made(home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for dry_run in (True, False):
        with pytest.raises(StoreError, match=f"no home at {empty}"):
            move(empty, str(tmp_path / "new"), dry_run=dry_run)
    for work in (running.give_up, running.remove_source):
        with pytest.raises(StoreError, match=f"no home at {empty}"):
            work(Workspace(load(empty)))
    assert not list(empty.iterdir())
    (home / "journal.db").unlink()
    before = kept(home)
    with pytest.raises(StoreError, match=f"no journal at {home}/journal.db"):
        move(home, str(tmp_path / "new"), dry_run=True)
    assert kept(home) == before


def test_a_dry_run_to_a_journal_with_acts_is_refused(home: Path, lived: Path, database: str) -> None:
    other = Path(shutil.copytree(lived, home.with_name("other")))
    move(other, database, only="journal")
    with pytest.raises(StoreError, match="has entries: it belongs to another home"):
        move(home, database, only="journal", dry_run=True)
