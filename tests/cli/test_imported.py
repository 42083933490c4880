"""The commands that take in conversations and memories from elsewhere, over a real home."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st
from import_samples import (
    BILLING,
    LISBON,
    RENT,
    START,
    TRACE,
    claude,
    code_line,
    codex_lines,
    gpt,
    pack,
    write_lines,
)  # fmt: skip
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.lifecycle.correcting import correction
from slowwave.memory import Memory
from slowwave.views.terminal import out

ORDERS = "Quote the prices of the Tidal pilot in euros, and name the depot in Porto."
SAID = [("user", LISBON), ("assistant", "Lisbon is lovely."), ("user", "thanks!"), ("user", RENT)]


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given."""
    return open_memory("default")


@pytest.fixture
def take(run: Callable[..., Result]) -> Callable[..., dict[str, Any]]:
    """Imports, and gives the report."""

    def take_(*words: object) -> dict[str, Any]:
        done = run("import", *map(str, words), "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return take_


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def rows(memory: Memory, *columns: str) -> list[tuple[Any, ...]]:
    found = memory.store.read("memories", memory.tenant.mine("status = 'live'"))
    return sorted(found.select(columns).rows())


def texts(memory: Memory) -> set[str]:
    return {content for (content,) in rows(memory, "content")}


def everything(memory: Memory) -> tuple[int, ...]:
    tables = ("memories", "chunks", "quarantine", "decisions")
    with memory.home.writing():
        memory.store.settle()  # what an earlier save left in the log: any opening of the home writes it down
    return (memory.journal.last_seq(), *(memory.store.count(name) for name in tables))


# -- conversations --------------------------------------------------------------------------------


def test_what_a_person_wrote_and_that_states_something_is_taken(take, memory, tmp_path):
    file = pack(tmp_path / "gpt.zip", {"conversations.json": [gpt("c1", SAID, title="Moving to Lisbon")]})
    report = take("chatgpt", file)
    assert report["new"] == {"message": 2}
    assert report["status"] == {"live": 2}
    assert report["left_out"] == {"no_statement": 1}
    assert report["skipped"] == {"by the assistant (import with --assistant)": 1}
    found = memory.store.read("memories").sort("created_at")
    assert found["content"].to_list() == [LISBON, RENT]
    assert found["source"].to_list() == ["chatgpt:c1/c1-0", "chatgpt:c1/c1-3"]
    assert found["title"].to_list() == ["Moving to Lisbon", RENT]
    assert found["memory_type"].unique().to_list() == ["chat"]
    assert found["source_kind"].unique().to_list() == ["imported"]
    assert found["created_at"][0] == datetime(2026, 1, 1, tzinfo=UTC)
    assert found["follows"].to_list() == [None, found["memory_id"][0]]
    assert found["context"][1] == LISBON
    mark = json.loads(found["metadata"][0])["imported"]
    assert (mark["from"], mark["conversation"]) == ("chatgpt", "Moving to Lisbon")


def test_what_is_imported_is_no_evidence_of_use(take, memory, tmp_path):
    take("chatgpt", write(tmp_path / "c.json", [gpt("c1", SAID)]))
    kinds = set(memory.journal.read(kinds=["save", "search", "feedback", "observation", "outcome"])["kind"])
    assert kinds == {"save"}


def test_the_assistant_is_taken_when_asked_for(take, memory, tmp_path):
    said = [("user", LISBON), ("assistant", "The tram 28 goes from Martim Moniz to Campo de Ourique.")]
    report = take("chatgpt", write(tmp_path / "c.json", [gpt("c1", said)]), "--assistant")
    assert report["new"] == {"message": 1, "reply": 1}
    kinds = dict(rows(memory, "content", "source_kind"))
    assert kinds[said[1][1]] == "generated"


def test_only_the_branch_that_the_person_sees_is_taken(take, memory, tmp_path):
    one = gpt("c1", [("user", LISBON)])
    one["mapping"]["edited"] = {
        "id": "edited", "parent": "root", "children": [],
        "message": {"id": "edited", "author": {"role": "user"}, "content": {"parts": [RENT]}},
    }  # fmt: skip
    take("chatgpt", write(tmp_path / "c.json", [one]))
    assert texts(memory) == {LISBON}
    take("chatgpt", write(tmp_path / "c.json", [{**one, "current_node": "edited"}]))
    assert texts(memory) == {LISBON, RENT}


def test_a_tree_that_leads_in_circles_comes_to_an_end(take, memory, tmp_path):
    one = gpt("c1", [("user", LISBON)])
    one["mapping"]["root"]["parent"] = "c1-0"
    take("chatgpt", write(tmp_path / "c.json", [one]))
    assert texts(memory) == {LISBON}


def test_tools_pictures_and_what_is_hidden_are_passed_over(take, memory, tmp_path):
    picture = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://1"}, LISBON]}
    said = [
        ("user", picture), ("tool", RENT), ("system", RENT), ("user", {"content_type": "code", "text": RENT}),
        ("user", {"content_type": "text", "parts": None}), ("user", BILLING), ("user", {"content_type": 7}),
    ]  # fmt: skip
    one = gpt("c1", said)
    one["mapping"]["c1-5"]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    report = take("chatgpt", write(tmp_path / "c.json", [one]))
    assert texts(memory) == {LISBON}
    assert sum(report["skipped"].values()) == 6


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (START, "2026-01-01"), (None, ""), ("2026-01-01T00:00:00+01:00", "2025-12-31"),
        (START * 1_000, "2026-01-01"), ("2026-01-01T00:00:00", "2026-01-01"), ("yesterday", ""), (True, ""),
        (1e300, ""), (-1.0, ""), ([], ""),
        ("9999-01-01T00:00:00Z", ""), (str(START), "2026-01-01"),
    ],
)  # fmt: skip
def test_moments_in_every_form(take, tmp_path, at, day):
    one = gpt("c1", [("user", LISBON)])
    for value in (one, one["mapping"]["c1-0"]["message"]):
        value |= {"create_time": at}
    report = take("chatgpt", write(tmp_path / "c.json", [one | {"update_time": None}]), "--dry-run")
    assert (report["first_day"], report["undated"]) == (day, int(not day))


def test_days_before_one_are_left_out(take, memory, tmp_path):
    file = write(
        tmp_path / "c.json", [gpt("c1", [("user", LISBON)]), gpt("c2", [("user", RENT)], at=START + 1e6)]
    )
    report = take("chatgpt", file, "--since", "2026-01-05")
    assert report["skipped"] == {"before --since": 1}
    assert texts(memory) == {RENT}


def test_claude_with_what_it_remembers_and_documents(take, memory, tmp_path):
    remembered = [{"account_uuid": "a", "conversations_memory": RENT, "project_memories": {"p": BILLING}}]
    document = {"uuid": "d", "filename": "plan.md", "content": "The pilot ends on 3 May in Porto.",
                "created_at": "2026-01-04T00:00:00Z"}  # fmt: skip
    file = pack(
        tmp_path / "claude.zip",
        {
            "data/conversations.json": [
                claude("k1", [("human", LISBON), ("assistant", "Yes."), ("human", "ok")])
            ],
            "data/memories.json": remembered,
            "data/projects.json": [
                {"uuid": "p", "name": "Tidal", "prompt_template": ORDERS, "docs": [document]}
            ],
            "data/users.json": [{"uuid": "a"}],
        },
    )
    report = take("claude", file)
    assert report["new"] == {"message": 1, "memory": 3, "document": 1}
    assert report["unread"] == 0
    assert {source for (source,) in rows(memory, "source")} == {
        "claude:k1/k1-0", "claude:memory/a", "claude:memory/p", "claude:project/p/d",
        "claude:project/p/instructions",
    }  # fmt: skip
    before = everything(memory)
    assert take("claude", file)["already"] == 5
    assert everything(memory) == before


def test_sessions_of_claude_code(take, memory, tmp_path):
    folder = tmp_path / "claude"
    write_lines(
        folder / "projects" / "-home-ada-tidal" / "s1.jsonl",
        [
            {"type": "summary", "summary": "Deploys", "leafUuid": "x"},
            code_line(1, LISBON),
            code_line(2, [{"type": "text", "text": "It is done."}], role="assistant"),
            code_line(3, [{"type": "tool_result", "tool_use_id": "t", "content": RENT}]),
            code_line(4, RENT, isMeta=True),
            code_line(5, RENT, isSidechain=True),
            code_line(
                6, f"<command-name>/clear</command-name><local-command-stdout>{RENT}</local-command-stdout>"
            ),
            code_line(7, [{"type": "text", "text": f"<system-reminder>{RENT}</system-reminder>{BILLING}"}]),
            code_line(8, "[Request interrupted by user for tool use]"),
            code_line(9, f"This session is being continued from a previous conversation. {RENT}"),
            "{broken",
        ],
    )
    write_lines(folder / "projects" / "-home-ada-tidal" / "agent-1.jsonl", [code_line(1, RENT)])
    write_lines(
        folder / "projects" / "-home-ada-tidal" / "s1" / "subagents" / "a.jsonl", [code_line(1, RENT)]
    )
    write_lines(
        folder / "projects" / "-home-ada-tidal" / "memory" / "deploys.md", ["Deploys wait for Bo's approval."]
    )
    write_lines(folder / "history.jsonl", [{"display": RENT}])
    report = take("claude-code", folder)
    assert texts(memory) == {LISBON, BILLING, "Deploys wait for Bo's approval."}
    assert report["unread"] == 1
    assert "s1.jsonl, line 11" in report["problems"][0]["place"]
    marks = {json.loads(found)["imported"].get("project") for (found,) in rows(memory, "metadata")}
    assert marks == {"tidal", None}


def test_a_boot_file_is_refused_by_the_gate_and_says_so(take, memory, tmp_path):
    (tmp_path / "CLAUDE.md").write_text("Deploys of the tidal service wait for Bo's approval on Thursdays.")
    dry = take("claude-code", tmp_path, "--dry-run")
    assert dry["refused"] == {"boot_file": 1}
    assert [one["why"] for one in dry["staying_out"]] == ["boot_file"]
    assert memory.journal.read(kinds=["save"]).is_empty()
    assert take("claude-code", tmp_path)["status"] == {"quarantined": 1}
    assert [one["reasons"] for one in memory.quarantine()] == [["boot_file"]]


def test_rollouts_of_codex_new_and_old(take, memory, tmp_path):
    folder = tmp_path / "codex" / "sessions" / "2026" / "01" / "03"
    write_lines(folder / "rollout-1.jsonl", codex_lines([LISBON, "ok", RENT]))
    old = [{"id": "r0", "timestamp": "2025-05-01T00:00:00Z", "instructions": None}]
    old += [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            for text in (BILLING, "# AGENTS.md instructions for /home/ada")]  # fmt: skip
    write_lines(folder / "rollout-0.jsonl", old)
    agent = codex_lines(["The harbour crane is red and twelve metres high."], session="r2")
    agent[0]["payload"]["source"] = {"subagent": "review"}
    write_lines(folder / "rollout-2.jsonl", agent)
    report = take("codex", tmp_path / "codex")
    assert report["new"] == {"message": 3}
    found = dict(rows(memory, "content", "source"))
    assert set(found) == {LISBON, RENT, BILLING}
    assert found[LISBON] == "codex:r1/line-4"
    assert take("codex", tmp_path / "codex")["already"] == 3


# -- memories -------------------------------------------------------------------------------------


def mem(name: str, text: str, updated: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": name, "memory": text, "user_id": "ada", "created_at": "2026-01-01T00:00:00-08:00",
            "updated_at": updated, "metadata": {"trip": 1}, **more}  # fmt: skip


def test_memories_of_mem0_in_each_form(take, memory, tmp_path):
    three = [mem("1", LISBON, categories=["travel"]), mem("2", RENT), mem("3", BILLING, user_id="bo")]
    file = write(tmp_path / "mem0.json", {"results": three, "relations": []})
    assert take("mem0", file, "--user", "ada")["new"] == {"memory": 2}
    assert texts(memory) == {LISBON, RENT}
    [(tags, kind, metadata)] = [
        row[1:] for row in rows(memory, "content", "tags", "memory_type", "metadata") if row[0] == LISBON
    ]
    assert (tags, kind) == (["travel"], "fact")
    assert json.loads(metadata)["imported"]["metadata"] == {"trip": 1}
    assert take("mem0", write(tmp_path / "list.json", three))["already"] == 2
    assert take("mem0", write_lines(tmp_path / "m.jsonl", three))["already"] == 3


def test_several_users_in_one_file_are_told(take, run, tmp_path):
    file = write(tmp_path / "m.json", [mem("1", LISBON), mem("2", RENT, user_id="bo")])
    assert "2 users" in take("mem0", file, "--dry-run")["notes"][0]


def test_an_edited_memory_replaces_its_former_text_and_an_older_file_does_not(take, memory, tmp_path):
    old = write(tmp_path / "old.json", [mem("1", LISBON, "2026-01-02T00:00:00Z")])
    new = write(tmp_path / "new.json", [mem("1", RENT, "2026-01-03T00:00:00Z")])
    take("mem0", old)
    report = take("mem0", new)
    assert (report["changed"], report["new"]) == (1, {"memory": 1})
    assert texts(memory) == {RENT}
    assert take("mem0", old)["kept"] == {"older than what is here": 1}
    assert texts(memory) == {RENT}


def test_of_two_records_with_one_id_the_newer_one_is_taken(take, memory, tmp_path):
    two = [mem("1", RENT, "2026-01-03T00:00:00Z"), mem("1", LISBON, "2026-01-02T00:00:00Z")]
    for order in (two, two[::-1]):
        report = take("mem0", write(tmp_path / "m.json", order))
        assert report["skipped"] == {"the same record again": 1}
        assert texts(memory) == {RENT}


def test_what_was_forgotten_edited_or_erased_here_stays_so(take, run, memory, tmp_path):
    file = write(tmp_path / "m.json", [mem("1", LISBON), mem("2", RENT), mem("3", BILLING)])
    take("mem0", file)
    found = dict(rows(memory, "content", "memory_id"))
    memory.forget(found[LISBON])
    memory.save("The rent in Lisbon is 980 euros since May.", key="mem0:2")
    assert run("erase", found[BILLING], "--yes").exit_code == 0
    before = texts(memory)
    report = take("mem0", file)
    assert report["kept"] == {"forgotten here": 1, "edited here": 1, "erased here": 1}
    assert (report["new"], texts(memory)) == ({}, before)


def test_a_correction_by_a_person_stays(take, memory, tmp_path):
    """It keeps all that is known of the memory, also what the import noted of itself."""
    file = write(tmp_path / "m.json", [mem("1", LISBON, "2026-01-03T00:00:00Z")])
    take("mem0", file)
    (name,) = (one for _, one in rows(memory, "content", "memory_id"))
    memory.save(**correction(memory.tenant, memory.get(name), RENT))
    assert "imported" in memory.get(name).metadata
    assert take("mem0", file)["kept"] == {"edited here": 1}
    newer = write(tmp_path / "n.json", [mem("1", BILLING, "2026-02-03T00:00:00Z")])
    assert take("mem0", newer)["kept"] == {"edited here": 1}
    assert texts(memory) == {RENT}


def test_notes_of_basic_memory(take, memory, run, tmp_path):
    note = (
        "---\ntitle: Coffee\ntype: note\npermalink: kitchen/coffee\ntags: [drinks]\n"
        "created: 2026-01-05\n---\n"
        "# Coffee\n- [method] Pour over is clearer than the press #brew\n- [ ] buy filters\n"
        "- requires [[Grinder]]\n"
    )
    (tmp_path / "coffee.md").write_text(note)
    report = take("basic-memory", tmp_path)
    assert report["new"] == {"note": 1}
    [(source, title, tags, created, metadata)] = rows(
        memory, "source", "title", "tags", "created_at", "metadata"
    )
    assert (source, title) == ("basic-memory:kitchen/coffee", "Coffee")
    assert tags == ["drinks", "brew", "method"]
    assert created.date().isoformat() == "2026-01-05"
    assert json.loads(metadata)["imported"]["relations"] == [["requires", "Grinder"]]
    (tmp_path / "moved.md").write_text((tmp_path / "coffee.md").read_text())
    (tmp_path / "coffee.md").unlink()
    assert take("basic-memory", tmp_path)["already"] == 1


def test_plain_notes_are_no_basic_memory(run, take, memory, tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text(LISBON)
    (tmp_path / "vault" / "b.md").write_bytes(b"\0" * 300 + b"abc")
    done = run("import", "basic-memory", str(tmp_path / "vault"))
    assert done.exit_code == 1
    assert "slowwave ingest" in done.stderr
    report = take("markdown", tmp_path / "vault")
    assert report["status"] == {"live": 1}
    assert report["problems"][0]["place"] == "b.md"
    assert rows(memory, "source") == [("markdown:vault/a.md",)]
    assert "slowwave ingest" in report["notes"][0]


def test_a_note_that_no_longer_says_that_it_is_the_source_of_truth_is_none(take, memory, tmp_path):
    note, head = tmp_path / "vault" / "a.md", "---\nsource_of_truth: true\nimportance_tier: critical\n---\n"
    note.parent.mkdir()
    note.write_text(head + LISBON)
    take("markdown", note.parent)
    assert rows(memory, "source_of_truth", "importance_tier") == [(True, "critical")]
    note.write_text(LISBON + "\nThe move was put off until the third of October.\n")
    take("markdown", note.parent)
    assert rows(memory, "source_of_truth", "importance_tier") == [(False, "normal")]


def test_entities_of_the_memory_server(take, memory, tmp_path):
    graph = [
        {
            "type": "entity",
            "name": "Ada_Byron",
            "entityType": "person",
            "observations": ["Lives in Lisbon", 3],
        },
        {"type": "relation", "from": "Ada_Byron", "to": "Tidal", "relationType": "works_at"},
        {"type": "relation", "from": "Nobody", "to": "Tidal", "relationType": "works_at"},
        {"type": "entity", "name": "Tidal", "entityType": "company", "observations": []},
    ]
    file = write_lines(tmp_path / "memory.jsonl", graph)
    report = take("memory-server", file)
    assert report["unread"] == 1
    assert rows(memory, "title", "memory_type", "content") == [
        ("Ada Byron", "person", "- Lives in Lisbon\n- Ada_Byron works at Tidal")
    ]
    graph.append(
        {"type": "entity", "name": "Ada_Byron", "entityType": "person", "observations": ["Has two cats"]}
    )
    report = take("memory-server", write_lines(file, graph))
    assert (report["changed"], len(rows(memory, "title"))) == (1, 1)
    whole = write(tmp_path / "g.json", {"entities": [graph[0], graph[4]], "relations": graph[1:2]})
    assert take("memory-server", whole)["already"] == 1


# -- preview, again, in parts ---------------------------------------------------------------------


def test_a_preview_counts_and_writes_nothing(run, take, memory, tmp_path, monkeypatch):
    memory.save(BILLING)
    said = [*SAID, ("user", TRACE), ("user", BILLING), ("user", RENT)]
    file = write(tmp_path / "c.json", [gpt("c1", said), gpt("c2", [("user", "hi")])])
    before = everything(memory)
    report = take("chatgpt", file, "--dry-run")
    assert everything(memory) == before
    assert report["left_out"] == {"no_statement": 2, "tool_output": 1, "exact_duplicate": 2}
    assert (report["new"], report["status"]) == ({"message": 2}, {})
    assert [one["text"] for one in report["entering"]] == [LISBON, RENT]
    monkeypatch.setattr(out, "_width", 80)
    shown = run("import", "chatgpt", str(file), "--dry-run").stdout
    assert "Preview of chatgpt into default" in shown
    assert max(map(len, shown.splitlines())) <= 80
    for words in (
        "2026-01-01  message  I am moving",
        "no_statement     hi",
        "would be imported",
        "Nothing was written.",
    ):
        assert words in shown, shown
    assert take("chatgpt", file)["status"] == {"live": report["new"]["message"]}


def test_a_preview_without_a_home_makes_none(tmp_path, monkeypatch, fast_embedder):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
    file = write(tmp_path / "c.json", [gpt("c1", SAID)])
    done = CliRunner().invoke(app, ["import", "chatgpt", str(file), "--dry-run", "--json"])
    assert json.loads(done.stdout)["new"] == {"message": 2}
    assert not (tmp_path / "nowhere").exists()


def test_a_gate_that_only_warns_is_told_of_memories_and_talk_stays_out(
    open_memory, take, tmp_path, monkeypatch
):
    monkeypatch.setenv("SLOWWAVE_GATE__MODE", "warn")
    memory = open_memory("default")
    report = take("chatgpt", write(tmp_path / "c.json", [gpt("c1", SAID)]))
    assert report["left_out"] == {"no_statement": 1}
    report = take("mem0", write(tmp_path / "m.json", [mem("1", "ok")]))
    assert (report["warned"], report["status"]) == ({"no_statement": 1}, {"live": 1})
    assert texts(memory) == {LISBON, RENT, "ok"}
    assert memory.store.count("quarantine") == 0


def test_again_is_nothing_and_a_grown_export_adds_only_what_is_new(run, take, memory, tmp_path):
    first, more = gpt("c1", SAID[:1]), gpt("c1", [*SAID, ("user", BILLING)])
    file = write(tmp_path / "c.json", [first])
    take("chatgpt", file)
    before = everything(memory)
    report = take("chatgpt", file)
    assert (report["already"], report["new"], everything(memory)) == (1, {}, before)
    assert "Nothing new: nothing was changed." in run("import", "chatgpt", str(file)).stdout
    report = take("chatgpt", write(file, [more]))
    assert (report["already"], report["new"]) == (1, {"message": 2})
    found = memory.store.read("memories").sort("created_at")
    assert found["content"].to_list() == [LISBON, RENT, BILLING]
    assert found["follows"].to_list()[1:] == found["memory_id"].to_list()[:2]


def test_another_namespace_is_not_touched(take, memory, open_memory, tmp_path):
    other = open_memory("bo")
    other.save(LISBON, key="chatgpt:c1/c1-0")
    before = rows(other, "memory_id", "content", "revision")
    report = take("chatgpt", write(tmp_path / "c.json", [gpt("c1", SAID)]))
    assert (report["new"], report["left_out"]) == ({"message": 2}, {"no_statement": 1})
    assert rows(other, "memory_id", "content", "revision") == before


WORDS = [
    "Teresa keeps bees on the roof in Porto", "The crane at pier four was painted red in June",
    "Olaf the cat is allergic to salmon", "The billing service runs on PostgreSQL sixteen",
    "My flight to Oslo leaves on 4 May at noon", "Grandmother's recipe needs two spoons of paprika",
]  # fmt: skip


@st.composite
def exports(draw: st.DrawFn) -> list[dict[str, Any]]:
    picked = draw(st.lists(st.sampled_from([*WORDS, "ok", "thanks a lot", ""]), min_size=1, max_size=8))
    cuts = sorted(draw(st.lists(st.integers(0, len(picked)), max_size=3)))
    parts = [picked[a:b] for a, b in zip([0, *cuts], [*cuts, len(picked)], strict=True)]
    return [
        gpt(f"c{n}", [("user", text) for text in part], at=START + n * 9e4) for n, part in enumerate(parts)
    ]


@pytest.mark.slow
@settings(max_examples=12)
@given(export=exports(), cut=st.integers(0, 4), swap=st.booleans())
@pytest.mark.soak
def test_whole_again_and_in_halves_come_to_the_same(
    run, take, open_memory, tmp_path_factory, export, cut, swap
):
    folder = tmp_path_factory.mktemp("halves")
    whole, halves = (open_memory(path=folder / name, namespace="default") for name in ("whole", "halves"))
    file = write(folder / "whole.json", export)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
        patch.setenv("SLOWWAVE_HOME", str(folder / "whole"))
        take("chatgpt", file)
        state = everything(whole)
        assert take("chatgpt", file)["new"] == {}
        assert everything(whole) == state
        patch.setenv("SLOWWAVE_HOME", str(folder / "halves"))
        for part in [export[:cut], export[cut:]][:: -1 if swap else 1]:
            take("chatgpt", write(folder / "part.json", part))
        assert texts(halves) == texts(whole) == {text for one in export for text in said_in(one)} & set(WORDS)
        take("chatgpt", file)
        assert texts(halves) == texts(whole)


def said_in(one: dict[str, Any]) -> set[str]:
    return {node["message"]["content"]["parts"][0] for node in one["mapping"].values() if node["message"]}


# -- what is broken -------------------------------------------------------------------------------


def test_a_broken_record_never_stops_the_rest(take, memory, tmp_path):
    good = json.dumps(gpt("c1", [("user", LISBON)])).encode()
    pieces = [
        b'{"mapping": {}}', b'{"id": "x", "mapping": {"a": 1, "b": {"message": []}}}', b"{'not': json}",
        b"null",
        b'"text [ { in a string"', b'{"id": "n", "mapping": {"m": {"message": {"author": {"role": "user"}, '
        b'"content": {"parts": ["a\\u0000b of Lisbon and Porto"]}}}}}', b'{"caf\xe9": 1}',
    ]  # fmt: skip
    file = tmp_path / "c.json"
    file.write_bytes(b"[" + b",\n".join([*pieces, good]) + b"]")
    report = take("chatgpt", file)
    assert texts(memory) == {LISBON}
    assert report["unread"] == len(report["problems"]) == 5
    assert any("NUL" in one["why"] for one in report["problems"])


def test_one_huge_message_is_told_and_the_others_are_taken(take, memory, tmp_path):
    said = [("user", "Lisbon and Porto " * 200_000), ("user", LISBON)]
    report = take("chatgpt", write(tmp_path / "c.json", [gpt("c1", said)]))
    assert "notes.max_bytes" in report["problems"][0]["why"]
    assert texts(memory) == {LISBON}


def test_an_export_that_was_cut_off_gives_what_it_has(take, memory, tmp_path):
    whole = json.dumps([gpt("c1", [("user", LISBON)]), gpt("c2", [("user", RENT)])])
    (tmp_path / "c.json").write_text(whole[:-40])
    report = take("chatgpt", tmp_path / "c.json")
    assert texts(memory) == {LISBON}
    assert "truncated" in report["problems"][0]["why"]


@pytest.mark.parametrize(
    ("form", "data", "told"),
    [
        ("chatgpt", b"", "begins with nothing"),
        ("chatgpt", b"hello", "begins with 'hello'"),
        ("chatgpt", "[]".encode("utf-16"), "UTF-16"),
        ("chatgpt", json.dumps([claude("k", [("human", LISBON)])]).encode(), "slowwave import claude"),
        ("claude", json.dumps([gpt("c", [("user", LISBON)])]).encode(), "slowwave import chatgpt"),
        ("mem0", b'[{"id": 1}]', "an object with id"),
        ("mem0", b"caf\xe9", "not JSON"),
        ("mem0", b"3", "not a list of memories"),
        ("memory-server", b'{"a": 1}', "an object with a"),
        ("chatgpt", b"PK\x03\x04damaged", "damaged"),
    ],
)
def test_another_form_is_an_error_that_says_what_was_found(run, memory, tmp_path, form, data, told):
    (tmp_path / "file").write_bytes(data)
    done = run("import", form, str(tmp_path / "file"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert told in done.stderr
    assert memory.journal.read(kinds=["save"]).is_empty()


@pytest.mark.parametrize(
    "form", ["chatgpt", "claude", "claude-code", "codex", "mem0", "basic-memory", "markdown"]
)
def test_a_path_that_is_not_there(run, tmp_path, form):
    done = run("import", form, str(tmp_path / "nothing"))
    assert done.exit_code == 1
    assert "nothing" in done.stderr


@pytest.mark.parametrize(("form", "value"), [("chatgpt", []), ("claude", []), ("mem0", {"results": []})])
def test_an_empty_export_is_no_error(run, tmp_path, form, value):
    done = run("import", form, str(write(tmp_path / "e.json", value)))
    assert done.exit_code == 0, done.output
    assert "Nothing new" in done.stdout


def test_names_in_an_archive_are_never_used_as_paths(take, memory, tmp_path):
    pack(tmp_path / "e.zip", {"../../outside/conversations.json": [gpt("c1", [("user", LISBON)])],
                              "../evil.txt": b"x", "__MACOSX/conversations.json": b"\0"})  # fmt: skip
    before = {path for path in tmp_path.parent.rglob("*") if "home" not in path.parts}
    take("chatgpt", tmp_path / "e.zip")
    assert texts(memory) == {LISBON}
    assert {path for path in tmp_path.parent.rglob("*") if "home" not in path.parts} == before


def test_an_archive_that_swells_is_not_opened(run, tmp_path, monkeypatch):
    bomb = pack(tmp_path / "b.zip", {"conversations.json": b" " * (65 * 2**20) + b"[]"})
    done = run("import", "chatgpt", str(bomb))
    assert done.exit_code == 1
    assert "times larger than its packed form" in done.stderr
    monkeypatch.setattr("slowwave.imports.archives.MAX_BYTES", 1_000)
    large = pack(tmp_path / "l.zip", {"conversations.json": [gpt("c1", [("user", LISBON)] * 9)]})
    assert "the maximum is 1,000" in run("import", "chatgpt", str(large)).stderr


def test_a_packed_file_with_a_password_is_told(run, tmp_path):
    pack(tmp_path / "p.zip", {"conversations.json": [gpt("c1", SAID)]})
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        at = archive.infolist()[0].header_offset
    data = bytearray((tmp_path / "p.zip").read_bytes())
    data[at + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "p.zip").write_bytes(data)
    done = run("import", "chatgpt", str(tmp_path / "p.zip"))
    assert (done.exit_code, "cannot be unpacked" in done.stderr) == (1, True)
