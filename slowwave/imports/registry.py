"""Registry of import sources, from which commands, help and readers are derived.

Readers are loaded on demand, so that help answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from slowwave.imports.model import ImportSource


class ImportForm(NamedTuple):
    """Kind of export.

    Attributes:
        name: Command, and first part of the keys.
        reader: Module of this package, and its `ImportSource`.
        about: First sentence of the command's help.
        place: Name of the argument for the export: file or folder.
        place_help: Its help.
        options: Further options of the command: assistant, user, since.
        default: Default place; empty: required.
        variable: Environment variable that overrides the default.
    """

    name: str
    reader: str
    about: str
    place: str
    place_help: str
    options: tuple[str, ...] = ("since",)
    default: str = ""
    variable: str = ""

    def load(self) -> type[ImportSource]:
        """Import the reader."""
        module, _, name = self.reader.partition(":")
        reader: type[ImportSource] = getattr(import_module(f"slowwave.imports.{module}"), name)
        return reader


_SPOKEN = ("assistant", "since")
_EXPORT = ("file", "The .zip of the export, or its conversations.json.")

# fmt: off
SOURCES: Final = (
    ImportForm("chatgpt", "chatgpt:ChatGpt",
               "Import your messages to ChatGPT, its memories and custom instructions, from its data export.",
               *_EXPORT, _SPOKEN),
    ImportForm("claude", "claude:Claude",
               "Import your messages to Claude, memories, attachments and projects, from its data export.",
               *_EXPORT, _SPOKEN),
    ImportForm("claude-code", "coding:ClaudeCode",
               "Import your messages in sessions of Claude Code, and its memory files.",
               "folder", "Folder or session file.", _SPOKEN, "~/.claude", "CLAUDE_CONFIG_DIR"),
    ImportForm("codex", "coding:Codex", "Import your messages in sessions of Codex, and its memory files.",
               "folder", "Folder or rollout file.", _SPOKEN, "~/.codex", "CODEX_HOME"),
    ImportForm("mem0", "memories:Mem0", "Import the memories of mem0.",
               "file", "Output of get_all(), as JSON or JSON lines.", ("user", "since")),
    ImportForm("basic-memory", "markdown:BasicMemory",
               "Import the notes of Basic Memory, with their observations and relations.",
               "folder", "The project's folder."),
    ImportForm("markdown", "markdown:Markdown",
               "Import a folder of notes once. Most people want `slowwave ingest`, which watches it.",
               "folder", "Folder of notes, for example an Obsidian vault."),
    ImportForm("memory-server", "memories:MemoryServer",
               "Import the entities of the reference memory server of the Model Context Protocol.",
               "file", "Its memory.jsonl.", ()),
    ImportForm("keep", "google:Keep", "Import the notes of Google Keep from Google Takeout.",
               "file", "The .zip of Takeout, its folder, or one note as JSON."),
    ImportForm("gemini", "google:Gemini", "Import your prompts to Gemini from Google Takeout.",
               "file", "The .zip of Takeout, or MyActivity.json.", _SPOKEN),
    ImportForm("notion", "notion:Notion", "Import the pages and databases of Notion from its export.",
               "file", "The .zip of the export (Markdown & CSV), or its folder."),
    ImportForm("zep", "memory_services:Zep", "Import the facts of Zep or Graphiti that still hold.",
               "file", "Edges as JSON."),
    ImportForm("hindsight", "memory_services:Hindsight", "Import the memories of Hindsight.",
               "file", "Results of a recall, or listed memories, as JSON."),
    ImportForm("claude-mem", "memory_services:ClaudeMem",
               "Import the observations, summaries and prompts of claude-mem.",
               "file", "Its export as JSON."),
)
# fmt: on
