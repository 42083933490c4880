"""Injured front matter: of every kind and every note the whole text is read, and the gate lets it in."""

from __future__ import annotations

import random

import polars as pl
import pytest

from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes
from slowwave.quality.structure import KNOWN_WORDS, structure_faults

NOTES = 25  # of each kind
KINDS = {
    "colon": "title: {a}: {b}\ntags: {c}",
    "template": "title: <% tp.file.title %>\ncreated: <% tp.date.now() %>\ntags: {c}",
    "unquoted template": "title: {{{{title}}}}\ncreated: {{{{date}}}}",
    "script": "<%*\nconst {a} = 1;\n%>",
    "tabs": "title: {a}\n\ttags: {b}\n\t\t- {c}",
    "double keys": "title: {a}\ntags: {b}\ntitle: {c}\ntags: {a}",
    "Windows path": 'source: "C:\\Users\\{a}\\new: {b}"\ntags: {c}',
    "second block": "permalink: {a}/{b}\n---\n\n---\ntitle: {c}: {a}",
    "prose between rules": "\nThe {a} is kept beside the {b} for the {c}.\n",
    "list between rules": "- {a}\n- {b}\n- {c}",
    "label-like prose": "\nRemember: the {a} is kept beside the {b}.\n",
    "open quote": 'title: "{a}\ntags: {b}',
    "inner quotes": 'description: "the "{a}" of {b}"',
    "open bracket": "tags: [{a}, {b}\nowner: {c}",
    "wiki links": "related:\n  - [[{a}]]s\n  - [[{b}|{c}]] too",
    "special first characters": "title: *{a}* {b}\nowner: @{c}\nshare: %{a}\nmark: `{b}`",
    "wrong types": "title: [{a}, {b}]\nstate: {{{c}: 1}}\nsource_of_truth: perhaps",
    "unknown words": "memory_type: {a}\nimportance_tier: {b}\nstate: {c}\nretrieval_priority: 7",
    "bad dates": "created: {a} 99, 2031\ndate: 03/04/2031\ncreated_at: 0000-00-00",
    "stray sentence": "title: {a}\nSome tool left this sentence about {b} here.\ntags: {c}",
    "never closed before the text": "title: {a}: {b}\n\nThe {c} belongs to the text of the note.\n",
    "control characters": "title: {a}\x07\nowner: \x01{b}",
    "nothing but symbols": "???\n%%%\n@@@",
    "same value twice": "title: {a}\naliases: [{b}]\naliases: [{b}]",
    "inline fields": "title:: {a}\nowner:: [[{b}]]\ntags:: {c}",
    "emoji keys": "📅: {a}\n🔑 owner: {b}\ntitle: {c}",
    "deep": "a: " + "[" * 200 + "\ntags: {a}",
}
ENDINGS = ("\n---\n", "\n...\n", "\r\n---\r\n", "\n---  \n")
WORDS = [
    "otter", "heron", "sluice", "barge", "anchor", "lantern", "gravel", "willow", "ferry", "pontoon",
    "rudder",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_body_of_an_injured_note_is_read_and_none_is_refused(kind):
    chance = random.Random(kind)
    for number in range(NOTES):
        a, b, c = chance.sample(WORDS, 3)
        body = f"# Entry {number}\n\nThe {a} of {b} number {number} was painted on the {c} day of the fair.\n"
        head = KINDS[kind].format(a=a, b=b, c=c)
        text = f"{chance.choice(['', chr(0xFEFF)])}---\n{head}{chance.choice(ENDINGS)}{body}"
        if chance.random() < 0.3:
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        [note] = read_notes(text.encode(), f"folder/{a}-{number}.md", max_bytes=100_000)
        assert isinstance(note, Note), note
        assert note.content.endswith(body)
        row = {"title": note.title, "content": note.content, "namespace": "ada", "source": note.source}
        faults = structure_faults(
            pl.DataFrame([row | {name: getattr(note, name) for name in KNOWN_WORDS}]), min_characters=0
        )
        assert faults == [[]]
        assert note.sensitivity == "internal"
        lost = {"prose between rules", "list between rules", "label-like prose"}
        if kind in lost or "sentence" in kind or "closed" in kind:
            assert all(word in note.content or word in note.title for word in (a, b, c) if word in head)


FORMS = {
    "TOML": '+++\ntitle = "{a}: {b}"\ndate = 2031-05-07\ntags = ["{c}"]\nat = 07:32:00\n+++\n',
    "broken TOML": '+++\ntitle = "{a}: {b}"\ndate = 2031-05-07\ntags = ["{c}"]\nbad = {{{{\n+++\n',
    "named TOML": '---toml\ntitle = "{a}: {b}"\ndate = "7 May 2031"\ntags = ["{c}"]\n---\n',
    "JSON": '---json\n{{"title": "{a}: {b}", "date": "2031-05-07", "tags": ["{c}"]}}\n---\n',
    "JSON without braces": ';;;\n"title": "{a}: {b}",\n"date": "2031-05-07", "tags": ["{c}"]\n;;;\n',
    "broken JSON": ';;;\n{{\n"title": "{a}: {b}",\n"date": "2031-05-07",\n"tags": ["{c}"],\n?\n}}\n;;;\n',
    "never closed": "---\ntitle: {a}: {b}\ndate: 07.05.2031\ntags: [{c}]\n\n",
    "never closed, no blank line": '---\ntitle: "{a}: {b}"\ndate: 07.05.2031\ntags: {c}\n',
    "page properties": "title:: {a}: {b}\ndate:: [[May 7th, 2031]]\ntags:: #{c}, [[{c}]]\n\n",
    "unseen character first": "\u200b---\ntitle: {a}: {b}\ndate: 2031-05-07\ntags: {c}\n---\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_labels_of_other_forms_are_read(form):
    chance = random.Random(form)
    for number in range(NOTES):
        a, b, c = chance.sample(WORDS, 3)
        body = f"# Entry {number}\n\nThe {a} of {b} was painted.\n\n---\n\nNote: the {c} too.\n"
        [note] = read_notes((FORMS[form].format(a=a, b=b, c=c) + body).encode(), "a.md", max_bytes=100_000)
        assert (note.content, note.title, note.tags) == (body, f"{a}: {b}", (c,))
        assert str(note.created_at)[:10] == "2031-05-07"
