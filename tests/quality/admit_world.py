"""Memories of one namespace that acts happen to, without a store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from slowwave.quality.admission.labels import Labels
from slowwave.quality.admission.state_machine import admit
from slowwave.quality.admission.types import (
    AdmissionAct,
    AdmissionContext,
    AdmissionDecision,
    AdmissionPolicy,
    AdmissionRecord,
    AdmissionResult,
)
from slowwave.quality.neighbours import Neighbours, coded

OFF = AdmissionPolicy()
GUARDED = AdmissionPolicy(reconsolidation="guarded")
LITERAL = AdmissionPolicy(reconsolidation="literal")


def at(cosine: float) -> np.ndarray:
    """A unit vector with this cosine to (1, 0, 0)."""
    return np.array([cosine, np.sqrt(max(0.0, 1 - cosine * cosine)), 0.0], dtype=np.float32)


def embed(title: str, content: str) -> np.ndarray:
    angle = int.from_bytes(hashlib.blake2b((title + content).encode(), digest_size=4).digest(), "big") / 2**32
    return np.array([np.cos(angle), np.sin(angle), 0.0], dtype=np.float32)


def note(name: str, content: str, vector: np.ndarray | None = None, **changes: object) -> AdmissionRecord:
    made = AdmissionRecord(
        memory_id=name, revision=f"r-{name}-{content}", title="", source="", content=content,
        content_hash=content.strip(), vector=embed("", content) if vector is None else vector,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


class World:
    """The memories of one namespace, as a store would keep them."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self.policy = policy
        self.records: dict[str, AdmissionRecord] = {}
        self.decisions: dict[str, AdmissionDecision] = {}
        self.lapsed: list[tuple[str, str]] = []
        self.apart: set[frozenset[str]] = set()
        self.united: dict[str, Labels] = {}

    def recall(self, names: Iterable[str]) -> list[AdmissionRecord]:
        return [self.records[name] for name in names if name in self.records]

    def neighbours(self, notes: list[AdmissionRecord]) -> Neighbours:
        live = [one for one in self.records.values() if one.status == "live"]
        vectors = [one.vector if one.merged_vector is None else one.merged_vector for one in live]
        theirs, mine = coded([one.sensitivity for one in live], [one.sensitivity for one in notes])
        return Neighbours(
            [one.memory_id for one in live], np.array(vectors, np.float32).reshape(-1, 3),
            [one.memory_id for one in notes],
            np.array([one.vector for one in notes], np.float32).reshape(-1, 3), self.policy.floor,
            groups=theirs, batch_groups=mine,
        )  # fmt: skip

    def take(self, *acts: AdmissionAct | AdmissionRecord) -> AdmissionResult:
        wanted = [
            AdmissionAct("save", act.memory_id, note=act) if isinstance(act, AdmissionRecord) else act
            for act in acts
        ]
        notes = [act.note for act in wanted if act.note is not None]
        named = {act.memory_id for act in wanted} | {act.other for act in wanted if act.other}
        hashes = {one.content_hash for one in notes}
        known = {
            name: record
            for name, record in self.records.items()
            if name in named
            or record.replaced_by in named
            or (record.content_hash in hashes and record.status in ("live", "merged"))
        }
        done = admit(wanted, self.around(known, notes))
        self.keep(done)
        return done

    def around(self, known: dict[str, AdmissionRecord], notes: list[AdmissionRecord]) -> AdmissionContext:
        apart = frozenset(self.apart)
        return AdmissionContext(
            known, self.neighbours(notes), self.policy, self.recall, embed, apart,
            latest=max((one.moment for one in self.records.values()), default=-1),
            near=self.near,
            behind=lambda names: [
                one for one in self.records.values()
                if one.replaced_by in set(names) and one.status == "superseded"
            ],
        )  # fmt: skip

    def near(self, vectors: list[np.ndarray], sensitivity: str) -> list[AdmissionRecord]:
        mine = [one for one in self.records.values() if one.sensitivity == sensitivity]
        return [one for one in mine if one.status != "retired"]

    def keep(self, done: AdmissionResult) -> None:
        for name, change in (done.changes | done.entered).items():
            own = change.content == change.record.content
            self.united[name] = change.labels
            self.records[name] = replace(
                change.record, warned=False,
                merged_content=None if own else change.content, merged_vector=None if own else change.vector,
            )  # fmt: skip
        self.decisions |= {one.memory_id: one for one in done.decisions}
        self.lapsed += [(one.memory_id, one.by) for one in done.lapses]

    def state(self) -> dict[str, tuple]:
        return {
            name: (
                one.status,
                one.replaced_by,
                one.absorbed,
                one.merged_content or one.content,
                self.united[name],
                one.revision,
            )
            for name, one in self.records.items()
        }

    def status(self) -> dict[str, str]:
        return {name: one.status for name, one in self.records.items()}
