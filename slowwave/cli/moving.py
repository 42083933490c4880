"""The command `slowwave move`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from slowwave.cli.app import app, home_settings, open_home
from slowwave.common.pluralize import counted
from slowwave.common.sizes import size
from slowwave.views import erasing
from slowwave.views.terminal import (
    NOTHING,
    Output,
    bars,
    can_be_asked,
    is_data,
    out,
    prints_output,
    tell,
)

if TYPE_CHECKING:
    from slowwave.maintenance.moving.running import MoveResult
    from slowwave.settings import Settings

_TO = typer.Option(
    "--to",
    metavar="PLACE",
    help="s3://… or a folder: the tables; postgresql://…: the journal; files: both into the home; or a .toml "
    "file with the sections store and journal. Repeatable.",
)
_ONLY = typer.Option("--only", help="Only one part: tables or journal.")


@app.command()
@prints_output
def move(
    to: Annotated[list[str] | None, _TO] = None,
    only: Annotated[Literal["tables", "journal"] | None, _ONLY] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be moved.")] = False,
    remove_source: Annotated[
        bool, typer.Option("--remove-source", help="Delete the copy at the previous place.")
    ] = False,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Cancel an unfinished move; the home stays where it is.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the confirmation of --remove-source.")] = False,
) -> Output:
    """Move tables, journal or both to another place. The copy is verified before the switch."""
    from slowwave.maintenance.moving import cutover, running
    from slowwave.maintenance.moving.targets import MoveTargets

    if remove_source and not (yes or dry_run):
        _refuse_unasked()
    if give_up:
        with open_home() as space:
            ended = running.give_up(space)
        return _places("given_up", ended, "Cancelled. The home stays where it is. Delete the copy at")
    if to or not remove_source:
        with open_home() as space, bars():
            moved = running.move(space, MoveTargets(space.settings, to or (), only), dry_run=dry_run)
        tell(Output(moved, lambda: _show(moved, dry_run=dry_run)))
    if remove_source and dry_run:
        if not to:
            return _places("would_remove", cutover.to_remove(home_settings()), "Would be removed")
    elif remove_source:
        if not yes:
            _ask(home_settings())
        with open_home() as space, bars():
            removed = running.remove_source(space)
        done = _places("removed", removed, "Removed")
        return Output(NOTHING, done.shown) if to else done  # two JSON documents cannot be read as one
    return Output()


def _refuse_unasked() -> None:
    """Require --yes from scripts before anything is moved.

    Raises:
        StoreError: there is no terminal to ask on.
    """
    from slowwave.errors import StoreError

    if is_data() or not can_be_asked():
        why = "--json cannot ask" if is_data() else "there is no terminal to ask on"
        raise StoreError(
            f"Nothing was done: --remove-source needs a confirmation, and {why}. Pass --yes, or preview with "
            f"--remove-source --dry-run."
        )


def _ask(settings: Settings) -> None:
    """Show what would be deleted, and ask for confirmation.

    Raises:
        StoreError: nothing is left to delete.
        typer.Abort: the answer is no.
    """
    from slowwave.maintenance.moving import cutover

    out.print("This is deleted at the previous place of the home:")
    for part, place in cutover.to_remove(settings).items():
        out.print(f"{part}: {place}", highlight=False, markup=False, soft_wrap=True)
    typer.confirm(f"{erasing.NO_WAY_BACK} Remove?", abort=True)


def _places(name: str, places: dict[str, str], words: str) -> Output:
    message = f"{words}: {', '.join(places.values())}."
    return Output({name: places}, lambda: out.print(message, highlight=False, markup=False, soft_wrap=True))


def _show(moved: MoveResult, *, dry_run: bool) -> None:
    if moved.source == moved.target:
        out.print("The home is at this place already.")
        return
    for part, place in moved.target.items():
        out.print(f"{part}: {moved.source[part]} -> {place}", highlight=False, markup=False, soft_wrap=True)
    parts = []
    if "tables" in moved.target:
        parts.append(
            f"{counted(len(moved.rows), 'table')} with {counted(sum(moved.rows.values()), 'row')} "
            f"({size(moved.size)})"
        )
    if "journal" in moved.target:
        parts.append(f"a journal of {counted(moved.acts, 'event')}")
    summary = " and ".join(parts)
    if dry_run:
        out.print(f"Would be moved: {summary}. Nothing was written.", highlight=False)
        return
    out.print(f"Moved: {summary}; both places are equal.", highlight=False)
    out.print(
        "The previous place is unchanged. Next: slowwave doctor; slowwave move --remove-source deletes the "
        "copy there."
    )
