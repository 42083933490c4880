"""Save gate verdicts on single notes: structure (L1), content (L2) and junk (rule 1).

Duplicates (L3) are decided in :mod:`quality.admission`, one note after the other, because they need vectors
and depend on the order. The nightly job judges a day's batch, `Memory.save` a batch of one; both call
:func:`judge`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import chain

import orjson
import polars as pl

from slowwave.quality.content import LOW_CONTENT, STATEMENT, WEIGHTS, parts_of
from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import says_more
from slowwave.quality.divergence.tokens import traits
from slowwave.quality.echo import ECHO, find_echoes
from slowwave.quality.gate_policy import Formula, GatePolicy
from slowwave.quality.junk import junk_reasons
from slowwave.quality.statement import NO_STATEMENT
from slowwave.quality.structure import structure_faults

PASS = "pass"  # noqa: S105 - a verdict, not a password
REFUSE = "refuse"
RETIRE = "retire"
UNDO = "undo"
ACCEPT = "accept"
VERDICT_OF_ACT = {"forget": RETIRE, "undo": UNDO, "accept": ACCEPT}

ALWAYS_REFUSED = frozenset({"bad_namespace"})
"""Faults that refuse a note in every mode."""
NEVER_TRUSTED = ALWAYS_REFUSED | {"unknown_sensitivity"}
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
SERVED_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "namespace": pl.String,
    "memory_id": pl.String,
    "text": pl.String,
    "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}
"""Columns of returned passages, which :func:`judge` checks for echoes."""


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
    reasons: list[list[str]] = [[]] * staged.height
    scores: list[list[float]] | None = None
    if policy.mode != "off" and not staged.is_empty():
        scores = parts_of(staged, policy.score).tolist()
        reasons = _reasons(staged, [_content_faults(parts, policy) for parts in scores], policy, served)
    columns = ("memory_id", "act", "reason", "released", "occurred_at")
    acts = list(zip(*(staged[name].to_list() for name in columns), strict=True))
    refusing = _refusing(staged, policy)
    judged = [
        (
            memory_id,
            *_verdict(act, reason, released=bool(released), always=always, faults=faults),
        )
        for (memory_id, act, reason, released, _), always, faults in zip(acts, refusing, reasons, strict=True)
    ]
    scored = [
        (parts[-1], _as_json(parts, policy)) if act == "save" else (None, None)
        for (_, act, *_), parts in zip(acts, scores or [], strict=scores is not None)
    ] or [(None, None)] * len(acts)
    rows = [(*verdict, *score) for verdict, score in zip(judged, scored, strict=True)]
    return pl.DataFrame(rows, schema=VERDICT_SCHEMA, orient="row")


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


def _refusing(staged: pl.DataFrame, policy: GatePolicy) -> list[frozenset[str] | None]:
    """Return the faults that refuse each note; None: all of them."""
    moments = staged["occurred_at"].to_list()
    if not policy.trusted:
        return [None if policy.enforces_at(moment) else ALWAYS_REFUSED for moment in moments]
    sources = (staged[name].to_list() for name in ("namespace", "origin", "principal"))
    return [
        None
        if policy.refuses(namespace, origin, principal, moment)
        else NEVER_TRUSTED
        if policy.enforces_at(moment)
        else ALWAYS_REFUSED
        for namespace, origin, principal, moment in zip(*sources, moments, strict=True)
    ]


def _verdict(
    act: str, reason: str | None, *, released: bool, always: frozenset[str] | None, faults: list[str]
) -> tuple[str, list[str]]:
    """Return the verdict on one event, and the reasons that count for it.

    Args:
        always: faults that refuse it; None: all of them.
    """
    if act == "unreadable":
        return REFUSE, [reason] if reason is not None else []
    if act != "save":
        return VERDICT_OF_ACT.get(act, PASS), []
    if released:
        grave = [name for name in faults if name in ALWAYS_REFUSED]
        return (REFUSE if grave else PASS), grave
    refused = faults if always is None else [name for name in faults if name in always]
    return (REFUSE if refused else PASS), faults


def _as_json(parts: list[float], policy: GatePolicy) -> str:
    return orjson.dumps(dict(zip(PARTS[policy.score], parts, strict=False))).decode()


def _content_faults(parts: list[float], policy: GatePolicy) -> list[str]:
    """Return the faults of a note's content score and statement."""
    if policy.score == "applicable" and not parts[-2]:
        return [NO_STATEMENT]
    return [LOW_CONTENT] if parts[-1] < policy.min_quality else []


def _reasons(
    staged: pl.DataFrame, content: list[list[str]], policy: GatePolicy, served: pl.DataFrame | None
) -> list[list[str]]:
    """Return all faults of each note, in the order of the layers."""
    layers = zip(
        structure_faults(staged, min_characters=policy.least_characters),
        content,
        junk_reasons(staged),
        _echo(staged, policy, served),
        strict=True,
    )
    return [list(dict.fromkeys(chain.from_iterable(layer_faults))) for layer_faults in layers]


def _echo(staged: pl.DataFrame, policy: GatePolicy, served: pl.DataFrame | None) -> list[list[str]]:
    """Return `echo` for each note that only repeats recent results.

    A note with more or other content is no echo: the gate would lose it. Nor is a vault's note with the text
    of one that the vault changed or deleted on that day: a vault changes as a whole.
    """
    if served is None or served.is_empty() or not policy.echo_window:
        return [[]] * staged.height
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
