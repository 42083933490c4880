"""Front matter: where it ends, what its YAML means, and what is refused."""

from __future__ import annotations

import json
import time

import pytest
from notes_helpers import markdown, refusal, with_field


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
    ("head", "line"),
    [
        ("a: 1\nkey: value: x", 3),
        ("a: 1\n\tb: 2", 3),
        ("a: 1\nb: 2\na: 3", 4),
        ("a:\n  b: 1\n  b: 2", 4),
        ("aliases:\n  - %", 3),
        ("a: 1\nb: [1, 2\nc: 3", 3),
        ("a: 1\nb: 'open\nc: 3", 3),
        ("a: 1\nb 2\nc: 3", 3),
        ("- a\n- b", 2),
        ("just words", 2),
        ("a: 1\nb: \x07", 3),
        ("a: *missing", 2),
        ("a: !!python/object:os.system x", 2),
        ("a: !custom x", 2),
        ("? [a, b]\n: x", 2),
        ("<<: text", 2),
    ],
)
def test_broken_front_matter_names_the_line_of_the_file(head, line):
    reason, message = refusal(f"---\n{head}\n---\nbody", "notes/a.md")
    assert reason == "broken_front_matter"
    assert message.startswith(f"notes/a.md, line {line}: ")
    assert "; " in message


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
def test_hostile_front_matter_is_refused_quickly(head):
    started = time.process_time()
    reason, _ = refusal(f"---\n{head}\n---\nbody")
    assert reason == "broken_front_matter"
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("levels", "accepted"), [(20, True), (62, True), (64, False), (500, False)])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ("{k: ", "}"), ("- ", "")])
def test_nesting_has_a_limit(levels, accepted, left, right):
    text = f"---\na:\n  {left * levels}x{right * levels}\n---\nbody"
    if accepted:
        assert list(markdown(text).metadata) == ["a"]
    else:
        assert "nested deeper than 64 levels" in refusal(text)[1]


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
