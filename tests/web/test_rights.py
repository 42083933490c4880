"""What the rights of an assistant are on the page, and what it never sees there."""

from __future__ import annotations

import re

import pytest
from page_home import words

from slowwave.journal.entry import OF_TENANTS
from slowwave.web.app import WAYS

SECRET = "The code of the safe in the cellar is 4711ZK since Tuesday."
LAMP = "The lamp on the pier is red since the storm."
OFFERED = {
    "/", "/found/{search}", "/found/{search}/rate", "/save", "/memories", "/memory/{memory}",
    "/memory/{memory}/correct", "/memory/{memory}/forget", "/decisions/{decision}/undo",
    "/timeline",
}  # fmt: skip
"""What tools of MCP can do: search, feedback, save, history, forget, undo."""


def test_what_an_assistant_is_offered_is_listed_here():
    assert {way.path for way in WAYS if not way.person} == OFFERED


@pytest.mark.parametrize("way", [way for way in WAYS if way.person], ids=lambda way: f"{way.path} {way.post}")
def test_what_only_a_person_does_is_refused(assistant, memory, saved, way):
    one = saved(LAMP, title="Lamp")
    refused = memory.save("ok", title="Too short").memory_id
    path = way.path.replace("{memory}", one).replace("{note}", refused)
    path = re.sub(r"\{\w+\}", "words", path)
    if way.post:
        form = {"who": "Ida", "shown": "x", "query": "lamp", "memory": one, "grade": "3"}
        told = assistant.refused(path, 403, **form)
    else:
        answer = assistant.get(path)
        assert answer.status_code == 403
        told = words(answer.text)
    assert "Only a person may do that" in told
    assert memory.get(one).status == "live"
    assert memory.quarantine()[0]["memory_id"] == refused
    assert memory.journal.read(kinds=["judgment"]).is_empty()


def test_nothing_of_it_is_offered(assistant, memory, saved):
    one = saved(LAMP, title="Lamp")
    memory.save("ok", title="Too short")
    for path in ("/", "/?q=lamp", "/memories", f"/memory/{one}"):
        page = assistant.text(path)
        for word in (
            "Erase",
            "Quarantine",
            "Decisions",
            "Judge",
            "Learning",
            "Trend",
            "also secret",
            "waiting",
        ):
            assert word not in words(page)


def test_what_tools_can_do_is_done_in_the_name_of_the_token(assistant, memory, saved):
    one = saved(LAMP, title="Lamp")
    assert "Forgotten" in assistant.done(f"/memory/{one}/forget")
    assert "A person can undo it" not in memory.get(one).title
    assistant.done("/save", content="The kettle in the kitchen whistles at noon.", title="Kettle")
    (row,) = memory.store.read("memories", "title = 'Kettle'").to_dicts()
    assert (row["principal"], row["source_kind"]) == ("claude", "generated")
    search = re.search(r'action="(/found/[^"]+)/rate"', assistant.text("/?q=kettle"))[1]
    assistant.done(f"{search}/rate", memory=row["memory_id"], rating="helpful")
    assert memory.stats(row["memory_id"]).helpful == 1


def test_within_the_limits_of_the_tools(assistant, memory, saved):
    one = saved(LAMP, title="Lamp", importance_tier="critical", key="lamp")
    assert "only a person may forget it" in assistant.refused(f"/memory/{one}/forget", 403)
    told = assistant.refused(
        f"/memory/{one}/correct", 403, content="The lamp on the pier is green since May."
    )
    assert "only a person may replace its text" in told
    assert memory.get(one).content == LAMP
    plain = saved("The kettle in the kitchen whistles at noon.", title="Kettle", tags=["kitchen"])
    assistant.done(f"/memory/{plain}/correct", content="The kettle in the kitchen whistles at one.")
    assert memory.get(plain).tags == ("kitchen",)
    (row,) = memory.store.read("memories", "title = 'Kettle'").to_dicts()
    assert (row["source_kind"], row["principal"]) == ("generated", "claude")


def test_what_is_secret_is_not_there(assistant, memory, saved):
    open_, one = saved(LAMP, title="Lamp"), saved(SECRET, title="Safe", sensitivity="secret", tags=["4711ZK"])
    paths = ("/", "/?q=code+of+the+safe", "/?q=safe&secret=1", "/memories", "/timeline", f"/memory/{open_}")
    for path in paths:
        page = assistant.text(path)
        assert "4711ZK" not in page
        assert "Safe" not in page
        assert one not in page
    assert assistant.get(f"/memory/{one}").status_code == 404
    for act in ("forget", "correct"):
        told = assistant.refused(f"/memory/{one}/{act}", 404, content=LAMP)
        assert "4711ZK" not in told
    assert memory.get(one).content == SECRET


def test_a_person_sees_what_is_secret_where_it_is_named_and_in_no_list(person, memory, saved):
    one = saved(SECRET, title="Safe", sensitivity="secret")
    held = memory.save("4711 4711", title="Safe code", sensitivity="secret").memory_id
    assert SECRET in person.words(f"/memory/{one}")
    assert SECRET in person.words("/?q=code+of+the+safe&secret=1")
    for path in ("/?q=code+of+the+safe", "/memories", "/quarantine", "/decisions", "/judge"):
        words = person.words(path)
        assert "4711ZK" not in words
        assert "4711 4711" not in words
    assert "4711 4711" in person.words(f"/quarantine/{held}")


def test_an_assistant_cannot_undo_what_waits_for_a_person(make_site, open_memory):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    tuesday = "We deploy on Tuesday at nine in the morning, everybody is there."
    memory.save(tuesday, title="Deploy day", source_of_truth=True)
    one = memory.save(tuesday.replace("Tuesday", "Thursday"), title="Deploy day").decision_id
    assistant = make_site(reconsolidation={"policy": "guarded"}).with_token("claude")
    assert "waits for" in assistant.refused(f"/decisions/{one}/undo", 403)
    assert len(memory.decisions(waiting=True)) == 1


def test_what_was_forgotten_only_a_person_sees(assistant, person, memory, saved):
    one = saved(LAMP, title="Lamp")
    assistant.done(f"/memory/{one}/forget")
    for path in ("/memories?state=stored", "/memories?state=forgotten", "/timeline"):
        assert one not in assistant.text(path)
        assert one in person.text(path)
    assert "pier" not in assistant.refused(f"/memory/{one}", 404)
    assert LAMP in person.words(f"/memory/{one}")


def test_a_text_that_was_secret_is_on_no_line_in_time_of_an_open_memory(assistant, person, memory):
    one = memory.save(SECRET, title="Safe", key="safe", sensitivity="secret").memory_id
    memory.save(
        "The code of the safe in the cellar is 1234AB.", title="Safe", key="safe", sensitivity="internal"
    )
    memory.save("The code of the safe in the cellar is 5678CD.", title="Safe", key="safe")
    line = person.text(f"/memory/{one}").partition('id="line"')[2].partition("</section>")[0]
    assert "1234AB" in line
    assert "4711ZK" not in line
    page = assistant.text(f"/memory/{one}")
    assert "1234AB" in page
    assert "4711ZK" not in page


# -- readers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [way for way in WAYS if way.post], ids=lambda way: way.path)
def test_a_reader_can_send_no_form(site, memory, saved, way):
    one = saved(LAMP, title="Lamp")
    before = memory.journal.read(kinds=OF_TENANTS).height
    path = re.sub(r"\{\w+\}", "words", way.path.replace("{memory}", one))
    told = site.with_token("eve").refused(path, 403, content="x", memory=one, rating="helpful")
    assert "This token has read access only" in told
    assert memory.get(one).content == LAMP
    assert memory.journal.read(kinds=OF_TENANTS).height == before


def test_a_reader_looks_and_leaves_nothing(site, memory, saved):
    one = saved(LAMP, title="Lamp")
    before = memory.journal.read(kinds=OF_TENANTS).height
    reader = site.with_token("eve")
    for path in ("/", "/?q=lamp+on+the+pier", "/memories", f"/memory/{one}"):
        page = reader.text(path)
        assert page.count('method="post"') == 1, path  # to sign out
    assert LAMP in reader.words("/?q=lamp+on+the+pier")
    assert memory.journal.read(kinds=OF_TENANTS).height == before
    for path in ("/decisions", "/quarantine", "/learning", "/trend", "/judge"):
        assert reader.get(path).status_code == 403


def test_a_session_has_the_rights_of_its_token_and_ends_with_it(site, memory, home):
    eve = site.with_token("eve")
    file = home / "slowwave.toml"
    text = file.read_text()
    assert eve.get("/decisions").status_code == 403
    file.write_text(text.replace('rights = "reader"', 'rights = "person"'))
    assert eve.get("/decisions").status_code == 200
    file.write_text(text.replace('rights = "reader"', "expires = 2020-01-01T00:00:00Z"))
    assert eve.get("/").headers["location"] == "/sign-in"
    file.write_text(text)
    assert eve.get("/").headers["location"] == "/sign-in"
