from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from slowwave.common.quoting import json_printable, one_line, plain_line, printable, quoted
from slowwave.home.tenant import MemoryRecord
from slowwave.index.channels import CONFIDENCE_LABELS
from slowwave.scoring.ranking.wakeup import PacketSection
from slowwave.search.wakeup import Packet, _item
from slowwave.views import mcp_text as wording
from slowwave.views.answers import Found, FoundMemory, History, HistoryEvent
from slowwave.views.terminal import Terminal

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


def test_every_line_is_marked():
    assert quoted("one\n\n  two  ") == "> one\n>\n>   two  "
    assert quoted("") == ">"


@pytest.mark.parametrize("line_break", BREAKS)
def test_no_line_break_leads_out_of_a_quote(line_break):
    assert quoted(f"harmless{line_break}Now do this").splitlines() == ["> harmless", "> Now do this"]


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\u2028 >")))
def test_no_text_leads_out_of_a_quote(text):
    assert all(line.startswith(">") for line in quoted(text).splitlines())


@given(st.text(st.characters(codec="utf-8") | st.sampled_from('\r\n\u2028"\\ >')))
def test_a_short_text_stays_on_its_line_and_in_its_quotation_marks(text):
    told = one_line(text)
    assert len(told.splitlines()) == 1
    assert told[0] == told[-1] == '"'
    assert '"' not in told[1:-1].replace("\\\\", "").replace('\\"', "")


# -- nothing leads out of a quote, or to a terminal ------------------------------------------------

OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NASTY = [
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\ud800",
    "\x00",
    "\b",
    "\r",
    "\n> ",
    "\u2028",
    '"',
]
words = st.lists(st.sampled_from([*NASTY, "MARK", " ", "[red]", "[/]", "x"]), max_size=12).map("".join)


def assert_quoted(text: str) -> None:
    """Every line with a word of a note is marked or in quotation marks, and none is obeyed."""
    assert not OBEYED.search(text), repr(text)
    assert all(line.startswith(">") for line in text.split("\n") if "MARK" in line), text


@given(words)
def test_what_is_obeyed_is_spelled_out(text):
    assert not OBEYED.search(printable(text, keep="\n"))
    assert not OBEYED.search(plain_line(text))
    document = json_printable(json.dumps({"a": text}, ensure_ascii=False))
    assert not OBEYED.search(document)
    assert json.loads(document)["a"].encode("utf-16", "surrogatepass") == text.encode(
        "utf-16", "surrogatepass"
    )


def test_an_escape_sequence_and_a_change_of_direction_are_seen():
    assert printable("a\x1b[31mb\u202ec\U000e0041") == r"a\x1b[31mb\u202ec\U000e0041"
    assert quoted("one\ttwo\x07") == "> one    two\\x07"
    assert printable("שלום 👩‍👩‍👧 日本") == "שלום 👩‍👩‍👧 日本"


@given(title=words, text=words, memory_type=words, tags=st.lists(words, max_size=3), source=words)
def test_no_field_of_a_note_leaves_its_quote(title, text, memory_type, tags, source):
    whole = MemoryRecord(
        "id", "ada", source, title, text, "live", memory_type, source, "internal", tuple(tags), (), "{}",
        NOON, NOON, 1,
    )  # fmt: skip
    assert_quoted(wording.record(whole))
    found = FoundMemory(
        rank=1, memory_id="id", chunk_id="id:00000", title=title, text=text, score=0.5, fit="weak",
        confidence="low", flags=[], duplicates=["id2"], memory_type=memory_type, source=source, tags=tags,
        created_at=NOON, updated_at=NOON,
        explanation={"formula": "1", "contributions": [
            {"value": 0.1, "source": "trigger", "field": "trigger_phrases", "term": title}
        ]},
    )  # fmt: skip
    hidden = {"reason": "weak", "memory_id": "id", "score": 0.1, "title": title}
    debug = {"signal": 0.5, "policy": "p", "not_shown": [hidden]}
    assert_quoted(
        wording.found(Found(search_id="s", abstained=False, results=[found], next_step="", debug=debug))
    )
    event = HistoryEvent(
        at=NOON, event="saved", by="", id="i", other="", title=title, text=text, details=source
    )
    assert_quoted(wording.history(History(memory_id="id", events=[event])))
    item = _item({
        "title": title, "content": text, "memory_id": "id", "section": "note", "source": source, "path": None,
        "score": 0.5, "date": NOON, "is_outdated": False,
        "importance_tier": "normal", "updated_at": NOON, **dict.fromkeys(CONFIDENCE_LABELS, "note"),
    })  # fmt: skip
    packet = Packet("ada", NOON, 100, 10, (PacketSection("note", (item,), 0),))
    assert_quoted(packet.text)
    assert len(packet.text.split("\n")) == 3


@given(words)
def test_a_terminal_is_sent_nothing_that_it_would_obey(text):
    told = StringIO()
    terminal = Terminal(file=told, width=80, color_system=None)
    table = Table(title=Text(text), caption=Text(text))
    table.add_column(Text(text))
    table.add_row(escape(text))
    for shown in (table, Text(text), Padding(Text(text), 1)):
        terminal.print(shown)
    terminal.print(text, markup=False, highlight=False, soft_wrap=True)
    assert not OBEYED.search(told.getvalue()), repr(told.getvalue())
