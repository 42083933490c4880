"""Headings, fences, tags and links found in the text of a note."""

from __future__ import annotations

import time

import pytest
from notes_helpers import LIMIT, markdown

from slowwave.notes.markdown import outline
from slowwave.notes.reading import read_notes


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# A", [(1, "A")]),
        ("   ## A ##  \n", [(2, "A")]),
        ("    # indented code", []),
        ("#tag\n#\n####### seven", [(1, "")]),
        ("## C#\n# a # b", [(2, "C#"), (1, "a # b")]),
        ("### [Start-Job](Start-Job.md) and `x` **y**", [(3, "Start-Job and x y")]),
        ("# [[Target|Label]] and [[Plain]]", [(1, "Label and Plain")]),
        ("```\n# no\n```\n# yes", [(1, "yes")]),
        ("~~~\n```\n# no\n~~~\n# yes", [(1, "yes")]),
        ("````\n```\n# no\n````\n# yes", [(1, "yes")]),
        ("```\n``` not closing\n# no", []),
        ("- item\n  ```sh\n  # no\n  ```\n# yes", [(1, "yes")]),
        ("1. ```sh\n# no\n   ```\n# yes", [(1, "yes")]),
        ("> ```\n> # no\n> ```\n# yes", [(1, "yes")]),
        ("```inline``` is a span\n# yes", [(1, "yes")]),
        ("``\n# two backticks are no fence", [(1, "two backticks are no fence")]),
    ],
)
def test_outline_finds_headings_outside_of_code(content, expected):
    assert [(heading.level, heading.text) for heading in outline(content).headings] == expected


def test_outline_gives_offsets():
    content = "a\n  ## B\n```\ncode\n```\nrest\n~~~\nopen"
    found = outline(content)
    assert content[found.headings[0].start : found.headings[0].end] == "## B"
    assert [content[start:end] for start, end in found.fences] == ["```\ncode\n```", "~~~\nopen"]


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#start and #mid/sub-tag_1.", ("start", "mid/sub-tag_1")),
        ("#été #日本 #🚀", ("été", "日本", "🚀")),
        ("#123 #1/2 #y2024 #2024-goals", ("y2024", "2024-goals")),
        ("# heading\n## another #real", ("real",)),
        ("https://x.org/#frag [a](#anchor) word#no (#no)", ()),
        ("[01]: #anchor", ()),
        ("`#no` ``a ` #no`` #yes ` #unclosed", ("yes", "unclosed")),
        ("x `#no` y\n`open #yes", ("yes",)),
        ("```\n#no\n```\n#yes\n~~~\n#no", ("yes",)),
        ("#same, #same; #trail/", ("same", "trail")),
        ("#a#b ##no", ("a",)),
    ],
)
def test_inline_tags(body, tags):
    assert markdown(body).tags == tags


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[A]] [[B|label]] [[C#head]] [[D#^block|x]] [[E\\|cell]] [[ F ]]", ("A", "B", "C", "D", "E", "F")),
        ("[[#local]] [[]] [[|x]] [[a\nb]]", ()),
        ("![[Embedded]] [[A]] [[A]]", ("Embedded", "A")),
        (
            "[x](other.md) [y](../up/two.md#part) [z](<My Note.md> 'title')",
            ("other.md", "../up/two.md", "My Note.md"),
        ),
        ("[x](My%20Note.md)", ("My Note.md",)),
        ("[x](https://a.org/b.md) [m](mailto:a@b.md) [a](#here) [s](/site.md) ![i](pic.png) [n]()", ()),
        ("[`Code`](Code.md) `[no](no.md)` `[[no]]`", ("Code.md",)),
        ("See [it][1].\n\n[1]: ./ref.md", ("./ref.md",)),
        ("```\n[[no]] [x](no.md)\n```\n[[yes]]", ("yes",)),
        ("[a](one.md) then [[two]] then [b](three.txt)", ("one.md", "two", "three.txt")),
    ],
)
def test_links(body, links):
    assert markdown(body).links == links


@pytest.mark.parametrize(
    "unit", [" #a", "`", "` `` ", "](<", "[[a", "[a](b.md) ", "`a`[[b]] ", "---\n", "```\n"]
)
def test_reading_time_grows_with_the_length_not_its_square(unit):
    data = (unit * 100_000)[:100_000].encode()
    started = time.process_time()
    read_notes(data, "a.md", max_bytes=LIMIT)
    assert time.process_time() - started < 2
