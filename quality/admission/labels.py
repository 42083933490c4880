"""What a memory says of itself beside its text, and what of it a merge keeps (rule 2.5).

The labels of a memory that absorbed others are always made from its own and theirs, as its text is. So they
are the same in whatever order the merges came to be known, and one that is taken back takes its labels along.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from slowwave.scoring.ranking.confidence import LIFECYCLE_POINTS, lifecycle_confidence, note_confidence

DEFAULT_TYPE: Final = "note"
TIERS: Final = ("temporary", "normal", "important", "critical")
PRIORITIES: Final = ("low", "normal", "high")
STATES: Final = ("draft", "candidate", "accepted", "canonical")
KINDS: Final = ("generated", "imported", "manual")
LISTS: Final = ("trigger_phrases", "tags", "aliases", "links")
_CONFIDENCE: Final = tuple(sorted(LIFECYCLE_POINTS, key=LIFECYCLE_POINTS.__getitem__))


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that a merge unites; the names are those of the columns of a memory."""

    memory_type: str = DEFAULT_TYPE
    importance_tier: str = "normal"
    retrieval_priority: str = "normal"
    state: str = "accepted"
    source_kind: str = "manual"
    source_of_truth: bool = False
    trigger_phrases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def protection(self) -> str:
        """Why only a person may take its text away (replace or forget it), or nothing."""
        if self.importance_tier == "critical":
            return "critical"
        if self.source_of_truth:
            return "a source of truth"
        if self.importance_tier not in TIERS:
            return "of a tier that nobody knows"
        return "canonical" if self.state == "canonical" else ""

    @property
    def protected(self) -> bool:
        """Whether a person has to say so before it is merged or superseded (rule 2.5).

        What is canonical takes in what adds to it; whether anything supersedes it, its state decides.
        """
        return self.importance_tier == "critical" or self.source_of_truth


NAMES: Final = tuple(part.name for part in fields(Labels))
LABELS: Final = NAMES  # what the package calls them


def unite(own: Labels, parts: Iterable[Labels]) -> Labels:
    """The labels of a memory with those of what it absorbed, in order: the stronger ones, and all names.

    Of two specific types the first one stays; whoever merges asks `apart` before.
    """
    united = own
    for part in parts:
        state, kind = max(
            (united.state, united.source_kind),
            (part.state, part.source_kind),
            key=lambda pair: (_place(pair[0], STATES, "accepted"), _place(pair[1], KINDS, "manual")),
        )
        united = replace(
            united,
            memory_type=part.memory_type if united.memory_type == DEFAULT_TYPE else united.memory_type,
            importance_tier=_stronger(united.importance_tier, part.importance_tier, TIERS),
            retrieval_priority=_stronger(united.retrieval_priority, part.retrieval_priority, PRIORITIES),
            state=state,
            source_kind=kind,
            source_of_truth=united.source_of_truth or part.source_of_truth,
            **{name: _joined(getattr(united, name), getattr(part, name)) for name in LISTS},
        )
    return united


def confidence(labels: Labels, *, vault: bool, sensitivity: str) -> str:
    """How far search trusts a memory with these labels: high, medium or low (rule 3.6)."""
    if vault or labels.source_of_truth:
        return note_confidence(
            source_of_truth=labels.source_of_truth, retrieval_priority=labels.retrieval_priority,
            memory_type=labels.memory_type, sensitivity=sensitivity,
        ).tier  # fmt: skip
    return lifecycle_confidence(
        state=labels.state, source_kind=labels.source_kind, sensitivity=sensitivity
    ).tier


@dataclass(frozen=True, slots=True)
class WeighedMemory:
    """A memory as it is weighed against another one.

    Attributes:
        labels: with those of what it absorbed.
        tier: importance tier as it counts, with what use promoted it to.
        vault: whether it comes from a watched folder.
        sensitivity: who may see it.
        context: what has to be known to understand it.
    """

    labels: Labels
    tier: str
    vault: bool = False
    sensitivity: str = ""
    context: str = ""

    @property
    def confidence(self) -> str:
        """As search shows it."""
        return confidence(self.labels, vault=self.vault, sensitivity=self.sensitivity)


def weaker(new: WeighedMemory, old: WeighedMemory) -> str:
    """Why a memory may not take the place of another one: the first label in which it stands lower.

    Confidence is compared among notes of vaults and among what was saved, which have scales of their own.
    """
    if old.labels.source_of_truth and not new.labels.source_of_truth:
        return "the other is a source of truth"
    if new.labels.source_of_truth and not old.labels.source_of_truth:
        return ""
    if _place(new.labels.state, STATES, "accepted") < _place(old.labels.state, STATES, "accepted"):
        return f"it is {new.labels.state}, the other {old.labels.state}"
    if _place(new.tier, TIERS, "normal") < _place(old.tier, TIERS, "normal"):
        return f"it is {new.tier}, the other {old.tier}"
    if new.vault == old.vault and _trust(new.confidence) < _trust(old.confidence):
        return f"its confidence is {new.confidence}, the other's {old.confidence}"
    return ""


def apart(new: WeighedMemory, old: WeighedMemory) -> str:
    """Why two memories cannot be one without losing what their labels say; empty if they can (rule 2.5)."""
    mine, theirs = new.labels.memory_type, old.labels.memory_type
    if different_types(new.labels, old.labels):
        return f"one is a {mine}, the other a {theirs}"
    if new.context and old.context and _same(new.context) != _same(old.context):
        return "they are about different contexts"
    united = unite(old.labels, [new.labels])
    left = confidence(united, vault=old.vault, sensitivity=old.sensitivity)
    highest = max(new.confidence, old.confidence, key=_trust)
    if _trust(left) < _trust(highest):
        return f"together their confidence would fall from {highest} to {left}"
    tier = _stronger(united.importance_tier, old.tier, TIERS)
    if _place(tier, TIERS, "normal") < _place(new.tier, TIERS, "normal"):
        return f"its use made it {new.tier}, which cannot be handed on"
    return ""


def different_types(new: Labels, old: Labels) -> bool:
    """Whether both name a type, and not the same one."""
    return new.memory_type != old.memory_type and DEFAULT_TYPE not in (new.memory_type, old.memory_type)


def _stronger(own: str, other: str, order: Sequence[str]) -> str:
    return other if _place(other, order, "normal") > _place(own, order, "normal") else own


def _place(word: str, order: Sequence[str], default: str) -> int:
    """Place of a word; one that is not known has that of the default."""
    return order.index(word if word in order else default)


def _trust(tier: str) -> int:
    return _CONFIDENCE.index(tier)


def _joined(own: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """These and those that are new, compared without case and width."""
    known = {_same(one) for one in own}
    fresh = []
    for one in more:
        if (same := _same(one)) not in known:
            known.add(same)
            fresh.append(one)
    return (*own, *fresh)


def _same(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
