"""Journal entries of judgments: writing them, and reading those of a day.

Judgments of a principal on a pair are numbered, and the number is part of the id. So the same judgment twice
in a row is one entry, even with concurrent writers. A judge's grade has the id of the pair, its text and the
judge, so each pair is graded once by the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common import ids
from slowwave.evaluation.judging.model import Judge, JudgmentError, Pair, judge_payload
from slowwave.journal import Entry, JournalConflictError
from slowwave.journal.entry import JUDGMENT, not_before
from slowwave.journal.kinds import judgment
from slowwave.journal.kinds.judgment import GradedBy
from slowwave.journal.kinds.judgment import JudgmentPayload as Payload
from slowwave.journal.projections import ProjectedRows, read_projected
from slowwave.scoring.evaluation.judgments import GRADED, HIGHEST, JUDGE, MANUAL, STATES

if TYPE_CHECKING:
    from slowwave.journal import Journal

_AT_ONCE = 4  # numbers of one pair read together


@dataclass(frozen=True, slots=True)
class NewJudgment:
    """Judgment to write.

    Attributes:
        source: manual or judge; a judge's `more` has the fields ``judge`` and ``text_hash``.
        more: Additional payload fields.
    """

    query: str
    memory_id: str
    grade: float | None
    state: str
    explanation: str
    principal: str
    at: datetime
    source: str = MANUAL
    more: Payload = field(default_factory=Payload)

    def __post_init__(self) -> None:
        require(self.query, self.grade, self.state)


def require(query: str, grade: float | None, state: str) -> None:
    """Validate a judgment.

    Raises:
        JudgmentError: an empty query, an unknown state, or a grade that does not match the state.
    """
    if not ids.normalised_query(query):
        raise JudgmentError("the query is empty")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise JudgmentError(f"the query is not valid Unicode (character {error.start})") from None
    if state not in STATES:
        raise JudgmentError(f"state = {state!r} is unknown; use {', '.join(STATES[:-1])} or {STATES[-1]}")
    if state != GRADED:
        if grade is not None:
            raise JudgmentError(f"a judgment that is {state} has no grade, not {grade!r}")
    elif isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 <= grade <= HIGHEST:
        raise JudgmentError(f"grade = {grade!r} is not a number from 0 to {HIGHEST}")


def write_judgments(
    journal: Journal, namespace: str, judgments: Sequence[NewJudgment]
) -> list[tuple[Entry, bool]]:
    """Append judgments atomically, each as the latest of its principal on its pair.

    A repetition of a principal's latest judgment is not written, unless the latest one was imported and this
    one is not. A judge's second grade of the same text is not written either. Of several on one pair the last
    of the list is the latest.

    Returns:
        The entry of each, and whether it is new.
    """
    while True:
        entries = _entries(journal, namespace, judgments)
        try:
            journal.append([entry for entry, new in entries if new])
        except JournalConflictError:  # another process wrote one: read again
            continue
        return entries


def _entries(journal: Journal, namespace: str, judgments: Sequence[NewJudgment]) -> list[tuple[Entry, bool]]:
    last = _last(journal, namespace, {_key(namespace, item) for item in judgments if item.source == MANUAL})
    judged = {_judge_id(namespace, item) for item in judgments if item.source == JUDGE}
    existing: dict[str, Entry] = journal.entries(judged)
    results = []
    for item in judgments:
        if item.source == JUDGE:
            entry = _entry(namespace, item, _judge_id(namespace, item))
            results.append((existing.get(entry.event_id, entry), entry.event_id not in existing))
            existing.setdefault(entry.event_id, entry)
            continue
        key = _key(namespace, item)
        number, previous = last[key]
        if "imported_from" not in item.more:  # imported judgments keep their date
            item = replace(item, at=not_before(item.at, previous))
        entry = _entry(namespace, item, _number_id(namespace, key, number))
        now_local = "imported_from" not in entry.payload and previous and "imported_from" in previous.payload
        if previous is not None and not now_local and _content(previous.payload) == _content(entry.payload):
            results.append((previous, False))
        else:
            results.append((entry, True))
            last[key] = (number + 1, entry)
    return results


def _entry(namespace: str, item: NewJudgment, event_id: str) -> Entry:
    return Entry(
        event_id=event_id, kind=JUDGMENT, namespace=namespace, subject=ids.query_id(namespace, item.query),
        occurred_at=item.at, principal=item.principal, origin=item.source, payload=_payload_of(item),
    )  # fmt: skip


def _payload_of(item: NewJudgment) -> Payload:
    """Build the journal payload of a judgment."""
    payload = Payload(
        query=item.query,
        memory_id=item.memory_id,
        grade=item.grade,
        state=item.state,
        explanation=item.explanation,
    )
    return payload | item.more


def _content(payload: Mapping[str, Any]) -> dict[str, Any]:
    # 2 and 2.0 are one grade, and the spelling of a query does not matter.
    rest = {name: value for name, value in payload.items() if name not in ("query", "imported_from")}
    return rest | {"grade": None if payload.get("grade") is None else float(payload["grade"])}


Key = tuple[str, str, str]  # query id, memory id, principal


def _key(namespace: str, item: NewJudgment) -> Key:
    return ids.query_id(namespace, item.query), item.memory_id, item.principal


def _number_id(namespace: str, key: Key, number: int) -> str:
    return ids.digest("judgment", namespace, *key, MANUAL, str(number))


def _judge_id(namespace: str, item: NewJudgment) -> str:
    return judged_id(namespace, item.query, item.memory_id, item.more["text_hash"], item.more["judge"])


def _last(journal: Journal, namespace: str, keys: set[Key]) -> dict[Key, tuple[int, Entry | None]]:
    """Return the next free number of each key, and its latest entry."""
    last: dict[Key, tuple[int, Entry | None]] = dict.fromkeys(keys, (0, None))
    waiting, first = sorted(keys), 0
    while waiting:
        numbers = range(first, first + _AT_ONCE)
        existing = journal.entries(
            [_number_id(namespace, key, number) for key in waiting for number in numbers]
        )
        more = []
        for key in waiting:
            for number in numbers:
                entry = existing.get(_number_id(namespace, key, number))
                if entry is None:
                    break
                last[key] = (number + 1, entry)
            else:
                more.append(key)
        waiting, first = more, first + _AT_ONCE
    return last


def judged_id(namespace: str, query: str, memory_id: str, text_hash: str, judge: GradedBy) -> str:
    """Compute the id of a judge's grade of a pair; same rules and texts give the same id."""
    return ids.digest(
        "judgment", namespace, ids.query_id(namespace, query), memory_id, JUDGE, text_hash,
        judge["name"], judge["model"], judge["version"], judge["prompt_hash"],
    )  # fmt: skip


def judged_entry(
    namespace: str, memory_id: str, pair: Pair, judge: Judge, grade: int, explanation: str, at: datetime
) -> Entry:
    """Build the journal entry of a judge's grade."""
    by = judge_payload(judge)
    return Entry(
        event_id=judged_id(namespace, pair.query, memory_id, pair.text_hash, by),
        kind=JUDGMENT,
        namespace=namespace,
        subject=ids.query_id(namespace, pair.query),
        occurred_at=at,
        principal=judge.name,
        origin=JUDGE,
        payload=Payload(
            query=pair.query, memory_id=memory_id, grade=grade, state=GRADED, explanation=explanation,
            judge=by,
            text_hash=pair.text_hash,
        ),
    )  # fmt: skip


def drain_judgments(journal: Journal, days: Sequence[str]) -> ProjectedRows:
    """Return the ``judgments`` rows that people and judges made on these days, without anchors.

    Per day it is the latest judgment of each principal on each pair: by `made_at`, then by journal position.
    """
    projected = read_projected(
        journal, (JUDGMENT,), days, judgment.JUDGMENT, lambda entries: entries, judgment.SOUND
    )
    rows = (
        projected.rows.filter(~pl.col("anchor").fill_null(value=False))
        .sort("day", "occurred_at", "seq")
        .with_columns(imported=pl.col("imported_from").is_not_null())
        .unique(["day", "namespace", "subject", "memory_id", "origin", "principal", "imported"], keep="last")
        .sort("day", "seq")
        .select(_COLUMNS)
    )
    return ProjectedRows(rows, projected.unreadable)


_JUDGE = pl.col("judge").struct
_COLUMNS = (
    pl.col("event_id").alias("judgment_id"),
    *map(pl.col, ("day", "namespace")),
    pl.col("subject").alias("query_id"),
    *map(pl.col, ("query", "memory_id")),
    pl.col("origin").alias("source"),
    *map(pl.col, ("grade", "state")),
    pl.concat_str(
        *(_JUDGE[name] for name in ("name", "model", "version")),
        _JUDGE["prompt_hash"].str.head(8),
        separator="/",
    ).alias("judge"),
    *map(pl.col, ("explanation", "principal")),
    pl.col("occurred_at").alias("made_at"),
    pl.lit(None, pl.Int32).alias("impressions"),
    *(pl.lit(None, pl.Float64).alias(name) for name in ("expected", "clicks")),
    *map(pl.col, ("text_hash", "imported")),
)
