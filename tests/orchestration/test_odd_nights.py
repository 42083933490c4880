"""No note, line or act stops a night, or touches what another namespace has."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from feedback_days import act, observed, outcome, rating, search
from odd_texts import FILES, TEXTS, odd_entries
from prepared import take_over
from stale_days import pending_days

from slowwave.assets import ingest, learning
from slowwave.common import ids
from slowwave.evaluation import cycles, derived_judgments, interleaved, scores
from slowwave.feedback import aggregation
from slowwave.feedback import apply_state as taking_effect
from slowwave.home.fault_isolation import NamespaceScopedStore, run_isolated
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, Journal
from slowwave.journal.entry_builders import save_entry
from slowwave.learning import boost_effect, proposals
from slowwave.learning.gate_evidence import Evidence
from slowwave.lifecycle import ingest_pipeline
from slowwave.notes.reading import plain_note
from slowwave.orchestration.run_nightly import evaluate_due, run_night
from slowwave.settings import Settings, load
from slowwave.store import Store, staging
from slowwave.vaults import vault

NOW = datetime.now(UTC)
YESTERDAY = (NOW - timedelta(days=1)).replace(hour=12)
FACTS = {
    "deploy": "The deploy day is Thursday since the second of March, decided by the whole team.",
    "battery": "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
}


@pytest.fixture
def settings(home: Path) -> Settings:
    take_over(home)
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n[learning]\nenabled = true\n')
    return load(home)


def saved(namespace: str, key: str, text: str, title: str = ""):
    note = plain_note(text, source=key)
    return save_entry(
        replace(note, title=title or note.title or key),
        namespace=namespace, source=key, origin="", occurred_at=YESTERDAY, principal="test",
        event_id=ids.digest(namespace, key),
    )  # fmt: skip


def live(settings: Settings, namespace: str) -> set[str]:
    rows = Workspace(settings).store.read(
        "memories", f"status = 'live' AND namespace = '{namespace}'", columns=["source"]
    )
    return set(rows["source"])


@pytest.mark.slow
@pytest.mark.pictures
def test_odd_texts_stop_no_night_and_touch_no_other_tenant(settings, tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (YESTERDAY.timestamp(), YESTERDAY.timestamp()))
    with Journal.open_path(settings.journal_file) as journal:
        vault.watch(journal, "odd", folder, name="", as_of=NOW, principal="test")
        journal.append([saved("odd", key, text, title=text[:2_000]) for key, text in TEXTS.items()])
        journal.append([saved("ada", key, text) for key, text in FACTS.items()])
    day = YESTERDAY.date().isoformat()
    report = run_night(settings, day, NOW.date().isoformat())
    assert (report["success"], report["errors"]) == (True, [])
    assert live(settings, "ada") == set(FACTS)
    store = Workspace(settings).store
    held = store.read("quarantine", "namespace = 'odd'", columns=["source"])["source"]
    settled = live(settings, "odd") | set(held)
    assert settled >= set(TEXTS)
    assert pending_days(settings) == []


@pytest.mark.slow
@pytest.mark.pictures
def test_malformed_acts_of_every_kind_stop_no_night_and_touch_no_other_tenant(settings):
    day = YESTERDAY.date().isoformat()
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([saved("ada", key, text) for key, text in FACTS.items()])
        journal.append([saved("odd", key, text) for key, text in FACTS.items()])
        journal.append(
            odd_entries("odd", YESTERDAY, {"learning": "rollback", "outcome": "ship"}, origin="ship")
        )
        for action in ("approve", "withdraw", "regression", "nonsense"):
            journal.append(
                odd_entries("odd", YESTERDAY, {"learning": action}, kinds=["learning"], named=action)
            )
    report = run_night(settings, day, NOW.date().isoformat())
    assert (report["success"], report["errors"]) == (True, [])
    assert live(settings, "ada") == set(FACTS)
    assert pending_days(settings) == []
    reports = evaluate_due(settings)
    assert [one["errors"] for one in reports] == [[]] * len(reports)


# -- what nobody thought of ------------------------------------------------------------------------


def feedback_of(namespace: str) -> list[Entry]:
    """A search, an answer and an outcome of it, and a judgment."""
    name = ids.memory_id(namespace, "deploy")
    asked = search(f"{namespace}-asked", YESTERDAY, [name], project="ship", namespace=namespace)
    later = YESTERDAY + timedelta(minutes=1)
    about = {"query": "when do we deploy?", "memory_id": name, "grade": 3, "state": "graded"}
    return [
        asked,
        rating(asked.event_id, later, name, "helpful", namespace=namespace),
        observed(asked.event_id, later, {name: "used"}, namespace=namespace),
        outcome("ship", later, "success", namespace=namespace),
        act("judgment", ids.query_id(namespace, "when do we deploy?"), later, about,
            namespace=namespace, origin="manual"),
    ]  # fmt: skip


def mentions(value: object, namespace: str) -> bool:
    """Whether what a function is given has rows of a namespace, or is a home that has."""
    if isinstance(value, pl.DataFrame):
        return "namespace" in value.columns and namespace in value["namespace"].to_list()
    if isinstance(value, Workspace | Store | NamespaceScopedStore):
        store = getattr(value, "store", value)
        return any(mentions(store.read(name), namespace) for name in ("searches", "staged_notes", "memories"))
    if isinstance(value, Evidence):
        return mentions(value.space, namespace)
    return isinstance(value, dict | list | tuple) and any(mentions(one, namespace) for one in value)


NIGHT_PARTS = [
    (staging, "stage"), (ingest_pipeline, "judge"), (ingest_pipeline, "cut"), (ingest, "admit_batch"),
    (ingest, "reconcile"), (aggregation, "signals"), (aggregation, "effectiveness"),
    (aggregation, "strength"), (aggregation, "promotions"),
    (taking_effect, "apply_state"),
]  # fmt: skip
EVALUATION_PARTS = [
    (scores, "score_days"), (scores, "compare_days"), (scores, "attribute_days"),
    (interleaved, "interleaved_days"), (cycles, "advance"), (proposals, "proposal_days"),
    (boost_effect, "match_days"), (boost_effect, "effect_days"), (learning, "gates"),
    (derived_judgments, "selection_judgments"),
]  # fmt: skip
OWNED = (
    "memories", "chunks", "searches", "events", "usage_signals", "effectiveness", "strength", "memory_state",
    "judgments", "evaluation_scores", "channel_attribution",
)  # fmt: skip


def of_ada(settings: Settings) -> dict[str, pl.DataFrame]:
    store = Workspace(settings).store
    return {
        name: store.read(name, "namespace = 'ada'")
        .sort(store.specs[name].key)
        .drop("vector", "updated_at", strict=False)
        for name in OWNED
    }


@pytest.mark.slow
def test_a_fault_of_one_namespace_is_its_own_at_every_stage(settings, monkeypatch):
    """Each part is made to fail wherever it meets `odd`: the others come to what they come to without it."""
    day, today = YESTERDAY.date().isoformat(), NOW.date().isoformat()
    with Journal.open_path(settings.journal_file) as journal:
        for namespace in ("ada", "odd"):
            journal.append([saved(namespace, key, text) for key, text in FACTS.items()])
            journal.append(feedback_of(namespace))
    with monkeypatch.context() as patched:
        for module, name in [*NIGHT_PARTS, *EVALUATION_PARTS]:
            patched.setattr(module, name, fails_at_odd(getattr(module, name)))
        assert run_night(settings, day, today)["errors"] == []
        report = run_night(settings, day, day, job="evaluation")
    assert (report["success"], report["errors"]) == (True, [])
    assert any("odd" in warning and "FloatingPointError" in warning for warning in report["warnings"])
    assert live(settings, "odd") == set()
    found = of_ada(settings)
    assert all(frame.height for frame in found.values())
    assert day in pending_days(settings)

    assert run_night(settings, day, today)["success"]  # nothing is wrong any more
    report = run_night(settings, day, day, job="evaluation")
    assert (report["success"], report["warnings"]) == (True, [])
    assert live(settings, "odd") == live(settings, "ada") == set(FACTS)
    assert pending_days(settings) == []
    for name, frame in of_ada(settings).items():
        assert frame.drop("updated_at", strict=False).equals(found[name].drop("updated_at", strict=False)), (
            name
        )


def fails_at_odd(function):
    def called(*given, **named):
        if mentions([*given, *named.values()], "odd"):
            raise FloatingPointError("of a kind that nobody thought of")
        return function(*given, **named)

    return called


def test_a_fault_of_all_namespaces_is_raised_as_it_is():
    def fails(*_given):
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        run_isolated(fails, lambda: ["ada", "odd"], fails)
    done, faults = run_isolated(
        fails, lambda: ["ada", "odd"], lambda name: fails() if name == "odd" else name
    )
    assert done == ["ada"]
    assert [(one.namespace, one.error.split(" at ")[0]) for one in faults] == [("odd", "OSError")]
