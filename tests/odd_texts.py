"""Texts and acts that break what was not made for them; one generator for all that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from slowwave.journal import Entry
from slowwave.journal.entry import KINDS

_WORDS = "The harbour master keeps a log of every ship that came in and of what it had on board."

TEXTS: dict[str, str] = {
    "one long word": "a" * 1_000_000,
    "one long number": "7" * 100_000,
    "one long line": f"{_WORDS} " * 5_000,
    "a hundred thousand lines": "word\n" * 100_000,
    "control characters": _WORDS + "".join(map(chr, [*range(1, 32), 127, *range(128, 160)])),
    "right to left": _WORDS
    + " \u202e\u2066\u202b abc \u2069 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "zero width": "\u200b\u200c\u200d\ufeff\u2060".join(_WORDS),
    "combining marks": _WORDS + "e" + "\u0301" * 100_000,
    "only emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea\u2764\ufe0f" * 200,
    "not assigned": _WORDS + "\U000e0fff\ufffe\uffff\U0010ffff\ue000",
    "only punctuation": "?!.,;:-_()[]{}<>/\\|@#$%^&*+=~`'\"" * 100,
    "white space of every kind": _WORDS
    + " \t\x0b\x0c\x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000 " * 50
    + _WORDS,
    "brackets": "[" * 50_000 + _WORDS + "]" * 50_000,
    "links": "[[" * 20_000 + _WORDS + "](" * 20_000,
    "headings": "".join(f"{'#' * (at % 6 + 1)} {at}\n" for at in range(20_000)) + _WORDS,
    "fences": "```\n" * 20_001 + _WORDS,
    "backticks": " ".join("`" * (at % 50 + 1) for at in range(20_000)) + _WORDS,
    "quotes": ">" * 50_000 + " " + _WORDS,
    "lists": "- " * 50_000 + _WORDS,
    "tables": "|" * 50_000 + _WORDS,
    "hashes": "#" * 100_000 + _WORDS,
    "dates": "2024-01-" * 20_000 + _WORDS,
    "numbers": "1.2.3.4.5,6:7/8-9e10 " * 10_000 + _WORDS,
    "a number without end": _WORDS + " " + "9" * 5_000 + " apples and 1e999999 pears, 0x" + "f" * 5_000,
    "names": "A" + ".b" * 20_000 + "() " + "a_" * 20_000 + "/x" * 20_000 + " " + _WORDS,
    "mail": "a@" * 20_000 + "b." * 20_000 + " " + _WORDS,
    "white space to go back over": (" " * 20_000 + "x") * 5 + _WORDS,
    "words and hyphens": "a-" * 50_000 + _WORDS,
    "apostrophes": "a'" * 50_000 + _WORDS,
    "no spaces": "\u6e2f\u53e3\u306e\u8a18\u9332\u3092\u6bce\u65e5\u3064\u3051\u3066\u3044\u308b" * 5_000,
    "case that grows": "\u0130\u1e9e\ufb03\u1f80" * 10_000 + _WORDS,
    "compatibility": "\ufdfa" * 20_000 + _WORDS,
    "markup": "<a href=" * 20_000 + _WORDS,
    "SQL": "'; DROP TABLE memories; -- \" \\ % _ " + _WORDS,
    "negations": "not " * 20_000 + _WORDS,
    "sentences": "No. " * 30_000 + _WORDS,
    "braces": '{"a":' * 10_000 + _WORDS,
}

_DEEP = b'{"id": "deep", "text": "t", "more": ' + b"[" * 500 + b"]" * 500 + b"}"
FILES: dict[str, bytes] = {
    "deep.jsonl": _DEEP,
    "deeper.jsonl": _DEEP.replace(b"[" * 500, b"[" * 100_000),
    "objects.jsonl": b'{"text": "t", "a": ' + b'{"a": ' * 400 + b"1" + b"}" * 400 + b"}",
    "numbers.jsonl": b'{"text": "A text that is long enough for the gate, is it not so?", "n": 1e999, "m": '
    + b"9" * 5_000
    + b"}",
    "yaml.md": b"---\na: " + b"[" * 5_000 + b"\n---\ntext",
    "half.md": b'---\ntitle: "\\ud800"\ntags: ["\\udc00"]\n---\ntext that is long enough to be let in',
    "big.md": b"---\nn: " + b"9" * 5_000 + b"\nd: 9999-99-99\nt: !!python/object:os.system x\n---\ntext",
    "year.md": b"---\ncreated: 0001-01-01T00:00:00+14:00\n---\n" + _WORDS.encode(),
    "nul.md": b"text\0text",
}

PAYLOADS: tuple[Any, ...] = (
    {},
    {"erased": "e1"},
    {"title": None, "content": None},
    {"title": 5, "content": ["x"]},
    {"title": "t", "content": _WORDS, "tags": [None, "x"], "created_at": 2**62, "metadata": "{"},
    {"title": "t", "content": _WORDS, "tags": "x", "metadata": "[1]"},
    {"title": "t", "content": _WORDS, "size_bytes": 2**62},
    {"title": "t", "content": _WORDS, "sensitivity": None, "state": "?", "importance_tier": 7},
    {"query": None, "shown": None},
    {"query": "q", "limit": -1, "shown": []},
    {"query": "q", "limit": 10**12, "shown": [{}]},
    {"query": "q", "limit": 5, "shown": [{"memory_id": None, "rank": 1, "score": 0.5}]},
    {"query": "q", "limit": 5, "shown": [{"memory_id": "m", "rank": 0, "score": 1e300, "channels": [None]}]},
    {"query": "q", "limit": 5, "shown": [{"memory_id": "m", "rank": None}],
     "candidates": {"chunk_id": ["m"]}},
    {"query": "q", "limit": 5, "shown": [{"memory_id": "m", "rank": 1, "score": 0.5, "channels": ["vector"]}],
     "as_of": "never", "candidates": {"chunk_id": ["m:x"], "cosine": [None], "bm25": [1e300],
                                      "vector_rank": [1], "bm25_rank": [1], "chunk_count": [0]}},
    {"memory_id": None, "rating": None},
    {"memory_id": "m", "rating": "marvellous"},
    {"memory_id": 7, "rating": "helpful", "chunk_id": []},
    {"response": 1, "verdicts": None},
    {"response": "r", "verdicts": [None]},
    {"response": "r", "verdicts": [{"memory_id": "m", "verdict": "perhaps", "evidence": "words"}]},
    {"response": "r", "verdicts": [{"memory_id": None, "verdict": "used", "evidence": None}]},
    {"response": "r", "verdicts": [{"memory_id": "m", "verdict": "used", "evidence": "words", "ratio": 1e308,
                                    "keywords": 10**12}]},
    {"outcome": None},
    {"outcome": "glorious"},
    {"query": "q", "memory_id": "m", "grade": 10**6, "state": "graded"},
    {"query": "q", "memory_id": "m", "grade": None, "state": "perhaps"},
    {"query": "q", "memory_id": "m", "grade": 2, "state": "graded", "judge": "someone"},
    {"scope": "?", "value": None, "why": None},
    {"scope": "since", "value": "never", "why": ["x"]},
    {"scope": 5},
)  # fmt: skip


def odd_entries(
    namespace: str,
    when: datetime,
    subjects: Mapping[str, str],
    origin: str = "",
    *,
    kinds: Sequence[str] = KINDS,
    named: str = "",
) -> list[Entry]:
    """An act of every kind with every payload.

    Args:
        namespace: whose they are.
        when: their moment.
        subjects: kind to the subject of its acts, for kinds that have to be about something.
        origin: of each.
        kinds: only of these.
        named: what their ids end with.
    """
    made = []
    for kind in kinds:
        for at, payload in enumerate(PAYLOADS):
            subject = subjects.get(kind, f"odd/{kind}/{at}")
            made.append(
                Entry(
                    event_id=f"{namespace}-{kind}-{at}{named}",
                    kind=kind,
                    namespace=namespace,
                    subject=subject,
                    occurred_at=when,
                    principal="odd",
                    payload=payload,
                    origin=origin,
                )
            )
    return made
