"""The list of all memories: filters, bulk actions with undo, export, and the first page."""

from __future__ import annotations

import io
import re
import zipfile

import polars as pl
import pytest
from page_home import words

from slowwave.lifecycle.browse import BrowseOptions, beginning_of, browse
from slowwave.lifecycle.quarantine import hold
from slowwave.store.staging import stage
from slowwave.vaults.vault import scan_all, watch
from slowwave.views.gate_text import words_of
from slowwave.web.browsing import questions_to_try
from slowwave.web.markdown import body, markdown, plain

WEB, REL = "https://a.example", 'rel="noopener noreferrer nofollow"'
OTHER = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
LAMP = "The lamp on the pier is red since the storm."
KETTLE = "The kettle in the kitchen whistles at noon."
LIMIT = "The limit of the API is 60 requests a minute, and the gateway enforces it."
RAISED = "We raised the limit of the API to 100 requests a minute for every plan."
SECRET = "The code of the safe in the cellar is 4711ZK since Tuesday."


def marks(*names: str) -> dict[str, str]:
    return {f"m-{name}": "1" for name in names}


def test_a_list_is_narrowed_by_each_filter(person, memory, saved):
    saved(LAMP, title="Lamp", memory_type="fact", tags=["pier"])
    kettle = saved(KETTLE, title="Kettle", source_kind="imported")
    memory.forget(kettle)
    memory.save("ok", title="Too short")
    cases = {
        "type=fact": "Lamp", "tag=pier": "Lamp", "state=current": "Lamp", "state=forgotten": "Kettle",
        "kind=imported&state=stored": "Kettle", "state=quarantined": "Too short",
    }  # fmt: skip
    titles = {"Lamp", "Kettle", "Too short"}
    for query, expected in cases.items():
        page = person.text(f"/memories?{query}").partition("<ol")[2]
        assert {title for title in titles if title in page} == {expected}, query
    assert "No memory matches these filters." in person.words("/memories?from=2099-01-01")
    assert person.get("/memories?state=lost").status_code == 400
    assert person.get("/memories?from=someday").status_code == 400


def test_several_are_forgotten_and_the_next_page_offers_to_undo_it(person, memory, saved):
    one, other = saved(LAMP, title="Lamp"), saved(KETTLE, title="Kettle")
    memory.forget(other)
    notice = person.done("/memories/act", action="forget", back="/memories", **marks(one, other))
    assert "Forgotten: 1 memory. 1 memory was so already." in notice
    assert "Undo: unforget 1 memory" in notice
    assert memory.get(one).status == "retired"
    assert "Undo: unforget" not in person.words("/memories")
    person.done("/memories/act", action="unforget", back="/memories", **marks(one, other))
    assert (memory.get(one).status, memory.get(other).status) == ("live", "live")


def test_the_list_and_the_first_page_count_the_same(person, memory, saved):
    saved(LAMP, title="Lamp")
    memory.forget(saved(KETTLE, title="Kettle"))
    assert "1 memory , " in person.words("/")
    assert "Memories 1" in person.words("/memories")
    assert "Memories 2" in person.words("/memories?state=stored")


def test_a_single_forget_in_the_list_can_be_taken_back_there(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    notice = person.done(f"/memory/{one}/forget", back="/memories?type=note")
    assert "Undo: unforget 1 memory" in notice
    notice = person.undone()
    assert "No longer forgotten: 1 memory." in notice


def test_a_tag_is_added_to_several_and_taken_back(person, memory, saved):
    one, other = saved(LAMP, title="Lamp", tags=["pier"]), saved(KETTLE, title="Kettle")
    notice = person.done("/memories/act", action="tag", tag="#pier", back="/memories", **marks(one, other))
    assert "Tag added pier: 1 memory. 1 memory unchanged" in notice
    assert "Undo: remove tag pier, 1 memory" in notice
    assert "Tag removed pier: 1 memory." in person.undone()
    assert (memory.get(one).tags, memory.get(other).tags) == (("pier",), ())
    assert "tag = ''" in person.done("/memories/act", action="tag", back="/memories", **marks(one))


def test_no_assistant_tags(assistant, memory, saved):
    one = saved(LAMP, title="Lamp")
    assistant.refused("/memories/act", 403, action="tag", tag="pier", **marks(one))
    assert memory.get(one).tags == ()


def test_a_history_says_in_words_what_changed(person, memory, saved):
    one = saved(LAMP, title="Lamp", key="lamp")
    memory.save("The lamp on the pier is green since May.", title="Lamp", key="lamp")
    person.done("/memories/act", action="tag", tag="pier", **marks(one))
    memory.forget(one)
    memory.unforget(one)
    history = person.words(f"/memory/{one}").partition("History")[2]
    newest_first = ["No longer forgotten", "Forgotten", "Labels changed", "tags added: pier", "Text changed"]
    places = [history.index(each) for each in newest_first]
    assert places == sorted(places)
    assert "Unforgotten" not in history


@pytest.mark.parametrize(
    ("text", "title", "preview"),
    [
        ("# Lamp\n\nIt is **red**, see [[Pier|the pier]].", "Lamp", "It is red, see the pier."),
        ("- one `two`\n- [three](https://a.example)", "", "one two · three"),
        ("> said *he*\nand went", "", "said he and went"),
        ("cut in **the mid …", "", "cut in the mid …"),
        ("```py\nx = 1\n```", "", "x = 1"),
        ("2 * 3 * 4 < 25 & <b>", "", "2 * 3 * 4 < 25 & <b>"),
        ("Lamp", "Lamp", ""),
    ],
)
def test_a_preview_has_no_marks_of_markdown(text, title, preview):
    assert plain(text, title) == preview


def test_an_unknown_memory_ends_the_action_before_it_begins(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    assert person.refused("/memories/act", 404, action="forget", **marks(one, "nobody"))
    assert memory.get(one).status == "live"
    notice = person.done("/memories/act", action="forget", back="/memories?state=forgotten")
    assert "No memory is marked. Nothing was done." in notice
    assert "use one of forget" in person.refused("/memories/act", 400, action="eat", **marks(one))


def test_a_refused_note_in_the_list_says_why_and_since_when(person, memory):
    memory.save("ok", title="Too short")
    page = person.words("/memories?state=quarantined")
    assert "refused just now" in page
    (refused,) = memory.quarantine()
    for reason in refused["reasons"]:
        assert words_of(reason).why in page
    memory.save("4711 4711", title="Safe code", sensitivity="secret")
    page = person.text("/memories?state=quarantined")
    assert "4711" not in page
    assert "Safe code" not in page


def test_an_outdated_memory_is_marked_in_the_list_and_on_its_page(person, assistant, memory, saved):
    old = saved(
        "The limit of the API is 60 requests a minute, and the gateway enforces it.", title="API limit"
    )
    new = saved(
        "We raised the limit of the API to 100 requests a minute for every plan.", title="API limit raised"
    )
    for visitor in (person, assistant):
        for path in ("/memories", f"/memory/{old}"):
            page = visitor.text(path)
            assert re.search(
                rf"outdated, until <time.+</time></span> see <a href=\"/memory/{new}\">API limit raised",
                page,
            )
            assert page.count("outdated, until") == 1
    assert "outdated, until" not in person.text(f"/memory/{new}")
    memory.forget(new)
    assert "outdated" not in person.text("/memories").partition("<ol")[2]


def test_a_secret_memory_outdates_none(person, saved):
    saved(LIMIT, title="API limit")
    saved(RAISED, title="API limit raised", sensitivity="secret")
    assert "outdated" not in person.text("/memories").partition("<ol")[2]


def test_refused_notes_are_discarded_with_undo_and_released(person, memory):
    one = memory.save("ok", title="Too short").memory_id
    notice = person.done("/memories/act", action="discard", back="/memories?state=quarantined", **marks(one))
    assert "Undo: restore 1 memory" in notice
    (row,) = memory.quarantine(status="discarded")
    person.done("/memories/act", action="restore", **marks(row["quarantine_id"]))
    person.done("/memories/act", action="release", **marks(one))
    assert memory.get(one).status == "live"


def test_a_bulk_release_is_undone_where_that_is_possible(person, memory):
    new, other, third = (memory.save(text, title=text, key=text).memory_id for text in ("ok", "well", "so"))
    lamp = memory.save(LAMP, title="Lamp", key="lamp").memory_id
    assert memory.save("no", key="lamp").status == "quarantined"
    notice = person.done(
        "/memories/act", action="release", back="/memories", **marks(new, other, third, lamp)
    )
    assert "Undo: forget 3 memories" in notice
    assert "1 note replaced an earlier text" in notice
    memory.forget(other)
    memory.save(LAMP.upper(), key="so")
    notice = person.undone()
    assert "Forgotten, since a release is final: 1 memory. 2 notes unchanged" in notice
    kept = [memory.get(name).status for name in (new, other, third, lamp)]
    assert kept == ["retired", "retired", "live", "live"]


def test_the_undo_of_a_discarded_duplicate_says_what_to_do_first(person, memory):
    memory.save(LAMP, title="Lamp")
    twin = memory.save(LAMP, title="Lamp again", key="copy")
    memory.discard(twin.memory_id)
    (row,) = memory.decisions(memory_id=twin.memory_id)
    answer = person.post(f"/decisions/{row['decision_id']}/undo")
    assert answer.status_code == 409
    assert "The note was discarded from the quarantine" in words(answer.text)
    (discarded,) = memory.quarantine(status="discarded")
    memory.restore_discarded(discarded["quarantine_id"])
    person.done(f"/decisions/{row['decision_id']}/undo")
    assert memory.get(twin.memory_id).status == "live"


def test_an_export_of_nothing_that_may_leave_says_so(person, saved):
    safe = saved(SECRET, title="Safe", sensitivity="secret")
    notice = person.done("/memories/act", action="export", back="/memories", **marks(safe, "elsewhere"))
    assert "Nothing was exported: the marked memories are secret" in notice


def test_marked_memories_are_exported_but_secret_ones(person, saved):
    lamp, safe = saved(LAMP, title="Lamp"), saved(SECRET, title="Safe", sensitivity="secret")
    saved(KETTLE, title="Kettle")
    answer = person.post("/memories/act", action="export", **marks(lamp, safe))
    assert answer.headers["content-disposition"] == 'attachment; filename="memories.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == ["Lamp.md", "index.md"]
        assert LAMP in archive.read("Lamp.md").decode()
        assert "4711ZK" not in "".join(archive.read(name).decode() for name in archive.namelist())


def test_the_first_page_of_an_empty_memory_says_how_to_begin(person):
    page = person.words("/")
    assert "This memory is empty." in page
    assert "slowwave ingest FOLDER" in page


def test_the_first_page_says_what_there_is_and_offers_questions(person, memory, saved):
    saved(LAMP, title="Lamp", memory_type="fact", tags=["pier"])
    saved(SECRET, title="Safe", sensitivity="secret")
    memory.save("ok", title="Too short")
    page = person.text("/")
    assert "2 memories , 1 note in quarantine , learning" in words(page)
    for part in ("What do I know about Lamp?", "fact", "pier"):
        assert part in words(page)
    assert "4711ZK" not in page
    assert "Safe" not in page


def test_linked_memories_are_drawn_and_listed(person, memory, saved):
    saved(LAMP, title="Lamp", key="lamp")
    after = saved("The pier has a second lamp since June.", title="Second <lamp>", follows="lamp")
    page = person.text(f"/memory/{after}")
    assert page.count('<svg class="graph"') == 1
    graph = page.partition('<svg class="graph"')[2].partition("</svg>")[0]
    assert "Second &lt;lamp&gt;" in graph
    assert "follows" in graph
    lamp = person.text(f"/memory/{memory.get(after).follows}")
    assert '<svg class="graph"' not in lamp


def test_an_assistant_sees_no_secret_in_list_or_counts(assistant, saved):
    saved(LAMP, title="Lamp")
    safe = saved(SECRET, title="Safe", sensitivity="secret", memory_type="constraint", tags=["cellar"])
    for path in ("/", "/memories", "/memories?type=constraint", "/memories?tag=cellar"):
        page = assistant.text(path)
        assert safe not in page
        assert "Safe" not in page
        assert "constraint (1)" not in page
        assert "cellar (1)" not in page
    assert assistant.get("/memories?state=quarantined").status_code == 400


def test_no_refused_note_is_listed_to_an_assistant(assistant, memory, saved):
    saved(LAMP, title="Lamp")
    memory.save("ok", title="Too short")
    for state in ("all", "stored", "current"):
        page = assistant.text(f"/memories?state={state}")
        assert "Too short" not in page
        assert "/quarantine/" not in page


def test_an_unknown_note_ends_a_release_before_it_begins(person, memory):
    one = memory.save("ok", title="Too short").memory_id
    person.refused("/memories/act", 404, action="release", **marks(one, "nobody"))
    assert memory.quarantine()[0]["memory_id"] == one


def test_an_undo_is_applied_once_and_not_offered_to_be_undone(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    person.done("/memories/act", action="forget", back="/memories", **marks(one))
    assert "Undo:" not in person.undone()
    assert memory.get(one).status == "live"
    memory.forget(one)
    assert "This undo was used" in person.undone()
    assert memory.get(one).status == "retired"


def test_an_edit_keeps_labels_and_characters_that_the_form_does_not_know(person, memory, saved):
    text = "The lamp of \U0001f3f4\U000e0067\U000e0062\U000e007f is lit\u2066 at six."
    one = saved(text, title="Lamp")
    page = person.text(f"/memory/{one}")
    form = page.partition("/correct")[2].partition("</form>")[0]
    assert "\U000e0067" in form
    assert "\\U000e" not in form
    person.done(f"/memory/{one}/correct", content=text, title="Lamp", type="", tier="", sensitivity="")
    assert memory.get(one).content == text
    assert memory.get(one).memory_type == "note"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** `c`", "<p>a <strong>b</strong> <code>c</code></p>\n"),
        ("# Title", "<h3>Title</h3>\n"),
        ("<b>x</b><script>", "<p>&lt;b&gt;x&lt;/b&gt;&lt;script&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        (f"[x]({WEB})", f'<p><a href="{WEB}" {REL}>x</a></p>\n'),
        (f"![x]({WEB}/x.png)", f'<p>!<a href="{WEB}/x.png" {REL}>x</a></p>\n'),
        ("[x](/sign-out)", "<p>[x](/sign-out)</p>\n"),
    ],
)  # fmt: skip
def test_markdown_is_shown_safely(text, html):
    assert str(markdown(text)) == html


def test_cells_of_a_table_have_no_inline_style():
    html = str(markdown("| a | b |\n|:-:|--:|\n| 1 | 2 |"))
    assert "<td>1</td>" in html
    assert "style" not in html


LONG = (
    "The harbour office of Stromness opens at eight on weekdays and at ten on Saturdays, but in January "
    "it is shut, and whoever needs the key of the crane has to ring the pilots at Scapa instead."
)

SHUT = "The swimming pool of Kirkwall is shut from the first of July until the schools begin again in August."


def test_a_title_of_first_words_stands_once(person, saved):
    one = saved(LONG)
    other = saved(LAMP)
    saved(SHUT)
    pages = {}
    for path in ("/memories", "/?q=when+does+the+harbour+office+open", f"/memory/{one}"):
        page = person.text(path)
        shown = re.sub(r"<(details|title|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
        shown = re.sub(r'<(\w+) class="unseen".*?</\1>', "", shown, flags=re.DOTALL)
        pages[path] = words(shown.partition("<main")[2])
        assert pages[path].count("The harbour office of Stromness") == 1, path
    assert "… Saturdays, but in January it is shut, and" in pages["/memories"]
    assert pages["/memories"].count(LAMP) == 1
    assert pages["/memories"].count(SHUT) == 1  # a short text is not cut
    assert 'class="unseen">The lamp' in person.text(f"/memory/{other}")


@pytest.mark.parametrize(
    ("text", "title", "rest"),
    [
        ("# Lamp\n\nIt is red.", "Lamp", "It is red."),
        ("The lamp is red.", "Lamp", "The lamp is red."),
        ("Lamp\nIt is red.", "Lamp", "It is red."),
        ("Lamp on the pier", "Lamp", "Lamp on the pier"),
        ("The lamp on the pier\nis red.", "The lamp on …", "… the pier\nis red."),
        ("The **lamp on** the pier", "The **lamp …", "The **lamp on** the pier"),
        ("", "Lamp", ""),
        ("It is red.", "", "It is red."),
    ],
)
def test_a_body_leaves_out_what_its_title_repeats(text, title, rest):
    assert body(text, title) == rest


def test_a_release_leaves_files_that_cannot_be_read_and_says_so(person, memory, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "odd.md").write_bytes(b"\xff\xff\xff")
    now = memory.home.now()
    watch(memory.journal, "ada", tmp_path / "notes", name="notes", as_of=now, principal="ada")
    scan_all(memory.journal, memory.settings.notes, as_of=now)
    staged = stage(memory.journal.read(kinds=["unreadable"]))
    hold(memory.store, staged, staged.select("memory_id", "revision", reasons=pl.lit(["not_utf8"])))
    (odd,) = [row["quarantine_id"] for row in memory.quarantine()]
    one = memory.save("ok", title="Too short").memory_id
    for path in ("/quarantine", f"/quarantine/{odd}"):
        assert f"/quarantine/{odd}/release" not in person.get(path).text
    assert person.get("/quarantine").text.count('/release"') == 1
    notice = person.done("/memories/act", action="release", back="/memories", **marks(one, odd))
    assert "Released unchanged: 1 memory. 1 note stayed in quarantine" in notice
    assert "Undo: forget 1 memory" in notice
    assert memory.get(one).status == "live"
    assert "odd.md could not be read" in person.refused(f"/quarantine/{odd}/release", 409)


def test_a_long_earlier_text_is_used_again_whole(person, memory, saved):
    long = "\n\n".join(f"The winch number {at} on the pier is oiled in April." for at in range(900))
    one = saved(long, title="Winches", key="winches")
    assert len(long) > 40_000
    assert "Use this text again" not in person.text(f"/memory/{one}")
    memory.save(long.replace("April", "May"), title="Winches", key="winches")
    form = person.text(f"/memory/{one}").partition("Use this text again")[0].rpartition("<form")[2]
    fields = dict(re.findall(r'name="(read|title|event)" value="([^"]*)"', form))
    assert "Saved" in person.done(f"/memory/{one}/correct", **fields)
    assert memory.get(one).content == long
    person.refused(f"/memory/{one}/correct", 404, **{**fields, "event": "nosuch"})
    assert memory.get(one).content == long


def test_tags_that_a_form_leaves_as_they_are_stay(person, memory, saved):
    one = saved(LAMP, title="Lamp", tags=["a,b", "#hash", "ok"])
    person.done(f"/memory/{one}/correct", content=OTHER, title="Lamp", tags="a,b, #hash, ok")
    assert memory.get(one).tags == ("a,b", "#hash", "ok")
    person.done(f"/memory/{one}/correct", content=OTHER, title="Lamp", tags="a, #hash")
    assert memory.get(one).tags == ("a", "#hash")


def test_an_undone_release_leaves_a_memory_that_got_a_tag(person, memory):
    one = memory.save("ok", title="Short").memory_id
    person.done("/memories/act", action="release", **marks(one))
    person.done("/memories/act", action="tag", tag="kept", **marks(one))
    person.done("/memories/act", action="withdraw", **marks(one))
    assert memory.get(one).status == "live"


def test_a_timeline_keeps_the_author_of_a_first_text(person, memory, site):
    site.with_token("claude").done("/save", content=LAMP, title="Lamp")
    one = memory.store.read("memories", "title = 'Lamp'")["memory_id"][0]
    person.done(f"/memory/{one}/correct", content=OTHER, title="Lamp")
    page = words(person.text("/timeline"))
    assert "new, with an earlier text Lamp · claude" in page
    assert "text changed Lamp · page" in page


def test_a_bulk_action_on_more_notes_than_a_page_has_is_taken_back(person, memory):
    notes = [memory.save(f"ok {at}", title=f"Note {at}").memory_id for at in range(60)]
    page = person.text("/quarantine")
    address = "/quarantine/reason/no_statement/discard"
    (shown,) = re.findall(rf'"{address}".+?name="shown" value="(\w+)"', page)
    memory.discard(notes.pop())
    notes.append(memory.save("ok then", title="Nobody saw it").memory_id)
    assert "Nothing was discarded." in person.done(address, shown=shown)
    assert len(memory.quarantine()) == 60
    notes.append(memory.save("well then", title="Nobody saw it").memory_id)
    person.done(address)
    assert memory.quarantine() == []
    assert "In quarantine again: 61 memories." in person.undone()
    assert {row["memory_id"] for row in memory.quarantine()} == set(notes)


@pytest.mark.parametrize("path", ["/memories", "/quarantine", "/quarantine?status=discarded", "/timeline"])
def test_a_page_behind_the_last_one_leads_to_the_last_one(person, memory, path):
    for at in range(31):
        memory.save(f"Locker {at} of the hall has the coat of guest {99 - at}.", title=f"Locker {at}")
    for at in range(25):
        memory.save(f"ok {at}", title=f"Note {at}")
    if "discarded" in path:
        memory.discard(reason="no_statement")
    more = "&" if "?" in path else "?"
    first, last = person.get(f"{path}{more}skip=9999"), "30" if path == "/timeline" else "20"
    assert first.status_code == 303
    assert f"skip={last}" in first.headers["location"]
    assert re.search(r"\d+ to (\d+) of \1", person.words(first.headers["location"]))


def test_a_form_that_is_sent_twice_saves_once(person, memory):
    (once,) = re.findall(r'name="once" value="([^"]+)"', person.text("/"))
    form = {"content": LAMP, "title": "Lamp", "once": once}
    answers = [person.post("/save", **form).headers["location"] for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0].startswith("/memory/")
    assert "Saved." in person.words(answers[0])
    assert memory.quarantine() == []
    assert person.post("/save", **(form | {"once": "other"})).headers["location"].startswith("/quarantine/")


def test_what_was_not_done_is_told_as_a_problem(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    for form in ({"action": "forget"}, {"action": "tag", "tag": "", f"m-{one}": "1"}):
        answer = person.post("/memories/act", back="/memories", **form)
        assert 'class="problem" role="alert"' in person.text(answer.headers["location"])
    answer = person.post("/memories/act", back="/memories", action="forget", **marks(one))
    assert 'class="notice" role="status"' in person.text(answer.headers["location"])


def test_a_note_of_a_trusted_source_is_not_said_to_be_refused_later(person, memory):
    person.done("/save", content="lol ok", title="Remark")
    (row,) = memory.quarantine()
    person.done(f"/quarantine/{row['quarantine_id']}/trust")
    page = person.done("/save", content="ok lol fine", title="Another")
    assert "A rule of a person lets in all notes of this source." in page
    assert "nce it enforces" not in page


def test_nothing_is_rolled_back_where_nothing_was_taught(person, memory):
    before = memory.learning.log(limit=None).height
    page = person.done("/learning/roll-back", who="Ida", principal="nobody-such")
    assert "Rolled back" not in page
    assert memory.learning.log(limit=None).height == before


def test_questions_to_try_are_of_different_types_and_things():
    def row(title, kind, sensitivity="internal"):
        text = f"{title} is on the second shelf."
        return {"title": title, "memory_type": kind, "sensitivity": sensitivity, "beginning": text}

    rows = [
        row("API limit raised", "note"), row("API limit", "note"), row("Safe", "fact", "secret"),
        row("Spare logger", "fact"), row("A title that is much too long to ask", "decision"),
        row("Ruaridh Flett", "person"), row("Radio check", "procedure"),
    ]  # fmt: skip
    assert questions_to_try(rows) == [
        "What do I know about API limit raised?", "What do I know about Spare logger?",
        "Who is Ruaridh Flett?",
    ]  # fmt: skip
    assert questions_to_try(rows[:2]) == ["What do I know about API limit raised?"]
    unnamed = [
        {**rows[0], "title": title, "beginning": text}
        for title, text in (("ok", "ok"), ("Thanks", "Thanks!"), ("Note", LAMP), ("12 March", LAMP))
    ]
    assert questions_to_try(unnamed) == []
    assert questions_to_try([]) == []


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("word " * 60, ("word " * 48).strip() + " …"),
        ("ab" * 200, "ab" * 120 + " …"),
        ("short text", "short text"),
    ],
)
def test_the_beginning_of_a_text_ends_with_a_word(memory, text, beginning):
    memory.save(text + "\n\nThe lamp is red.", title="Long")
    (row,) = browse(memory.tenant, BrowseOptions())[0]
    whole = f"{text}\n\nThe lamp is red." if len(text) < 100 else ""
    assert row["beginning"] == (whole or beginning)
    assert beginning_of(text) == beginning


def test_a_refused_note_is_written_again_under_its_key(person, memory):
    first = memory.save("ok", title="Short", key="remark", memory_type="decision", sensitivity="secret")
    (row,) = memory.quarantine()
    path = f"/quarantine/{row['quarantine_id']}"
    page = person.done(f"{path}/rewrite", content="lol", title="Short")
    assert "Not saved: the save gate refused it again" in page
    row = memory.quarantine()[0]
    path = f"/quarantine/{row['quarantine_id']}"
    page = person.done(f"{path}/rewrite", content=LAMP, title="Lamp")
    assert "Saved with your text." in page
    record = memory.get(first.memory_id)
    assert (record.content, record.title) == (LAMP, "Lamp")
    assert (record.memory_type, record.sensitivity) == ("decision", "secret")
    assert memory.quarantine() == []
    person.refused(f"{path}/rewrite", 409, content=LAMP, title="Lamp")


def test_a_text_that_was_secret_comes_back_as_secret(person, memory, saved):
    one = saved(LAMP, title="Lamp", key="lamp")
    memory.save(OTHER, title="Battery", key="lamp", sensitivity="secret")
    memory.save(KETTLE, title="Kettle", key="lamp", sensitivity="internal")
    read = memory.store.read("memories", f"memory_id = '{one}'", columns=["revision"])["revision"][0]
    for text in (OTHER, LAMP):
        event = next(event["id"] for event in memory.history(one) if event["text"] == text)
        person.done(f"/memory/{one}/correct", event=event, read=read, title="")
        assert (memory.get(one).content, memory.get(one).sensitivity) == (text, "secret")
        read = memory.store.read("memories", f"memory_id = '{one}'", columns=["revision"])["revision"][0]


def test_a_tag_does_not_let_in_a_refused_version(person, memory, saved):
    one = saved(LAMP, title="Lamp", key="lamp")
    assert memory.save("todo vat??", key="lamp", memory_type="decision").status == "quarantined"
    person.done("/memories/act", action="tag", tag="pier", **marks(one))
    assert (memory.get(one).content, memory.get(one).tags) == (LAMP, ("pier",))
    assert memory.save("todo vat??", key="lamp", memory_type="decision").status == "quarantined"
    person.done(f"/memory/{one}/correct", content=OTHER, title="Battery")
    assert (memory.get(one).content, memory.get(one).memory_type) == (OTHER, "note")


def test_an_undo_takes_back_what_it_can(person, memory, saved):
    one, other = saved(LAMP, title="Lamp"), saved(KETTLE, title="Kettle")
    person.done("/memories/act", action="forget", back="/memories", **marks(one, other))
    memory.execute_erasure(memory.plan_erasure(one))
    assert "No longer forgotten: 1 memory. 1 item unchanged" in person.undone()
    assert memory.get(other).status == "live"
    notes = [memory.save(f"ok {at}", title=f"Note {at}", key=f"n{at % 2}").memory_id for at in range(4)]
    assert len(memory.quarantine()) == 4
    person.done("/quarantine/reason/no_statement/discard")
    assert "In quarantine again: 4 memories." in person.undone()
    assert len(set(notes)) == 2


def test_another_text_with_the_key_of_a_form_is_saved(person, memory):
    form = {"title": "", "once": "key"}
    first = person.post("/save", content=LAMP, **form).headers["location"]
    second = person.post("/save", content=OTHER, **form).headers["location"]
    assert first != second
    assert {LAMP, OTHER} <= {row["content"] for row in memory.store.read("memories", "true").to_dicts()}
    memory.execute_erasure(memory.plan_erasure(second.rpartition("/")[2]))
    again = person.post("/save", content=OTHER, **form).headers["location"]
    assert "Saved." in person.words(again)
    assert OTHER in person.text(again)


def test_one_more_tag_leaves_the_others_as_they_are(person, memory, saved):
    one = saved(LAMP, title="Lamp", tags=["a, b", "#hash", "c#", "plain"])
    person.done(f"/memory/{one}/correct", content=LAMP, title="Lamp", tags="a, b, #hash, c#, plain, new, new")
    assert memory.get(one).tags == ("a, b", "#hash", "c#", "plain", "new")
