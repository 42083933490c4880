from __future__ import annotations

import sys

import polars as pl
import pytest

from slowwave.errors import ModelError
from slowwave.maintenance.reembed import reembed
from slowwave.memory import Memory
from slowwave.settings import load

BGE, FAST = "bge-small-en-v1.5", "wordllama-256"
module = sys.modules["slowwave.maintenance.reembed"]
NOTES = {
    "deploy": "The deploy day is Thursday since the second of March, decided by the whole team.",
    "battery": "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
    "rota": "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night.",
}


@pytest.fixture
def filled(open_memory, home) -> Memory:
    (home / "lance").parent.mkdir(exist_ok=True)
    memory = open_memory()
    (home / "slowwave.toml").write_text(
        f'# mine\n[embedding]\nthreads = 1\nmodel = "{FAST}"\n\n[gate]\nmode = "enforce"\n'
    )
    memory.save_many([{"content": text, "key": key} for key, text in NOTES.items()])
    memory.save("A note that is going to be forgotten before the model is changed, as notes are.", key="gone")
    memory.forget(memory.search("going to be forgotten", limit=1)[0].memory_id)
    memory.close()
    return memory


def physical(memory: Memory) -> set[str]:
    return set(memory.store.db.list_tables().tables)


@pytest.mark.slow
def test_a_memory_moves_to_another_model_and_the_old_tables_stay(filled, home):
    old = filled.store.read("chunks").sort("chunk_id")
    report = reembed(load(home), BGE)
    assert (report["model"], report["was"], report["chunks"]) == (BGE, FAST, 4)

    moved = Memory(load(home), namespace="ada")
    assert moved.settings.embedding.model == BGE
    assert moved.store.identity.tables == {
        "chunks": "chunks_bge_small_en_v1_5", "embedded_chunks": "embedded_chunks_bge_small_en_v1_5",
        "question_vectors": "question_vectors_bge_small_en_v1_5",
        "memories": "memories_bge_small_en_v1_5",
    }  # fmt: skip
    was, now = filled.store.read("memories").sort("memory_id"), moved.store.read("memories").sort("memory_id")
    assert now.drop("vector").equals(was.drop("vector"))
    assert now["vector"].dtype == pl.Array(pl.Float32, 384)
    new = moved.store.read("chunks").sort("chunk_id")
    assert new["vector"].dtype == pl.Array(pl.Float32, 384)
    same = [name for name in new.columns if name not in ("vector", "embedding_hash")]
    assert new.select(same).equals(old.select(same))
    assert not set(new["embedding_hash"]) & set(old["embedding_hash"])
    for query, key in (("when do we deploy?", "deploy"), ("how long does the battery last", "battery")):
        response = moved.search(query, explain=True)
        assert response[0].source == key
        assert {result.source for result in response} == set(NOTES)
        assert response[0].explanation.channels == ("bm25", "vector")
    saved = moved.save("A new note about the lighthouse keeper, who never answers his telephone.", key="new")
    assert moved.search("lighthouse keeper")[0].memory_id == saved.memory_id
    moved.close()

    kept = moved.store.db.open_table("chunks")
    assert kept.count_rows() == old.height
    assert moved.store.db.open_table("memories").count_rows() == was.height
    assert {"chunks", "embedded_chunks", "memories", *moved.store.identity.tables.values()} <= physical(moved)


@pytest.mark.slow
def test_memories_get_the_vector_that_saving_them_now_would_give(filled, home):
    reembed(load(home), BGE)
    moved = Memory(load(home), namespace="ada")
    chunks = dict(moved.store.read("chunks", columns=["memory_id", "vector"]).rows())
    memories = dict(moved.store.read("memories", columns=["memory_id", "vector"]).rows())
    assert memories == chunks  # each has one chunk
    twin = moved.save(NOTES["deploy"], key="another")
    assert (twin.status, twin.reasons) == ("quarantined", ("exact_duplicate",))
    moved.close()


@pytest.mark.slow
def test_merged_and_superseded_memories_move_and_can_be_taken_back_afterwards(open_memory, home):
    """A merged memory has no chunk of its own to be found by."""
    config = '[reconsolidation]\npolicy = "literal"\nduplicate = 1.0\nmerge = 0.7\nconflict = 0.6\n'
    memory = open_memory(reconsolidation={"policy": "literal", "duplicate": 1, "merge": 0.7, "conflict": 0.6})
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{FAST}"\n[gate]\nmode = "off"\n{config}')
    first = memory.save(NOTES["deploy"], key="deploy", title="Deploy day")
    second = memory.save(f"{NOTES['deploy']}\nFriday is for repairs.", key="more", title="Deploy day")
    assert (second.outcome, second.other) == ("merge", first.memory_id)
    memory.forget(memory.save(NOTES["rota"], key="rota").memory_id)
    before = memory.store.read("memories").drop("vector").sort("memory_id")
    memory.close()

    reembed(load(home), BGE)
    moved = Memory(load(home), namespace="ada")
    assert moved.store.read("memories").drop("vector").sort("memory_id").equals(before)
    assert moved.search("repairs on Friday")[0].memory_id == first.memory_id
    moved.undo(second.decision_id)
    assert {moved.get(one.memory_id).status for one in (first, second)} == {"live"}
    assert moved.get(first.memory_id).content == NOTES["deploy"]
    assert moved.search("repairs on Friday")[0].memory_id == second.memory_id
    moved.close()


def test_only_the_model_is_changed_in_the_settings_file(filled, home):
    reembed(load(home), BGE)
    text = (home / "slowwave.toml").read_text()
    assert text == f'# mine\n[embedding]\nthreads = 1\nmodel = "{BGE}"\n\n[gate]\nmode = "enforce"\n'


@pytest.mark.parametrize("text", [None, "", '[gate]\nmode = "off"\n', "[embedding]\nthreads = 2\n"])
def test_the_choice_is_written_whatever_the_settings_file_holds(home, text):
    home.mkdir()
    if text is not None:
        (home / "slowwave.toml").write_text(text)
    settings = load(home)
    module._write_choice(settings, FAST)
    after = load(home)
    assert after.embedding.model == FAST
    assert (after.gate, after.embedding.threads) == (settings.gate, settings.embedding.threads)


@pytest.mark.parametrize(
    "text", ["[embedding] # mine\nthreads = 2\n", "[ embedding ]\nthreads = 2\n", "embedding.threads = 2\n"]
)
def test_the_choice_is_written_into_other_spellings_of_the_section(home, text):
    home.mkdir()
    (home / "slowwave.toml").write_text(text)
    module._write_choice(load(home), FAST)
    assert load(home).embedding.model == FAST


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(filled, home, monkeypatch):
    real, embedded = module.load_embedder, []

    class Watched:
        def __init__(self, settings, *, allowed: int) -> None:
            self._inner, self._allowed = real(settings), allowed
            self.name, self.dimension = self._inner.name, self._inner.dimension

        def embed_documents(self, texts, progress=None):
            if self._allowed == 0:
                raise KeyboardInterrupt
            self._allowed -= 1
            embedded.extend(texts)
            return self._inner.embed_documents(texts, progress)

        def embed_query(self, text):
            return self._inner.embed_query(text)

    monkeypatch.setattr(module.ingest_pipeline, "CHUNKS_PER_COMMIT", 1)
    monkeypatch.setattr(module, "load_embedder", lambda settings: Watched(settings, allowed=2))
    with pytest.raises(KeyboardInterrupt):
        reembed(load(home), BGE)
    still = Memory(load(home), namespace="ada")
    assert still.store.identity.model == FAST
    assert len(still.search("deploy")) == 3
    still.close()

    monkeypatch.setattr(module, "load_embedder", lambda settings: Watched(settings, allowed=99))
    assert reembed(load(home), BGE)["chunks"] == 4
    assert len(embedded) == len(set(embedded)) == 4


@pytest.mark.slow
def test_back_again_uses_a_table_of_its_own_and_loses_nothing(filled, home):
    reembed(load(home), BGE)
    reembed(load(home), FAST)
    back = Memory(load(home), namespace="ada")
    assert back.store.identity.model == FAST
    assert back.search("when do we deploy?")[0].source == "deploy"
    assert back.store.count("chunks") == 4
    back.close()


def test_the_model_that_the_store_has_already_is_refused(filled, home):
    with pytest.raises(ModelError, match=f"already has the vectors of '{FAST}'"):
        reembed(load(home), FAST)


def test_an_unknown_model_changes_nothing(filled, home):
    before, text = physical(filled), (home / "slowwave.toml").read_text()
    with pytest.raises(ModelError, match="is unknown"):
        reembed(load(home), "nothing")
    assert (physical(filled), (home / "slowwave.toml").read_text()) == (before, text)
