"""The commands by what people want: under which heading `slowwave --help` lists each, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperGroup

PANELS: Final[Mapping[str, str]] = {
    "Every day": "init ingest save search show explain wakeup get feedback observe outcome",
    "Look and correct": "page history decisions quarantine undo forget remember erase stats gate "
    "reconsolidate",
    "Learning and evaluation": "learning judge eval report tune calibrate warehouse",
    "Operation": "night up ui health connect capture recall mcp api doctor settings checkpoint backup "
    "backups verify restore move upgrade rebuild reembed import export help",
}
"""Words of every command by its heading. A command that no heading names is of the last one."""

_PLACES: Final = [(panel, name) for panel, names in PANELS.items() for name in names.split()]
_PANEL_OF: Final = {name: panel for panel, name in _PLACES}
_PLACE_OF: Final = {name: place for place, (_, name) in enumerate(_PLACES)}
_LAST: Final = list(PANELS)[-1]

EPILOG: Final = """\
[bold]First:[/]

  slowwave init

  slowwave save "We deploy on Thursday since 2 March; Friday is for repairs."

  slowwave search "when do we deploy?"

[dim]slowwave help lists topics; slowwave help TOPIC tells about one (first-steps, homes, json, …).[/]"""


class Panels(TyperGroup):
    """The group of all commands, also of those that join it from rooms above when the program runs."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own context
        """Names in the order of the headings."""
        return sorted(super().list_commands(ctx), key=lambda name: _PLACE_OF.get(name, len(_PLACES)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own command
        """A command, with the heading that it stands under."""
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            found.rich_help_panel = _PANEL_OF.get(cmd_name, _LAST)
        return found
