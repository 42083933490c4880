"""Save gate verdicts on single notes: structure (L1), content (L2) and junk (rule 1).

Duplicates (L3) are decided in :mod:`quality.admission`, one note after the other, because they need vectors
and depend on the order. The nightly job judges a day's batch, `Memory.save` a batch of one; both call
:func:`judge`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import orjson
import polars as pl

from slowwave.quality.content import CONTENT_FIELDS, LOW_CONTENT, STATEMENT, WEIGHTS, parts_of, score_notes
from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import says_more
from slowwave.quality.divergence.tokens import traits
from slowwave.quality.echo import ECHO, find_echoes
from slowwave.quality.gate_policy import Formula, GatePolicy
from slowwave.quality.junk import find_junk
from slowwave.quality.statement import NO_STATEMENT
from slowwave.quality.structure import STRUCTURE_FIELDS, faults_of

PASS = "pass"  # noqa: S105 - a verdict, not a password
REFUSE = "refuse"
RETIRE = "retire"
UNDO = "undo"
ACCEPT = "accept"
VERDICT_OF_ACT = {"forget": RETIRE, "undo": UNDO, "accept": ACCEPT}

ALWAYS_REFUSED = frozenset({"bad_namespace"})
"""Faults that refuse a note in every mode."""
NEVER_TRUSTED = ALWAYS_REFUSED | {"unknown_sensitivity", "bad_path"}
"""Faults that refuse a note of a trusted source, too: a misspelled label may mean secret."""

PARTS: dict[Formula, tuple[str, ...]] = {"seeds": (*WEIGHTS,), "applicable": (*WEIGHTS, STATEMENT)}
"""Names of the parts of a score in a verdict; a part that does not apply is null."""
VERDICT_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "memory_id": pl.String,
    "verdict": pl.String,
    "reasons": pl.List(pl.String),
    "score": pl.Float64,
    "parts": pl.String,
}
_OF_ECHO: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("memory_id", "namespace", "content", "origin"), pl.String),
    "occurred_at": pl.Datetime("us", "UTC"),
}
_OF_ACT = ("memory_id", "act", "reason", "released", "occurred_at", "principal")
_FIELDS = tuple(dict.fromkeys((*_OF_ACT, *_OF_ECHO, *STRUCTURE_FIELDS, *CONTENT_FIELDS)))
SERVED_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "namespace": pl.String,
    "memory_id": pl.String,
    "text": pl.String,
    "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}
"""Columns of returned passages, which :func:`judge` checks for echoes."""


class Verdict(NamedTuple):
    """Verdict on one note, as in the rows of :func:`judge`."""

    memory_id: str
    verdict: str
    reasons: list[str]
    score: float | None
    parts: str | None


def judge(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame | None = None) -> pl.DataFrame:
    """Judge staged notes, one verdict each, in order.

    Args:
        staged: one row per memory: act (save, forget, undo, unreadable), occurred_at, released, reason (of an
            unreadable note) and the columns of a note.
        policy: policy of the gate.
        served: recently returned passages, as in `SERVED_SCHEMA`.

    Returns:
        memory_id; verdict: pass, refuse, retire, undo or accept; reasons: all faults (a note that passes with
        reasons would be refused if the gate enforced); score: L2, null if not computed; parts: `PARTS` of the
        score, as JSON.
    """
    names = [name for name in _FIELDS if name in staged.columns]
    # For a single note, columns are faster to read than rows.
    columns = [staged.get_column(name).to_list() for name in names]
    notes = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    verdicts = judge_notes(notes, policy, served)
    if len(verdicts) < _FEW:
        return pl.DataFrame(list(map(tuple, verdicts)), schema=VERDICT_SCHEMA, orient="row")
    names_of, verdicts_of, reasons, *scores = zip(*verdicts, strict=True)
    return pl.DataFrame([names_of, verdicts_of, _lists(reasons), *scores], schema=VERDICT_SCHEMA)


_FEW = 16
"""Verdicts up to which rows become a frame faster than columns (count)."""


def _lists(values: Sequence[list[str]]) -> pl.Series:
    """Return lists as a column; Polars takes long for each, and few are distinct."""
    places: dict[tuple[str, ...], int] = {}
    chosen = [places.setdefault(tuple(value), len(places)) for value in values]
    return pl.Series(list(map(list, places)), dtype=pl.List(pl.String)).gather(chosen)


def judge_notes(
    notes: Sequence[Mapping[str, Any]], policy: GatePolicy, served: pl.DataFrame | None = None
) -> list[Verdict]:
    """Judge notes as `judge`, given as mappings with its columns."""
    reasons: list[list[str]] = [[]] * len(notes)
    scores: list[list[float]] = []
    if policy.mode != "off" and notes:
        scores = score_notes(notes, policy.score).tolist()
        reasons = _reasons(notes, [_content_faults(parts, policy) for parts in scores], policy, served)
    return [
        Verdict(note["memory_id"], *_verdict(note, faults, policy), *_score(note, parts, policy))
        for note, faults, parts in zip_longest(notes, reasons, scores)
    ]


def has_faults(notes: pl.DataFrame, policy: GatePolicy) -> pl.Series:
    """Mark notes whose own text an enforcing gate would refuse.

    Args:
        notes: columns of a note, as in `slowwave.quality.content.parts_of`.
        policy: policy of the gate; one that is off finds no faults.
    """
    if policy.mode == "off" or notes.is_empty():
        return pl.repeat(False, notes.height, dtype=pl.Boolean, eager=True)
    return pl.Series(
        [bool(_content_faults(parts, policy)) for parts in parts_of(notes, policy.score).tolist()]
    )


def _verdict(note: Mapping[str, Any], faults: list[str], policy: GatePolicy) -> tuple[str, list[str]]:
    """Return the verdict on one event, and the reasons that count for it."""
    if note["act"] == "unreadable":
        return REFUSE, [note["reason"]] if note["reason"] is not None else []
    if note["act"] != "save":
        return VERDICT_OF_ACT.get(note["act"], PASS), []
    if note["released"]:
        grave = [name for name in faults if name in ALWAYS_REFUSED]
        return (REFUSE if grave else PASS), grave
    refusing = _refusing(note, policy)
    refused = faults if refusing is None else [name for name in faults if name in refusing]
    return (REFUSE if refused else PASS), faults


def _refusing(note: Mapping[str, Any], policy: GatePolicy) -> frozenset[str] | None:
    """Return the faults that refuse a note; None: all of them."""
    enforces = policy.enforces_at(note["occurred_at"])
    if not enforces or not policy.trusted:
        return None if enforces else ALWAYS_REFUSED
    sources = (note["namespace"], note["origin"], note["principal"])
    return None if policy.refuses(*sources, note["occurred_at"]) else NEVER_TRUSTED


def _score(
    note: Mapping[str, Any], parts: list[float] | None, policy: GatePolicy
) -> tuple[float | None, str | None]:
    """Return the score of a saved note, and its parts as JSON."""
    if parts is None or note["act"] != "save":
        return None, None
    return parts[-1], orjson.dumps(dict(zip(PARTS[policy.score], parts, strict=False))).decode()


def _content_faults(parts: list[float], policy: GatePolicy) -> list[str]:
    """Return the faults of a note's content score and statement."""
    if policy.score == "applicable" and not parts[-2]:
        return [NO_STATEMENT]
    return [LOW_CONTENT] if parts[-1] < policy.min_quality else []


def _reasons(
    notes: Sequence[Mapping[str, Any]],
    content: list[list[str]],
    policy: GatePolicy,
    served: pl.DataFrame | None,
) -> list[list[str]]:
    """Return all faults of each note, in the order of the layers."""
    least = policy.least_characters
    layers = zip(
        [faults_of(note, min_characters=least) for note in notes],
        content,
        find_junk([note["content"] for note in notes], [note["source"] for note in notes]),
        _echo(notes, policy, served),
        strict=True,
    )
    return [list(dict.fromkeys(chain.from_iterable(layer_faults))) for layer_faults in layers]


def _echo(
    notes: Sequence[Mapping[str, Any]], policy: GatePolicy, served: pl.DataFrame | None
) -> list[list[str]]:
    """Return `echo` for each note that only repeats recent results.

    A note with more or other content is no echo: the gate would lose it. Nor is a vault's note with the text
    of one that the vault changed or deleted on that day: a vault changes as a whole.
    """
    if served is None or served.is_empty() or not policy.echo_window:
        return [[]] * len(notes)
    staged = pl.DataFrame(
        [[note[name] for name in _OF_ECHO] for note in notes], schema=_OF_ECHO, orient="row"
    )
    echoes = find_echoes(staged, served, window=policy.echo_window, share=policy.echo_share)
    passages = {
        (namespace, search): texts
        for namespace, search, texts in served.join(
            echoes.select("search_id").unique(), on="search_id", how="semi"
        )
        .group_by("namespace", "search_id")
        .agg(pl.col("text").unique(maintain_order=True))
        .iter_rows()
    }
    columns = ["memory_id", "namespace", "content", "origin", pl.col("occurred_at").dt.date().alias("date")]
    suspects = echoes.join(staged.select(columns), on="memory_id")
    withdrawn = staged.select(echo_of="memory_id", origin="origin", date=pl.col("occurred_at").dt.date())
    withdrawn = withdrawn.filter(pl.col("origin").fill_null("") != "")
    suspects = suspects.join(withdrawn, on=["echo_of", "origin", "date"], how="anti")
    repeats = {
        name
        for name, namespace, search, content in suspects.select(
            "memory_id", "namespace", "search_id", "content"
        ).iter_rows()
        if _only_repeats(content, passages[namespace, search])
    }
    return [[ECHO] if name in repeats else [] for name in staged["memory_id"]]


def _plain(text: str) -> str:
    """Case-fold a text and normalise spaces.

    A space at both ends keeps words whole.
    """
    return f" {' '.join(unicodedata.normalize('NFKC', text).casefold().split())} "


def _only_repeats(content: str, passages: Sequence[str]) -> bool:
    """Whether a passage has each line of a note, verbatim or in effect."""
    plain = [_plain(passage) for passage in passages]
    if any(_plain(content) in passage for passage in plain):
        return True
    passage_traits = [traits(passage) for passage in passages]
    for line in filter(str.strip, content.split("\n")):
        if any(_plain(line) in passage for passage in plain):
            continue
        line_traits = traits(line)
        differences_by_passage = (compare(line_traits, passage) for passage in passage_traits)
        if not any(
            not differences or says_more(differences) == "right" for differences in differences_by_passage
        ):
            return False
    return True
