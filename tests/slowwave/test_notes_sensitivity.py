"""Sensitivity: what closes a note, in every place and spelling, and what does not."""

from __future__ import annotations

import time

import pytest
from notes_helpers import LIMIT, markdown

from slowwave.notes.reading import parse_text, read_notes

SPELLINGS = [
    "sensitivity: secret", "Sensitivity : SECRET", "SENSITIVITY: Secret", 'sensitivity: "secret"',
    "'sensitivity': 'secret'", "sensitivity: secret  # for the board", "sensitivity:    secret   ",
    "sensitivity: [secret]", "sensitivity:\n  - secret", "sensitivity:\n- secret", "sensitivity: [[secret]]",
    "sensitivity: *secret*", "sensitivity: secret.", "sensitivity: se\u200bcret", "sensitivity:secret",
    "sensitivity:\tsecret", "sensitivity: {secret: true}", "sensitivity: confidential",
    "sensitivity: <% tp.x %>",
    "nested:\n  sensitivity: secret", "sensitivity: public\nSensitivity: secret",
    "sensitivity: internal\nsensitivity: secret",
    "sensitivity:: secret", "sensitivity\uff1a\u3000secret", "sensitivity = secret", "sensitivity - secret",
    "| sensitivity | secret |", "<b>sensitivity</b>: secret", "__sensitivity__: secret",
    "`sensitivity`: secret", "sensitivity: #secret", "sensitivity: <secret>", "sensitivity level: secret",
    "data_sensitivity: secret", "@sensitivity: secret", "\uff33ensitivity: secret",
    "s\u0435nsitivity: secret",
    "list:\n  - level: 1\n  - sensitivity: secret", "marks: [sensitivity/secret]",
    "owner: [b, {sensitivity: secret}", "SENS\u0130T\u0130VITY: secret", "\tsensitivity:\tsecret",
]  # fmt: skip
PLACES = {
    "alone": "---\n{}\n---\nbody",
    "after others": "---\ntitle: x\ntags: a\n{}\n---\nbody",
    "unreadable": "---\ntitle: one: two\n{}\nowner: <<\n---\nbody",
    "unreadable with a tab": "---\ntitle: x\n\tb: c\n{}\n---\nbody",
    "second block": "---\nid: 7\n---\n\n---\ntitle: x\n{}\n---\nbody",
    "second block, unreadable": "---\nid: 7\n---\n---\ntitle: one: two\n{}\n---\nbody",
    "ended by dots": "---\n{}\n...\nbody",
    "never closed": "---\n{}\n\nbody of the note",
    "after a blank line": "\n---\n{}\n---\nbody",
    "below some text": "---\ntitle: x\n---\nThis is an introduction of one line.\n\n---\n{}\n---\nbody",
    "with a stray sentence": "---\ntitle: x\nThis is a stray sentence here.\n{}\n---\nbody",
    "below text between rules": "---\n\nThis is a sentence between two rules.\n{}\n\n---\nbody",
    "three plus": '+++\ntitle = "x"\n{}\n+++\nbody',
    "three semicolons": ";;;\n{}\n;;;\nbody",
    "named form": "---yaml\n{}\n---\nbody",
    "code at the beginning": "```yaml\n{}\n```\nbody",
    "CRLF": "\ufeff---\r\n{}\r\n---\r\nbody",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_label_that_closes_closes_in_every_place_and_spelling(spelling, place):
    note = markdown(PLACES[place].format(spelling))
    assert note.sensitivity == "secret"
    assert "body" in note.content


@pytest.mark.parametrize(
    "text",
    [
        "---\nsensitivity: public\n---\nbody",
        "---\nsensitivity: internal\ntitle: a: b\n---\nbody",
        "---\nsensitivity:\n---\nbody",
        "---\nsensitivity: # not yet\n---\nbody",
        '---\ntitle: "Sensitivity: a study of secret things"\n---\nbody',
        "---\ntags: [sensitivity, secret]\n---\nbody",
        "---\nsensibility: secret\n---\nbody",
        "We write `sensitivity: secret` into the front matter.\n`sensitivity: secret` closes a note.",
        "body\n\n---\n\nText after a rule has no labels at all, like sensitivity: secret.",
        "body\n\nSensitivity: 97 %, specificity: 92 %",
        "body\n\nSensitivity: secret agents are touchy.",
        "The sensitivity of secret keys; sensitivity: secret_keys",
        "---\nmarks: [{name: sensitivity, value: high}, {name: secret}]\n---\nbody",
        "---\nlight_sensitivity: high\n---\nbody",
        "---\n# sensitivity: secret\ntitle: x # sensitivity: secret\n---\nbody",
        "body\n\n```yaml\n---\nsensitivity: secret\n---\n```\n",
    ],
)
def test_what_does_not_state_it_does_not_close(text):
    assert markdown(text).sensitivity in ("public", "internal")


@pytest.mark.parametrize(
    "line",
    [
        "sensitivity:: secret", "- Sensitivity:: secret", "A line (sensitivity:: secret) of text",
        "A line [sensitivity:: confidential] of text", "**Sensitivity:** secret", "> sensitivity: secret",
        "Sensitivity: secret (for the board)", "A line #sensitivity/secret of text",
        "| Sensitivity | secret |",
        "1. sensitivity: secret", "> [!warning]- sensitivity: secret", "owner: ada; sensitivity: secret",
        'x = {"a": 1, "sensitivity": "secret"}', '"sensitivity": "secret",',
        "sensitivity: SECRET\u2028",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["{}\n\nbody", "# Title\n\nbody\n{}\nmore", "body\n\n```\nopen\n{}"])
def test_a_line_or_an_inline_field_of_the_text_closes(line, text):
    assert markdown(text.format(line)).sensitivity == "secret"
    assert parse_text(text.format(line).encode(), "a.txt", max_bytes=LIMIT).sensitivity == "secret"


@pytest.mark.parametrize(
    ("text", "sensitivity"),
    [
        ("---\nsensitivity: public\n---\nbody", "public"),
        ("---\nid: 7\n---\n---\nsensitivity: public\n---\nbody", "public"),
        ("---\nsensitivity: public\n---\n---\nsensitivity: internal\n---\nbody", "internal"),
        ("---\ntitle: x\n---\nbody\n\n---\nsensitivity: public\n---\n", "internal"),
        ("---\ntitle: a: b\nsensitivity: public # for all\n---\nbody", "public"),
        ("---\n{title: a, sensitivity: secret, : }\n---\nbody", "secret"),
        ('+++\nsensitivity = "secret"\n+++\nbody', "secret"),
        ("---\nsensitivty: secret\n---\nbody", "secret"),
        ("---\nProse between rules.\n---\n---\nsensitivty: secret\n---\nbody", "secret"),
        ("---\nProse between rules.\n---\n---\nsenitivity: secret\n---\nbody", "secret"),
        ("---\nProse “between” rules.\n---\n---\nsensitivty: secret\n---\nbody", "secret"),
        ("---\nProse between rules.\n---\n---\nactivity: secret\n---\nbody", "internal"),
        ("---\nmarks:\n  - {name: Sensitivity, value: secret}\n---\nbody", "secret"),
    ],
)
def test_the_strictest_statement_counts_and_a_block_in_the_text_opens_nothing(text, sensitivity):
    assert markdown(text).sensitivity == sensitivity


@pytest.mark.parametrize(
    ("line", "sensitivity"),
    [
        ('{"text": "x", "secret": true}', "secret"),
        ('{"text": "x", "is_confidential": "yes"}', "secret"),
        ('{"text": "x", "secret": false, "confidential": "no"}', "internal"),
        ('{"text": "x", "secret": "santa"}', "internal"),
        ('{"text": "x", "sensitivity": "secret", "sensitivity": "public"}', "secret"),
        ('{"text": "x", "sensitivity": "public", "sensitivity": "secret"}', "secret"),
        ('{"text": "x", "sensitivity": "public", "sensitivity": "internal"}', "internal"),
        ('{"text": "x", "a": {"sensitivity": "secret", "Sensitivity": "public"}}', "secret"),
        ('{"text": "x", "title": "sensitivity", "title": "secret"}', "internal"),
    ],
)
def test_the_strictest_label_of_a_record_counts(line, sensitivity):
    (note,) = read_notes(line.encode(), "a.jsonl", max_bytes=LIMIT)
    assert note.sensitivity == sensitivity


def test_an_unknown_word_closes_with_a_remark():
    note = markdown("---\nsensitivity: confidential\n---\nbody")
    assert note.sensitivity == "secret"
    assert note.unread == ("sensitivity is none of public, internal, secret, so it is secret",)
    assert note.metadata["sensitivity"] == "confidential"


def test_text_files_and_json_lines_close_too():
    text = b"---\nsensitivity: secret\n---\nbody"
    assert parse_text(text, "a.txt", max_bytes=LIMIT).sensitivity == "secret"
    lines = [
        b'{"text": "x", "Sensitivity": "SECRET"}', b'{"text": "---\\nsensitivity: secret\\n---\\nx"}',
        b'{"text": "x"}',
    ]  # fmt: skip
    found = [note.sensitivity for note in read_notes(b"\n".join(lines), "a.jsonl", max_bytes=LIMIT)]
    assert found == ["secret", "secret", "internal"]


@pytest.mark.parametrize(
    "piece", [":", " ", "|", ":: ", "(sensitivity::", "sensitivity: ", "#", "\\", "\n- "]
)
@pytest.mark.parametrize(
    "text", ["---\ntitle: a: b\nsensitivity{}\n---\nbody", "body\nsensitivity{}", "{}\nbody"]
)
def test_a_hostile_line_is_read_quickly(piece, text):
    started = time.process_time()
    assert markdown(text.format(piece * (50_000 // len(piece)))).content
    assert time.process_time() - started < 1
