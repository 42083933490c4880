"""Front matter: where it ends, what its YAML means, and what is left out."""

from __future__ import annotations

import json
import time

import pytest
from notes_helpers import markdown, with_field

from slowwave.notes.reading import title_from_path


@pytest.mark.parametrize(
    ("text", "status", "content"),
    [
        ("---\ntitle: x\n---\nbody\n", "ok", "body\n"),
        ("---  \r\ntitle: x\r\n--- \r\nbody\r\nmore\rlast", "ok", "body\nmore\nlast"),
        ("---\n---\nbody", "ok", "body"),
        ("---\n# only a comment\n---\nbody", "ok", "body"),
        ("---\n\nA rule that nothing closes.", "none", "---\n\nA rule that nothing closes."),
        ("----\nx\n----\n", "none", "----\nx\n----\n"),
        ("\n---\ntitle: x\n---\n", "none", "\n---\ntitle: x\n---\n"),
        ("---\ntitle: x\n---\nbody\n---\nmore", "ok", "body\n---\nmore"),
    ],
)
def test_front_matter_boundaries(text, status, content):
    note = markdown(text)
    assert (note.front_matter, note.content) == (status, content)


@pytest.mark.parametrize(
    ("head", "metadata", "remarks"),
    [
        ("a: 1\nkey: value: x", {"a": 1, "key": "value: x"}, []),
        ("a: 1\n\tb: 2", {"a": "1"}, ["line 3: b"]),
        ("title: 1\n\ttags: 2", {}, []),
        ("a: 1\nb: 2\na: 3", {"a": 1, "b": 2}, ["line 4: a, a second time"]),
        ("a:\n  b: 1\n  b: 2", {}, ["line 2: a", "line 3: b", "line 4: b"]),
        ("related:\n  - [[Home]]suffix\n  - x", {"related": ["[[Home]]suffix", "x"]}, []),
        ("a: 1\nb: [1, 2\nc: 3", {"a": 1, "c": 3}, ["line 3: b"]),
        ("a: 1\nb: 'open\nc: 3", {"a": 1, "b": "'open", "c": 3}, []),
        ("a: 1\n?? 2\nc: 3", {"a": 1, "c": 3}, ["line 3: no label"]),
        ("a: 1\nb: \x07", {"a": 1}, ["line 3: b"]),
        ("a: *missing", {"a": "*missing"}, []),
        ("a: !custom x", {"a": "!custom x"}, []),
        ('path: "C:\\Users\\ada"', {"path": "C:\\Users\\ada"}, []),
        ('say: "an "odd" word"', {"say": 'an "odd" word'}, []),
        ("title: {{title}}", {}, ["line 2: title"]),
        ("<%* let x = 1 %>", {}, ["line 2: a template"]),
        ("long: |\n  One: two\n  three\nb: c: d", {"long": "One: two\nthree", "b": "c: d"}, []),
    ],
)
def test_labels_of_a_block_that_is_no_yaml_are_read_line_by_line(head, metadata, remarks):
    note = markdown(f"---\n{head}\n---\nbody")
    assert (note.content, note.front_matter, list(note.unread)) == ("body", "ok", remarks)
    left_out = {"labels_left_out": remarks} if remarks else {}
    assert note.metadata == {**metadata, **left_out}


@pytest.mark.parametrize(
    "head",
    [
        "- a\n- b",
        "just words",
        "? [a, b]\n: x",
        "<<: text",
        "\nThe ferry leaves from the second pier at nine.\n",
        "\nNote: the ferry leaves from the second pier.\n",
        "# Ferry\nThe ferry leaves from the second pier.\nPrice: two: three",
    ],
)
def test_text_between_two_rules_is_no_front_matter(head):
    text = f"---\n{head}\n---\nmore"
    note = markdown(text)
    assert (note.content, note.front_matter, note.unread) == (text, "none", ())


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("---\ntitle: x\n...\nbody\n---\nmore", "body\n---\nmore"),
        ("\ufeff\ufeff---\r\ntitle: x\r\n---\r\nbody", "body"),
        ("---\ntitle: x\n\nNobody closed the block before this text.\n---\nmore",
         "Nobody closed the block before this text.\n---\nmore"),
        ("---\ntitle: x\n\n# Heading\n\nNobody closed the block here.\n---\nmore",
         "# Heading\n\nNobody closed the block here.\n---\nmore"),
        ("---\ntitle: x\nA stray sentence of some tool.\ntags: a\n---\nbody",
         "A stray sentence of some tool.\n\nbody"),
        ("---\ntitle: x\nstray 2\n---\nbody", "stray 2\n\nbody"),
        ("---\ntitle: x\n\n- Buy milk\n\n---\nbody", "- Buy milk\n\nbody"),
        ("---\nid: 7\n---\n\n---\ntitle: x\n---\nbody", "body"),
        ("---\nid: 7\n---\n---\ntitle: x: \n---\nbody", "body"),
        ("---\ntitle: x\n---\n\n---\nPrice: two\n---\nbody", "\n---\nPrice: two\n---\nbody"),
    ],
)  # fmt: skip
def test_every_line_that_is_no_label_is_text(text, content):
    note = markdown(text)
    assert (note.title[:1], note.content, note.unread) == ("x", content, ())


def test_of_two_blocks_the_first_value_counts_and_the_other_is_remarked_on():
    note = markdown("---\ntitle: x\ntags: a\n---\n---\ntitle: y\naliases: b\n---\nbody")
    assert (note.title, note.tags, note.aliases) == ("x", ("a",), ("b",))
    assert note.unread == ("line 6: title, from a second block",)


@pytest.mark.parametrize(
    "head",
    [
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{n}: &{n} [{', '.join(['*' + p] * 9)}]" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "a: &a {k: v}\n"
        + "\n".join(f"b{n}: &b{n} {{<<: [*{'a' if n == 0 else f'b{n - 1}'}, *a]}}" for n in range(3))
        + "\nc: &c [*c]",
        "s: &s " + "x" * 60_000 + "\nt: [" + "*s, " * 900 + "]",
        "a: " + "[" * 60_000,
        "a: " + "[" * 30_000 + "]" * 30_000,
        "- " * 30_000,
        "? " * 30_000,
        "a: " + "x" * 70_000,
    ],
    ids=["laughs", "cycle", "long string", "open lists", "deep lists", "deep items", "deep keys", "too long"],
)
def test_hostile_front_matter_is_read_quickly(head):
    started = time.process_time()
    note = markdown(f"---\n{head}\n---\nbody")
    assert note.content.endswith("body")
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("levels", "accepted"), [(20, True), (62, True), (64, False), (500, False)])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ("{k: ", "}"), ("- ", "")])
def test_nesting_has_a_limit(levels, accepted, left, right):
    text = f"---\na:\n  {left * levels}x{right * levels}\n---\nbody"
    note = markdown(text)
    assert note.content == "body"
    assert list(note.metadata) == ["a" if accepted else "labels_left_out"]


def test_reasonable_aliases_are_followed():
    assert with_field("a: &a [1, 2]\nb: *a").metadata == {"a": [1, 2], "b": [1, 2]}
    assert with_field("a: &a {x: 1}\nb: {<<: *a, y: 2}").metadata["b"] == {"x": 1, "y": 2}


def test_metadata_is_json_and_ambiguous_scalars_stay_as_written():
    note = with_field(
        "time: 10:30\nzip: 010\nbig: 99999999999999999999\nhuge: "
        + "9" * 5000
        + "\nnan: .nan\ninf: 1.0e+999\n"
        "on: yes\n1: one\nnull: none\n"
        "!!binary aGk=: key\nset: !!set {b, a}\nbytes: !!binary aGk=\n"
        "when: 2024-01-02T03:04:05Z\nbad: 2024-02-30"
    )
    assert note.metadata == {
        "time": "10:30",
        "zip": "010",
        "big": "99999999999999999999",
        "huge": "9" * 5000,
        "nan": ".nan",
        "inf": "1.0e+999",
        "on": True,
        "1": "one",
        "null": "none",
        "aGk=": "key",
        "set": ["a", "b"],
        "bytes": "aGk=",
        "when": "2024-01-02T03:04:05+00:00",
        "bad": "2024-02-30",
    }
    json.dumps(note.metadata, allow_nan=False)


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("tags: #pier #harbour/east", ("pier", "harbour/east")),
        ("tag: #Fähre, #ferry", ("Fähre", "ferry")),
        ("tags:\n  - #pier\n  - harbour # a remark", ("pier", "harbour")),
        ("tags: # none yet", ()),
        ('tags: ["#pier"] # as in the app', ("pier",)),
    ],
)
def test_hashtags_are_tags_and_no_comment(head: str, tags: tuple[str, ...]):
    note = markdown(f"---\n{head}\n---\nThe ferry leaves at nine.")
    assert note.tags == tags
    assert note.content == "The ferry leaves at nine."


@pytest.mark.parametrize(
    ("head", "memory_type"),
    [
        ("type: decision", "decision"), ("Type: Meeting", "meeting"), ("type: blog post", "note"),
        ("type: [decision, x]", "note"), ("type: decision\nmemory_type: fact", "fact"),
        ("kind: fact", "note"),
    ],
)  # fmt: skip
def test_a_type_that_is_known_is_the_memory_type(head, memory_type):
    note = markdown(f"---\n{head}\n---\nThe pier is painted in May.")
    assert note.memory_type == memory_type


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("daily/2026-11-27.md", "2026-11-27"), ("2026-11-19_Sprint-retro.md", "2026-11-19 Sprint retro"),
        ("phase-2-plan.md", "phase 2 plan"), ("a_b-c.md", "a b c"),
    ],
)  # fmt: skip
def test_a_file_name_is_the_title_of_last_resort(path, title):
    assert title_from_path(path) == title
