"""What a person erases is gone: from the journal, every table and every version of it, and every file."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import threading
import time
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
import warm
from erasure_helpers import index_files, places
from reconsolidation_helpers import BATTERY, CHANGED, ROTA, replayed, supersede

from slowwave.common import ids
from slowwave.errors import NotFoundError, SettingsError, SlowwaveError, TakenInLaterError
from slowwave.index.incremental_snapshot import leave_files
from slowwave.journal import payload_of
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle import write_path
from slowwave.maintenance.doctor import examine
from slowwave.maintenance.erasure import ErasureError, running
from slowwave.maintenance.erasure.entry_redaction import KEPT_FIELDS, KINDS
from slowwave.maintenance.erasure.model import ErasureTask
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.maintenance.erasure.tables import counts, remove
from slowwave.maintenance.rebuild import mend_journal, rebuild
from slowwave.memory import Memory
from slowwave.store.checkpoints import create_checkpoint, list_checkpoints
from slowwave.store.maintenance import compact
from slowwave.vaults import vault

MANY = 2**30
CANARY = "zebracanary"
SECOND = "quaggacanary"  # what the first version said
ASKED = "okapicanary"  # what a search asked that showed it
CANARIES = (CANARY, SECOND, ASKED)
ABOUT = f"The {CANARY} relay of the harbour gauge is replaced on Thursday; its spare is behind the radar."
LONG = f"{ABOUT}\n\n" + "\n".join(
    f"Step {step} of the exchange is done with the {CANARY}." for step in range(60)
)


def lived(memory: Memory) -> dict[str, str]:
    """A memory with a past: other words before, a long text, searches, ratings, labels, a follower."""
    memory.save(
        f"The {SECOND} relay was replaced on Monday, and it held for about a year.", key=f"{CANARY}/key"
    )
    saved = memory.save(
        LONG, key=f"{CANARY}/key", title=f"{CANARY.capitalize()} relay", tags=[CANARY],
        trigger_phrases=[f"where is the {CANARY}"], metadata={"note": CANARY}, follows="before",
    )  # fmt: skip
    after = memory.save(ROTA, key="after", follows=f"{CANARY}/key")
    copy = memory.save(LONG, key="copy", title="A copy")
    other = memory.save(BATTERY, key="battery", title="Battery")
    found = memory.search(f"the relay of the harbour gauge, {ASKED}")
    assert saved.memory_id in [one.memory_id for one in found]
    memory.feedback(found.search_id, saved.memory_id, "helpful")
    memory.observe(
        found.search_id, f"It is the {CANARY} relay of the harbour gauge that is replaced on Thursday."
    )
    memory.judge(f"which relay, {ASKED}?", saved.memory_id, 3, explanation=f"it says {CANARY}")
    memory.judge(f"which battery, {CANARY}?", other.memory_id, 0)
    memory.judge("how long does the battery last?", other.memory_id, 3)
    memory.search("how long does the battery of the northern gauge last?", limit=1)
    names = {"saved": saved, "after": after, "copy": copy, "other": other}
    return {name: one.memory_id for name, one in names.items()}


# -- the rules -------------------------------------------------------------------------------------


def test_columns_of_an_erasure_are_declared_ones_and_no_row_of_a_memory_or_search_is_spared(store):
    for name, spec in store.specs.items():
        rule, columns = spec.erasure, set(spec.schema.names)
        assert {*rule.quoting, *rule.blanked, *rule.cleared, *rule.cleared.values()} <= columns
        named = {column for column in columns if column in ("memory_id", "from_memory", "to_memory")}
        assert named <= set(spec.memory_columns), name
        assert "search_id" not in columns or spec.search_column or spec.memory_columns, name


@pytest.mark.slow
def test_a_row_of_every_table_goes_with_its_memory_its_search_and_its_words(make_space):
    space = make_space()
    store = space.store
    work = ErasureTask("e", "ada", "memories", ("gone",), ("s-gone",))
    needles = QuoteFingerprints(frozenset({CANARY}), ())
    planted = []
    for name, spec in store.specs.items():
        rule = spec.erasure
        held = [*spec.memory_columns, spec.search_column, *rule.quoting, *rule.blanked, ""]
        for number, column in enumerate(held):
            if column or not any(held):
                row = {spec.key: f"key-{number}"} | (
                    {"namespace": "ada"} if "namespace" in spec.schema.names else {}
                )
                value = (
                    "gone"
                    if column in spec.memory_columns
                    else "s-gone"
                    if column == spec.search_column
                    else f"a {CANARY}"
                )
                row |= {column: value} if column else {}
                if column == "explanation":
                    row["source"] = "manual"
                if column == spec.key:
                    row[column] = value
                if "vector" in spec.schema.names:
                    row["vector"] = [0.0] * 8
                store.upsert(name, pl.DataFrame([row], schema_overrides=_vector(spec)))
                planted.append((name, column, rule))
    assert len({name for name, *_ in planted}) == len(store.specs)
    wanted = {name for name, column, _ in planted if column}
    assert set(counts(store, work, needles)) == wanted
    remove(store, work, needles)
    assert counts(store, work, needles) == {}
    for name, column, rule in planted:
        left = store.read(name)
        assert left.is_empty() or rule.blanked or not column, name
        assert left.height <= len(rule.blanked) or not column, name
        assert CANARY not in str(left.to_dicts())


def _vector(spec) -> dict:
    return {"vector": pl.Array(pl.Float32, 8)} if "vector" in spec.schema.names else {}


def test_every_kind_of_act_is_thought_of():
    """A new kind is erased where it names the memory or quotes it; what is spared is named here."""
    assert set(KEPT_FIELDS) == {"undo", "accept", "discard", "upgrade"}
    assert set(KEPT_FIELDS) < set(KINDS)


# -- one memory ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_of_an_erased_memory_is_left_in_the_home(guarded, home):
    names = lived(guarded)
    compact(guarded.store.table("chunks"))  # the words are in the full-text index
    create_checkpoint(guarded.store, "mine", datetime.now(UTC))
    quoting = {
        "judgment_id": "by night",
        "namespace": "ada",
        "memory_id": names["saved"],
        "explanation": CANARY,
    }
    guarded.store.upsert("judgments", pl.DataFrame([quoting]))  # which is recorded in the journal
    (home / "warehouse.duckdb").write_bytes(CANARY.encode())
    (home / "page.html").write_text(f"<p>{CANARY}</p>")
    assert leave_files(guarded.store, MANY, fewest=1).rows
    (home / "lance.wal" / ".1-killed.memories.arrows").write_bytes(CANARY.encode())
    found, indexes = places(home, *CANARIES), index_files(home)
    assert {"part_0_tokens.lance", "part_0_docs.lance"} <= {path.name for path in indexes}
    assert any(place.startswith("journal entry") and place.endswith(": record") for place in found), found
    for part in (
        "journal entry",
        "of chunks.lance",
        "warehouse",
        "page.html",
        "lance/_search/",
        "lance.wal/",
    ):
        assert any(part in place for place in found), (part, found)

    planned = guarded.plan_erasure(names["saved"])
    assert {one.memory_id: one.copy for one in planned.memories} == {
        names["saved"]: False,
        names["copy"]: True,
    }
    assert planned.memories[0].title
    assert {"mine", "before-reconsolidation"} == set(planned.checkpoints)
    assert places(home, *CANARIES) == found  # to look is to change nothing

    done = guarded.erase(names["saved"], why="she asked for it")
    assert places(home, *CANARIES) == []
    assert not indexes & index_files(home)  # words are packed into them: none of before is left
    (record,) = running.records(guarded._space)
    assert record == done
    assert (record.principal, record.why, record.finished) == ("application", "she asked for it", True)
    assert [one.name for one in list_checkpoints(guarded.store)] == ["before-reconsolidation"]
    with pytest.raises(NotFoundError):
        guarded.get(names["saved"])
    with pytest.raises(NotFoundError):
        guarded.erase(names["saved"])
    assert CANARY not in str(guarded.search("the relay of the harbour gauge"))


@pytest.mark.slow
def test_what_is_beside_it_stays(guarded):
    names = lived(guarded)
    before = [guarded.get(names[name]) for name in ("after", "other")]
    assert before[0].context.startswith("Step 58")
    guarded.erase(names["saved"])
    after = [guarded.get(names[name]) for name in ("after", "other")]
    assert [one.content for one in after] == [one.content for one in before]
    assert (after[0].context, after[0].follows) == (None, None)
    labels = guarded.journal.read(kinds=["judgment"])
    assert [payload_of(said)["memory_id"] for said in labels["payload"]] == [names["other"]]
    (search,) = guarded.journal.read(kinds=["search"])["payload"].to_list()
    said = payload_of(search)
    assert names["saved"] not in str(said)
    assert len({len(said["candidates"][name]) for name in ("chunk_id", "cosine", "vector_rank")}) == 1
    (text,) = guarded.store.read("chunks", f"memory_id = '{names['after']}'")["search_text"]
    assert text.endswith(ROTA)
    assert text.count(ROTA) == 1
    assert next(iter(guarded.search("who is on call in odd weeks?"))).memory_id == names["after"]


def test_who_says_something_else_now_and_once_said_the_same_is_named(guarded):
    once = guarded.save(ABOUT, key="once").memory_id
    guarded.save(BATTERY, key="once")
    kept = guarded.save(f"The {SECOND} relay was replaced on Monday, and it held for a year.", key="kept")
    saved = guarded.save(kept_text := f"The {SECOND} relay was replaced on Monday, and it held for a year.",
                         key="saved").memory_id  # fmt: skip
    guarded.save(ABOUT, key="saved")
    planned = guarded.plan_erasure(saved)
    assert {one.memory_id for one in planned.memories} == {saved}
    assert {once, kept.memory_id} <= set(planned.beside)
    assert kept_text in guarded.get(kept.memory_id).content


@pytest.mark.slow
def test_who_superseded_it_is_named(guarded):
    """It may repeat what goes: a person decides whether it goes, too."""
    old, new = supersede(guarded)
    assert guarded.plan_erasure(old.memory_id).beside == (new.memory_id,)
    assert guarded.plan_erasure(new.memory_id).beside == (old.memory_id,)


def test_words_that_are_ours_are_nobodys_own(guarded):
    """Codes and names of ours in acts and rows are no quotes, whatever a note says that is erased."""
    words = "Helpful manual judge applied graded refuse model vector battery success memories ranking."
    names = lived(guarded)
    found = guarded.search("who is on call in odd weeks?")
    guarded.feedback(found.search_id, 1, "helpful")
    before = guarded.journal.read(kinds=["feedback", "judgment", "search"], namespace="ada").height
    guarded.erase(guarded.save(words, key="ours").memory_id)
    assert guarded.journal.read(kinds=["feedback", "judgment", "search"]).height == before
    assert guarded.get(names["saved"]).status == "live"


@pytest.mark.slow
def test_rebuilding_the_tables_from_the_journal_does_not_bring_it_back(guarded, open_memory, tmp_path):
    names = lived(guarded)
    guarded.erase(names["saved"])
    fresh = open_memory(path=tmp_path / "fresh", reconsolidation={"policy": "guarded"})
    replayed(guarded, fresh)
    assert fresh.store.read("memories").filter(status="live")["source"].sort().to_list() == [
        "after",
        "battery",
    ]
    columns = ["memory_id", "status", "content", "context", "follows"]
    both = [one.store.read("memories", columns=columns).sort("memory_id") for one in (fresh, guarded)]
    assert both[0].equals(both[1])
    assert not any(CANARY in str(table.to_dicts()) for table in map(fresh.store.read, fresh.store.specs))


@pytest.mark.slow
def test_a_rebuilding_after_an_erasure_changes_nothing(guarded, home):
    """What the tables hold was recorded anew without it, and all that was recorded before is gone."""
    guarded.erase(lived(guarded)["saved"])
    before = rows(guarded)
    rebuild(guarded._space)
    after = rows(guarded)
    assert [name for name, frame in before.items() if not frame.equals(after[name])] == []
    assert places(home, *CANARIES) == []


def rows(memory: Memory) -> dict[str, pl.DataFrame]:
    """Every table by key, without vectors and what is about files."""
    store = memory.store
    found = {name: store.read(name).sort(spec.key).drop("vector", strict=False)
             for name, spec in store.specs.items()}  # fmt: skip
    about_files = pl.col("name").str.contains("^(checkpoint-|vector_index)")
    return found | {"meta": found["meta"].filter(~about_files)}


@pytest.mark.slow
def test_what_absorbed_it_or_was_superseded_by_it_says_its_own_again(guarded, home):
    target = guarded.save(BATTERY, title="Battery", key="battery")
    part = guarded.save(f"{BATTERY}\n{CHANGED.replace('Ruaridh', CANARY)}", title="Battery")
    assert (part.status, part.other) == ("merged", target.memory_id)
    assert CANARY in guarded.get(target.memory_id).content
    assert guarded.plan_erasure(part.memory_id).beside == (target.memory_id,)
    guarded.erase(part.memory_id)
    record = guarded.get(target.memory_id)
    assert (record.content, record.absorbed, record.status) == (BATTERY, (), "live")
    assert places(home, CANARY) == []


@pytest.mark.slow
def test_it_can_be_said_again(guarded):
    names = lived(guarded)
    guarded.erase(names["saved"])
    again = guarded.save(
        "Something else is said under the old name of this, about the ferry.", key=f"{CANARY}/key"
    )
    assert (again.memory_id, again.status) == (names["saved"], "live")
    assert running.unfinished(guarded._space) == []
    guarded.judge("what of the ferry?", again.memory_id, 2)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, write_path.MAX_ENTRIES_PER_CALL + 1])
def test_a_note_that_is_refused_and_erased_on_its_way_is_not_held(open_memory, home, monkeypatch, count):
    memory, other = (open_memory(gate={"mode": "enforce"}) for _ in range(2))
    memory.save(ROTA, key="rota")
    written = write_path.append

    def meanwhile(space, acts, **more):
        there = written(space, acts, **more)
        erasing = threading.Thread(target=other.erase, kwargs={"everything": True})
        erasing.start()
        erasing.join()
        return there

    monkeypatch.setattr(write_path, "append", meanwhile)
    notes = [{"content": CANARY, "key": "short"}, *({"content": f"{ABOUT} {n}"} for n in range(1, count))]
    assert memory.save_many(notes)[0].status == "quarantined"
    assert memory.store.read("quarantine").is_empty()
    assert places(home, CANARY) == []


@pytest.mark.slow
def test_a_note_that_is_erased_on_its_way_in_does_not_enter(guarded, open_memory, home, monkeypatch):
    from slowwave.lifecycle import ingest_pipeline

    guarded.erase(guarded.save(ROTA, key="rota").memory_id)
    embed, mine = ingest_pipeline.embed_few, ids.memory_id("ada", "slow")
    other = open_memory()
    erasing = threading.Thread(target=other.erase, args=[mine])  # its tables wait for the turn of the save

    def slowly(*given, **named):
        monkeypatch.setattr(ingest_pipeline, "embed_few", embed)
        erasing.start()
        until = time.monotonic() + 60
        while guarded.journal.about("ada", "slow") and time.monotonic() < until:
            time.sleep(0.01)
        return embed(*given, **named)

    monkeypatch.setattr(ingest_pipeline, "embed_few", slowly)
    guarded.save(ABOUT, key="slow")
    assert guarded.journal.about("ada", "slow") == []
    assert guarded.store.count("memories", f"memory_id = '{mine}'") == 0
    erasing.join(60)
    assert not erasing.is_alive()
    assert [one.finished for one in running.records(guarded._space)] == [True, True]
    assert guarded.store.count("memories", f"memory_id = '{mine}'") == 0
    assert places(home, CANARY) == []


def test_one_thing_has_to_be_named(guarded):
    for named in ({}, {"source": "a", "everything": True}):
        with pytest.raises(ErasureError, match="exactly one scope"):
            guarded.plan_erasure(**named)
    with pytest.raises(NotFoundError, match="has no source that begins with"):
        guarded.plan_erasure(source="nowhere/")


# -- vaults and namespaces -------------------------------------------------------------------------


@pytest.fixture
def look(guarded, tmp_path):
    """Looks at a vault of two files, one of which holds the word."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / f"{CANARY}.md").write_text(ABOUT)
    (folder / "rota.md").write_text(ROTA)
    moments = iter(datetime.now(UTC) + timedelta(seconds=n) for n in range(100))

    def scan() -> vault.ScanResult:
        at, journal = next(moments), guarded.journal
        source = vault.watch(journal, "ada", folder, name="v", as_of=at, principal="test")
        seen = journal.read(kinds=["save", "forget"])["seq"].max() or 0
        found = vault.scan(journal, source, guarded.settings.notes, as_of=at)
        new = journal.read(kinds=["save", "forget"], after_seq=seen)["event_id"].to_list()
        guarded._apply([one for one in journal.entries(new).values() if one.kind == "save"])
        return found

    scan.file = folder / f"{CANARY}.md"
    return scan


@pytest.mark.slow
def test_a_file_that_was_erased_is_not_taken_in_again_until_it_says_something_else(guarded, home, look):
    assert look().new == 2
    planned = guarded.plan_erasure(source=f"v/{CANARY}")
    assert planned.files == (str(look.file),)
    guarded.erase(source=f"v/{CANARY}")
    assert look.file.read_text() == ABOUT  # a person's own file
    assert places(home, CANARY) == []
    again = look()
    assert (again.new, again.changed, again.deleted, again.unchanged) == (0, 0, 0, 2)
    look.file.write_text("The ferry to the island leaves at seven in the morning, from the second pier.")
    assert (look().new, guarded.count()) == (1, 2)
    look.file.unlink()
    assert look().deleted == 1


@pytest.mark.slow
def test_a_whole_namespace_goes_and_no_other_one(guarded, open_memory, home, look):
    look()
    lived(guarded)
    other = open_memory("bob")
    kept = other.save(BATTERY.replace("northern", "southern"), key="battery")
    other.search("how long does the battery last?")
    (home / "slowwave.toml").write_text(
        "".join(
            f'[[mcp.tokens]]\ntoken_sha256 = "{ids.digest(name) * 2}"\n'
            f'namespace = "{name}"\nprincipal = "p"\n'
            for name in ("ada", "bob")
        )
    )
    from slowwave.settings import load

    mine = Memory(load(home), namespace="ada")
    mine._space.__dict__["embedder"] = guarded.embedder
    with mine:
        mine.erase(everything=True, why="she left")
    assert places(home, *CANARIES, "ishbel", "northern gauge") == []
    assert guarded.count() == 0
    assert guarded.journal.sources() == []
    assert [one.namespace for one in load(home).mcp.tokens] == ["bob"]
    assert other.get(kept.memory_id).status == "live"
    assert [one.memory_id for one in other.search("how long does the battery last?")] == [kept.memory_id]
    assert guarded.journal.read(kinds=["save", "search", "judgment"], namespace="ada").is_empty()


# -- killed ----------------------------------------------------------------------------------------

STEPS = (
    "running._unmerge", "tables.remove", "versions.drop_tags", "versions.rewrite", "running._rerecord",
    "files.drop_warehouse", "erasure_state.remove",
)  # fmt: skip


class Killed(BaseException):
    """As if the process had ended here."""


@pytest.mark.slow
def test_one_that_is_interrupted_at_any_step_is_known_and_finished(guarded, home, monkeypatch):
    names = lived(guarded)

    def kill(*given, **named):
        raise Killed

    for step in STEPS:
        with monkeypatch.context() as patch:
            patch.setattr(f"slowwave.maintenance.erasure.{step}", kill)
            with pytest.raises(Killed):
                running.finish(guarded._space) if step != STEPS[0] else guarded.erase(names["saved"])
        left = guarded.journal.read(kinds=["save"]).filter(pl.col("subject").str.contains(CANARY))
        assert left.is_empty(), step
        (found,) = [one for one in examine(guarded.settings) if one.subject == "erasure"]
        assert (found.ok, found.advice) == (False, "slowwave erase --finish"), step
        if step != STEPS[-1]:  # there the tables hold nothing of it any more
            with pytest.raises(SlowwaveError, match="slowwave erase --finish"):  # or it would be put back
                mend_journal(guarded._space)
    running.finish(guarded._space)
    assert places(home, *CANARIES) == []
    assert running.unfinished(guarded._space) == []
    assert not list(home.glob("erasing-*"))


@pytest.mark.slow
def test_one_whose_process_is_killed_is_finished_by_another(guarded, home):
    names = lived(guarded)
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    script = textwrap.dedent(f"""
        import os, signal, slowwave
        from slowwave.maintenance.erasure import versions
        versions.rewrite = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        slowwave.open({str(home)!r}, namespace="ada").erase({names["saved"]!r})
    """)
    done = subprocess.run(warm.python("-c", script), env=dict(os.environ), check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert [one.finished for one in running.unfinished(guarded._space)] == [False]
    finished = subprocess.run(
        warm.python("-m", "slowwave", "erase", "--finish", "--json"),
        env={**os.environ, "SLOWWAVE_HOME": str(home)}, check=False, timeout=120, capture_output=True,
        text=True,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert places(home, *CANARIES) == []


@pytest.mark.slow
def test_a_row_that_a_night_wrote_afterwards_is_found_and_taken_out(guarded, home):
    names = lived(guarded)
    row = guarded.store.read("memories", f"memory_id = '{names['saved']}'")
    guarded.erase(names["saved"])
    guarded.store.upsert("memories", row)
    assert [one.finished for one in running.unfinished(guarded._space)] == [True]
    running.finish(guarded._space)
    assert places(home, *CANARIES) == []
    assert running.unfinished(guarded._space) == []


def test_acts_that_were_staged_before_enter_nothing(guarded):
    """A night that read the journal a moment ago settles what it has read."""
    from slowwave.lifecycle import ingest_pipeline
    from slowwave.lifecycle.admission import admit_batch
    from slowwave.store import staging

    saved = guarded.save(ABOUT, key="late")
    staged = staging.stage(entries_frame(guarded.journal.about("ada", "late")))
    guarded.erase(saved.memory_id)
    admit_batch(guarded._space, staged, lambda _: ingest_pipeline.no_chunks(guarded.embedder), again=True)
    assert guarded.store.count("memories", f"memory_id = '{saved.memory_id}'") == 0


@pytest.mark.slow
def test_what_stands_in_the_home_beside_the_tables_goes_too(guarded, home):
    names = lived(guarded)
    said = guarded.get(names["saved"]).content
    left = [home / name for name in ("out.jsonl", "log.ndjson", "journal.db.damaged-20260101T000000")]
    for path in left:
        path.write_text(said)
    (home / "other.jsonl").write_text("xylophones")
    guarded.erase(names["saved"])
    assert not any(path.exists() for path in left)
    assert (home / "other.jsonl").exists()


@pytest.mark.slow
def test_a_project_is_words_of_somebody_too(guarded, home):
    named = f"{CANARY} {SECOND}"
    saved = guarded.save(f"The {named} is planned for June, and nobody may know of it.", key="k").memory_id
    other = guarded.save(BATTERY, key="battery").memory_id
    guarded.search("what is planned for June?", project=named)
    kept = guarded.search("how long does the battery last?", limit=1, project=named)
    assert [one.memory_id for one in kept] == [other]
    guarded.outcome(named, "failure")
    guarded.erase(saved)
    assert places(home, *CANARIES) == []
    assert guarded.journal.read(kinds=["search"])["event_id"].to_list() == [kept.search_id]
    guarded.search("whose is this?", project="quokkaproject")
    guarded.erase(everything=True)
    assert places(home, *CANARIES, "quokkaproject") == []
    with pytest.raises(NotFoundError, match="has nothing to erase"):
        guarded.plan_erasure(everything=True)


@pytest.mark.parametrize("everything", [True, False])
def test_the_files_of_others_in_the_home_stay(guarded, open_memory, home, everything):
    """A vault in the home is its person's own, and what another namespace says belongs to that one."""
    folder = home / "vault"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Relay\n\n{ABOUT}")
    now = datetime.now(UTC)
    source = vault.watch(guarded.journal, "ada", folder, name="v", as_of=now, principal="p")
    vault.scan(guarded.journal, source, guarded.settings.notes, as_of=now)
    other = open_memory("bob")
    other.search("how are the spare relays of the radar replaced on Thursday, behind the harbour?")
    (home / "bob.jsonl").write_text("spare relays replaced Thursday behind harbour radar")
    saved = guarded.save(ABOUT, key="relay").memory_id
    guarded.erase(*([] if everything else [saved]), everything=everything)
    assert (folder / "a.md").exists()
    assert (home / "bob.jsonl").exists()


def test_the_pages_of_a_home_in_a_vault_go(guarded, home):
    vault.watch(guarded.journal, "ada", home.parent, name="v", as_of=datetime.now(UTC), principal="p")
    saved = guarded.save(ABOUT, key="relay").memory_id
    (home / "page.html").write_text(CANARY)
    guarded.erase(saved)
    assert not (home / "page.html").exists()


@pytest.mark.slow
def test_one_that_is_stopped_after_it_began_says_so(guarded, home, monkeypatch):
    saved = guarded.save(ABOUT, key="stopped").memory_id

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("slowwave.maintenance.erasure.running.files.drop_warehouse", full)
        with pytest.raises(TakenInLaterError, match=r"has begun.*slowwave erase --finish"):
            guarded.erase(saved)
    running.finish(guarded._space)
    assert places(home, *CANARIES) == []


def test_a_policy_that_cannot_be_read_stops_it_before_it_begins(open_memory, home, tmp_path):
    memory = open_memory()
    saved = memory.save(ABOUT, key="kept").memory_id
    lost = open_memory(ranking={"policy_file": str(tmp_path / "lost.json")})
    planned = memory.plan_erasure(saved)
    with pytest.raises(SettingsError, match="Cannot read the policy file"):
        running.erase(lost._space, planned, principal="ann")
    assert memory.get(saved).content == ABOUT
    assert running.records(memory._space) == []


def test_a_tenant_that_has_nothing_is_not_erased(open_memory):
    memory = open_memory("nobody-of-this-name")
    create_checkpoint(memory.store, "kept", datetime.now(UTC))
    with pytest.raises(NotFoundError, match="has nothing to erase"):
        memory.erase(everything=True)
    assert [one.name for one in list_checkpoints(memory.store)] == ["kept"]
