from __future__ import annotations

import shutil
from datetime import UTC, datetime

import polars as pl
import pytest
from lancedb.index import FTS

from slowwave.common import ids
from slowwave.errors import ModelError
from slowwave.maintenance import doctor
from slowwave.maintenance.doctor import examine
from slowwave.store.checkpoints import create_checkpoint
from slowwave.vaults import vault

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."


@pytest.fixture
def filled(open_memory):
    memory = open_memory()
    memory.save(DEPLOY, key="deploy")
    return memory


def look(memory, **options) -> dict[str, doctor.Finding]:
    return {finding.subject: finding for finding in examine(memory.settings, **options)}


def problems(memory, **options) -> list[str]:
    return sorted(subject for subject, finding in look(memory, **options).items() if not finding.ok)


@pytest.mark.slow
def test_a_home_in_order_has_no_problems(filled):
    found = look(filled)
    assert problems(filled) == []
    assert list(found) == [
        "home", "permissions", "installation", "night", "model", "journal", "store", "keys", "learning",
        "chunks", "save gate", "running",
    ]  # fmt: skip
    assert found["store"].message == "1 memory, 1 chunk, 0 quarantine"
    assert found["model"].message.startswith("wordllama-256: 256 numbers, length 1.0")
    assert found["journal"].message == "1 entry on 1 day"
    assert all(finding.advice == "" for finding in found.values())


def test_a_home_that_is_not_there_is_not_made(home, open_memory):
    memory = open_memory()
    shutil.rmtree(home)
    (only,) = examine(memory.settings)
    assert (only.subject, only.ok) == ("home", False)
    assert str(home) in only.message
    assert "slowwave init" in only.advice
    assert not home.exists()


def test_a_folder_in_which_there_is_no_home_stays_as_it_is(tmp_path):
    from slowwave.settings import load

    (tmp_path / "slowwave.toml").write_text('[gate]\nmode = "off"\n')
    (only,) = examine(load(tmp_path), repair=True)
    assert (only.subject, only.ok) == ("home", False)
    assert "slowwave init" in only.advice
    assert [one.name for one in tmp_path.iterdir()] == ["slowwave.toml"]


def test_a_store_of_another_model_is_a_problem_with_what_to_do(filled, home):
    from slowwave.settings import load

    found = {
        finding.subject: finding for finding in examine(load(home, embedding={"model": "bge-small-en-v1.5"}))
    }
    assert not found["store"].ok
    assert "slowwave reembed" in found["store"].message
    assert found["journal"].ok


def test_damaged_weights_are_a_problem(filled, home, monkeypatch):
    from slowwave.embedding import bundled
    from slowwave.settings import load

    def damaged() -> None:
        raise ModelError("model.onnx has SHA-256 0, expected 1")

    monkeypatch.setattr(bundled, "verify_bundled", damaged)
    found = {
        finding.subject: finding for finding in examine(load(home, embedding={"model": "bge-small-en-v1.5"}))
    }
    assert not found["model"].ok
    assert "SHA-256" in found["model"].message


def test_a_damaged_journal_is_a_problem(filled, home):
    filled.close()
    for path in home.glob("journal.db*"):
        path.unlink()
    (home / "journal.db").write_bytes(b"this is not a database" * 100)
    found = look(filled)
    assert (found["journal"].ok, found["journal"].advice) == (False, "slowwave rebuild --journal")
    assert found["store"].advice == "slowwave rebuild --journal"
    assert found["store"].message == "not checked, because of journal"  # told once


@pytest.mark.slow
def test_chunks_that_differ_from_their_memory_are_found_and_mended(filled):
    row = filled.store.read("memories").with_columns(status=pl.lit("retired"))
    filled.store.upsert("memories", row)
    assert problems(filled) == ["chunks"]
    assert look(filled)["chunks"].message == "1 stale chunk, 1 memory without chunks"
    assert problems(filled, repair=True) == []
    assert filled.store.read("chunks")["status"].to_list() == ["retired"]
    assert problems(filled) == []


def test_a_memory_without_its_chunks_is_found(filled):
    filled.store.delete("chunks", "true")
    assert problems(filled) == ["chunks"]


@pytest.mark.slow
def test_a_full_text_index_on_a_column_that_must_not_have_one_is_found_and_removed(filled):
    filled.store.table("memories").create_index("metadata", config=FTS())
    found = look(filled)["full-text index"]
    assert not found.ok
    assert "memories: indexed by mistake ['metadata']" in found.message
    assert "full-text index" not in problems(filled, repair=True)
    assert problems(filled) == []
    assert [index.columns for index in filled.store.table("memories").list_indices()] == []


def test_a_lost_full_text_index_is_found(filled):
    table = filled.store.table("chunks")
    (name,) = [index.name for index in table.list_indices() if index.index_type.upper() == "FTS"]
    table.drop_index(name)
    found = look(filled)["full-text index"]
    assert not found.ok
    assert "not indexed ['search_text']" in found.message


def test_doubled_keys_are_found(filled):
    row = filled.store.read("memories").to_arrow()
    filled.store.table("memories").add(row.cast(filled.store.table("memories").schema))
    assert look(filled)["keys"].message == "1 duplicate memory ids"
    assert "keys" in problems(filled)


def test_an_interrupted_restore_is_found_with_the_command_that_finishes_it(filled):
    create_checkpoint(filled.store, "before", NOON)
    filled.store.put_meta("restoring", {"name": "before"})
    found = look(filled)["checkpoint"]
    assert not found.ok
    assert found.advice == "slowwave checkpoint restore before"


def test_a_vault_that_is_away_is_found(filled, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    vault.watch(filled.journal, "ada", folder, name="", as_of=NOON, principal="test")
    assert look(filled)["vault"].ok
    folder.rmdir()
    found = look(filled)["vault"]
    assert not found.ok
    assert found.message == f"ada/notes at {folder.resolve()}"
    assert "slowwave ingest NEW-PLACE --name notes -n ada" in found.advice


def test_looking_changes_nothing(filled):
    versions = {name: filled.store.table(name).version for name in filled.store.specs}
    examine(filled.settings)
    assert {name: filled.store.table(name).version for name in filled.store.specs} == versions
    assert filled.get(ids.memory_id("ada", "deploy")).content == DEPLOY


def test_a_gate_that_is_about_to_refuse_many_notes_is_a_problem_and_one_that_is_far_off_is_not(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    memory.save("ok")
    memory.save("ok", key="again")  # one is not many
    far = look(memory)["save gate"]
    assert far.ok
    assert "2 of 2 notes (100.0%) since it was activated would have been refused" in far.message
    near = open_memory(gate={"mode": "warn", "warn_days": 5})
    found = look(near)["save gate"]
    assert not found.ok
    assert "slowwave gate preview" in found.advice
    assert "slowwave gate postpone" in found.advice
