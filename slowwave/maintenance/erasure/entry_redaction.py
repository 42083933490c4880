"""Redaction of journal entries: each stays, loses a part, or is emptied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from slowwave.common import ids
from slowwave.journal import KINDS, SOURCE_KINDS, payload_of
from slowwave.journal.entry import DISCARD, ERASED, ERASURE, LEARNING, UPGRADE, WORDS
from slowwave.journal.entry_builders import MOVED
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
KEPT_FIELDS = (*WORDS, DISCARD, UPGRADE)
"""Kinds without a memory's text: they name a decision, a refused note by its id, or a version."""
READ = tuple(kind for kind in KINDS if kind not in RECORDS)
TEXT_FIELDS = (
    "query", "explanation", "title", "content", "text", "evidence", "details", "appended", "message", "why",
)  # fmt: skip
"""Fields of a payload with free text; the others have names and codes of ours."""


_QUERY: Final = b'"query":"'
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_FEW = 50
"""Maximum erased memories whose ids are looked for in the bytes of a payload (count)."""


def entries_of(journal: Journal, namespace: str, kinds: Collection[str] = READ) -> Iterator[Row]:
    """Yield entries of a namespace by `seq`, each with its parsed payload (``data``)."""
    return map(_parsed, _unparsed(journal, namespace, kinds))


def _unparsed(journal: Journal, namespace: str, kinds: Collection[str]) -> Iterator[Row]:
    for page in journal.pages(kinds=list(kinds), namespace=namespace, size=BATCH_SIZE):
        yield from page.iter_rows(named=True)


def _parsed(row: Row) -> Row:
    data = payload_of(row["payload"])
    return {**row, "data": data if isinstance(data, dict) else {}}


def query_in(payload: bytes) -> str | None:
    """Return the query of a search's payload without parsing all of it; None if that is not sure."""
    begin = payload.find(_QUERY)
    if begin < 0 or payload.find(_QUERY, begin + 1) >= 0:
        return None
    text = _STRING.match(payload, begin + len(_QUERY) - 1)
    return None if text is None else str(orjson.loads(text[0]))


@dataclass
class RedactedEntries:
    """Redactions of the journal entries of a namespace.

    Args:
        work: The erasure.
        sources: Id of each erased memory, by its source.
        needles: Fingerprints that detect quotes.
    """

    work: ErasureTask
    sources: Mapping[str, str]
    needles: QuoteFingerprints
    counts: Counter[str] = field(default_factory=Counter)
    searches: list[str] = field(default_factory=list)
    _ids: list[bytes] | None = None

    def of(self, journal: Journal) -> dict[int, Redaction]:
        """Return all redactions, by seq."""
        changes: dict[int, Redaction] = {}
        latest: dict[str, tuple[int, str]] = {}
        everything = self.work.scope == "namespace"
        for entry in _unparsed(journal, self.work.namespace, (*READ, ERASED) if everything else READ):
            if not everything and self._is_untouched(entry):
                continue
            row = _parsed(entry)
            if (change := self._of(row)) is None:
                continue
            changes[row["seq"]] = change
            self.counts[row["kind"]] += 1
            if row["kind"] in SOURCE_KINDS and row["origin"] and change.columns.get("subject", ""):
                latest[row["subject"]] = (row["seq"], row["digest"] if row["kind"] != "forget" else "")
        for seq, digest in latest.values():  # tombstone of each file's last state
            if digest:
                change = changes[seq]
                changes[seq] = Redaction(
                    change.payload,
                    {**change.columns, "digest": tombstone_digest(digest.removeprefix(MOVED))},
                )
        return changes

    def _of(self, row: Row) -> Redaction | None:
        if self.work.scope == "namespace":
            if row["kind"] == ERASED and not (row["subject"] or row["origin"] or row["principal"]):
                return None  # already emptied
            change = emptied(self.work.erasure, row["kind"], subject="")
            payload = row["data"] if row["kind"] == ERASED else change.payload
            return Redaction(payload, {**change.columns, "origin": "", "principal": ""})
        if row["kind"] in KEPT_FIELDS:
            return None
        by_kind = {
            **dict.fromkeys(SOURCE_KINDS, self._source), LEARNING: self._learning, "search": self._search,
            "outcome": self._outcome, "observation": self._observation,
        }  # fmt: skip
        return by_kind.get(row["kind"], self._about)(row)

    def _outcome(self, row: Row) -> Redaction | None:
        """Empty the outcome of a project if its name quotes an erased text."""
        return emptied(self.work.erasure, row["kind"], subject="") if self._names(row["subject"]) else None

    def _source(self, row: Row) -> Redaction | None:
        memory = self.sources.get(row["subject"])
        if memory is not None:
            return emptied(self.work.erasure, row["kind"], subject=NAME + memory)
        return self._follower(row) if row["data"].get("follows") in self.sources else None

    def _follower(self, row: Row) -> Redaction:
        """Remove from a note the name and lent words of its erased predecessor."""
        data = without_follows(row["data"], self.work.lent)
        digest = row["digest"] if row["origin"] else payload_digest(data)
        return Redaction(data, {"digest": digest})

    def _search(self, row: Row) -> Redaction | None:
        data, erased = row["data"], set(self.work.memories)
        if not self._may_name(row):
            erased = set()
        returned = {result.get("memory_id") for result in data.get("shown") or ()}
        returned |= set(data.get("left_out") or ())
        if erased & returned or self.needles.quoted(data.get("query")):
            self.searches.append(row["event_id"])
            change = emptied(self.work.erasure, row["kind"])
            return Redaction(change.payload, {**change.columns, "origin": ""})
        candidates = data.get("candidates") or {}
        remaining = without(candidates, erased) if erased else candidates
        columns = {"origin": ""} if self._names(row["origin"]) else {}  # the name of a project is free text
        return (
            Redaction({**data, "candidates": remaining}, columns)
            if columns or remaining != candidates
            else None
        )

    def _is_untouched(self, row: Row) -> bool:
        """Whether a search, of which there are most, surely stays as it is; read without parsing it."""
        if row["kind"] != "search" or self._may_name(row) or self._names(row["origin"]):
            return False
        query = query_in(row["payload"])
        return query is not None and not self.needles.quoted(query)

    def _may_name(self, row: Row) -> bool:
        """Whether the payload has the id of an erased memory somewhere: a test of its bytes, before others.

        Ids are base32, which JSON writes as it is.
        """
        if self._ids is None:
            self._ids = [name.encode() for name in self.work.memories]
        payload: bytes = row["payload"]
        return len(self._ids) > _FEW or any(name in payload for name in self._ids)

    def _names(self, text: str | None) -> bool:
        return bool(text) and (self.needles.quoted(text) or any(self.needles.mentioned([text or ""])))

    def _observation(self, row: Row) -> Redaction | None:
        verdicts = row["data"].get("verdicts") or []
        remaining = [verdict for verdict in verdicts if verdict.get("memory_id") not in self.work.memories]
        if len(remaining) == len(verdicts):
            return None
        return Redaction({**row["data"], "verdicts": remaining}, {})

    def _learning(self, row: Row) -> Redaction | None:
        # The decision must keep its effect: only its text goes.
        why = row["data"].get("why")
        return Redaction({**row["data"], "why": ""}, {}) if self.needles.quoted(why) else None

    def _about(self, row: Row) -> Redaction | None:
        """Empty ratings, judgments and other entries that name an erased memory or quote it."""
        named = self._may_name(row) and any(
            ids.memory_of(text) in self.work.memories for text in strings(row["data"])
        )
        # A judge's explanation has only words of ours and of the memory that it is about.
        fields = [name for name in TEXT_FIELDS if name != "explanation" or row["origin"] == MANUAL]
        quoted = any(self.needles.quoted(text) for name in fields for text in strings(row["data"].get(name)))
        return emptied(self.work.erasure, row["kind"]) if named or quoted else None


def strings(value: object) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from strings(part)
