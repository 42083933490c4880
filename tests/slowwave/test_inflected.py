"""Texts in languages with inflection: found by other forms of their words, explained, erased and upgraded."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from slowwave.index.incremental_snapshot import IncrementalSnapshot
from slowwave.index.lancedb_channels import TableChannels
from slowwave.learning.isolation import contaminated_chunks
from slowwave.notes.chunking import found_by, indexed_text
from slowwave.scoring.ranking.word_pieces import MARK
from slowwave.search.filters import Filters
from slowwave.search.searcher import searcher_in
from slowwave.store.migrations import migrate
from slowwave.store.text import full_text

TEXTS = {
    "tr-boiler": "Kombinin basıncı düşerse mavi musluktan su basmak gerekiyor.",
    "tr-key": "Bahçe kapısının anahtarları için komşumuza sormak gerek.",
    "el-garage": "Τα κλειδιά του γκαράζ κρέμονται στον διάδρομο.",
    "el-vet": "Ο κτηνίατρος απαγόρευσε στη γάτα τα ψάρια.",
    "de-houses": "In den Ferienhäusern gibt es keine Waschmaschinen, und die Heizungen sind alt.",
    "de-teacher": "Meine Geigenlehrerin unterrichtet freitags und ist sonst nicht zu erreichen.",
    "fi-keys": "Avaimet ovat naapurin luona kolmannessa kerroksessa.",
    "fi-boat": "Veneen moottoria ei saa käynnistää ilman jäähdytysvettä.",
    "ru-cat": "Коту сделали операцию на почках, и он ест только лечебный корм.",
    "ru-wedding": "Свадьбу сестры перенесли на шестнадцатое августа, гуляем в Суздале.",
    "en-ferry": "The ferry to the island leaves at seven in the morning and comes back before the dark.",
    "en-router": "The router is in the hall, and its password is under the lamp.",
}
QUESTIONS = {
    "Kombi basınç düşük, ne yapmalıyız?": "tr-boiler",
    "Bahçe kapısı için anahtar kimde?": "tr-key",
    "Πού είναι το κλειδί για τα γκαράζ;": "el-garage",
    "Τρώει ψάρι η γάτα;": "el-vet",
    "Hat das Ferienhaus eine Waschmaschine?": "de-houses",
    "Wann ist der Unterricht mit der Geige?": "de-teacher",
    "Missä avain on? Naapurilla?": "fi-keys",
    "Miten vene ja moottori käynnistetään?": "fi-boat",
    "Какие операции были у кота?": "ru-cat",
    "Когда свадьба сестры?": "ru-wedding",
    "When does the ferry come back from the island?": "en-ferry",
}


@pytest.fixture
def mixed(open_memory):
    memory = open_memory(gate={"mode": "off"})
    memory.save_many([{"key": key, "content": text} for key, text in TEXTS.items()])
    return memory


def by_text(memory, query: str) -> dict[str, float]:
    """Scores of the full-text channel by source, best first."""
    found = searcher_in(memory._space).find("ada", query, 20)
    rows = zip(
        found.shown.column("source").to_pylist(), found.candidates.bm25.tolist(),
        found.candidates.bm25_rank.tolist(), strict=True,
    )  # fmt: skip
    return {source: score for source, score, rank in sorted(rows, key=lambda row: row[2]) if rank}


def test_other_forms_of_the_words_find_a_text(mixed):
    assert {query: next(iter(by_text(mixed, query)), "") for query in QUESTIONS} == QUESTIONS
    answers = {query: mixed.search(query, limit=1) for query in QUESTIONS}
    assert {query: answer[0].source for query, answer in answers.items()} == QUESTIONS
    assert {one.source: one.text for answer in answers.values() for one in answer}.items() <= TEXTS.items()


def test_the_explanation_names_words_and_adds_up(mixed):
    (result,) = mixed.search("Hat das Ferienhaus eine Waschmaschine?", limit=1, explain=True)
    rows = {row.term: row.value for row in result.explanation.contributions if row.source == "bm25"}
    assert set(rows) == {"Ferienhaus", "Waschmaschine", "eine"}  # by "keine", the least of them
    assert min(rows, key=rows.__getitem__) == "eine"
    assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score, abs=1e-9)


def test_a_table_without_a_snapshot_gives_the_same_scores(mixed):
    snapshot, tables = IncrementalSnapshot(mixed.store, "ada", 2**30).now(), TableChannels(mixed.store, "ada")
    where = Filters().where("ada")
    mixed.store.table("chunks").optimize()
    for query in QUESTIONS:
        one, two = snapshot.full_text(query, where, 20), tables.full_text(query, where, 20)
        assert one.memory_ids[:1] == two.memory_ids[:1]
        assert one.scores.tolist() == pytest.approx(two.table.column("_score").to_pylist(), rel=1e-4)
        assert one.bound == pytest.approx(two.bound, rel=1e-4)
        best = snapshot.named("chunk_id", one.rows[:1])
        words = query.strip("?;").split()
        [mine], [others] = (
            channels.term_scores(words, best, where, in_pieces=True).values()
            for channels in (snapshot, tables)
        )
        assert mine == pytest.approx(others, rel=1e-4)


def test_rows_added_one_by_one_give_what_a_new_snapshot_gives(mixed):
    followed = IncrementalSnapshot(mixed.store, "ada", 2**30)
    followed.now()
    late = mixed.save("Die Häuser am Hafen sind nicht versichert.", key="late")
    gone = mixed.save("Das Hafenhaus wird im Herbst verkauft.", key="gone")
    followed.now()
    mixed.erase(gone.memory_id)
    one, two = followed.now(), IncrementalSnapshot(mixed.store, "ada", 2**30).now()
    for query in ("Ist das Haus am Hafen versichert?", "Wird das Hafenhaus verkauft?", *QUESTIONS):
        left, right = (each.full_text(query, Filters().where("ada"), 20) for each in (one, two))
        assert dict(zip(left.memory_ids, left.scores, strict=True)) == dict(
            zip(right.memory_ids, right.scores, strict=True)
        )
        assert left.bound == pytest.approx(right.bound)
    assert late.memory_id in one.full_text("das Haus am Hafen", Filters().where("ada"), 1).memory_ids


def test_english_is_found_and_scored_as_by_its_words_alone(open_memory):
    english = [text for key, text in TEXTS.items() if key.startswith("en")]
    memory = open_memory(gate={"mode": "off"})
    memory.save_many([{"content": text, "key": text[:9]} for text in english])
    rows = memory.store.read("chunks", columns=["text", "search_text"])
    assert rows["text"].to_list() == rows["search_text"].to_list()
    # In a home without pieces, a question in another language is scored by its words alone, too.
    snapshot = IncrementalSnapshot(memory.store, "ada", 2**30).now()
    for query in ("where is the router", "wo ist das Passwort für den Router", "Πού είναι το router;"):
        terms, unknown, pieces = snapshot.vocabulary.of_query(query, snapshot.table, in_pieces=True)
        assert (terms, unknown) == snapshot.vocabulary.of_query(query, snapshot.table)[:2]
        assert not pieces


def test_an_english_question_in_a_mixed_home_is_asked_by_its_words_alone(mixed):
    assert list(by_text(mixed, "where is the password of the router")) == ["en-router"]


def test_an_erased_text_leaves_no_piece(mixed):
    asked = mixed.save("Wer öffnet die Schleusentore um Mitternacht?", key="t1")
    mixed.save("Der Hafenmeister öffnet sie, und sein Schlüssel hängt am Brett.", key="t2", follows="t1")

    def sources(word: str) -> set[str]:
        rows = full_text(mixed.store, "chunks", "search_text", word).select(["source"]).to_list()
        return {row["source"] for row in rows}

    piece = f"leus{MARK}"
    assert sources(piece) == {"t1", "t2"}  # a turn lends its words to the next one
    mixed.erase(asked.memory_id)
    assert sources(piece) == set()
    assert sources(f"hlus{MARK}") == {"t2"}
    assert contaminated_chunks(mixed.store).is_empty()


def test_a_home_from_before_gets_the_pieces_once(mixed):
    mixed.save("Wo hängt der Schlüssel?", key="q")
    mixed.save("Am Brett, und die Ersatzschlüssel liegen im Schrank.", key="a", follows="q")
    store = mixed.store
    before = store.read("chunks").sort("chunk_id")
    words = before["search_text"].str.replace_all(rf" \S+{MARK}", "")
    store.recorder = None
    store.upsert("chunks", before.with_columns(search_text=words))
    assert not store.read("chunks")["search_text"].str.contains(MARK).any()
    store.put_meta("schema", {"version": 17})
    applied = migrate(store, datetime(2026, 3, 1, tzinfo=UTC))
    assert "pieces of words" in [step.name for step in applied]
    after = store.read("chunks").sort("chunk_id")
    assert after.equals(before)
    right = [
        found_by(indexed_text(row["title"], row["headings"], row["text"]), None) for row in after.to_dicts()
    ]
    own = after.with_columns(right=pl.Series(right)).filter(pl.col("source").is_in(list(TEXTS)))
    assert own["search_text"].to_list() == own["right"].to_list()
    assert migrate(store, datetime(2026, 3, 1, tzinfo=UTC)) == []
    assert next(iter(by_text(mixed, "Hat das Ferienhaus eine Waschmaschine?"))) == "de-houses"
