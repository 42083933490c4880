"""Backup commands: backup, backups, verify, restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from slowwave.cli.app import app, home_settings, open_home, required_settings
from slowwave.common.pluralize import counted
from slowwave.common.sizes import size
from slowwave.views.terminal import Output, bars, out, prints_output, say, warn

if TYPE_CHECKING:
    from slowwave.backup.making import Made
    from slowwave.backup.model import Backup
    from slowwave.backup.verifying import Verified

_FROM = typer.Argument(metavar="FROM", help="Folder or s3:// URL; default: the setting backup.uri.")
_KEY = typer.Option("--key-file", help="File with the key; default: the setting backup.key_file.")
_AT = typer.Option("--at", help="Name of a backup, or the latest before a day or time (UTC).")
_SHOWN = 20
_NAMED = 3


@app.command()
@prints_output
def backup(
    to: Annotated[
        str, typer.Argument(metavar="TO", help="Folder or s3:// URL; default: the setting backup.uri.")
    ] = "",
    key_file: Annotated[Path | None, _KEY] = None,
    keep: Annotated[
        int | None, typer.Option(help="Number of newest backups to keep; 0: all. Default: backup.keep.")
    ] = None,
    forget_erased: Annotated[
        bool, typer.Option("--forget-erased", help="Delete backups made before an erasure.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt", help="Continue the backups of the home that this one was copied or restored from."
        ),
    ] = False,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", help="Only create a key, in this new file.")
    ] = None,
) -> Output:
    """Back up the home while it is in use. Only changes since the last backup are sent."""
    if new_key is not None:
        if to:
            from slowwave.errors import BackupError

            raise BackupError(
                f"--new-key only makes a key, and nothing was backed up to {to}. Run both: slowwave backup "
                f"--new-key {new_key}, then slowwave backup {to} --key-file {new_key}"
            )
        return _make_key(new_key)
    from slowwave.backup.locations import backup_location
    from slowwave.backup.making import make

    _require_existing_home()
    with open_home() as space, bars():
        own = space.settings.backup
        at = backup_location(space.settings, to, key_file, make=True)
        made = make(
            space, at.place, at.key, keep=own.keep if keep is None else keep,
            forget_erased=forget_erased or own.forget_erased, spared=at.spared, adopt=adopt,
        )  # fmt: skip

    def show() -> None:
        _show_made(made)
        if at.key is not None:
            say(f"Encrypted with the key {at.key.number}.")

    return Output(
        _as_data(made.backup)
        | {
            "place": made.place,
            "encrypted": made.encrypted,
            "backups": made.backups,
            "removed": list(made.removed),
            "freed": made.freed,
        },
        show,
    )


def _require_existing_home() -> None:
    """Refuse to back up a folder without a home: opening it would create an empty one.

    Raises:
        BackupError: the folder is no home.
        SettingsError: there is no such folder.
    """
    from slowwave.errors import BackupError
    from slowwave.home.embedding_model import is_missing

    settings = required_settings()
    if is_missing(settings):
        raise BackupError(
            f"There is no home in {settings.home}: the folder has neither tables nor a journal. Nothing was "
            f"backed up. Name the home: slowwave --home FOLDER backup …"
        )


def _make_key(path: Path) -> Output:
    from slowwave.backup.keys import make_key_file

    key = make_key_file(path)

    def show() -> None:
        message = f"The key [bold]{escape(key.number)}[/] is in {escape(str(path))}, for its owner alone."
        out.print(message, highlight=False)
        out.print("Keep a copy of it on another machine: the backups cannot be read without it.")

    return Output({"file": str(path), "key": key.number}, show)


def _show_made(made: Made) -> None:
    backup_ = made.backup
    out.print(
        f"Backup [bold]{escape(backup_.name)}[/] of {escape(backup_.folder)} is at {escape(made.place)}.",
        highlight=False,
    )
    contents = (
        f"{counted(backup_.journal.rows, 'event')}, {counted(len(backup_.tables), 'table')}, "
        f"{size(backup_.size)}"
    )
    say(f"{contents}; {size(backup_.sent)} sent in {backup_.seconds:.1f} s.")
    if made.removed:
        out.print(
            f"{counted(len(made.removed), 'old backup')} deleted, {size(made.freed)} freed.", highlight=False
        )
    out.print(
        f"{counted(made.backups, 'backup')} in all. Next: slowwave verify {made.place}",
        markup=False,
    )


def _as_data(backup_: Backup) -> dict[str, object]:
    """Return a backup as JSON data."""
    return {
        "name": backup_.name, "at": backup_.at, "home": backup_.folder, "slowwave": backup_.slowwave,
        "acts": backup_.journal.rows, "until": backup_.journal.until,
        "tables": {name: part.version for name, part in backup_.tables.items()}, "files": len(backup_.files),
        "bytes": backup_.size, "sent": backup_.sent, "seconds": backup_.seconds,
    }  # fmt: skip


@app.command()
@prints_output
def backups(at_place: Annotated[str, _FROM] = "", key_file: Annotated[Path | None, _KEY] = None) -> Output:
    """List the backups at a place, oldest first."""
    from datetime import UTC, datetime

    from slowwave.backup.locations import backup_location
    from slowwave.views.moments import since
    from slowwave.views.tables import print_table

    settings = home_settings()
    if not at_place and not settings.backup.uri:
        return Output(
            [], "No backup place is set (backup.uri). `slowwave backup FOLDER` creates a backup in a folder."
        )
    at = backup_location(settings, at_place, key_file)
    listed, unreadable = at.archive().backups()

    def show() -> None:
        now = datetime.now(UTC)
        cells = [
            [
                backup_.name,
                since(backup_.at, now),
                f"{backup_.journal.rows:,}",
                size(backup_.size),
                size(backup_.sent),
                f"{backup_.seconds:.1f}",
            ]
            for backup_ in listed
        ]
        print_table(f"Backups at {at.place.uri}", ["name", "when", "events", "size", "new", "seconds"], cells)
        for name, why in unreadable.items():
            warn(f"Backup {name}: its list {why}.")

    return Output(
        [_as_data(backup_) for backup_ in listed]
        + [{"name": name, "problem": why} for name, why in unreadable.items()],
        show,
    )


@app.command()
@prints_output
def verify(
    at_place: Annotated[str, _FROM] = "",
    key_file: Annotated[Path | None, _KEY] = None,
    at: Annotated[str, _AT] = "",
    mend: Annotated[
        bool, typer.Option("--mend", help="Delete damaged files; the next backup sends them again.")
    ] = False,
) -> Output:
    """Read all backup data at a place and report which backups can be restored.

    Exit code 1 if one cannot.
    """
    from datetime import UTC, datetime

    from slowwave.backup import catalog, verifying
    from slowwave.backup.locations import backup_location

    settings = home_settings()
    with bars():
        archive = backup_location(settings, at_place, key_file).archive()
        result = verifying.verify(archive, at)
        fixed = verifying.mend(archive, result) if mend else 0
    if result.sound and not at and settings.home.is_dir():
        catalog.note_verified(settings.home, result.place, datetime.now(UTC))

    def show() -> None:
        _show_verified(result)
        if not result.sound:
            out.print(
                f"{counted(fixed, 'damaged file')} deleted. Next: slowwave backup" if mend else
                "slowwave verify --mend deletes damaged files; the next backup sends them again where "
                "the home still has them."
            )  # fmt: skip

    return Output(
        {
            "sound": result.sound,
            "mended": fixed,
            **{name: getattr(result, name) for name in result.__slots__},
        },
        show,
        code=0 if result.sound else 1,
    )


def _few(names: tuple[str, ...]) -> str:
    """Return the newest names, and the count of the others."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _show_verified(result: Verified) -> None:
    from slowwave.views.tables import print_table

    read = f"{counted(result.pieces, 'piece')} ({size(result.bytes_read)})"
    if result.sound:
        say(f"{counted(len(result.backups), 'backup')} at {result.place}: {read}, no damage.")
    else:
        cells = [
            [fault.where, fault.problem, fault.what, _few(fault.backups)] for fault in result.faults[:_SHOWN]
        ]
        more = len(result.faults) - len(cells)
        print_table("Damaged files", ["file", "problem", "content", "backups"], cells, left_out=max(more, 0))
        restorable = _few(result.whole[::-1]) or "none"
        say(f"Of {counted(len(result.backups), 'backup')} these can be restored: {restorable}.")
    if result.unused:
        total = size(sum(result.unused.values()))
        say(
            f"{counted(len(result.unused), 'file')} ({total}) that no backup needs: the next backup deletes "
            f"pieces."
        )


@app.command()
@prints_output
def restore(
    at_place: Annotated[str, typer.Argument(metavar="FROM", help="Folder or s3:// URL of the backups.")],
    key_file: Annotated[Path | None, _KEY] = None,
    at: Annotated[str, _AT] = "",
) -> Output:
    """Restore a backup into an empty home (--home FOLDER before the command)."""
    from slowwave.backup.locations import backup_location
    from slowwave.backup.restoring import restore as run

    settings = home_settings()
    with bars():
        archive = backup_location(settings, at_place, key_file).archive()
        done = run(settings, archive, at)

    def show() -> None:
        say(f"Restored {done.backup.folder} of {done.backup.at:%F %T} UTC to {done.home}.")
        say(f"Tables: {done.tables}. Journal: {done.journal}.")
        if done.changed:
            changed = ", ".join(done.changed)
            out.print(f"Not restored, because they name places: {changed}.", markup=False)
        if archive.names()[-1] != done.backup.name:
            say(
                f"There are newer backups at {archive.place.uri}. To continue them, give the next backup "
                f"--adopt. Otherwise give this home a backup place of its own."
            )
        out.print(
            "Next: slowwave doctor. Dagster's run history is not in a backup; nightly jobs do not need it."
        )

    return Output(
        _as_data(done.backup)
        | {
            "home": done.home,
            "of": done.backup.folder,
            "store": done.tables,
            "journal": done.journal,
            "digest": done.digest,
            "changed": list(done.changed),
        },
        show,
    )
