"""Labels of memories, and their union in a merge (rule 2.5).

The labels of a memory are always computed from its own and those of the memories it absorbed, as its text is.
So they do not depend on the order of merges, and undoing a merge removes its labels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from slowwave.scoring.ranking.confidence import LIFECYCLE_POINTS, memory_confidence

DEFAULT_TYPE: Final = "note"
TIERS: Final = ("temporary", "normal", "important", "critical")
PRIORITIES: Final = ("low", "normal", "high")
STATES: Final = ("draft", "candidate", "accepted", "canonical")
KINDS: Final = ("generated", "imported", "manual")
LISTS: Final = ("trigger_phrases", "tags", "aliases", "links")
_CONFIDENCE: Final = tuple(sorted(LIFECYCLE_POINTS, key=LIFECYCLE_POINTS.__getitem__))


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that a merge unites, named as the columns of a memory."""

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
        """Return the reason why only a person may replace or forget the text, or nothing."""
        if self.importance_tier == "critical":
            return "critical"
        if self.source_of_truth:
            return "a source of truth"
        if self.importance_tier not in TIERS:
            return "of an unknown tier"
        return "canonical" if self.state == "canonical" else ""

    @property
    def protected(self) -> bool:
        """Whether a merge or supersede needs a person's consent (rule 2.5).

        A canonical memory absorbs additions without it. Whether anything supersedes it depends on its state.
        """
        return self.importance_tier == "critical" or self.source_of_truth


NAMES: Final = tuple(part.name for part in fields(Labels))
LABELS: Final = NAMES  # name used by other modules


def unite(own: Labels, parts: Iterable[Labels]) -> Labels:
    """Unite labels with those of absorbed memories: the stronger of each kind, and all names.

    Of two specific types the first stays; callers check `apart` first.
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
    """Return the confidence of search in these labels: high, medium or low (rule 3.6)."""
    return memory_confidence(
        vault, labels.source_of_truth, labels.retrieval_priority, labels.memory_type, sensitivity,
        labels.state, labels.source_kind,
    ).tier  # fmt: skip


@dataclass(frozen=True, slots=True)
class WeighedMemory:
    """Memory as compared in a merge or supersede decision.

    Attributes:
        labels: labels, with those of absorbed memories.
        tier: effective importance tier, with promotions.
        vault: whether it comes from a watched folder.
        sensitivity: label that decides who sees it.
        context: context of its text.
    """

    labels: Labels
    tier: str
    vault: bool = False
    sensitivity: str = ""
    context: str = ""

    @property
    def confidence(self) -> str:
        """Return the confidence that search shows."""
        return confidence(self.labels, vault=self.vault, sensitivity=self.sensitivity)


def weaker(new: WeighedMemory, old: WeighedMemory) -> str:
    """Return the reason why a memory may not supersede another; empty if it may.

    It is the first label in which the new one is lower. Confidence is compared only between two notes of
    vaults or two stored facts, because their scales differ.
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
    """Return the reason why two memories cannot merge; empty if they can (rule 2.5)."""
    new_type, old_type = new.labels.memory_type, old.labels.memory_type
    if different_types(new.labels, old.labels):
        return f"one is a {new_type}, the other a {old_type}"
    if new.context and old.context and _same(new.context) != _same(old.context):
        return "they are about different contexts"
    united = unite(old.labels, [new.labels])
    united_confidence = confidence(united, vault=old.vault, sensitivity=old.sensitivity)
    highest = max(new.confidence, old.confidence, key=_trust)
    if _trust(united_confidence) < _trust(highest):
        return f"together their confidence would fall from {highest} to {united_confidence}"
    tier = _stronger(united.importance_tier, old.tier, TIERS)
    if _place(tier, TIERS, "normal") < _place(new.tier, TIERS, "normal"):
        return f"it was promoted to {new.tier}, which a merge cannot keep"
    return ""


def different_types(new: Labels, old: Labels) -> bool:
    """Whether both have a specific type, and not the same one."""
    return new.memory_type != old.memory_type and DEFAULT_TYPE not in (new.memory_type, old.memory_type)


def _stronger(own: str, other: str, order: Sequence[str]) -> str:
    return other if _place(other, order, "normal") > _place(own, order, "normal") else own


def _place(word: str, order: Sequence[str], default: str) -> int:
    """Return the place of a word; an unknown one has that of the default."""
    return order.index(word if word in order else default)


def _trust(tier: str) -> int:
    return _CONFIDENCE.index(tier)


def _joined(own: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Append new names, compared without case and width."""
    seen = {_same(name) for name in own}
    fresh = []
    for name in more:
        if (same := _same(name)) not in seen:
            seen.add(same)
            fresh.append(name)
    return (*own, *fresh)


def _same(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
