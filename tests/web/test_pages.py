"""What each page shows, and what its forms do."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

import polars as pl
import pytest
from learning_rows import night, put_news, put_ready
from page_home import BATTERY, CHANGED, THURSDAY, TUESDAY, words

from slowwave.home.heartbeat import note_capture, note_recall
from slowwave.views.gate_text import words_of
from slowwave.views.scores import MEANING
from slowwave.web.request import local
from slowwave.web.search import bar

LAMP = "The lamp on the pier is red since the storm."
ODD = '<script>alert(1)</script> "quoted" <b>bold</b> [click](javascript:alert(2)) \x1b[31m'


@pytest.fixture
def memory(open_memory):
    """Namespace ``ada``, where notes are looked at beside others."""
    return open_memory(reconsolidation={"policy": "guarded"})


@pytest.fixture
def make_site(make_site):
    """The page of a home with the same settings."""
    return lambda **groups: make_site(**{"reconsolidation": {"policy": "guarded"}, **groups})


def merged(memory):
    """A memory that absorbed another one, and the decision."""
    target = memory.save(BATTERY, title="Battery")
    part = memory.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert part.status == "merged"
    return target.memory_id, part


def waiting(memory):
    """A decision that waits for a person."""
    memory.save(TUESDAY, title="Deploy day", source_of_truth=True)
    return memory.save(THURSDAY, title="Deploy day").decision_id


def refused(memory):
    """A note in quarantine."""
    saved = memory.save("ok", title="Too short")
    assert saved.status == "quarantined"
    return saved.memory_id


# -- search ----------------------------------------------------------------------------------------


def test_a_search_shows_what_it_found_and_what_each_score_is_made_of(person, saved):
    saved(LAMP, title="Lamp", memory_type="fact")
    page = person.text("/?q=what+colour+is+the+lamp")
    told = words(page)
    assert LAMP in told
    assert "medium confidence" in told
    assert "sum = score" in told
    drawn = re.findall(r'<rect class="s-(\w+)" x="([\d.]+)" width="([\d.]+)"', page)
    assert {source for source, _, _ in drawn} <= set(MEANING)
    score = float(re.search(r"<strong>([\d.]+)</strong>", page)[1])
    assert sum(float(width) for *_, width in drawn) == pytest.approx(100 * score, abs=0.2)
    legend = re.search(r'<ul class="legend".*?</ul>', page, re.S)[0]
    assert {source for source, _, _ in drawn} <= set(re.findall(r's-(\w+)"', legend))


def test_every_source_of_a_score_has_a_colour():
    from pathlib import Path

    import slowwave.web

    style = (Path(slowwave.web.__file__).parent / "static" / "style.css").read_text()
    assert [source for source in MEANING if f".s-{source} {{" not in style] == []
    assert len(style.encode()) < 16_000


def test_a_bar_is_as_long_as_what_is_above_zero():
    assert bar({"a": 0.5, "b": -0.2, "c": 0.25}) == [("a", 0.0, 50.0), ("c", 50.0, 25.0)]
    assert bar({}) == []


def test_filters_are_kept_and_used(person, saved):
    saved(LAMP, title="Lamp", memory_type="fact")
    page = person.text("/?q=lamp&type=decision&since=2020-01-01")
    assert "passes" in words(page)
    assert "<option selected>decision</option>" in page
    assert 'value="2020-01-01"' in page
    assert person.get("/?q=lamp&since=yesterday").status_code == 400
    assert person.get("/?q=lamp&type=nonsense").status_code in (400, 409)
    assert person.get("/?q=" + "x" * 5_000).status_code in (400, 409)


def test_silence_is_said_in_words(make_site, memory):
    memory.save(LAMP, title="Lamp")
    person = make_site(ranking={"abstention_floor": 0.99}).person()
    told = person.words("/?q=tax+law+of+Peru")
    assert "No memory is near enough to be an answer." in told
    assert "Candidates not returned (1)" in told


@pytest.mark.parametrize(("rating", "said"), [("helpful", "it helped"), ("unhelpful", "wrong")])
def test_a_result_is_rated_without_searching_again(person, saved, memory, rating, said):
    one = saved(LAMP, title="Lamp")
    search = re.search(r'action="(/found/[^"]+)/rate"', person.text("/?q=lamp"))[1]
    answer = person.post(f"{search}/rate", memory=one, rating=rating)
    assert answer.headers["location"] == f"{search}#m-{one}"
    told = person.text(search)
    assert f"Recorded: {said}" in words(told)
    assert f'value="{rating}" class="small" aria-pressed="true"' in told
    assert memory.journal.count("ada", "search") == 1
    assert getattr(memory.stats(one), rating) == 1
    (entry,) = memory.journal.feedback_on("ada", search.rpartition("/")[2])
    assert entry.principal == "page"
    person.refused(f"{search}/rate", 400, memory=one, rating="lovely")
    person.refused(f"{search}/rate", 404, memory="nobody", rating=rating)
    person.refused("/found/nosuch/rate", 404, memory=one, rating=rating)


@pytest.mark.parametrize("act", ["erase", "forget", "secret", "correct", "erase and save again"])
def test_a_search_that_is_shown_again_is_without_what_has_gone(site, memory, saved, act):
    """Whoever looked before: the person at the machine, one with a token, an assistant; by hand or not."""
    one, other = saved(LAMP, title="Lamp", key="lamp"), saved(BATTERY, title="Battery")
    everybody = [site.person(), site.with_token("ida"), site.with_token("claude")]
    found = [
        (who, re.search(r'action="(/found/[^"]+)/rate"', who.text("/?q=lamp+on+the+pier+and+the+battery"))[1])
        for who in everybody
    ]
    for who, search in found:
        assert LAMP in who.words(search)
    if act.startswith("erase"):
        memory.execute_erasure(memory.plan_erasure(one))
    if "again" in act or act == "correct":
        assert memory.save("The winch is oiled in April.", title="Winch", key="lamp").memory_id == one
    elif act == "forget":
        memory.forget(one)
    elif act == "secret":
        memory.save(LAMP, title="Lamp", key="lamp", sensitivity="secret")
    for who, search in found:
        told = who.text(search)
        for gone in (LAMP, one, ">Lamp<"):
            assert gone not in told
        assert BATTERY in words(told)
        assert "1 result is hidden" in words(told)
    memory.forget(other)
    assert "2 results are hidden" in everybody[0].words(found[0][1])


def test_an_identifier_that_nothing_mentions_is_said_before_the_results(person, saved):
    saved(LAMP, title="Lamp")
    told = person.words("/?q=what+is+the+lamp+of+INC-4821")
    message = "Nothing here mentions INC-4821. The results are only near it."
    assert message in told
    assert told.index(message) < told.index(LAMP)
    assert "only near" in told[told.index(LAMP) - 200 : told.index(LAMP)]


def test_a_search_of_somebody_else_is_not_shown(site, person, saved):
    saved(LAMP, title="Lamp")
    search = re.search(r'action="(/found/[^"]+)/rate"', person.text("/?q=lamp"))[1]
    assert site.with_token("bob").get(search).status_code == 404


def test_an_empty_memory_says_what_will_be_there(person):
    for path in (
        "/",
        "/memories",
        "/decisions",
        "/quarantine",
        "/learning",
        "/trend",
        "/judge",
        "/?q=anything",
    ):
        assert person.get(path).status_code == 200
    assert "This memory is empty" in person.words("/")
    assert "The quarantine is empty" in person.words("/quarantine")


# -- a memory --------------------------------------------------------------------------------------


def test_a_memory_is_shown_whole_with_all_that_is_linked(person, memory):
    one, part = merged(memory)
    told = person.words(f"/memory/{one}")
    assert CHANGED in told
    assert "absorbed" in told
    assert "saved by application" in told
    assert "merge (by the other)" in told
    assert "Undo the merge" in told
    assert "merged into" in person.words(f"/memory/{part.memory_id}")


def test_a_merge_is_undone_and_is_not_offered_again(person, memory):
    one, part = merged(memory)
    told = person.done(f"/decisions/{part.decision_id}/undo", back=f"/memory/{one}")
    assert "Undone: merge of Battery and Battery . Both have" in told
    assert CHANGED not in memory.get(one).content
    assert "Undo the merge" not in person.words(f"/memory/{one}")
    person.refused(f"/decisions/{part.decision_id}/undo", 409)
    person.refused("/decisions/nosuch/undo", 404)


@pytest.mark.parametrize("key", ["", "lamp/colour"])
def test_a_correction_is_the_same_memory_with_its_labels(person, memory, key):
    labels = {"tags": ["pier"], "sensitivity": "secret", "memory_type": "fact", "importance_tier": "critical"}
    one = memory.save(
        LAMP, title="Lamp", key=key, metadata={"a": 1}, trigger_phrases=["red lamp"], **labels
    ).memory_id
    green = "The lamp on the pier is green since May.\r\nIt was red."
    told = person.done(f"/memory/{one}/correct", content=green, title="Lamp, again")
    assert "Saved." in told
    record = memory.get(one)
    assert record.content == green.replace("\r\n", "\n")
    assert (record.title, record.tags, record.sensitivity) == ("Lamp, again", ("pier",), "secret")
    assert (record.memory_type, record.importance_tier) == ("fact", "critical")
    assert (record.metadata, record.trigger_phrases) == ('{"a":1}', ("red lamp",))
    assert LAMP in told  # in its history
    row = memory.store.read("memories", f"memory_id = '{one}'").row(0, named=True)
    assert (row["principal"], row["source_kind"]) == ("page", "manual")
    assert memory.count() == 1
    person.refused(f"/memory/{one}/correct", 400, content="  ")


def test_a_title_of_first_words_goes_with_the_words(person, memory, saved):
    """A correction must not leave what was wrong as the title."""
    one = memory.save("Lea starts at the school on 24 August 2026.").memory_id
    page = person.text(f"/memory/{one}")
    (shown,) = re.findall(r'<input id="title" name="title" value="([^"]*)"', page)
    assert shown == ""
    person.done(f"/memory/{one}/correct", content="Lea starts at the school on 31 August 2026.", title=shown)
    assert memory.get(one).title == "Lea starts at the school on 31 August 2026."
    named = saved(LAMP, title="Lamp", key="lamp")
    assert 'name="title" value="Lamp"' in person.text(f"/memory/{named}")
    person.done(f"/memory/{named}/correct", content="The lamp on the pier is green since May.", title="")
    assert memory.get(named).title == "Lamp"


def test_a_memory_of_a_file_is_corrected_there(person, memory, act, home):
    from slowwave.lifecycle.write_path import append, apply

    apply(memory.home, append(memory.home, [act("vault/lamp.md", LAMP, title="Lamp", origin="vault")]))
    (one,) = memory.store.read("memories")["memory_id"]
    page = person.words(f"/memory/{one}")
    assert "comes from the file vault/lamp.md" in page
    assert "Save the correction" not in page
    assert "change it there" in person.refused(
        f"/memory/{one}/correct", 409, content="The lamp is green now."
    )
    assert memory.get(one).content == LAMP


def test_a_memory_is_forgotten_and_brought_back(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    assert "Forgotten" in person.done(f"/memory/{one}/forget", back="/memories?by=application")
    assert memory.search("lamp").results == ()
    assert "Unforget" in person.words(f"/memory/{one}")
    assert "Already forgotten: Lamp" in person.done(f"/memory/{one}/forget")
    person.refused(f"/memory/{one}/correct", 409, content="The lamp on the pier is green.")
    assert "No longer forgotten" in person.done(f"/memory/{one}/remember")
    assert [result.memory_id for result in memory.search("lamp")] == [one]
    person.refused("/memory/nosuch/forget", 404)


def test_what_is_erased_is_shown_first_and_is_gone(person, memory, saved):
    one = saved(LAMP, title="Lamp")
    page = person.text(f"/memory/{one}/erase")
    assert "This cannot be undone." in words(page)
    assert "table memories" in words(page)
    person.refused(f"/memory/{one}/erase", 409, shown="something else")
    assert memory.get(one).content == LAMP
    mark = re.search(r'name="shown" value="([^"]+)"', page)[1]
    assert "Erased. The record is" in person.done(f"/memory/{one}/erase", shown=mark, why="asked to")
    assert person.get(f"/memory/{one}").status_code == 404
    assert "Lamp" not in person.words("/memories")


def test_what_was_changed_since_it_was_shown_is_neither_erased_nor_written_over(person, memory, saved):
    one = saved(LAMP, title="Lamp", key="lamp")
    mark = re.search(r'name="shown" value="([^"]+)"', person.text(f"/memory/{one}/erase"))[1]
    read = re.search(r'name="read" value="([^"]+)"', person.text(f"/memory/{one}"))[1]
    changed = "The lamp on the pier is green since May, and blinks."
    assert "Saved." in person.done(f"/memory/{one}/correct", content=changed, title="Lamp", read=read)
    edit = "The lamp & the pier are <mine>."
    answer = person.post(
        f"/memory/{one}/correct", content=edit, title="My lamp", tags="pier, mine", type="decision", read=read
    )
    assert answer.status_code == 409
    assert "has changed since you opened it" in words(answer.text)
    form = answer.text.partition("<summary>Edit</summary>")
    assert form[0].endswith('<details class="box" open>')
    for typed in ("The lamp &amp; the pier are &lt;mine&gt;.", 'value="My lamp"', "pier, mine",
                  "<option selected>decision</option>"):  # fmt: skip
        assert typed in form[2]
    assert memory.get(one).content == changed
    assert "Open the preview again" in person.refused(f"/memory/{one}/erase", 409, shown=mark)
    assert memory.get(one).content == changed


def test_an_address_of_a_refused_note_leads_to_it(person, memory):
    one = refused(memory)
    answer = person.get(f"/memory/{one}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/quarantine/{one}")


def test_a_note_is_saved(person, memory):
    told = person.done("/save", content=LAMP, title="Lamp", type="fact")
    assert "Saved." in told
    (row,) = memory.store.read("memories").to_dicts()
    assert (row["principal"], row["source_kind"], row["memory_type"]) == ("page", "manual", "fact")
    assert "Not saved: the save gate refused it (" in person.done("/save", content="ok")


# -- what was stored lately ------------------------------------------------------------------------


def test_what_was_stored_lately_says_by_whom_and_how(site, memory, saved):
    person = site.person()
    saved(LAMP, title="Lamp", source_kind="manual")
    saved(TUESDAY, title="Deploy day", source_kind="imported", tags=["captured"])
    person.done("/save", content=BATTERY, title="Battery")
    told = person.words("/memories")
    assert told.index("Battery") < told.index("Deploy day") < told.index("Lamp")
    assert "captured from a session" in told
    mine = person.words("/memories?by=page")
    assert "weeks in winter" in mine
    assert TUESDAY not in mine
    imported = person.words("/memories?kind=imported")
    assert TUESDAY in imported
    assert LAMP not in imported
    assert "No memory matches these filters." in person.words("/memories?by=nobody")


def test_a_capture_that_has_gone_silent_is_said_where_what_was_stored_is_looked_at(site, home, saved):
    person, now = site.person(), datetime.now(UTC)
    saved(LAMP, title="Lamp")
    assert "Hooks" not in person.words("/memories")
    note_capture(home, "ada", "claude-code", now - timedelta(days=9), saved=1)
    note_capture(home, "bob", "codex", now, saved=1)
    told = person.words("/memories")
    assert "Hooks: claude-code in namespace ada: last capture 9 days ago" in told
    assert "silent" not in told
    assert "codex" not in told
    for days in (8, 2):
        note_recall(home, "ada", "claude-code", now - timedelta(days=days))
    told = person.words("/memories")
    assert "capture has gone silent" in told
    assert "last session 2 days ago" in told
    assert "slowwave doctor" in told


def test_a_long_list_has_pages(person, memory):
    memory.save_many([
        {"content": f"Gauge {at} stands at pier {at * 7}, read at {at} o'clock.", "title": f"Gauge {at}"}
        for at in range(45)
    ])  # fmt: skip
    first, last = person.text("/memories"), person.text("/memories?skip=40")
    assert "1 to 20 of" in words(first)
    assert 'rel="next" href="/memories?skip=20' in first
    assert "41 to" in words(last)
    assert 'rel="next"' not in last
    assert person.get("/memories?skip=99999999999").status_code == 200
    assert person.get("/memories?skip=-3").status_code == 200


# -- what waits ------------------------------------------------------------------------------------


def test_a_refused_note_is_shown_with_its_reasons_and_let_in(person, memory):
    one = refused(memory)
    told = person.words("/quarantine")
    for reason in memory.quarantine()[0]["reasons"]:
        assert words_of(reason).why in told
        assert f"Fix: {words_of(reason).fix}" in told
    assert "1 waiting" in told
    whole = person.words(f"/quarantine/{one}")
    assert "Content score" in whole
    assert "in quarantine" in whole
    assert "held" not in whole
    told = person.done(f"/quarantine/{one}/release")
    assert "Released" in told
    assert memory.get(one).status == "live"
    assert "The quarantine is empty" in person.words("/quarantine")
    person.refused(f"/quarantine/{one}/release", 409)
    person.refused("/quarantine/nosuch/release", 404)


def test_refused_notes_are_discarded_and_restored(person, memory):
    one, other = refused(memory), memory.save("hello there").memory_id
    assert "Discarded: hello there" in person.done(f"/quarantine/{other}/discard")
    assert "hello there" in person.words("/quarantine?status=discarded")
    assert "Discarded: 1" in person.words("/quarantine")
    assert "In quarantine again: hello there" in person.done(f"/quarantine/{other}/restore")
    assert "Discard all 2" in person.words("/quarantine")
    assert "Discarded: 2 notes" in person.done("/quarantine/reason/no_statement/discard")
    assert memory.quarantine() == []
    assert {row["memory_id"] for row in memory.quarantine(status="discarded")} == {one, other}
    person.refused("/quarantine/nosuch/discard", 404)


def test_a_forgotten_memory_names_what_says_the_same(person, memory):
    name = memory.save(LAMP, title="Lamp").memory_id
    memory.save(LAMP, title="Lamp again", key="copy")
    told = person.done(f"/memory/{name}/forget")
    assert "Stays, and may say the same: Lamp again (in quarantine) ." in told


def test_a_decision_shows_both_texts_and_what_differs(person, memory):
    waiting(memory)
    page = person.text("/decisions")
    assert "<del>Tuesday</del>" in page
    assert "<ins>Thursday</ins>" in page
    assert "1 waiting" in words(page)
    assert "never asked about again" in words(page)


@pytest.mark.parametrize("word", ["accept", "decline"])
def test_a_decision_is_settled_once(person, memory, word):
    one = waiting(memory)
    assert {"accept": "Done: supersede", "decline": "Declined:"}[word] in person.done(
        f"/decisions/{one}/{word}"
    )
    assert memory.decisions(waiting=True) == []
    assert "No decision waits" in person.words("/decisions")
    statuses = set(memory.store.read("memories")["status"])
    assert statuses == ({"live", "superseded"} if word == "accept" else {"live"})
    person.refused(f"/decisions/{one}/{word}", 409)


@pytest.mark.parametrize(
    ("path", "back"),
    [("/decisions/nosuch", "/decisions"), ("/memory/nosuch", "/memories"), ("/nosuch", "")],
)
def test_an_error_page_has_the_pending_counts_and_a_way_back(person, memory, path, back):
    refused(memory)
    page = person.get(path)
    assert page.status_code == 404
    assert '<span class="count">1<' in page.text
    assert (f'<a href="{back}">Go back</a>' in page.text) == bool(back)


def test_a_search_of_an_empty_home_says_what_to_do_on_the_page(person):
    page = person.text("/?q=lamp")
    assert "Save a note in the form on the first page" in page
    assert "slowwave save" not in page
    assert '<a href="/">Go to the form</a>' in page


def test_a_search_of_an_empty_namespace_names_no_other_one(person, open_memory):
    open_memory("bob").save("The lamp of the north pier is green, and it is lit at dusk.", title="Lamp")
    page = person.text("/?q=lamp")
    assert "This memory is empty." in page
    assert "bob" not in page


def test_what_changed_something_is_listed_with_undo(person, memory):
    _, part = merged(memory)
    told = person.words("/decisions")
    assert "Undo the merge of Battery" in told
    why = "by a rule, when application saved the note. The note says what a memory says"
    for page in (told, person.words(f"/decisions/{part.decision_id}")):
        assert why.casefold() in page.casefold()
    person.done(f"/decisions/{part.decision_id}/undo")
    told = person.words("/decisions")
    assert "undone" in told
    assert "Undo the merge" not in told


# -- learning --------------------------------------------------------------------------------------


@pytest.fixture
def ready(learning_on, memory):
    """Only a person's word is missing."""
    put_ready(memory.store, memory.home.now())
    return memory


def test_learning_is_approved_and_withdrawn_by_name(ready, make_site):
    person = make_site().person()
    told = person.words("/learning")
    assert "closed until a person approves" in told
    assert "Approve" in told
    assert "cycles" in person.words("/learning/words/approve")
    person.refused("/learning/words/approve", 409, who=" ")
    told = person.done("/learning/words/approve", who="Ida", why="it looks right")
    assert "approved by Ida" in told
    assert ready.learning.gate("words").open
    night(ready.home)
    assert "live" in person.words("/learning")
    person.refused("/learning/words/withdraw", 409, who="")
    assert "withdrawn by Ida" in person.done("/learning/words/withdraw", who="Ida")
    assert not ready.learning.gate("words").open
    person.refused("/learning/words/withdraw", 409, who="Ida")
    assert person.get("/learning/nonsense/approve").status_code == 404


def test_what_is_missing_is_named_where_it_cannot_be_approved(person):
    answer = person.get("/learning/keys/approve")
    assert answer.status_code == 409
    assert "Missing:" in words(answer.text)


def test_what_was_learned_is_taken_back_after_a_look(ready, make_site):
    person = make_site().person()
    ready.learning.approve(who="ann")
    night(ready.home)
    told = person.words("/learning/roll-back?principal=ann")
    assert "lessons would be rolled back (principal ann)" in told
    assert "was learned from principal nobody" in person.words("/learning/roll-back?principal=nobody")
    assert "Rolled back by Ida" in person.done("/learning/roll-back", principal="ann", who="Ida")
    assert "was learned from principal ann" in person.words("/learning/roll-back?principal=ann")
    person.refused("/learning/roll-back", 409, principal="", who="")


def test_what_a_memory_learned_is_on_its_page(ready, make_site):
    ready.store.delete("memories", "true")  # they are there in name alone, and no note is compared with them
    one = ready.save(LAMP, title="Lamp").memory_id
    put_news(ready.store, ready.home.now(), memory=one)
    told = make_site().person().words(f"/memory/{one}")
    assert "Learned terms" in told
    assert "skerry" in told


# -- trend and judging -----------------------------------------------------------------------------


def test_pairs_are_judged_one_after_the_other(person, memory, saved):
    names = {saved(text, title=text[:8]) for text in (LAMP, TUESDAY, BATTERY)}
    assert "No pair to label." in person.words("/judge")  # and who looked too early looks again
    memory.search("lamp")
    memory.search("when do we deploy?")
    memory.search("battery")
    seen = []
    for grade in ("3", "0", "unrateable"):
        page = person.text("/judge")
        query = re.search(r'name="query" value="([^"]*)"', page)[1]
        one = re.search(r'name="memory" value="([^"]*)"', page)[1]
        assert one in names
        assert (query, one) not in seen
        seen.append((query, one))
        person.done("/judge", query=query.replace("&#39;", "'"), memory=one, grade=grade)
    rows = memory.journal.read(kinds=["judgment"])
    assert rows.height == 3
    left = re.search(r"(\d+) pairs? to label", person.words("/judge"))
    assert int(left[1]) >= 1
    person.refused("/judge", 400, query="lamp", memory=names.pop(), grade="7")
    person.refused("/judge", 404, query="lamp", memory="nosuch", grade="2")


def test_what_was_put_off_comes_last(person, memory, saved):
    saved(LAMP, title="Lamp")
    saved(TUESDAY, title="Deploy day")
    memory.search("lamp", limit=2)
    page = person.text("/judge")
    first = re.search(r'name="memory" value="([^"]*)"', page)[1]
    person.done("/judge", query="lamp", memory=first, grade="later")
    assert re.search(r'name="memory" value="([^"]*)"', person.text("/judge"))[1] != first


def used_for_a_year(memory, since: date, gain: float) -> None:
    """Scores of a year of nights: with all use, every second question is found better."""
    rows = [
        {
            "effect_id": f"{week}-{at}", "search_id": f"{week}-{at}", "query_id": f"question {at}",
            "day": f"{since + timedelta(weeks=week):%F}", "namespace": memory.namespace, "kind": "use",
            "live": True, "moved": at % 2 == 0, "mrr_5": 0.25, "ndcg_10": 0.25, "rated": False,
            "mrr_5_learned": 0.25 + gain * (at % 2 == 0), "ndcg_10_learned": 0.25,
        }
        for week in range(53)
        for at in range(20)
    ]  # fmt: skip
    memory.store.upsert("learned_effect", pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.5, "Searches are better than if nobody had ever rated: a right memory came earlier for 10 of 20"),
        (-0.2, "Searches are worse than if nobody had ever rated: a right memory came earlier for 0 of 20"),
    ],
)
def test_a_year_of_use_is_a_sentence_and_a_picture(person, memory, gain, words):
    pytest.importorskip("matplotlib")
    monday = date(2025, 1, 6)
    used_for_a_year(memory, monday, gain)
    told = person.words("/trend")
    assert words in told
    better, worse = (53, 0) if gain > 0 else (0, 53)
    assert f"By week: better in {better}, worse in {worse}, of 53." in told
    page = person.text("/trend")
    assert page.count('src="/trend/unused.svg"') == 1
    assert page.index("unused.svg") < page.index("<details") < page.index("<table")
    picture = person.get("/trend/unused.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "if nobody had ever rated" in picture.text
    assert "Dagster" not in told


def test_trend_and_learning_are_quiet_until_there_is_something(person):
    told = person.words("/trend")
    assert "Nothing to compare yet." in told
    assert "<img" not in person.text("/trend")
    assert person.get("/trend/unused.svg").status_code == 404
    page = person.text("/learning")
    assert page.count("Nothing was learned yet") == 1
    assert "Audit log" not in page
    assert "<table" not in page
    assert "<section" not in page
    assert "Roll back" not in page


def test_dagster_is_linked_where_its_address_is_known(make_site, memory):
    assert "Dagster" not in make_site().person().words("/learning")
    used_for_a_year(memory, date(2025, 1, 6), 0.5)
    person = make_site(night={"ui_url": "https://dagster.example.org/memory/"}).person()
    for path, asset in (("/learning", "learning_gate"), ("/trend", "trend")):
        page = person.text(path)
        assert f'href="https://dagster.example.org/memory/assets/{asset}"' in page
        assert 'href="https://dagster.example.org/memory/runs"' in page


def test_a_picture_of_no_kind_is_not_there(person):
    assert person.get("/trend/nonsense.svg").status_code == 404


# -- what notes say is data ------------------------------------------------------------------------


def test_nothing_that_a_note_says_is_obeyed_by_the_page(site, memory):
    person = site.person()
    whole = f"{LAMP} {ODD} It was painted by Ishbel in May."
    saved = memory.save(whole, title=ODD, tags=['"><img src=x onerror=alert(3)>'], trigger_phrases=[ODD])
    paths = [
        "/memories", f"/memory/{saved.memory_id}", f"/memory/{saved.memory_id}/erase", "/?q=lamp",
        f"/memory/{quote(ODD, safe='')}",
    ]  # fmt: skip
    person.client.get("/", params={"q": ODD})
    for path in paths:
        _is_inert(person.get(path).text)
    _is_inert(person.client.get("/", params={"q": ODD, "type": ODD, "since": ODD}).text)
    _is_inert(person.client.get("/memories", params={"by": ODD, "kind": ODD}).text)
    _is_inert(person.post(f"/memory/{saved.memory_id}/forget", back="javascript:alert(1)").text)
    memory.save(f"{ODD}", title=ODD)
    for path in ("/quarantine", "/decisions", "/judge", "/learning/roll-back?principal=%3Cscript%3E"):
        _is_inert(person.text(path))


def _is_inert(page: str) -> None:
    """There is no mark of HTML but those of the templates."""
    assert page.count("<script") == page.count('<script src="/static/keys.js" defer></script>')
    assert "<b>" not in page
    assert "<img src=x" not in page
    assert "\x1b" not in page
    assert not re.search(r"""href=["']?\s*javascript:""", page, re.I)
    assert not re.search(r"\son\w+=", re.sub(r"&[#\w]+;", "", re.sub(r">[^<]*<", "><", page)))
    assert "style=" not in re.sub(r">[^<]*<", "><", page)


@pytest.mark.parametrize(
    "path", ["//evil.example.org", "https://evil.example.org", "javascript:alert(1)", "/\\evil", "", "/a\nb"]
)
def test_a_form_leads_to_this_site_alone(path):
    assert local(path, "/here") == "/here"
    assert local("/memory/x?skip=3&by=a", "/here") == "/memory/x?skip=3&by=a"


def test_an_error_that_nobody_foresaw_tells_nothing_of_itself(person, monkeypatch, caplog):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("slowwave.web.browsing.browse", broken)
    answer = person.get("/memories")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text


def test_a_refused_correction_is_no_text_of_the_memory(person, memory, saved):
    memory_id = saved(LAMP)
    told = person.done(f"/memory/{memory_id}/correct", content="ok")
    assert "Not saved: the save gate refused it (" in told
    assert "keeps the text that it had" in told
    events = [event["event"] for event in memory.history(memory_id) if event["text"]]
    assert events == ["saved", "refused"]
    page = person.text(f"/memory/{memory_id}")
    assert "earlier text of this memory" not in page
    assert "Text changed" not in page
