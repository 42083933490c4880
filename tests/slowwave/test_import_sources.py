"""Keep, Gemini, Notion, Zep, Hindsight, claude-mem and Claude's attachments: read, dated, and only once."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.imports.model import ImportFailedError
from slowwave.imports.registry import SOURCES
from slowwave.imports.run_import import ImportOptions, run_import
from slowwave.lifecycle import write_path

LANTERN = "The lantern of the north pier is lit by hand since the storm, and Aino has the key."
CELLO = "My cello was built in Cremona in 1921 and is insured at the office in Turku."
HONEY = "We harvested forty kilos of lime honey from the six hives behind the chapel."
USEC = 1_700_000_000_000_000
DAY = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
WHEN = "2023-11-14T22:13:20Z"
ID = "0123456789abcdef0123456789abcdef"


def packed(files: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return data.getvalue()


def imported(
    memory, path: Path, name: str, value: Any = None, *, assistant: bool = False, dry_run: bool = False
):
    if value is not None:
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    reader = next(form for form in SOURCES if form.name == name).load()
    source = reader(name, str(path), memory.home.now(), 10**6, assistant=assistant)
    return run_import(memory, source, ImportOptions(dry_run=dry_run))


def rows(memory) -> dict[str, dict[str, Any]]:
    found = memory.store.read("memories", memory.tenant.mine("status = 'live'"))
    return {row["source"]: row for row in found.iter_rows(named=True)}


def keep(text: str, **more: Any) -> dict[str, Any]:
    return {
        "textContent": text,
        "title": "",
        "createdTimestampUsec": USEC,
        "userEditedTimestampUsec": USEC,
        **more,
    }


def edge(name: str, fact: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": name, "fact": fact, "created_at": "2023-11-14T22:13:20Z", "invalid_at": None, **more}


# -- Google ----------------------------------------------------------------------------------------


def test_notes_of_keep(memory, tmp_path):
    files = {
        "Takeout/Keep/a.json": keep(LANTERN, title="Pier", labels=[{"name": "harbour"}], isArchived=True),
        "Takeout/Keep/b.json": keep("", createdTimestampUsec=USEC + 1, title="Honey", listContent=[
            {"text": HONEY, "isChecked": True}, {"text": "The jars are in the cellar of the chapel."}, 7]),
        "Takeout/Keep/c.json": keep(CELLO, isTrashed=True),
        "Takeout/Keep/d.json": keep(" "),
        "Takeout/Keep/e.json": b'{"textContent": "half',
        "Takeout/Keep/f.json": keep(CELLO),
        "Takeout/Keep/g.html": "<p>",
        "Takeout/Drive/other.json": {"a": 1},
    }  # fmt: skip
    report = imported(memory, tmp_path / "t.zip", "keep", packed(files), dry_run=True)
    assert (report.found["note"], rows(memory)) == (3, {})
    report = imported(memory, tmp_path / "t.zip", "keep")
    found = rows(memory)
    assert set(found) == {f"keep:{USEC}", f"keep:{USEC + 1}", f"keep:{USEC}/f"}
    pier = found[f"keep:{USEC}"]
    assert (pier["title"], pier["content"], pier["created_at"]) == ("Pier", LANTERN, DAY)
    assert list(pier["tags"]) == ["harbour"]
    assert json.loads(pier["metadata"])["imported"]["isArchived"] is True
    assert found[f"keep:{USEC + 1}"]["content"].startswith(f"- [x] {HONEY}\n- [ ] The jars")
    assert [problem.place for problem in report.problems] == ["Takeout/Keep/e.json"]
    assert (report.skipped["in the bin of Keep"], report.skipped["another file of Takeout"]) == (1, 1)
    assert imported(memory, tmp_path / "t.zip", "keep").new == {}


def test_a_note_of_keep_that_was_edited_replaces_its_text(memory, tmp_path):
    imported(memory, tmp_path / "n.json", "keep", keep(LANTERN))
    report = imported(memory, tmp_path / "n.json", "keep", keep(HONEY, userEditedTimestampUsec=USEC + 10**6))
    assert (report.changed, [row["content"] for row in rows(memory).values()]) == (1, [HONEY])
    imported(memory, tmp_path / "n.json", "keep", keep(LANTERN))
    assert [row["content"] for row in rows(memory).values()] == [HONEY]


def activity(title: Any, answer: str = "", header: str = "Gemini Apps") -> dict[str, Any]:
    more = {"safeHtmlItem": [{"html": answer}]} if answer else {}
    return {
        "header": header,
        "title": title,
        "time": "2023-11-14T22:13:20.000Z",
        "products": [header],
        **more,
    }


def test_prompts_to_gemini(memory, tmp_path):
    log = [
        activity(f"Prompted {CELLO}", f"<p>Noted &amp; kept.</p><p>{HONEY}</p>"),
        activity("Used an Assistant feature"),
        activity("Searched for cellos", header="Search"),
        activity(7),
    ]
    report = imported(memory, tmp_path / "t.zip", "gemini", packed({"T/Gemini Apps/MyActivity.json": log}))
    assert [(row["content"], row["created_at"]) for row in rows(memory).values()] == [(CELLO, DAY)]
    assert report.unread == 1
    assert report.skipped["an activity in another product of Google"] == 1
    assert report.skipped["another activity in Gemini"] == 1
    imported(memory, tmp_path / "t.zip", "gemini", assistant=True)
    answers = {row["content"] for row in rows(memory).values() if row["source_kind"] == "generated"}
    assert answers == {f"Noted & kept.\n{HONEY}"}
    assert imported(memory, tmp_path / "t.zip", "gemini", assistant=True).new == {}


def test_what_takeout_has_only_as_html_or_in_another_language_is_read(memory, tmp_path):
    note = keep("", textContentHtml=f"<p>{LANTERN}</p><p><b>Tuesday</b></p>")
    imported(memory, tmp_path / "n.json", "keep", note)
    log = [activity(f"Anfrage eingegeben: {CELLO}"), activity("Gemini-Funktion verwendet")]
    report = imported(memory, tmp_path / "a.json", "gemini", log)
    texts = {row["content"] for row in rows(memory).values()}
    assert texts == {f"{LANTERN}\nTuesday", f"Anfrage eingegeben: {CELLO}"}
    assert report.skipped["another activity in Gemini"] == 1


def test_other_files_of_takeout_are_named(memory, tmp_path):
    with pytest.raises(ImportFailedError, match="no prompt to Gemini"):
        imported(memory, tmp_path / "a.json", "gemini", [activity("Searched for x", header="Search")])
    with pytest.raises(ImportFailedError, match="no note of Keep"):
        imported(memory, tmp_path / "b.json", "keep", {"a": 1})


# -- Notion ----------------------------------------------------------------------------------------


def notion() -> bytes:
    page = f"# Pier\n\nCreated: November 14, 2023 10:13 PM\nTags: harbour, keys\n\n{LANTERN}\n"
    table = f"\ufeffName,Place,Note\nPier,North,x\nHives,Chapel,{HONEY}\nHives,Mill,{CELLO}\n,,\n"
    inner = {
        f"Home {ID}.md": f"# Home\n\nNote: the boiler is serviced in May by Ruuska of Naantali.\n\n{CELLO}",
        f"Home {ID}/Things {ID[::-1]}.csv": "Name,Place\nPier,North\n",
        f"Home {ID}/Things {ID[::-1]}_all.csv": table,
        f"Home {ID}/Things {ID[::-1]}/Pier {ID[4:]}{ID[:4]}.md": page,
        f"Home {ID}/Empty {ID[5:]}{ID[:5]}.md": "# Empty\n",
        "picture.png": b"\x89",
    }
    return packed({"Export-1-Part-1.zip": packed(inner), "index.html": "<p>"})


def test_pages_and_rows_of_notion(memory, tmp_path):
    report = imported(memory, tmp_path / "n.zip", "notion", notion())
    found = rows(memory)
    assert report.unread == 0
    home = found[f"notion:{ID}"]
    assert home["title"] == "Home"
    assert home["content"].startswith("Note: the boiler")
    pier = found[f"notion:{ID[4:]}{ID[:4]}"]
    assert (pier["created_at"].date(), list(pier["tags"])) == (DAY.date(), ["harbour", "keys"])
    contents = {row["content"] for row in found.values()}
    assert f"Name: Hives\nPlace: Chapel\nNote: {HONEY}" in contents
    assert len(found) == 4
    assert report.skipped == {"an empty page": 1, "an empty row": 1, "a row that is a page, too": 1}
    assert imported(memory, tmp_path / "n.zip", "notion").new == {}


def test_a_damaged_archive_within_is_named(memory, tmp_path):
    with pytest.raises(ImportFailedError, match="damaged"):
        imported(memory, tmp_path / "n.zip", "notion", packed({"Part-1.zip": b"PK\x03\x04x"}))


# -- memory services -------------------------------------------------------------------------------


def test_facts_of_zep_that_hold(memory, tmp_path):
    edges = [
        edge("e1", LANTERN, valid_at="2022-02-02T00:00:00Z"),
        edge("e2", HONEY, invalid_at="2024-01-01T00:00:00Z"),
        edge("e3", CELLO, valid_at="soon"), edge("e4", None), edge("", CELLO), 3,
    ]  # fmt: skip
    report = imported(memory, tmp_path / "z.json", "zep", {"edges": edges})
    found = rows(memory)
    assert {name: row["content"] for name, row in found.items()} == {"zep:e1": LANTERN, "zep:e3": CELLO}
    assert found["zep:e1"]["created_at"] == datetime(2022, 2, 2, tzinfo=UTC)
    assert found["zep:e3"]["created_at"] == DAY
    assert (report.unread, report.skipped["a fact that no longer holds"]) == (3, 1)
    assert imported(memory, tmp_path / "z.json", "zep", edges).new == {}


def test_memories_of_hindsight(memory, tmp_path):
    results = [
        {"id": "h1", "text": LANTERN, "type": "world", "occurred_start": WHEN, "tags": ["pier"]},
        {"id": "h2", "text": CELLO, "mentioned_at": WHEN, "occurred_start": None}, {"id": "h3"},
    ]  # fmt: skip
    report = imported(memory, tmp_path / "h.json", "hindsight", {"results": results, "entities": {}})
    assert {(name, row["created_at"]) for name, row in rows(memory).items()} == {
        ("hindsight:h1", DAY), ("hindsight:h2", DAY)
    }  # fmt: skip
    assert report.unread == 1
    assert imported(memory, tmp_path / "h.json", "hindsight", {"items": results}).new == {}


def test_observations_summaries_and_prompts_of_claude_mem(memory, tmp_path):
    about = {"memory_session_id": "s1", "created_at_epoch": 1_700_000_000_000, "project": "pier"}
    export = {
        "observations": [
            {**about, "id": 1, "title": "Pier key", "narrative": LANTERN, "facts": json.dumps([HONEY]),
             "concepts": '["gotcha"]', "type": "discovery"},
            {**about, "id": 2, "title": "x", "narrative": None, "facts": None},
        ],
        "summaries": [{**about, "id": 1, "request": "Find the key of the lantern.", "learned": LANTERN}],
        "prompts": [{**about, "id": 1, "prompt_number": 1, "prompt_text": CELLO}],
        "sessions": [{"memory_session_id": "s1", "project": "pier"}],
    }  # fmt: skip
    report = imported(memory, tmp_path / "m.json", "claude-mem", export)
    found = {row["content"]: row for row in rows(memory).values()}
    assert found[f"{LANTERN}\n\n- {HONEY}"]["title"] == "Pier key"
    assert list(found[f"{LANTERN}\n\n- {HONEY}"]["tags"]) == ["gotcha"]
    assert found[CELLO]["source_kind"] == "imported"
    assert {row["created_at"] for row in found.values()} == {DAY}
    assert (len(found), report.unread) == (3, 1)
    assert imported(memory, tmp_path / "m.json", "claude-mem").new == {}


def test_one_broken_edge_costs_itself(memory, tmp_path):
    good = [json.dumps(edge(f"e{n}", text)) for n, text in enumerate((LANTERN, HONEY, CELLO))]
    data = f'{{"edges": [{good[0]}, {good[1][:40]}, {good[2]}]}}'
    report = imported(memory, tmp_path / "z.json", "zep", data.encode())
    assert {row["content"] for row in rows(memory).values()} == {LANTERN, CELLO}
    assert report.unread == 1


# -- Claude ----------------------------------------------------------------------------------------


def test_attachments_and_instructions_of_claude(memory, tmp_path):
    attached = {"file_name": "pier.txt", "extracted_content": LANTERN}
    said = {"sender": "human", "text": "ok", "created_at": "2023-11-14T22:13:20Z"}
    chats = [
        {
            "uuid": f"c{n}",
            "chat_messages": [{**said, "uuid": "m", "attachments": [attached, {"file_name": "x"}, 7]}],
        }
        for n in range(2)
    ]
    projects = [
        {"uuid": "p", "name": "Hives", "prompt_template": HONEY},
        {"uuid": "q", "prompt_template": "", "docs": []},
    ]
    file = packed({"conversations.json": chats, "projects.json": projects})
    report = imported(memory, tmp_path / "c.zip", "claude", file)
    found = {row["content"]: row for row in rows(memory).values()}
    assert (found[LANTERN]["title"], found[LANTERN]["created_at"]) == ("pier.txt", DAY)
    assert found[HONEY]["source"] == "claude:project/p/instructions"
    assert len(found) == 2
    assert report.skipped["an attachment without text"] == 4
    assert imported(memory, tmp_path / "c.zip", "claude").new == {}


TEXTS = st.sampled_from([LANTERN, CELLO, HONEY, "", "ok"])


@settings(max_examples=8)
@given(texts=st.lists(TEXTS, max_size=4), odd=st.sampled_from([None, 7, "x", [], 1e300]))
def test_twice_is_once(open_memory, tmp_path_factory, texts, odd):
    folder = tmp_path_factory.mktemp("twice")
    memory = open_memory(path=folder / "home", namespace="default")
    notes = {f"{n}.json": keep(text, createdTimestampUsec=odd) for n, text in enumerate(["Rope.", *texts])}
    table = "Name,Text\n" + "".join(f"{n % 2},{text}\n" for n, text in enumerate(texts))
    made = {
        "keep": packed(notes),
        "gemini": [{**activity(f"Prompted {text}"), "time": odd} for text in texts],
        "notion": packed({"a.csv": table}),
        "zep": [edge("e", LANTERN), *(edge(f"e{n}", text, valid_at=odd) for n, text in enumerate(texts))],
        "hindsight": [{"id": n, "text": text, "date": odd} for n, text in enumerate([HONEY, *texts])],
    }  # fmt: skip
    for name, value in made.items():
        imported(memory, folder / name, name, value)
    once = {name: row["content"] for name, row in rows(memory).items()}
    for name in made:
        assert imported(memory, folder / name, name).new == {}
    assert {name: row["content"] for name, row in rows(memory).items()} == once


def test_a_run_after_one_that_was_stopped_makes_all_of_it_searchable(memory, tmp_path, monkeypatch):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(70):
        text = f"Machine {1000 + number} was serviced by team {number}.\n"
        (folder / f"n{number}.md").write_text(text, encoding="utf-8")

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(write_path, "_apply_entries", stop)
        with pytest.raises(KeyboardInterrupt):
            imported(memory, folder, "markdown")
    assert not rows(memory)
    report = imported(memory, folder, "markdown")
    assert report.already == len(rows(memory)) == 70
    assert not memory.search("Which team serviced Machine 1069?").unknown


def test_a_folder_of_other_files_says_which_ones_it_has(memory, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(b"%PDF")

    with pytest.raises(ImportFailedError, match=r"no notes in .* 1 other file not read: \.pdf 1\. Notes are"):
        imported(memory, folder, "markdown")
