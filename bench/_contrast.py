"""Contrast pairs: a sentence and its edit, which changes the meaning or not."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

Split = Literal["dev", "held_out"]
_LENGTH = (16, 240)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SPEAKER = re.compile(r"^\[[^\]]*\] \w+: ")
RETRIEVAL = ("locomo_facts_dev", "locomo_dev", "beam_dev", "stackfaq", "banking77", "xquad")
PAIRS = ("stsb", "sick", "breaking_nli")


class Changing(Protocol):
    """One small edit."""

    def apply(self, sentence: str) -> str | None:
        """The sentence changed; None where the edit does not apply."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sentences one edit apart; `changed` where the edit changes what is said."""

    kind: str
    old: str
    new: str
    changed: bool
    split: Split
    made: bool = False  # from a template rather than from a real sentence


def real_sentences(data: Path) -> list[str]:
    """Single sentences of those of the shared data that are there, no doubles, mixed by a hash."""
    found: set[str] = set()
    for path in (data / "retrieval" / name / "corpus.jsonl" for name in RETRIEVAL):
        with path.open(encoding="utf-8") if path.is_file() else nullcontext(()) as lines:
            for line in lines:
                found.update(_sentences(_SPEAKER.sub("", json.loads(line)["text"])))
    for path in (data / "pairs" / f"{name}.tsv" for name in PAIRS):
        with path.open(encoding="utf-8", newline="") if path.is_file() else nullcontext(()) as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                found.update(_sentences(row.get("a") or ""))
    for path in sorted((data / "vaults" / "powershell").rglob("*.md"))[::2]:
        found.update(_sentences(path.read_text(encoding="utf-8")))
    return sorted(found, key=_hash)


def _sentences(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.startswith(("#", "|", "---", "```", "~~~", "![", "[")):
            continue
        for sentence in _SENTENCE.split(line.strip().lstrip("-*> ")):
            if _LENGTH[0] <= len(sentence) <= _LENGTH[1] and " " in sentence:
                yield sentence


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def split_of(sentence: str) -> Split:
    """Which half a sentence belongs to; the same on every machine."""
    return "held_out" if _hash(sentence)[0] % 2 else "dev"


def contrasts(
    sentences: Sequence[str], edits: Mapping[str, Sequence[Changing]], each: int, *, changed: bool
) -> list[Contrast]:
    """At most `each` pairs per kind and half, every edit of a kind about as often as any other."""
    halves: dict[Split, list[str]] = {"dev": [], "held_out": []}
    for sentence in sentences:
        halves[split_of(sentence)].append(sentence)
    return [
        Contrast(kind, old, new, changed, split)
        for kind, of_kind in edits.items()
        for split, half in halves.items()
        for old, new in islice(_of_kind(kind, of_kind, half, -(-each // len(of_kind))), each)
    ]


def _of_kind(
    kind: str, edits: Sequence[Changing], sentences: Sequence[str], share: int
) -> Iterator[tuple[str, str]]:
    for edit in edits:
        changed = ((one, edit.apply(one)) for one in sentences)
        for one, other in islice(((one, other) for one, other in changed if other is not None), share):
            # Half of them the other way round: what is added in one direction is dropped in the other.
            yield (one, other) if _hash(one + kind)[0] % 2 else (other, one)


def templated(pairs: Mapping[str, Sequence[tuple[str, str]]], *, changed: bool) -> list[Contrast]:
    """Pairs written by hand, both ways round."""
    return [
        Contrast(kind, one, other, changed, split_of("".join(sorted(pair))), made=True)
        for kind, of_kind in pairs.items()
        for pair in of_kind
        for one, other in (pair, pair[::-1])
    ]


def kinds(pairs: Iterable[Contrast]) -> list[str]:
    """The kinds in the order of the tables."""
    return list(dict.fromkeys(pair.kind for pair in pairs))
