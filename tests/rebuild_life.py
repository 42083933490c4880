"""A home in which everything has happened that leaves a row in a table, and its tables to compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import feedback_days as march
import polars as pl
from evaluation_nights import Life, label, make_home
from learning_life import Nights
from polars.testing import assert_frame_equal

from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.learning import applied_terms
from slowwave.lifecycle.calibration import calibrate
from slowwave.lifecycle.reconsolidate import reconsolidate
from slowwave.quality.calibration import ErrorTargets
from slowwave.settings import Settings, load
from slowwave.store.integrity import missing_files
from slowwave.store.text import create_full_text_indexes

NAMESPACE = "ada"
SETTINGS = """\
[judge]
kind = "off"
[gate]
mode = "warn"
[reconsolidation]
policy = "guarded"
[chunks]
min_words = 10
max_words = 20
[evaluation]
ablations = false
"""
TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there and nobody is on holiday."
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
PIERS = "\n\n".join(
    f"## Pier {name}\n\nAt pier {name} a gauge of the harbour tells the tide to everybody who asks it."
    for name in "abcd"
)
QUERIES = ("when do we deploy?", "how long does the battery last", "who answers the telephone at night",
           "radar on the mast", "ferry company departure boards")  # fmt: skip
ABOUT_FILES = ("checkpoint-", "vector_index")


def lived(home: Path, folder: Path, embedder: Any) -> Settings:
    """Make the home."""
    settings = make_home(home, SETTINGS)
    (folder / "instance").mkdir(parents=True)
    nights = Nights(settings, folder / "instance")
    vault = folder / "vault"
    vault.mkdir()
    (vault / "piers.md").write_text(PIERS)
    (vault / "gone.md").write_text(
        "# Gone\n\nThe lighthouse keeper of the eastern rock is called Morag MacLeod."
    )
    (vault / "broken.md").write_bytes(b"---\ntags: [\n---\n\xff\xfe broken")
    with Life(settings, embedder, namespace=NAMESPACE) as life:
        memory, clock = life.memory, life.clock
        life.learn(march.NOTES, march.at(1, 8))
        clock.moment = march.at(1, 9)
        memory.save_many([
            {"content": TUESDAY, "key": "tue", "title": "Deploy day", "tags": ["work"],
             "metadata": {"a": [1]}},
            {"content": BATTERY + " It is changed by Ruaridh.", "key": "b1", "title": "Battery of the gauge"},
        ])  # fmt: skip
        clock.moment = march.at(1, 10)
        memory.save(TUESDAY.replace("Tuesday", "Thursday"), key="thu", title="Deploy day")
        memory.save(BATTERY + " Its screws are made of brass.", key="b2", title="Battery of the gauge")
        memory.save(PIERS, key="long", title="Piers", follows="thu")
        memory.save("x", key="short")
        clock.moment = march.at(1, 11)
        twin = memory.save(TUESDAY.replace("Tuesday", "Thursday"), key="twin", title="Deploy day")
        other = memory.save(march.NOTES["radar"], key="again", title="radar")
        assert (twin.status, other.status) == ("merged", "merged")
        _scan(life, vault, march.at(1, 12))
        gone = memory.save(
            "A note about the cellar that is forgotten on the next day of the month.", key="cellar"
        )
        clock.moment = march.at(2, 9)
        memory.forget(gone.memory_id)
        (vault / "gone.md").unlink()
        (vault / "quays").mkdir()
        (vault / "piers.md").rename(vault / "quays" / "letters.md")
        _scan(life, vault, march.at(2, 10))
        undoable = [
            one for one in memory.decisions(outcome="any") if one["other_memory"] and one["undone_at"] is None
        ]
        if undoable:
            memory.undo(undoable[0]["decision_id"])
        for day in (2, 3, 4):
            for number, query in enumerate(QUERIES):
                life.ask(
                    query,
                    march.at(day, 11 + number),
                    lambda one: one.startswith(("a", "b", "c", "d", "e", "k")),
                )
        for number in range(6):
            clock.moment = march.at(4, 17 + number / 10)
            found = memory.search(QUERIES[0], project="boat")
            memory.principal = f"p{number}"
            memory.feedback(found.search_id, 1, "helpful")
            memory.feedback(found.search_id, 2, "unhelpful")
        memory.outcome("boat", "success")
        memory.principal = "ann"
        label(settings, [(query, ids.memory_id(NAMESPACE, key), 3, march.at(3, 20)) for query, key in
                         zip(QUERIES, ("thu", "b1", "rota", "radar", "ferry"), strict=True)],
              namespace=NAMESPACE)  # fmt: skip
        clock.moment = march.at(5, 1)
        pairs = folder / "pairs.tsv"
        pairs.write_text("a\tb\tlabel\n" + "".join(
            f"{one}\t{one} indeed\tsame\n{one}\tthe moon is made of cheese {n}\tdifferent\n"
            for n, one in enumerate(march.NOTES.values())))  # fmt: skip
        try:
            calibrate(life.space, [pairs], ErrorTargets(), clock.moment)
        except Exception:  # a fit that keeps to no target is a fact of its own here
            life.space.store.put_meta("calibration-other", {"duplicate": 0.9, "merge": 0.8, "conflict": 0.7})
        reconsolidate(memory.tenant, policy="literal")
    assert nights.run("night", 1, 4).success
    nights.night(1, 4)
    with Life(settings, embedder, namespace=NAMESPACE) as life:
        life.clock.moment = march.at(5, 9)
        memory = life.memory
        memory.save(
            "After the nights this came in: the anchor of the barge weighs nine hundred kilos.", key="late"
        )
        memory.forget(ids.memory_id(NAMESPACE, "ledger"))
        memory.save(TUESDAY.replace("Tuesday", "Monday"), key="tue", title="Deploy day")
        life.ask(QUERIES[1], march.at(5, 10), lambda _: True)
        _write_what_takes_weeks(life.space)
        applied_terms.expired_terms(life.space.store, life.clock.moment)
    return load(home)


def _write_what_takes_weeks(space: Workspace) -> None:
    """Rows of a closed cycle and of what was learned: a cycle takes a hundred queries."""
    common = {"namespace": NAMESPACE, "day": march.name(2)}
    ends = {"opened_on": march.name(1), "closed_on": march.name(2), "closed_at": march.at(3)}
    for table, row in (
        (
            "evaluation_cycles",
            {"cycle_id": "ben#1", "number": 1, "status": "closed", "summary": "{}", **ends},
        ),
        (
            "cycle_scores",
            {"cycle_score_id": "ben#1:a", "cycle_id": "ben#1", "mrr_5": float("nan"), "searches": 2},
        ),
        ("cycle_judgments", {"cycle_judgment_id": "ben#1:a:b", "cycle_id": "ben#1", "grade": 2.5}),
        (
            "interleavings",
            {"search_id": "s", "policy_a": "a", "credit_a": 1, **common, "day": march.name(20)},
        ),
        (
            "learned_triggers",
            {"trigger_id": "t1", "term": "boat", "weight": 1.0, "expires_at": march.at(90), **common},
        ),
        (
            "learned_triggers",
            {"trigger_id": "t2", "term": "keel", "weight": 1.0, "expires_at": march.at(3), **common},
        ),
        (
            "search_keys",
            {"key_id": "k1", "query_id": "q", "taken": 0.7, "expires_at": march.at(90), **common},
        ),
        (
            "search_keys",
            {"key_id": "k2", "query_id": "q", "taken": 0.0, "expires_at": march.at(3), **common},
        ),
        (
            "learned_matches",
            {"match_id": "m", "term": "boat", "relevant": True, **common, "day": march.name(20)},
        ),
        (
            "learned_effect",
            {"effect_id": "e", "moved": True, "mrr_5": 0.1 + 0.2, **common, "day": march.name(20)},
        ),
    ):
        space.store.upsert(table, pl.DataFrame([row]))


def _scan(life: Life, vault: Path, moment: Any) -> None:
    from slowwave.vaults import vault as vaults

    life.clock.moment = moment
    journal = life.space.journal
    known = {one.name: one for one in journal.sources()}
    source = known.get("vault") or vaults.watch(
        journal, NAMESPACE, vault, name="vault", as_of=moment, principal="test"
    )
    vaults.scan(
        journal, source, life.space.settings.notes, as_of=moment, principal="test", allow_mass_retire=True
    )


def opened(settings: Settings, embedder: Any) -> Workspace:
    """The home, without a trace in it."""
    space = Workspace(load(settings.home, journal={"log_searches": False}), clock=lambda: march.at(6))
    space.__dict__["embedder"] = embedder
    return space


def tables(space: Workspace) -> dict[str, pl.DataFrame]:
    """Every table, by key; of the facts those that are not about files."""
    assert not missing_files(space.store)
    found = {name: space.store.read(name).sort(spec.key) for name, spec in space.store.specs.items()}
    files = pl.any_horizontal(pl.col("name").str.starts_with(one) for one in ABOUT_FILES)
    return found | {"meta": found["meta"].filter(~files)}


def assert_same(lost: dict[str, pl.DataFrame], rebuilt: dict[str, pl.DataFrame]) -> None:
    """The same rows with the same values; vectors to 1e-6."""
    assert lost.keys() == rebuilt.keys()
    problems = []
    for name, rows in lost.items():
        try:
            vector = "vector" in rows.columns
            assert_frame_equal(
                rows.drop("vector", strict=False),
                rebuilt[name].drop("vector", strict=False),
                check_exact=True,
            )
            if vector:
                assert_frame_equal(
                    rows.select("vector"),
                    rebuilt[name].select("vector"),
                    check_exact=False,
                    rel_tol=0,
                    abs_tol=1e-6,
                )
        except AssertionError as error:
            problems.append(f"{name}: {rows.height} rows, rebuilt {rebuilt[name].height}: {error}")
    assert not problems, "\n".join(problems)


def found(space: Workspace) -> list[Any]:
    """What searches show, with scores; how a word weighs depends on which rows the text index has."""
    from slowwave.memory import Memory

    store = space.store
    create_full_text_indexes(store.table("chunks"), store.specs["chunks"], again=True)
    memory = Memory(space.settings, namespace=NAMESPACE, space=space)
    return [
        [(one.memory_id, one.score, one.text) for one in memory.search(query, limit=20, superseded=True)]
        for query in (*QUERIES, "barge anchor", "pier tide gauge")
    ]
