"""The commands about backups: backup, backups, verify, restore."""

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
_AT = typer.Option("--at", help="Which one: its name, or the last before a day or moment (UTC).")
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
        int | None, typer.Option(help="How many of the newest stay; 0: all. Default: backup.keep.")
    ] = None,
    forget_erased: Annotated[
        bool, typer.Option("--forget-erased", help="Take away those made before something was erased.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt", help="Go on with backups of the home that this is a copy of, or restored from."
        ),
    ] = False,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", help="Only make a key, in this new file.")
    ] = None,
) -> Output:
    """Back the home up while it is in use; what has not changed since the last time is not sent again."""
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

    _require_what_to_back_up()
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
        _of(made.backup)
        | {
            "place": made.place,
            "encrypted": made.encrypted,
            "backups": made.backups,
            "removed": list(made.removed),
            "freed": made.freed,
        },
        show,
    )


def _require_what_to_back_up() -> None:
    """Whoever opens a home makes it where there is none, and its backup would have nothing.

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
        told = f"The key [bold]{escape(key.number)}[/] is in {escape(str(path))}, for its owner alone."
        out.print(told, highlight=False)
        out.print("Keep a copy of it away from this machine: without it nobody reads the backups.")

    return Output({"file": str(path), "key": key.number}, show)


def _show_made(made: Made) -> None:
    one = made.backup
    out.print(
        f"Backup [bold]{escape(one.name)}[/] of {escape(one.folder)} is at {escape(made.place)}.",
        highlight=False,
    )
    what = f"{counted(one.journal.rows, 'act')}, {counted(len(one.tables), 'table')}, {size(one.size)}"
    say(f"{what}; {size(one.sent)} were new, in {one.seconds:.1f} s.")
    if made.removed:
        out.print(
            f"{counted(len(made.removed), 'older one')} went, {size(made.freed)} are free.", highlight=False
        )
    out.print(
        f"{counted(made.backups, 'backup is', 'backups are')} there. Next: slowwave verify {made.place}",
        markup=False,
    )


def _of(one: Backup) -> dict[str, object]:
    """A backup as data for programs."""
    return {
        "name": one.name, "at": one.at, "home": one.folder, "slowwave": one.slowwave,
        "acts": one.journal.rows, "until": one.journal.until,
        "tables": {name: part.version for name, part in one.tables.items()}, "files": len(one.files),
        "bytes": one.size, "sent": one.sent, "seconds": one.seconds,
    }  # fmt: skip


@app.command()
@prints_output
def backups(at_place: Annotated[str, _FROM] = "", key_file: Annotated[Path | None, _KEY] = None) -> Output:
    """List the backups at a place, the oldest first."""
    from datetime import UTC, datetime

    from slowwave.backup.locations import backup_location
    from slowwave.views.moments import since
    from slowwave.views.tables import print_table

    settings = home_settings()
    if not at_place and not settings.backup.uri:
        return Output([], "No place of backups is set. `slowwave backup FOLDER` makes one there.")
    at = backup_location(settings, at_place, key_file)
    found, wrong = at.archive().backups()

    def show() -> None:
        now = datetime.now(UTC)
        cells = [
            [
                one.name,
                since(one.at, now),
                f"{one.journal.rows:,}",
                size(one.size),
                size(one.sent),
                f"{one.seconds:.1f}",
            ]
            for one in found
        ]
        print_table(f"Backups at {at.place.uri}", ["name", "when", "acts", "size", "new", "seconds"], cells)
        for name, why in wrong.items():
            warn(f"The list of backup {name} {why}.")

    return Output(
        [_of(one) for one in found] + [{"name": name, "problem": why} for name, why in wrong.items()], show
    )


@app.command()
@prints_output
def verify(
    at_place: Annotated[str, _FROM] = "",
    key_file: Annotated[Path | None, _KEY] = None,
    at: Annotated[str, _AT] = "",
    mend: Annotated[
        bool, typer.Option("--mend", help="Take damaged files away: the next backup sends them again.")
    ] = False,
) -> Output:
    """Read every piece of the backups at a place and say which can be restored; ends with 1 if one cannot."""
    from datetime import UTC, datetime

    from slowwave.backup import catalog, verifying
    from slowwave.backup.locations import backup_location

    settings = home_settings()
    with bars():
        archive = backup_location(settings, at_place, key_file).archive()
        found = verifying.verify(archive, at)
        mended = verifying.mend(archive, found) if mend else 0
    if found.sound and not at and settings.home.is_dir():
        catalog.note_verified(settings.home, found.place, datetime.now(UTC))

    def show() -> None:
        _show_verified(found)
        if not found.sound:
            out.print(
                f"{counted(mended, 'damaged file')} taken away. Next: slowwave backup" if mend else
                "slowwave verify --mend takes damaged files away, and the next backup sends them again where "
                "the home still has them."
            )  # fmt: skip

    return Output(
        {
            "sound": found.sound,
            "mended": mended,
            **{name: getattr(found, name) for name in found.__slots__},
        },
        show,
        code=0 if found.sound else 1,
    )


def _few(names: tuple[str, ...]) -> str:
    """The newest of some backups, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _show_verified(found: Verified) -> None:
    from slowwave.views.tables import print_table

    read = f"{counted(found.pieces, 'piece')} ({size(found.bytes_read)})"
    if found.sound:
        say(f"{counted(len(found.backups), 'backup')} at {found.place}: {read}, all as written.")
    else:
        cells = [[one.where, one.problem, one.what, _few(one.backups)] for one in found.faults[:_SHOWN]]
        more = len(found.faults) - len(cells)
        print_table(
            "What is wrong", ["file", "problem", "what it is of", "harms"], cells, left_out=max(more, 0)
        )
        whole = _few(found.whole[::-1]) or "none"
        say(f"Of {counted(len(found.backups), 'backup')} these are whole: {whole}.")
    if found.unused:
        total = size(sum(found.unused.values()))
        say(
            f"{counted(len(found.unused), 'file')} ({total}) that no backup needs: the next backup takes "
            f"pieces away."
        )


@app.command()
@prints_output
def restore(
    at_place: Annotated[str, typer.Argument(metavar="FROM", help="Folder or s3:// URL of the backups.")],
    key_file: Annotated[Path | None, _KEY] = None,
    at: Annotated[str, _AT] = "",
) -> Output:
    """Make an empty home (--home FOLDER before the command) equal to the one that a backup is of."""
    from slowwave.backup.locations import backup_location
    from slowwave.backup.restoring import restore as run

    settings = home_settings()
    with bars():
        archive = backup_location(settings, at_place, key_file).archive()
        done = run(settings, archive, at)

    def show() -> None:
        say(f"{done.home} is as {done.backup.folder} was at {done.backup.at:%F %T} UTC.")
        say(f"Tables: {done.tables}. Journal: {done.journal}.")
        if done.changed:
            changed = ", ".join(done.changed)
            out.print(f"Other than in the backup, as they say where things are: {changed}.", markup=False)
        if archive.names()[-1] != done.backup.name:
            say(
                f"There are newer backups at {archive.place.uri}. To go on there, give the next backup "
                f"--adopt; or let this home have a place of its own."
            )
        out.print(
            "Next: slowwave doctor. Dagster's history of runs is not in a backup; nights go on without it."
        )

    return Output(
        _of(done.backup)
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
