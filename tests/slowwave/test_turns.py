"""Notes that follow another one: what they are found by, and that nothing else about them changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from lancedb.index import FTS
from lancedb.query import MatchQuery
from past_chunks import chunks_as_of

from slowwave.assets.ingest import passed
from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.workspace import Workspace
from slowwave.journal import Journal, payload_of
from slowwave.journal.kinds.note import save_of
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.lifecycle.quarantine import hold
from slowwave.lifecycle.reconcile import reconcile
from slowwave.maintenance.reembed import reembed
from slowwave.memory import Memory
from slowwave.notes.conversation_context import CONTEXT_WORDS, first_words, inherited_context
from slowwave.notes.reading import parse_jsonl, plain_note
from slowwave.quality.gate import judge
from slowwave.settings import NotesSettings, load
from slowwave.store import Store, staging
from slowwave.store.maintenance import compact
from slowwave.store.text import STOP_WORDS
from slowwave.vaults import vault

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
QUESTION = "So did the grey heron come back to the pond behind the mill before all the children had to leave?"
ANSWER = "Yes, last Tuesday, and it stayed for most of the afternoon!"
REPLY = "That is good to hear, we had nearly given up on that bird."
SHORT = "Yes, it did."
TALK: list[dict[str, Any]] = [
    {"key": "t1", "content": QUESTION},
    {"key": "t2", "content": SHORT, "follows": "t1"},  # refused: too short
    {"key": "t3", "content": ANSWER, "follows": "t2"},
    {"key": "t4", "content": QUESTION, "follows": "t3"},  # refused: a duplicate
    {"key": "t5", "content": REPLY, "follows": "t4"},
    {"key": "t1", "content": f"{QUESTION} I would so like to know.", "follows": "t0"},
    {"key": "t6", "content": "And the otter came along with it, so we were told.", "follows": "t1"},
    {"key": "t7", "content": "We go there on Sunday, whatever the weather is.", "follows": "t8"},
    {
        "key": "t8",
        "content": "Take the boots, the meadow is under water.",
        "follows": "t7",
        "context": "Trip",
    },
]
GATE = {"gate": {"mode": "enforce", "min_quality": 0, "min_characters": 20}}


@pytest.fixture
def home_of(make_space: Callable[..., Workspace]) -> Callable[..., Memory]:
    """Opens a namespace of a new home, or of the home of another memory."""

    def open_(namespace: str = "ada", *, of: Memory | None = None) -> Memory:
        space = of._space if of is not None else make_space(**GATE)
        return Memory(space.settings, namespace=namespace, space=space)

    return open_


@pytest.fixture
def ada(home_of) -> Memory:
    return home_of()


def found(store: Store, word: str) -> list[str]:
    """Sources of the memories that are found by a word."""
    search = store.table("chunks").search(MatchQuery(word, "search_text"), query_type="fts").limit(99)
    return sorted(set(search.select(["source", "_score"]).to_arrow()["source"].to_pylist()))


def chunks(store: Store) -> pl.DataFrame:
    return store.read("chunks").sort("chunk_id")


def last(text: str) -> str:
    return " ".join(text.split()[-20:])


def live(store: Store) -> pl.DataFrame:
    return chunks(store).filter(status="live")


def but_for_the_moment(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.drop("revision", "created_at", "updated_at", strict=False)


def contexts(memory: Memory) -> dict[str, str | None]:
    return dict(memory.store.read("memories", columns=["source", "context"]).rows())


def journalled(memory: Memory) -> list[tuple[str, str, str]]:
    rows = memory.journal.read(kinds=["save"]).select("subject", "payload").rows()
    told = [(subject, payload_of(payload)) for subject, payload in rows]
    return [(subject, one.get("follows", ""), one.get("context", "")) for subject, one in told]


def by_night(space: Workspace) -> None:
    """What the assets do with all days."""
    staged = staging.stage(space.journal.read(kinds=["save", "forget", "unreadable"]))
    days = staged["day"].unique().to_list()
    verdicts = judge(staged, space.gate_policy).with_columns(staged["revision"], staged["day"])
    hold(space.store, staged, verdicts.filter(verdict="refuse"))
    ingest_pipeline.embed_days(space.store, space.embedder, space.chunker, passed(staged, verdicts), days)

    def embedded(notes: pl.DataFrame) -> pl.DataFrame:
        rows = space.store.read_by("embedded_chunks", "memory_id", notes["memory_id"].to_list())
        return rows.drop("embedded_id", "day", "cutter").unique(["chunk_id", "revision"])

    acts = pl.concat([passed(staged, verdicts, name) for name in ("pass", "retire")])
    admit_batch(space, acts, embedded, again=True)


# -- what a turn is found by -----------------------------------------------------------------------


def test_a_turn_is_found_by_what_the_turn_before_it_says_and_does_not_show_it(memory):
    question = memory.save(QUESTION, key="t1")
    answer = memory.save(ANSWER, key="t2", follows="t1")
    assert found(memory.store, "mill") == ["t1", "t2"]
    assert found(memory.store, "afternoon") == ["t2"]
    result = next(one for one in memory.search("the mill") if one.memory_id == answer.memory_id)
    assert (result.text, result.title) == (ANSWER, ANSWER)
    record = memory.get(answer.memory_id)
    assert (record.content, record.follows) == (ANSWER, question.memory_id)
    assert record.context == last(QUESTION)


def test_the_text_of_a_turn_counts_twice_beside_its_context_and_is_embedded_as_ever(ada, home_of):
    plain = home_of()
    plain.save(ANSWER, key="t2", title="Birds")
    ada.save(ANSWER, key="t2", title="Birds", context="the heron", follows="nobody knows this one")
    one, other = chunks(plain.store), chunks(ada.store)
    own = f"Birds\n{ANSWER}"
    assert one["search_text"].to_list() == [own]
    assert other["search_text"].to_list() == [f"{own}\n{own}\nthe heron"]
    assert (one["follows"].item(), other["follows"].item()) == (
        None,
        ids.memory_id("ada", "nobody knows this one"),
    )
    assert other["embedding_hash"].item() == ids.embedding_hash(ada.embedder.name, own)
    same = [name for name in one.columns if name not in ("search_text", "follows")]
    assert but_for_the_moment(one.select(same)).equals(but_for_the_moment(other.select(same)))
    vectors = [memory.store.read("memories")["vector"].item().to_list() for memory in (plain, ada)]
    assert vectors[0] == vectors[1] == ada.embedder.embed_query(own).tolist()


def test_every_chunk_of_a_note_has_its_context(ada):
    pages = "\n\n".join(f"## Part {n}\n\n" + " ".join(["A long account of the pond."] * 25) for n in range(3))
    ada.save(pages, key="long", context="heron")
    rows = chunks(ada.store)
    assert rows.height > 2
    assert rows["search_text"].str.ends_with("\nheron").all()


def test_a_context_of_its_own_is_kept_and_cut(ada):
    long = " ".join(str(number) for number in range(100))
    ada.save(QUESTION, key="t1")
    ada.save(ANSWER, key="t2", follows="t1", context=f"  the\n heron {long}")
    context = contexts(ada)["t2"]
    assert context is not None
    assert context.startswith("the heron 0 1 2")
    assert len(context.split()) == CONTEXT_WORDS
    assert len(first_words("字" * 10_000)) < 1_000
    assert len(inherited_context("字" * 10_000, "internal", to="internal")) < 500
    assert inherited_context("", "internal", to="internal") == ""


@pytest.mark.parametrize(("label", "value"), [("follows", 3), ("context", ["a"]), ("context", "\0")])
def test_what_is_no_text_is_refused_with_its_name(ada, label, value):
    with pytest.raises(SlowwaveError, match=f"^{label} "):
        ada.save(ANSWER, **{label: value})
    # Which note it is of is said where there are several.
    with pytest.raises(SlowwaveError, match=f"Note 2: {label} |notes.{label} "):
        ada.save_many([{"content": ANSWER}, {"content": ANSWER, label: value}])
    assert journalled(ada) == []


# -- the journal decides ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_call_its_halves_and_single_saves_come_to_the_same(home_of):
    sizes = (len(TALK), 4, 3, 2, 1)
    homes = [home_of() for _ in sizes]
    for memory, size in zip(homes, sizes, strict=True):
        for start in range(0, len(TALK), size):
            memory.save_many(TALK[start : start + size])
    whole, *others = homes
    assert journalled(whole) == [
        ("t1", "", ""),
        ("t2", "t1", last(QUESTION)),
        ("t3", "t2", SHORT),
        ("t4", "t3", ANSWER),
        ("t5", "t4", last(QUESTION)),
        ("t1", "t0", ""),
        ("t6", "t1", last(f"{QUESTION} I would so like to know.")),
        ("t7", "t8", ""),
        ("t8", "t7", "Trip"),
    ]
    for memory in others:
        assert journalled(memory) == journalled(whole)


@pytest.mark.slow
def test_a_call_and_single_saves_give_the_same_chunks(home_of):
    # What repeats within a call is told apart by arrival, so each turn has a text of its own here.
    talk = [one for one in TALK if one["key"] != "t4"]
    homes = [home_of() for _ in range(3)]
    for memory, size in zip(homes, (len(talk), 4, 1), strict=True):
        for start in range(0, len(talk), size):
            memory.save_many(talk[start : start + size])
    tables = [but_for_the_moment(chunks(memory.store)) for memory in homes]
    assert set(tables[0]["source"]) == {"t1", "t3", "t5", "t6", "t7", "t8"}
    assert tables[1].equals(tables[0])
    assert tables[2].equals(tables[0])


def test_the_night_gives_the_chunks_of_the_day(ada, home_of):
    # A night alone sees the last act of a day on each memory, not what t1 said first, so t1 is saved once.
    ada.save_many([one for one in TALK if one.get("follows") != "t0"])
    ada.forget(ids.memory_id("ada", "t5"))
    other = home_of()
    for event in ada.journal.read(kinds=["save", "forget"])["event_id"]:
        entry = ada.journal.get(event)
        assert entry is not None
        other.journal.append([entry])
    by_night(other._space)
    both = [live(memory.store) for memory in (ada, other)]
    assert both[0].filter(pl.col("follows").is_not_null()).height >= 4
    assert both[1].equals(both[0])
    by_night(other._space)
    assert live(other.store).equals(both[0])


def test_what_becomes_of_a_turn_does_not_change_the_one_after_it(ada):
    first = ada.save(QUESTION, key="t1")
    ada.save(ANSWER, key="t2", follows="t1")
    before = chunks(ada.store).filter(source="t2")
    ada.save("Something else entirely is told now, of the mountains and the snow.", key="t1")
    assert chunks(ada.store).filter(source="t2").equals(before)
    ada.forget(first.memory_id)
    by_night(ada._space)
    assert live(ada.store).equals(before)
    assert found(ada.store, "mill") == ["t2"]


def test_what_was_forgotten_lends_nothing(ada):
    ada.forget(ada.save(QUESTION, key="t1").memory_id)
    ada.save(ANSWER, key="t2", follows="t1")
    assert contexts(ada)["t2"] is None


def test_a_note_does_not_follow_itself(ada):
    ada.save(QUESTION, key="t1")
    ada.save(ANSWER, key="t1", follows="t1")
    assert chunks(ada.store).select("search_text", "follows").rows() == [(ANSWER, None)]


def test_a_saved_note_without_a_key_can_be_followed_by_its_source(ada):
    saved = ada.save(QUESTION)
    ada.save(ANSWER, key="t2", follows=saved.source)
    assert contexts(ada)["t2"] == last(QUESTION)


def test_no_context_comes_from_another_namespace(ada, home_of):
    bob = home_of("bob", of=ada)
    bob.save(QUESTION, key="t1")
    ada.save(ANSWER, key="t2", follows="t1")
    assert contexts(ada) == {"t1": None, "t2": None}
    follows = chunks(ada.store).filter(source="t2")["follows"].item()
    assert follows == ids.memory_id("ada", "t1") != ids.memory_id("bob", "t1")


def test_words_of_a_secret_note_go_to_secret_notes_only(ada):
    ada.save(QUESTION, key="t1", sensitivity="secret")
    ada.save(ANSWER, key="open", follows="t1")
    ada.save(REPLY, key="closed", follows="t1", sensitivity="secret")
    told = contexts(ada)
    assert told["open"] is None
    assert told["closed"] == last(QUESTION)


def test_the_journal_is_asked_once_a_call_and_only_for_what_the_notes_do_not_say(ada, monkeypatch):
    """For how the memories stand and for what they follow."""
    asked: list[list[str]] = []
    all_said: dict[str, Any] = {
        "sensitivity": "internal", "importance_tier": "normal", "retrieval_priority": "normal",
        "state": "accepted", "source_of_truth": False,
    }  # fmt: skip
    latest = Journal.latest

    def counted(self: Journal, namespace: str, subjects: Any) -> Any:
        asked.append(sorted(subjects))
        return latest(self, namespace, subjects)

    monkeypatch.setattr(Journal, "latest", counted)
    ada.save(QUESTION, key="t1", **all_said)
    ada.save(ANSWER, key="t2", follows="t1", context="a pond", **all_said)
    ada.save(REPLY)
    assert asked == []
    rest = [one for one in TALK if one["key"] != "t1"]
    ada.save_many([{**one, **all_said} for one in rest])
    assert asked == [["t1", "t8"]]
    ada.save_many(rest)
    assert asked[1:] == [sorted({"t1", "t8", *(one["key"] for one in rest)})]
    ada.save("We shall see whether that is true.", key="t2", follows="t1")
    assert asked[2:] == [["t1", "t2"]]


def test_the_journal_gives_the_newest_act_on_each_source(journal, act):
    later = NOON + DAY
    journal.append(
        [
            act("a", "old", at=later),
            act("a", "new"),  # written last, by a clock that went back
            act("vault/x/b.md", "b", origin="vault"),
            act("vault/x/b.md", at=later),
            act("c", "of another", namespace="bob"),
        ]
    )
    named = [f"{n}/{n}" for n in range(1_200)]
    for subjects in (["a", "vault/x/b.md", "c", "nobody"], ["a", "vault/x/b.md", *named]):
        found = journal.latest("ada", subjects)
        assert {name: (one.kind, one.payload.get("content")) for name, one in found.items()} == {
            "a": ("save", "new"),
            "vault/x/b.md": ("forget", None),
        }
    assert journal.latest("ada", []) == {}
    for subject in ("a", "vault/x/b.md", "c", "nobody"):  # one is asked for by a statement of its own
        assert journal.latest("ada", [subject]) == journal.latest("ada", [subject, "none"])
        assert journal.rewritten("ada", [subject]) == journal.rewritten("ada", [subject, "none"])
    assert journal.rewritten("ada", ["a"]) == ["a"]


def test_the_payload_of_a_note_without_these_fields_is_what_it_always_was():
    assert not {"context", "follows"} & set(save_of(plain_note(ANSWER, source="a.md")))


# -- what is made again ----------------------------------------------------------------------------


def test_chunks_that_are_made_again_are_the_same(ada):
    ada.save_many(TALK)
    before = chunks(ada.store)
    ada.store.delete("chunks", "true")
    reconcile(ada.store, ada._space.chunker, ada.embedder)
    assert chunks(ada.store).equals(before)


def test_a_past_day_has_the_contexts_that_it_had(ada):
    ada.save_many(TALK)
    today = chunks(ada.store)
    ada.store.delete("chunks", "true")
    assert chunks_as_of(ada._space, "ada", datetime.now(UTC).date()).equals(today)


def test_a_memory_keeps_its_context_when_it_absorbs_another(open_memory):
    memory = open_memory(reconsolidation={"policy": "literal"}, gate={"mode": "off"})
    text = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
    kept = memory.save(text, key="a", context="heron")
    more = f"{text}\nIt is changed by Ruaridh."
    assert memory.save(more, key="b").outcome == "merge"
    rows = chunks(memory.store)
    assert rows["memory_id"].to_list() == [kept.memory_id]
    assert "Ruaridh" in rows["text"].item()
    assert rows["search_text"].item().endswith("\nheron")
    assert memory.save(more, key="c", context="otter").outcome == "related"


def test_another_model_embeds_the_text_without_the_context(open_memory, home, hash_embedder, monkeypatch):
    memory = open_memory()
    memory.save(ANSWER, key="t2", title="Birds", context="my heron")
    before = chunks(memory.store)
    memory.close()
    other = hash_embedder(name="bge-small-en-v1.5")
    monkeypatch.setattr(sys.modules["slowwave.maintenance.reembed"], "load_embedder", lambda _: other)
    reembed(load(home, embedding={"model": memory.settings.embedding.model}), other.name)
    assert other.embedded == [f"Birds\n{ANSWER}"]
    moved = Store(memory.settings.store_uri, model=other.name, dimension=8)
    rows = chunks(moved)
    assert rows["search_text"].equals(before["search_text"])
    assert rows["embedding_hash"].item() == ids.embedding_hash(other.name, f"Birds\n{ANSWER}")
    assert (found(moved, "my"), found(moved, "the")) == (["t2"], [])


# -- files -----------------------------------------------------------------------------------------


def lines(*records: str) -> list[Any]:
    return list(parse_jsonl("\n".join(records).encode(), "talk.jsonl", max_bytes=10_000))


def test_a_line_follows_a_line_of_its_file_or_a_source():
    notes = lines(
        '{"id": "a", "text": "One heron stood there."}',
        '{"id": "b", "text": "Two.", "follows": "a"}',
        '{"id": "c", "text": "Three.", "follows": "a"}',
        '{"id": "d", "text": "Four.", "follows": "c", "context": "of birds"}',
        '{"id": "e", "text": "Five.", "follows": "other.jsonl#7"}',
        '{"id": 6, "text": "Six.", "follows": "notes/pond.md"}',
        '{"text": "Seven.", "follows": 6}',
        '{"id": "x.md", "text": "Eight.", "follows": "L7"}',
        '{"id": "z", "text": "Nine.", "follows": "x.md"}',
        '{"id": "y", "text": "Ten."}',
    )
    assert [(note.follows, note.context) for note in notes] == [
        ("", ""),
        ("talk.jsonl#a", "One heron stood there."),
        ("talk.jsonl#a", ""),
        ("talk.jsonl#c", "of birds"),
        ("other.jsonl#7", ""),
        ("notes/pond.md", ""),
        ("talk.jsonl#6", "Six."),
        ("talk.jsonl#L7", "Seven."),
        ("talk.jsonl#x.md", "Eight."),
        ("", ""),
    ]


def test_a_line_takes_nothing_from_a_broken_or_a_secret_one():
    notes = lines(
        '{"id": "a", "text": "One.", "sensitivity": "secret"}',
        '{"id": "b", "text": "Two.", "follows": "a"}',
        '{"id": "a", "text": "Again."}',
        '{"id": "c", "text": "Three.", "follows": "a"}',
    )
    assert [getattr(note, "context", None) for note in notes] == ["", "", None, ""]


@pytest.mark.parametrize(
    ("head", "context", "follows"),
    [
        ("context: the heron\nfollows: notes/a.md", "the heron", "notes/a.md"),
        ("Context: 007\nfollows: 2026-03-01", "007", "2026-03-01"),
        ("context:\nfollows:", "", ""),
        ("context: [home, errands]\nfollows: [[a]]", "", ""),
    ],
)
def test_front_matter_has_the_fields_as_they_are_written(head, context, follows):
    from slowwave.notes.reading import parse_markdown

    note = parse_markdown(f"---\n{head}\n---\nBody".encode(), "b.md", max_bytes=1_000)
    assert (note.context, note.follows) == (context, follows)
    assert note.metadata == (
        {"context": ["home", "errands"], "follows": [["a"]]} if "errands" in head else {}
    )


def test_notes_of_a_vault_follow_notes_of_that_vault(ada, tmp_path):
    folder = tmp_path / "pond"
    folder.mkdir()
    (folder / "talk.jsonl").write_text(
        f'{{"id": "a", "text": "{QUESTION}"}}\n{{"id": "b", "text": "{ANSWER}", "follows": "a"}}\n'
    )
    (folder / "later.md").write_text(f"---\nfollows: talk.jsonl#b\ncontext: the otter\n---\n{REPLY}")
    look = vault.watch(ada.journal, "ada", folder, name="", as_of=NOON, principal="test")
    assert vault.scan(ada.journal, look, NotesSettings(), as_of=NOON).new == 3
    by_night(ada._space)
    rows = {row["source"]: row for row in ada.store.read("memories").iter_rows(named=True)}
    assert {name: (row["context"], row["follows"]) for name, row in rows.items()} == {
        "pond/talk.jsonl#a": (None, None),
        "pond/talk.jsonl#b": (last(QUESTION), ids.memory_id("ada", "pond/talk.jsonl#a")),
        "pond/later.md": ("the otter", ids.memory_id("ada", "pond/talk.jsonl#b")),
    }
    assert vault.scan(ada.journal, look, NotesSettings(), as_of=NOON + DAY).acts == 0
    ada.save("We shall see whether that is true.", key="t9", follows="pond/talk.jsonl#b")
    assert contexts(ada)["t9"] == ANSWER


# -- the full-text index ---------------------------------------------------------------------------


def test_pronouns_are_searched_and_stop_words_are_not(ada):
    def check() -> None:
        for word in ("my", "I", "you", "your", "we", "mine"):
            assert found(ada.store, word) == ["mine"], word
        for word in ("the", "was", "not", "have", "own", "s"):
            assert found(ada.store, word) == [], word
        assert found(ada.store, "yours") == found(ada.store, "your")  # stemmed

    ada.save(
        "I told you that my heron was at your pond, and we saw it: it is mine, not the mill's.", key="mine"
    )
    ada.save("The heron was not at the pond, they have said.", key="theirs")
    check()
    compact(ada.store.table("chunks"))
    check()
    assert ada.store.table("chunks").index_stats("search_text_idx").num_unindexed_rows == 0


def test_the_list_replaces_the_one_of_lancedb_and_holds_its_own_stems(tmp_path):
    """Of LanceDB's list only the pronouns are missing, and every word of ours takes itself away."""
    import lancedb

    pronouns = ["i", "me", "my", "myself", "we", "our", "ours", "you", "your", "yours", "yourself"]
    words = [*STOP_WORDS, *pronouns, "heron", "because"]
    kept = {}
    for name, given in (("theirs", None), ("ours", list(STOP_WORDS)), ("none", [])):
        table = lancedb.connect(tmp_path).create_table(name, [{"text": word} for word in words])
        table.create_index("text", config=FTS(stem=True, remove_stop_words=True, custom_stop_words=given))
        queries = {word: table.search(MatchQuery(word, "text"), query_type="fts").limit(9) for word in words}
        kept[name] = {word for word, query in queries.items() if query.select(["text", "_score"]).to_list()}
    assert kept["theirs"] == {"heron", "because"}
    assert kept["ours"] == {"heron", "because", *pronouns}
    assert kept["none"] == set(words)
