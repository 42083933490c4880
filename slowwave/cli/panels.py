"""Headings and order of the commands in `slowwave --help`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperGroup

PANELS: Final[Mapping[str, str]] = {
    "Every day": "init ingest save search show explain wakeup get feedback observe outcome",
    "Look and correct": "list page history decisions quarantine undo forget unforget erase stats gate "
    "reconsolidate",
    "Learning and evaluation": "learning judge eval report tune calibrate warehouse",
    "Operation": "night up ui health connect capture recall mcp api where doctor settings checkpoint backup "
    "backups verify restore move upgrade rebuild reembed import export help",
}
"""Commands by heading. A command under no heading gets the last one."""

_PLACES: Final = [(panel, name) for panel, names in PANELS.items() for name in names.split()]
_PANEL_OF: Final = {name: panel for panel, name in _PLACES}
_PLACE_OF: Final = {name: place for place, (_, name) in enumerate(_PLACES)}
_LAST: Final = list(PANELS)[-1]

EPILOG: Final = """\
[bold]First:[/]

  slowwave init

  slowwave save "We deploy on Thursday since 2 March; Friday is for repairs."

  slowwave search "when do we deploy?"

[dim]slowwave help lists topics; slowwave help TOPIC explains one (first-steps, homes, json, …).[/]"""


class Panels(TyperGroup):
    """Group of all commands, including those of plugins."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own context
        """Return command names in the order of the headings."""
        return sorted(super().list_commands(ctx), key=lambda name: _PLACE_OF.get(name, len(_PLACES)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own command
        """Return a command with its heading."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = _PANEL_OF.get(cmd_name, _LAST)
        return command
