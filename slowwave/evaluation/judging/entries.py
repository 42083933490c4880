"""Judgments in the journal: how they are written, and how a day's are read.

What one principal says of a pair of query and memory is numbered: the first word has an id of its own, a
correction the next. So the same judgment twice in a row is one entry, whoever writes it at the same moment.
What a judge says has the id of the pair, its text and the judge, so a pair is graded once by the same rules.
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

_AT_ONCE = 4  # numbers of one pair that are looked up together


@dataclass(frozen=True, slots=True)
class NewJudgment:
    """A judgment that is to be written.

    Attributes:
        source: manual or judge; of a judge `more` has the fields ``judge`` and ``text_hash``.
        more: fields of the payload beside those of every judgment.
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
    """Refuse what is no judgment.

    Raises:
        JudgmentError: the query is empty, the state unknown, or the grade does not go with the state.
    """
    if not ids.normalised_query(query):
        raise JudgmentError("the query is empty")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise JudgmentError(f"the query is not valid Unicode (character {error.start})") from None
    if state not in STATES:
        raise JudgmentError(f"state = {state!r}: say {', '.join(STATES[:-1])} or {STATES[-1]}")
    if state != GRADED:
        if grade is not None:
            raise JudgmentError(f"a judgment that is {state} has no grade, not {grade!r}")
    elif isinstance(grade, bool) or not isinstance(grade, int | float) or not 0 <= grade <= HIGHEST:
        raise JudgmentError(f"grade = {grade!r}: give a number from 0 to {HIGHEST}")


def write_judgments(
    journal: Journal, namespace: str, said: Sequence[NewJudgment]
) -> list[tuple[Entry, bool]]:
    """Write judgments, all or none, each as the next word of its principal on its pair.

    One that says what that principal said last is not written again, unless that was imported and this is
    not; and neither is what a judge has said of the same text. Of several on one pair the later in the list
    is the later word.

    Returns:
        The entry of each, and whether it is new.
    """
    while True:
        found = _entries(journal, namespace, said)
        try:
            journal.append([entry for entry, new in found if new])
        except JournalConflictError:  # another has said something meanwhile: look again
            continue
        return found


def _entries(journal: Journal, namespace: str, said: Sequence[NewJudgment]) -> list[tuple[Entry, bool]]:
    last = _last(journal, namespace, {_key(namespace, one) for one in said if one.source == MANUAL})
    judged = {_judge_id(namespace, one) for one in said if one.source == JUDGE}
    known: dict[str, Entry] = journal.entries(judged)
    found = []
    for one in said:
        if one.source == JUDGE:
            entry = _entry(namespace, one, _judge_id(namespace, one))
            found.append((known.get(entry.event_id, entry), entry.event_id not in known))
            known.setdefault(entry.event_id, entry)
            continue
        key = _key(namespace, one)
        number, before = last[key]
        if "imported_from" not in one.more:  # what was said elsewhere keeps its date
            one = replace(one, at=not_before(one.at, before))
        entry = _entry(namespace, one, _number_id(namespace, key, number))
        here = "imported_from" not in entry.payload and before and "imported_from" in before.payload
        if before is not None and not here and _says(before.payload) == _says(entry.payload):
            found.append((before, False))
        else:
            found.append((entry, True))
            last[key] = (number + 1, entry)
    return found


def _entry(namespace: str, one: NewJudgment, event_id: str) -> Entry:
    return Entry(
        event_id=event_id, kind=JUDGMENT, namespace=namespace, subject=ids.query_id(namespace, one.query),
        occurred_at=one.at, principal=one.principal, origin=one.source, payload=_payload_of(one),
    )  # fmt: skip


def _payload_of(one: NewJudgment) -> Payload:
    """What the journal keeps of a judgment."""
    said = Payload(
        query=one.query,
        memory_id=one.memory_id,
        grade=one.grade,
        state=one.state,
        explanation=one.explanation,
    )
    return said | one.more


def _says(payload: Mapping[str, Any]) -> dict[str, Any]:
    # 2 and 2.0 are one grade, and how it is written is not what it says.
    rest = {name: value for name, value in payload.items() if name not in ("query", "imported_from")}
    return rest | {"grade": None if payload.get("grade") is None else float(payload["grade"])}


Key = tuple[str, str, str]  # query id, memory id, principal


def _key(namespace: str, one: NewJudgment) -> Key:
    return ids.query_id(namespace, one.query), one.memory_id, one.principal


def _number_id(namespace: str, key: Key, number: int) -> str:
    return ids.digest("judgment", namespace, *key, MANUAL, str(number))


def _judge_id(namespace: str, one: NewJudgment) -> str:
    return judged_id(namespace, one.query, one.memory_id, one.more["text_hash"], one.more["judge"])


def _last(journal: Journal, namespace: str, keys: set[Key]) -> dict[Key, tuple[int, Entry | None]]:
    """The next free number of each key, and its last entry."""
    last: dict[Key, tuple[int, Entry | None]] = dict.fromkeys(keys, (0, None))
    waiting, first = sorted(keys), 0
    while waiting:
        numbers = range(first, first + _AT_ONCE)
        known = journal.entries([_number_id(namespace, key, number) for key in waiting for number in numbers])
        more = []
        for key in waiting:
            for number in numbers:
                entry = known.get(_number_id(namespace, key, number))
                if entry is None:
                    break
                last[key] = (number + 1, entry)
            else:
                more.append(key)
        waiting, first = more, first + _AT_ONCE
    return last


def judged_id(namespace: str, query: str, memory_id: str, text_hash: str, judge: GradedBy) -> str:
    """Id of what a judge (as in `judge_payload`) says of a pair: the same rules and texts give the same."""
    return ids.digest(
        "judgment", namespace, ids.query_id(namespace, query), memory_id, JUDGE, text_hash,
        judge["name"], judge["model"], judge["version"], judge["prompt_hash"],
    )  # fmt: skip


def judged_entry(
    namespace: str, memory_id: str, pair: Pair, judge: Judge, grade: int, explanation: str, at: datetime
) -> Entry:
    """What a judge says of a pair, as an entry."""
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
    """Rows of ``judgments`` of these days that people and judges made; anchors are left out.

    Of each day the last word of each principal on each pair: by `made_at`, then by the place in the journal.
    """
    found = read_projected(
        journal, (JUDGMENT,), days, judgment.JUDGMENT, lambda entries: entries, judgment.SOUND
    )
    rows = (
        found.rows.filter(~pl.col("anchor").fill_null(value=False))
        .sort("day", "occurred_at", "seq")
        .with_columns(imported=pl.col("imported_from").is_not_null())
        .unique(["day", "namespace", "subject", "memory_id", "origin", "principal", "imported"], keep="last")
        .sort("day", "seq")
        .select(_COLUMNS)
    )
    return ProjectedRows(rows, found.unreadable)


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
