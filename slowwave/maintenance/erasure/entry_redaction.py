"""What becomes of each act of the journal: it stays as it is, loses a part, or nothing of it is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.journal import KINDS, SOURCE_KINDS, payload_of
from slowwave.journal.entry import ERASED, ERASURE, LEARNING, UPGRADE, WORDS
from slowwave.journal.erasing import Redaction, emptied
from slowwave.journal.erasure_tombstones import NAME, tombstone_digest
from slowwave.journal.kinds.note import payload_digest, without_follows
from slowwave.journal.kinds.search import without
from slowwave.maintenance.erasure.model import ErasureTask
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.scoring.evaluation.judgments import MANUAL

if TYPE_CHECKING:
    from slowwave.journal import Journal

Row = Mapping[str, Any]
BATCH_SIZE = 2_000
"""Entries in memory at a time (count)."""
RECORDS = (ERASURE, ERASED)
KEPT_FIELDS = (*WORDS, UPGRADE)
"""Kinds that say nothing of a memory: they name a decision or a version."""
READ = tuple(kind for kind in KINDS if kind not in RECORDS)
TOLD = (
    "query", "explanation", "title", "content", "text", "evidence", "details", "appended", "message", "why",
)  # fmt: skip
"""Fields of a payload that hold words of somebody; others hold names and codes of ours."""


def entries_of(journal: Journal, namespace: str, kinds: Collection[str] = READ) -> Iterator[Row]:
    """Entries of a namespace in the order of `seq`, each with its payload as plain data (``said``)."""
    for page in journal.pages(kinds=list(kinds), namespace=namespace, size=BATCH_SIZE):
        for row in page.iter_rows(named=True):
            said = payload_of(row["payload"])
            yield {**row, "said": said if isinstance(said, dict) else {}}


@dataclass
class RedactedEntries:
    """What becomes of the acts of a namespace.

    Args:
        work: what is erased.
        sources: name of each memory that goes, by its source.
        needles: by what a text is known that quotes it.
    """

    work: ErasureTask
    sources: Mapping[str, str]
    needles: QuoteFingerprints
    counts: Counter[str] = field(default_factory=Counter)
    searches: list[str] = field(default_factory=list)

    def of(self, journal: Journal) -> dict[int, Redaction]:
        """All changes, by seq."""
        found: dict[int, Redaction] = {}
        kept: dict[str, tuple[int, str]] = {}
        everything = self.work.scope == "namespace"
        for row in entries_of(journal, self.work.namespace, (*READ, ERASED) if everything else READ):
            if (change := self._of(row)) is None:
                continue
            found[row["seq"]] = change
            self.counts[row["kind"]] += 1
            if row["kind"] in SOURCE_KINDS and row["origin"] and change.columns.get("subject", ""):
                kept[row["subject"]] = (row["seq"], row["digest"] if row["kind"] != "forget" else "")
        for seq, digest in kept.values():  # of each file as it was seen last
            if digest:
                change = found[seq]
                found[seq] = Redaction(change.payload, {**change.columns, "digest": tombstone_digest(digest)})
        return found

    def _of(self, row: Row) -> Redaction | None:
        if self.work.scope == "namespace":
            if row["kind"] == ERASED and not (row["subject"] or row["origin"] or row["principal"]):
                return None  # nothing is left of it
            change = emptied(self.work.erasure, row["kind"], subject="")
            payload = row["said"] if row["kind"] == ERASED else change.payload
            return Redaction(payload, {**change.columns, "origin": "", "principal": ""})
        if row["kind"] in KEPT_FIELDS:
            return None
        by_kind = {
            **dict.fromkeys(SOURCE_KINDS, self._source), LEARNING: self._learning, "search": self._search,
            "outcome": self._outcome, "observation": self._observation,
        }  # fmt: skip
        return by_kind.get(row["kind"], self._about)(row)

    def _outcome(self, row: Row) -> Redaction | None:
        """How a project ended, whose name may be words of anybody."""
        return emptied(self.work.erasure, row["kind"], subject="") if self._names(row["subject"]) else None

    def _source(self, row: Row) -> Redaction | None:
        memory = self.sources.get(row["subject"])
        if memory is not None:
            return emptied(self.work.erasure, row["kind"], subject=NAME + memory)
        return self._follower(row) if row["said"].get("follows") in self.sources else None

    def _follower(self, row: Row) -> Redaction:
        """A note that follows one that goes loses its name, and the words that it was lent."""
        said = without_follows(row["said"], self.work.lent)
        digest = row["digest"] if row["origin"] else payload_digest(said)
        return Redaction(said, {"digest": digest})

    def _search(self, row: Row) -> Redaction | None:
        said, mine = row["said"], set(self.work.memories)
        shown = {one.get("memory_id") for one in said.get("shown") or ()}
        if mine & shown or self.needles.quoted(said.get("query")):
            self.searches.append(row["event_id"])
            gone = emptied(self.work.erasure, row["kind"])
            return Redaction(gone.payload, {**gone.columns, "origin": ""})
        candidates = said.get("candidates") or {}
        left = without(candidates, mine)
        columns = {"origin": ""} if self._names(row["origin"]) else {}  # the project, in words of anybody
        return Redaction({**said, "candidates": left}, columns) if columns or left != candidates else None

    def _names(self, text: str | None) -> bool:
        return bool(text) and (self.needles.quoted(text) or any(self.needles.mentioned([text or ""])))

    def _observation(self, row: Row) -> Redaction | None:
        verdicts = row["said"].get("verdicts") or []
        left = [one for one in verdicts if one.get("memory_id") not in self.work.memories]
        if len(left) == len(verdicts):
            return None
        return Redaction({**row["said"], "verdicts": left}, {})

    def _learning(self, row: Row) -> Redaction | None:
        # What was decided has to go on having its effect: only the words of it go.
        why = row["said"].get("why")
        return Redaction({**row["said"], "why": ""}, {}) if self.needles.quoted(why) else None

    def _about(self, row: Row) -> Redaction | None:
        """Ratings, judgments and whatever else names the memory that it is about."""
        named = any(ids.memory_of(text) in self.work.memories for text in strings(row["said"]))
        # What a judge explains, it explains with words of ours and of the memory that it is about.
        fields = [name for name in TOLD if name != "explanation" or row["origin"] == MANUAL]
        quoted = any(self.needles.quoted(text) for name in fields for text in strings(row["said"].get(name)))
        return emptied(self.work.erasure, row["kind"]) if named or quoted else None


def strings(value: object) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from strings(part)
