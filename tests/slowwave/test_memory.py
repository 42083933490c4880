from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slowwave
from slowwave.common import ids
from slowwave.embedding import profile
from slowwave.errors import ArgumentError, NotFoundError, SettingsError, SlowwaveError
from slowwave.journal import JournalError, payload_of
from slowwave.memory import Memory
from slowwave.search.log import replay
from slowwave.settings import load

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
LONG = "\n\n".join(
    f"## Part {number}\n\n"
    + f"Gauge number {number} hangs under pier {number} and reports every six minutes. " * 12
    for number in range(6)
)


def found(response) -> list[str]:
    return [result.memory_id for result in response]


# -- save, search, get, forget ---------------------------------------------------------------------


def test_what_was_saved_is_found_read_and_forgotten(memory):
    saved = memory.save(DEPLOY, title="Deploy day", memory_type="Decision ", tags=["ops", "release"])
    other = memory.save(BATTERY)
    assert (saved.status, saved.reasons, saved.duplicate_of) == ("live", (), None)
    assert memory.count() == 2

    response = memory.search("on which day do we deploy?", explain=True)
    assert found(response) == [saved.memory_id, other.memory_id]
    best = response[0]
    assert (best.rank, best.title, best.text, best.source) == (1, "Deploy day", DEPLOY, saved.source)
    assert (best.memory_type, best.tags, best.explanation.channels) == (
        "decision",
        ("ops", "release"),
        ("bm25", "vector"),
    )
    assert best.score == pytest.approx(sum(row.value for row in best.explanation.contributions), abs=1e-9)
    assert best.score > response[1].score

    record = memory.get(saved.memory_id)
    assert (record.content, record.status, record.namespace) == (DEPLOY, "live", "ada")
    assert (record.tags, record.memory_type, record.chunk_count) == (("ops", "release"), "decision", 1)

    memory.forget(saved.memory_id)
    assert found(memory.search("on which day do we deploy?")) == [other.memory_id]
    assert memory.get(saved.memory_id).status == "retired"
    assert memory.get(saved.memory_id).content == DEPLOY
    assert memory.count() == 1


def test_a_key_names_one_memory_and_saving_it_again_replaces_the_text(memory):
    first = memory.save(LONG, key="deploy")
    again = memory.save(DEPLOY, key="deploy")
    assert first.memory_id == again.memory_id == ids.memory_id("ada", "deploy")
    assert memory.count() == 1
    assert memory.get(again.memory_id).content == DEPLOY
    assert memory.store.read("chunks")["text"].to_list() == [DEPLOY]
    assert found(memory.search("gauge pier reports")) == [again.memory_id]
    assert "gauge" not in memory.search("gauge pier reports")[0].text.lower()


def test_without_a_key_every_save_is_a_memory_of_its_own(memory):
    first, second = memory.save(DEPLOY), memory.save(BATTERY)
    assert first.memory_id != second.memory_id
    assert first.source.startswith("saved/")


def test_saving_the_same_text_under_the_same_key_again_is_no_duplicate(memory):
    first = memory.save(DEPLOY, key="deploy")
    again = memory.save(DEPLOY, key="deploy")
    assert (again.status, again.memory_id) == ("live", first.memory_id)


def test_a_forgotten_memory_is_revived_by_saving_it_again(memory):
    saved = memory.save(DEPLOY, key="deploy")
    memory.forget(saved.memory_id)
    assert memory.save(DEPLOY, key="deploy").status == "live"
    assert found(memory.search("deploy day")) == [saved.memory_id]


def test_forgetting_lets_a_refused_duplicate_in(memory):
    first = memory.save(DEPLOY)
    memory.forget(first.memory_id)
    assert memory.save(DEPLOY).status == "live"


def test_a_note_says_when_it_was_created(memory):
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    saved = memory.save(DEPLOY, created_at=moment.astimezone(), metadata={"b": 1, "a": [None, "ü"]})
    record = memory.get(saved.memory_id)
    assert record.created_at == moment
    assert record.updated_at > moment
    assert json.loads(record.metadata) == {"b": 1, "a": [None, "ü"]}


@pytest.mark.parametrize(
    ("content", "title", "expected"),
    [
        ("# Heading\n\n" + DEPLOY, "", "Heading"),
        ("# Heading\n\n" + DEPLOY, "Given", "Given"),
        ("- First words\n" + DEPLOY, "", "First words"),
        ("one two " * 20, "", ("one two " * 20)[:79] + " …"),
    ],
)
def test_a_title_is_given_or_the_heading_or_the_first_words(memory, content, title, expected):
    assert memory.get(memory.save(content, title=title).memory_id).title == expected


# -- the gate --------------------------------------------------------------------------------------


def test_a_duplicate_is_quarantined_with_the_memory_that_says_the_same(memory):
    first = memory.save(DEPLOY)
    second = memory.save(f"\n{DEPLOY}  \r\n")
    assert (second.status, second.reasons) == ("quarantined", ("exact_duplicate",))
    assert second.duplicate_of == first.memory_id
    assert memory.count() == 1
    held = memory.store.read("quarantine").row(0, named=True)
    assert (held["memory_id"], held["duplicate_of"]) == (second.memory_id, first.memory_id)
    assert held["content"] == f"\n{DEPLOY}  \n"


@pytest.mark.parametrize("content", ["too short", "🌊" * 49])
def test_a_text_without_substance_is_quarantined_and_not_lost(memory, content):
    saved = memory.save(content, key="k")
    assert saved.status == "quarantined"
    assert "no_statement" in saved.reasons
    held = memory.store.read("quarantine").row(0, named=True)
    assert (held["content"], held["source"], held["status"]) == (content, "k", "held")
    assert held["reasons"] == list(saved.reasons)
    assert memory.count() == 0
    with pytest.raises(NotFoundError):
        memory.get(saved.memory_id)


def test_a_refused_version_leaves_the_accepted_one_in_place(memory):
    saved = memory.save(DEPLOY, key="deploy")
    refused = memory.save("short", key="deploy")
    assert refused.status == "quarantined"
    assert memory.get(saved.memory_id).content == DEPLOY
    assert found(memory.search("deploy day")) == [saved.memory_id]


def test_every_fault_of_a_note_is_named(memory):
    saved = memory.save("x", key="../up", memory_type="poem", state="vital")
    assert set(saved.reasons) == {"no_statement", "bad_path", "unknown_memory_type", "unknown_state"}


@pytest.mark.parametrize("mode", ["enforce", "warn", "off"])
def test_a_tier_that_nobody_knows_is_refused_whatever_the_gate_does(open_memory, mode):
    memory = open_memory(gate={"mode": mode})
    with pytest.raises(ArgumentError, match=r"importance_tier = 'canonical' is unknown.*critical, important"):
        memory.save(DEPLOY, importance_tier="canonical")
    assert memory.count() == 0


def test_with_the_gate_off_everything_is_let_in(open_memory):
    memory = open_memory(gate={"mode": "off"})
    assert [memory.save(text).status for text in ("x y", DEPLOY, DEPLOY)] == ["live"] * 3
    assert memory.count() == 3


# -- many at once ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_saving_many_equals_saving_one_by_one(open_memory, tmp_path):
    notes = [
        {"content": DEPLOY, "key": "deploy", "title": "Deploy day", "tags": ["ops"]},
        {"content": LONG, "key": "gauges"},
        {"content": DEPLOY, "key": "copy"},
        {"content": "short", "key": "short"},
        {"content": BATTERY, "key": "battery", "sensitivity": "secret"},
        {"content": DEPLOY, "key": "another copy"},
    ]
    many, single = open_memory(path=tmp_path / "many"), open_memory(path=tmp_path / "single")
    at_once = {saved.source: (saved.status, saved.reasons) for saved in many.save_many(notes)}
    one_by_one = {
        one["key"]: (saved.status, saved.reasons) for one in notes for saved in [single.save(**one)]
    }
    assert [saved.source for saved in many.save_many(notes)] == [note["key"] for note in notes]
    # Which of three equal notes enters depends on who came first; that one enters does not.
    copies = ("deploy", "copy", "another copy")
    assert sorted(at_once[key] for key in copies) == sorted(one_by_one[key] for key in copies)
    for key in ("gauges", "short", "battery"):
        assert at_once[key] == one_by_one[key]
    said = ["content", "content_hash", "status", "sensitivity", "chunk_count", "frequency"]
    left, right = (space.store.read("memories", columns=said).sort("content") for space in (many, single))
    assert left.equals(right)


def test_saving_many_distinct_notes_leaves_the_tables_that_single_saves_leave(open_memory, tmp_path):
    notes = [{"content": text, "key": text[:9], "title": text[:20]} for text in (DEPLOY, LONG, BATTERY, ROTA)]
    many, single = open_memory(path=tmp_path / "many"), open_memory(path=tmp_path / "single")
    many.save_many(notes)
    for note in notes:
        single.save(**note)
    for name in ("memories", "chunks"):
        left, right = (
            space.store.read(name)
            .drop("revision", "created_at", "updated_at")
            .sort(space.store.specs[name].key)
            for space in (many, single)
        )
        assert left.drop("vector", strict=False).equals(right.drop("vector", strict=False)), name
        if name == "chunks":
            distance = left["vector"].to_numpy() - right["vector"].to_numpy()
            assert abs(distance).max() < 1e-6


def test_outcomes_of_many_saves_come_in_the_order_of_the_notes(memory):
    notes = [{"content": f"{BATTERY} {number}", "key": f"k{9 - number}"} for number in range(10)]
    assert [saved.source for saved in memory.save_many(notes)] == [note["key"] for note in notes]
    assert memory.save_many([]) == []


def test_of_two_notes_with_one_key_in_a_batch_the_last_one_counts(memory):
    for number in range(4):
        saved = memory.save_many(
            [{"content": f"{DEPLOY} {number}", "key": "k"}, {"content": f"{BATTERY} {number}", "key": "k"}]
        )
        assert saved[0].memory_id == saved[1].memory_id
        assert memory.get(saved[1].memory_id).content == f"{BATTERY} {number}"
    assert memory.count() == 1


def test_a_note_that_is_not_allowed_keeps_the_whole_batch_out(memory):
    with pytest.raises(SlowwaveError, match="Note 2"):
        memory.save_many([{"content": DEPLOY}, {"content": 3}])
    assert memory.count() == 0
    assert memory.journal.read(kinds=["save"]).height == 0


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"content": None}, "^content is NoneType, it has to be text"),
        ({"content": b"bytes"}, "^content is bytes, it has to be text"),
        ({"content": "a\0b"}, "NUL character at 1"),
        (
            {"colour": "red"},
            r"\['colour'\] are not labels of a note. Known: \['aliases', 'content', 'context', 'created_at'",
        ),
        ({"source": "x"}, "are not labels"),
        ({"tags": [1]}, "tags is int, it has to be text"),
        ({"created_at": "2026-01-01"}, "give a datetime with a time zone"),
        ({"created_at": datetime(2026, 1, 1)}, "give a datetime with a time zone"),  # noqa: DTZ001
    ],
)
def test_a_label_that_is_not_allowed_is_named(memory, labels, message):
    with pytest.raises(SlowwaveError, match=message):
        memory.save_many([{"content": DEPLOY, **labels}])
    assert memory.journal.read(kinds=["save"]).height == 0


@pytest.mark.parametrize(
    "labels",
    [
        {"tags": 5}, {"aliases": 1.5}, {"metadata": "text"}, {"metadata": {"at": object()}}, {"key": 7},
        {"title": 7}, {"source_of_truth": "yes"}, {"content": "\ud800" + DEPLOY}, {"title": "\ud800"},
        {"metadata": {"n": 2**70}},
    ],
)  # fmt: skip
def test_a_label_of_a_wrong_type_is_an_error_made_for_people(memory, labels):
    with pytest.raises(SlowwaveError):
        memory.save_many([{"content": DEPLOY, **labels}])
    assert memory.journal.read(kinds=["save"]).height == 0


def test_one_tag_may_be_given_as_a_text(memory):
    assert memory.get(memory.save(DEPLOY, tags="ops").memory_id).tags == ("ops",)


# -- namespaces ------------------------------------------------------------------------------------

SPACES = ("ada", "bob", "ada/b", "a.d-a_1", "ADA")


@pytest.fixture
def canaries(open_memory):
    """A memory with a secret of its own in every namespace, and all of them the same words otherwise."""
    spaces = {name: open_memory(name) for name in SPACES}
    saved = {
        name: space.save(
            f"The canary word of this house is quux{number}zyx, and nobody else may ever read it.",
            key="canary", title=f"Canary quux{number}zyx", tags=[f"tag{number}"],
        )
        for number, (name, space) in enumerate(spaces.items())
    }  # fmt: skip
    return spaces, saved


@pytest.mark.slow
def test_no_read_of_a_namespace_ever_shows_another_ones_memory(canaries):
    spaces, saved = canaries
    assert len({one.memory_id for one in saved.values()}) == len(SPACES)
    assert {one.status for one in saved.values()} == {"live"}
    for reader, space in spaces.items():
        assert space.count() == 1
        for number, owner in enumerate(SPACES):
            for query in (f"quux{number}zyx", "canary word of this house", f"tag{number}"):
                response = space.search(query, limit=100)
                assert set(found(response)) <= {saved[reader].memory_id}
                if owner != reader:
                    assert f"quux{number}zyx" not in json.dumps(
                        response.to_dict() | {"query": ""}, default=str
                    )
        assert found(space.search("canary word")) == [saved[reader].memory_id]


@pytest.mark.slow
def test_an_id_of_another_namespace_is_not_found(canaries):
    spaces, saved = canaries
    for reader, space in spaces.items():
        assert space.get(saved[reader].memory_id).namespace == reader
        for owner in SPACES:
            if owner == reader:
                continue
            for call in (space.get, space.forget):
                with pytest.raises(NotFoundError) as caught:
                    call(saved[owner].memory_id)
                assert "quux" not in str(caught.value)
    assert all(space.count() == 1 for space in spaces.values())


def test_equal_content_in_another_namespace_is_no_duplicate(canaries):
    spaces, _ = canaries
    outcomes = [space.save(DEPLOY, key="deploy") for space in spaces.values()]
    assert {(one.status, one.duplicate_of) for one in outcomes} == {("live", None)}


def test_a_search_is_journalled_in_its_own_namespace(canaries):
    spaces, _ = canaries
    for space in spaces.values():
        space.search("canary")
    for name, space in spaces.items():
        entries = space.journal.read(kinds=["search"], namespace=name)
        assert entries.height == 1
        shown = payload_of(entries["payload"].item())
        assert {one["memory_id"] for one in shown["shown"]} == {ids.memory_id(name, "canary")}
        assert {ids.memory_of(one) for one in shown["candidates"]["chunk_id"]} == {
            ids.memory_id(name, "canary")
        }


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "a'; DROP TABLE", "a\n", "ä ö"])
def test_a_namespace_has_to_be_a_word(home, name):
    with pytest.raises(SlowwaveError, match="Namespace"):
        slowwave.open(home, namespace=name)
    assert not (home / "lance").exists()


def test_a_namespace_has_to_be_given(home):
    with pytest.raises(TypeError):
        slowwave.open(home)


@pytest.mark.parametrize("nasty", ["' OR '1'='1", "x'--", 'a"b', "\\", "%", "''"])
def test_an_id_is_never_read_as_a_filter(memory, nasty):
    memory.save(DEPLOY)
    for call in (memory.get, memory.forget):
        with pytest.raises(NotFoundError):
            call(nasty)
    assert memory.count() == 1


def test_a_key_may_hold_anything_that_is_a_name(memory):
    for number, key in enumerate(["o'clock", 'say "hi"', "naïve ünïcode 🌊", "a\\b", "100 %_"]):
        saved = memory.save(f"{BATTERY} {number}", key=key)
        assert saved.status == "live"
        assert memory.get(saved.memory_id).source == key


# -- searching -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "limit", "message"),
    [
        ("", 5, "query is empty"),
        (" \n\t", 5, "query is empty"),
        ("x" * 4_001, 5, "4,001 characters: give at most 4,000"),
        ("x", -1, "limit = -1: ask for 0 or more"),
    ],
)
def test_a_query_that_cannot_be_asked_is_refused(memory, query, limit, message):
    with pytest.raises(SlowwaveError, match=message):
        memory.search(query, limit=limit)
    assert memory.journal.read(kinds=["search"]).height == 0


def test_searching_an_empty_memory_finds_nothing(memory):
    response = memory.search("anything")
    assert (response.results, response.warnings) == ((), ())
    assert memory.journal.get(response.search_id).kind == "search"


@pytest.mark.parametrize(
    "query",
    [
        "the of and is to", "🌊🌊", "🌊 deploy", '"', '"deploy', "'", "deploy'", "+-&&||!(){}[]^~*?:\\/",
        "AND OR NOT", "search_text:deploy", "*", "deploy^9", "x" * 4_000, "deploy " * 500,
        "日本語", "\u200b", "\ufffd", "a\tb\nc",
        "deploy\0day", "--", "%", "' OR 1=1 --", "ﬁ", "İ", "à́",
    ],
)  # fmt: skip
def test_no_query_makes_a_search_fail(memory, query):
    saved = memory.save(DEPLOY)
    response = memory.search(query)
    assert set(found(response)) <= {saved.memory_id}
    assert response.query == query
    assert response.warnings == ()
    assert memory.journal.get(response.search_id).payload["query"] == query


@settings(max_examples=40)
@given(query=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip))
def test_any_text_may_be_asked(memory, query):
    response = memory.search(query, limit=3)
    assert response.query == query


def test_a_limit_cuts_the_list_and_nothing_else(memory):
    memory.save_many([{"content": f"{BATTERY} Gauge {number}."} for number in range(8)])
    everything = memory.search("battery of the gauge", limit=100)
    assert len(everything) == 8
    for limit in (0, 1, 3, 8):
        assert found(memory.search("battery of the gauge", limit=limit)) == found(everything)[:limit]
    assert [result.rank for result in everything] == list(range(1, 9))
    scores = [result.score for result in everything]
    assert scores == sorted(scores, reverse=True)


def test_a_memory_of_many_chunks_appears_once_with_its_passages_in_order(memory):
    saved = memory.save(LONG, title="Gauges")
    assert memory.get(saved.memory_id).chunk_count > 3
    response = memory.search("gauge under pier")
    assert found(response) == [saved.memory_id]
    passages = [passage.chunk_id for passage in response[0].passages]
    assert passages == sorted(passages)
    assert len(passages) == memory.get(saved.memory_id).chunk_count
    assert response[0].text in {passage.text for passage in response[0].passages}
    for passage in response[0].passages:
        assert passage.text in LONG


def test_a_word_that_only_the_text_channel_knows_brings_its_memory_in(open_memory):
    """More memories than one channel fetches: the rare word is found by BM25 alone."""
    memory = open_memory(ranking={"candidates": 2})
    memory.save_many([{"content": f"{DEPLOY} Week {number}."} for number in range(6)])
    rare = memory.save(f"{BATTERY} Its knob is qzxv7.")
    response = memory.search("deploy day of the team qzxv7", limit=2, explain=True)
    hit = {result.memory_id: result for result in response}[rare.memory_id]
    assert hit.explanation.channels == ("bm25",)
    assert sum(row.value for row in hit.explanation.contributions if row.source == "bm25") > 0
    assert "cosine" in hit.explanation.scores


def test_words_of_labels_are_not_searched(memory):
    memory.save(DEPLOY, key="kvxkey", tags=["kvxtag"], aliases=["kvxalias"], metadata={"kvxmeta": 1})
    for word in ("kvxkey", "kvxtag", "kvxalias", "kvxmeta"):
        for result in memory.search(word, explain=True):
            assert "bm25" not in result.explanation.channels


def test_the_journal_keeps_what_a_search_showed(memory):
    memory.save_many([{"content": f"{BATTERY} Gauge {number}."} for number in range(5)])
    response = memory.search("battery gauge", limit=2, explain=True)
    entry = memory.journal.get(response.search_id)
    assert (entry.kind, entry.namespace, entry.subject, entry.principal) == (
        "search", "ada", response.search_id, "application",
    )  # fmt: skip
    logged = entry.payload
    assert (logged["query"], logged["limit"], logged["policy_version"]) == (
        "battery gauge",
        2,
        memory.policy.version,
    )
    assert logged["policy"] == memory.policy.to_dict()
    assert [(one["memory_id"], one["rank"], one["score"]) for one in logged["shown"]] == [
        (result.memory_id, result.rank, result.score) for result in response
    ]
    assert logged["shown"][0]["scores"] == dict(response[0].explanation.scores)
    candidates = logged["candidates"]
    assert len(candidates["chunk_id"]) == 5
    assert sorted(candidates["vector_rank"]) == [1, 2, 3, 4, 5]
    columns = [values for values in candidates.values() if isinstance(values, list)]
    assert {len(values) for values in columns} == {5}
    assert len(columns) == 7  # chunk, cosine, bm25, two ranks, number of chunks, words of the text
    assert not {"memory_id", "ordinal", "rerank", "triggers", "states"} & set(candidates)


def test_the_logged_candidates_replay_to_the_same_ranking(memory):
    memory.save_many([{"content": LONG}, {"content": DEPLOY}, {"content": BATTERY}, {"content": ROTA}])
    response = memory.search("battery of the gauge at the pier", limit=3)
    replayed = replay(memory.journal.get(response.search_id).payload)
    assert [(one.memory_id, one.score) for one in replayed.results] == [
        (one.memory_id, one.score) for one in response
    ]


def test_searches_are_not_logged_when_that_is_off(open_memory):
    memory = open_memory(journal={"log_searches": False})
    memory.save(DEPLOY)
    assert len(memory.search("deploy")) == 1
    assert memory.journal.read(kinds=["search"]).height == 0


def test_a_search_answers_with_a_warning_when_the_journal_cannot_be_written(memory):
    saved = memory.save(DEPLOY)
    memory.journal.close()
    response = memory.search("deploy day")
    assert found(response) == [saved.memory_id]
    (warning,) = response.warnings
    assert "could not be recorded" in warning
    assert "was closed" in warning


def test_nothing_is_saved_when_the_journal_cannot_be_written(memory):
    saved = memory.save(BATTERY)
    memory.journal.close()
    with pytest.raises(JournalError):
        memory.save(DEPLOY)
    with pytest.raises(JournalError):
        memory.forget(saved.memory_id)
    assert memory.count() == 1
    assert memory.store.read("memories")["status"].to_list() == ["live"]


def test_what_was_saved_is_in_the_journal_even_if_the_store_fails(memory, monkeypatch):
    monkeypatch.setattr(memory.store, "upsert", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        memory.save(DEPLOY, key="deploy")
    entries = memory.journal.read(kinds=["save"])
    assert entries["subject"].to_list() == ["deploy"]
    assert payload_of(entries["payload"].item())["content"] == DEPLOY


# -- opening ---------------------------------------------------------------------------------------


def test_another_handle_sees_a_save_at_once(open_memory):
    writer, reader = open_memory(), open_memory()
    reader.search("deploy")
    saved = writer.save(DEPLOY)
    assert found(reader.search("deploy")) == [saved.memory_id]
    writer.forget(saved.memory_id)
    assert found(reader.search("deploy")) == []


@pytest.mark.slow
def test_several_threads_may_save_and_search_one_memory(memory):
    errors = []

    def work(number: int) -> None:
        try:
            for turn in range(3):
                memory.save(f"{BATTERY} Gauge {number} in week {turn}.", key=f"{number}/{turn}")
                assert len(memory.search(f"gauge {number} week {turn}")) > 0
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert memory.count() == 12
    assert memory.store.read("chunks")["chunk_id"].n_unique() == memory.store.count("chunks") == 12


def test_opening_takes_settings_and_closes_at_the_end_of_a_block(home):
    with slowwave.open(
        home, namespace="ada", embedding={"model": "wordllama-256"}, ranking={"rrf_k": 3}
    ) as memory:
        assert isinstance(memory, Memory)
        assert memory.settings.ranking.rrf_k == 3
        assert memory.policy.rrf_k == 3
        memory.save(DEPLOY)
    with pytest.raises(JournalError):
        memory.save(BATTERY)


def test_a_ranking_setting_wins_over_what_is_known_of_the_model(home):
    assert Memory(load(home, embedding={"model": "wordllama-256"}), namespace="a").policy.vector_weight == (
        profile("wordllama-256").vector_weight
    )
    chosen = load(home, embedding={"model": "wordllama-256"}, ranking={"vector_weight": 0.0, "fusion": "rrf"})
    policy = Memory(chosen, namespace="a").policy
    assert (policy.vector_weight, policy.fusion) == (0.0, "rrf")


def test_opening_with_a_bad_setting_says_which(home):
    with pytest.raises(SettingsError, match=r"ranking\.candidates"):
        slowwave.open(home, namespace="ada", ranking={"candidates": 0})


def test_a_save_that_races_a_newer_one_does_not_win(open_memory):
    """Both were journalled; the older act reaches the store last."""
    first, second = open_memory(), open_memory()
    held = {}
    take_in = first._apply

    def late(entries):
        held["entries"] = entries
        return []

    first._apply = late
    with pytest.raises(IndexError):
        first.save(DEPLOY, key="k")
    second.save(BATTERY, key="k")
    take_in(held["entries"])
    assert second.get(ids.memory_id("ada", "k")).content == BATTERY
    assert second.store.read("chunks")["text"].to_list() == [BATTERY]


def test_saving_keeps_the_moment_of_the_first_save(memory):
    before = datetime.now(UTC)
    saved = memory.save(DEPLOY, key="k")
    first = memory.get(saved.memory_id)
    memory.save(BATTERY, key="k")
    second = memory.get(saved.memory_id)
    assert before <= first.created_at <= before + timedelta(minutes=5)
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
