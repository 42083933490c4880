"""An upgrade is seen before it is made, made, and taken back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.errors import StoreError
from slowwave.journal import JournalError
from slowwave.maintenance import upgrading
from slowwave.maintenance.doctor import examine
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.store.integrity import DamageError
from slowwave.store.migrations import MIGRATIONS
from slowwave.store.tables import SCHEMA_VERSION

KEYS = ("search_views", "question_vectors", "search_keys")
TABLE_STEPS = sorted({*(step.version for step in MIGRATIONS), SCHEMA_VERSION})  # from version 12 on


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A home as the schema before search keys had it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    with Memory(load(home), namespace="default") as memory:
        memory.save("We deploy on Thursday at nine in the morning, and Friday is for repairs.", key="deploy")
        store = memory.store
        store.recorder = None
        for name in KEYS:
            store.db.drop_table(name)
        store.table("learned_matches").drop_columns(["of"]) if "of" in store.table(
            "learned_matches"
        ).schema.names else None
        store.put_meta("schema", {"version": 12})
    with sqlite3.connect(home / "journal.db") as raw:
        raw.executemany("DELETE FROM journal_entries WHERE subject = ?", [(name,) for name in KEYS])
    raw.close()
    return home


def command(home: Path, *arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(app, ["--home", str(home), "upgrade", *arguments, "--json"], env={})
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def versions(home: Path) -> tuple[int, int]:
    found = upgrading.look(load(home))
    return found.tables, found.journal


def test_it_is_seen_made_and_taken_back(old: Path) -> None:
    would = command(old, "--dry-run")
    steps = [("tables", version) for version in TABLE_STEPS]
    assert [(step["part"], step["version"]) for step in would["steps"]] == steps
    assert versions(old) == (12, 3)
    assert command(old)["steps"] == would["steps"]
    assert versions(old) == (SCHEMA_VERSION, 3)
    assert command(old)["steps"] == []
    with Memory(load(old), namespace="default") as memory:  # a look at whether it works keeps the way back
        assert memory.search("when do we deploy?").results[0].source == "deploy"
    command(old, "--undo")
    assert versions(old) == (12, 3)
    with Memory(load(old), namespace="default") as memory:  # whoever opens it upgrades it again
        assert memory.search("when do we deploy?").results[0].source == "deploy"
    assert versions(old) == (SCHEMA_VERSION, 3)


def test_whoever_opens_it_keeps_the_way_back(old: Path) -> None:
    """As `slowwave upgrade` does: a checkpoint of all tables (NFR-R02)."""
    with Memory(load(old), namespace="default") as memory:
        assert memory.search("when do we deploy?").results[0].source == "deploy"
    assert versions(old) == (SCHEMA_VERSION, 3)
    command(old, "--undo")
    assert versions(old) == (12, 3)
    with Memory(load(old), namespace="default") as memory:
        assert memory.search("when do we deploy?").results[0].source == "deploy"


@pytest.mark.parametrize("name", ["edges", "chunks"])
def test_a_table_that_is_lost_is_not_made_anew_by_an_upgrade(old: Path, name: str) -> None:
    shutil.rmtree(old / "lance" / f"{name}.lance")
    with pytest.raises(DamageError, match=f"slowwave rebuild {name}"):
        Memory(load(old), namespace="default").count()
    assert versions(old)[0] == 12


def test_what_was_saved_since_is_not_taken_back(old: Path) -> None:
    upgrading.upgrade(load(old))
    with Memory(load(old), namespace="default") as memory:
        memory.save("The ferry of noon was full of sheep and of hay for the island.", key="ferry")
    with pytest.raises(StoreError, match="1 event since the upgrade"):
        upgrading.undo(load(old))
    assert versions(old) == (SCHEMA_VERSION, 3)


def test_a_home_of_a_newer_version_is_refused_by_all(old: Path) -> None:
    with Memory(load(old), namespace="default") as memory:
        memory.store.put_meta("schema", {"version": 99})
    for run in (upgrading.look, upgrading.upgrade, upgrading.undo):
        with pytest.raises(StoreError, match="newer"):
            run(load(old))


def test_a_home_with_an_older_journal_is_refused_by_all_and_left_alone(old: Path) -> None:
    with closing(sqlite3.connect(old / "journal.db")) as raw, raw:
        raw.execute("DROP INDEX journal_entries_by_order")
        raw.execute("ALTER TABLE journal_entries DROP COLUMN ordered_at")
        raw.execute("UPDATE journal_meta SET value = '2' WHERE key = 'schema_version'")
    before = everything(old)
    for run in (upgrading.look, upgrading.upgrade, upgrading.undo):
        with pytest.raises(StoreError, match=r"journal is 2; .* version 3\. Open it with an older Slowwave"):
            run(load(old))
    with pytest.raises(JournalError, match=r"version 2, .* open it with an older Slowwave first"):
        Memory(load(old), namespace="default").count()
    findings = {one.subject: one for one in examine(load(old)) if not one.ok}
    assert "open it with an older Slowwave first" in findings["journal"].message
    assert everything(old) == before


def test_a_home_without_an_upgrade_has_none_to_take_back(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nothing to upgrade"):
        upgrading.look(load(tmp_path))
    with Memory(load(tmp_path, embedding={"model": "wordllama-256"}), namespace="default") as memory:
        memory.save("The battery of the northern gauge lasts eleven weeks in winter.", key="gauge")
    assert command(tmp_path)["steps"] == []
    with pytest.raises(StoreError, match="no upgrade to undo"):
        upgrading.undo(load(tmp_path))


def everything(home: Path) -> dict[str, bytes]:
    """All files; those beside SQLite's whoever reads the journal makes, and they are empty."""
    files = [one for one in home.rglob("*") if one.is_file() and not one.name.endswith(("-shm", "-wal"))]
    assert not any(one.stat().st_size for one in home.glob("journal.db-wal"))
    return {str(one.relative_to(home)): one.read_bytes() for one in files}


@pytest.mark.parametrize("option", [(), ("--repair",)])
def test_doctor_says_that_a_home_would_be_upgraded_and_leaves_it(old: Path, option: tuple[str, ...]) -> None:
    before = everything(old)
    done = CliRunner().invoke(app, ["--home", str(old), "doctor", *option, "--json"], env={})
    found = {one["subject"]: one for one in json.loads(done.stdout)["findings"]}
    assert done.exit_code == 1
    assert list(found) == ["home", "schema"]
    assert f"{len(TABLE_STEPS)} steps" in found["schema"]["message"]
    assert "tables 12, journal 3" in found["schema"]["message"]
    assert "slowwave upgrade (--dry-run" in found["schema"]["advice"]
    assert [one.subject for one in examine(load(old), repair=bool(option))] == ["home", "schema"]
    assert everything(old) == before
    upgrading.upgrade(load(old))
    done = CliRunner().invoke(app, ["--home", str(old), "doctor", "--json"], env={})
    assert "schema" not in {one["subject"] for one in json.loads(done.stdout)["findings"]}
