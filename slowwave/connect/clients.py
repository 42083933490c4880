"""The assistants that can be connected, as data: what each calls its servers, and where its file is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Places:
    """Where a person's files are.

    Attributes:
        system: of the machine.
        home: the person's folder.
        variables: of the environment.
    """

    system: System
    home: Path
    variables: Mapping[str, str]

    def path(self, template: str) -> Path:
        """The path that a template of :class:`Client` stands for."""
        config = {
            "linux": self._named("XDG_CONFIG_HOME", self.home / ".config"),
            "macos": self.home / "Library" / "Application Support",
            "windows": self._named("APPDATA", self.home / "AppData" / "Roaming"),
        }[self.system]
        return Path(
            template.format(
                home=self.home,
                config=config,
                claude=self._named("CLAUDE_CONFIG_DIR", self.home / ".claude"),
                claude_state=self._named("CLAUDE_CONFIG_DIR", self.home),
                codex=self._named("CODEX_HOME", self.home / ".codex"),
            )
        )

    def _named(self, variable: str, otherwise: Path) -> Path:
        named = self.variables.get(variable, "")
        return Path(named) if named else otherwise


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a client keeps its hooks (as Claude Code does).

    Attributes:
        file: template of the person's file.
        project: the file of one project that is nobody else's, from the project's folder.
    """

    file: str
    project: str


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant that starts servers of the Model Context Protocol.

    Attributes:
        name: as it is called on the command line; also who acts.
        title: as people call it.
        file: template of its configuration file, for `Places.path`.
        servers: the key of the servers in it.
        project: its file in a project's folder; empty if it has none.
        elsewhere: other templates of the file, by system.
        form: of the file.
        more: what an entry has besides the command and its arguments.
        commands: names of its command, to see whether it is there.
        folders: templates of its folders, for the same.
        hooks: where it keeps its hooks, if it has any that Slowwave knows.
    """

    name: str
    title: str
    file: str
    servers: str = "mcpServers"
    project: str = ""
    elsewhere: Mapping[System, str] = field(default_factory=dict)
    form: Literal["json", "toml"] = "json"
    more: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    hooks: Hooks | None = None


_STDIO = {"type": "stdio"}

CLIENTS = (
    Client(
        "claude-code", "Claude Code", "{claude_state}/.claude.json",
        project=".mcp.json", more=_STDIO, commands=("claude",), folders=("{claude}",),
        hooks=Hooks("{claude}/settings.json", ".claude/settings.local.json"),
    ),
    Client(
        "claude-desktop", "Claude Desktop", "{config}/Claude/claude_desktop_config.json",
        folders=("{config}/Claude",),
    ),
    Client(
        "cursor", "Cursor", "{home}/.cursor/mcp.json",
        project=".cursor/mcp.json", commands=("cursor",), folders=("{home}/.cursor",),
    ),
    Client(
        "vscode", "VS Code", "{config}/Code/User/mcp.json",
        servers="servers", project=".vscode/mcp.json", more=_STDIO, commands=("code",),
        folders=("{config}/Code",),
    ),
    Client(
        "codex", "Codex", "{codex}/config.toml",
        servers="mcp_servers", project=".codex/config.toml", form="toml", commands=("codex",),
        folders=("{codex}",),
    ),
    Client(
        "gemini-cli", "Gemini CLI", "{home}/.gemini/settings.json",
        project=".gemini/settings.json", commands=("gemini",), folders=("{home}/.gemini",),
    ),
    Client(
        "windsurf", "Windsurf", "{home}/.codeium/windsurf/mcp_config.json",
        commands=("windsurf",), folders=("{home}/.codeium/windsurf",),
    ),
    Client(
        "zed", "Zed", "{config}/zed/settings.json",
        servers="context_servers",
        elsewhere={"macos": "{home}/.config/zed/settings.json", "windows": "{config}/Zed/settings.json"},
        commands=("zed", "zeditor"), folders=("{config}/zed", "{home}/.config/zed"),
    ),
)  # fmt: skip
BY_NAME = {client.name: client for client in CLIENTS}


def places_here() -> Places:
    """Where the files of whoever runs this program are."""
    systems: dict[str, System] = {"darwin": "macos", "win32": "windows"}
    return Places(systems.get(sys.platform, "linux"), Path.home(), dict(os.environ))


def file_of(client: Client, places: Places) -> Path:
    """The configuration file of a client, whether it is there or not."""
    return places.path(client.elsewhere.get(places.system, client.file))
