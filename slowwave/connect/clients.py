"""Supported assistants as data: names, configuration files and server keys."""

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
    """Locations of a user's files.

    Attributes:
        system: of the machine.
        home: folder of the user.
        variables: of the environment.
    """

    system: System
    home: Path
    variables: Mapping[str, str]

    def path(self, template: str) -> Path:
        """Return the path of a :class:`Client` template."""
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
        value = self.variables.get(variable, "")
        return Path(value) if value else otherwise


@dataclass(frozen=True, slots=True)
class Hooks:
    """Files of a client's hooks (as in Claude Code).

    Attributes:
        file: template of the user's file.
        project: the private file of a project, relative to its folder.
    """

    file: str
    project: str


@dataclass(frozen=True, slots=True)
class Client:
    """Assistant that starts MCP servers.

    Attributes:
        name: on the command line; also the default principal.
        title: for people.
        file: template of its configuration file, for `Places.path`.
        servers: the key of the servers in it.
        project: its file in a project's folder; empty if it has none.
        elsewhere: other templates of the file, by system.
        form: of the file.
        more: fields of an entry besides the command and its arguments.
        commands: names of its command, for detection.
        folders: templates of its folders, for detection.
        hooks: files of its hooks, if it has any that Slowwave supports.
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
    """Return the locations of the current user's files."""
    systems: dict[str, System] = {"darwin": "macos", "win32": "windows"}
    return Places(systems.get(sys.platform, "linux"), Path.home(), dict(os.environ))


def file_of(client: Client, places: Places) -> Path:
    """Return the path of a client's configuration file, which may be missing."""
    return places.path(client.elsewhere.get(places.system, client.file))
