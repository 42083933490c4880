"""The sources of an import: a line for each, of which its command, help and reader come.

Readers are loaded when one is asked for, so that help answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from slowwave.imports.model import ImportSource


class ImportForm(NamedTuple):
    """One kind of export.

    Attributes:
        name: word of the command, and first part of the keys of its memories.
        reader: module of this room, and the `ImportSource` in it.
        about: first sentence of the command's help.
        place: name of the argument that says where the export is: file or folder.
        place_help: its help.
        options: further options of the command: assistant, user, since.
        default: where the export is if no place is given; empty: one has to be.
        variable: of the environment; where it is set it is the default.
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
        """The reader."""
        module, _, name = self.reader.partition(":")
        found: type[ImportSource] = getattr(import_module(f"slowwave.imports.{module}"), name)
        return found


_SPOKEN = ("assistant", "since")
_EXPORT = ("file", "The .zip of the export, or its conversations.json.")

# fmt: off
SOURCES: Final = (
    ImportForm("chatgpt", "chatgpt:ChatGpt", "Take in what you wrote to ChatGPT, from its data export.",
               *_EXPORT, _SPOKEN),
    ImportForm("claude", "claude:Claude",
               "Take in what you wrote to Claude, what it remembers, and the documents of projects.",
               *_EXPORT, _SPOKEN),
    ImportForm("claude-code", "coding:ClaudeCode",
               "Take in what you wrote in sessions of Claude Code, and its memory files.",
               "folder", "Folder or session file.", _SPOKEN, "~/.claude", "CLAUDE_CONFIG_DIR"),
    ImportForm("codex", "coding:Codex", "Take in what you wrote in sessions of Codex, and its memory files.",
               "folder", "Folder or rollout file.", _SPOKEN, "~/.codex", "CODEX_HOME"),
    ImportForm("mem0", "memories:Mem0", "Take in the memories of mem0.",
               "file", "What get_all() returned, as JSON or JSON lines.", ("user", "since")),
    ImportForm("basic-memory", "markdown:BasicMemory",
               "Take in the notes of Basic Memory, with their observations and relations.",
               "folder", "The project's folder."),
    ImportForm("markdown", "markdown:Markdown",
               "Take in a folder of notes once; `slowwave ingest` follows it instead, and is what most "
               "people want.",
               "folder", "Folder of notes, also a vault of Obsidian."),
    ImportForm("memory-server", "memories:MemoryServer",
               "Take in the entities of the reference memory server of the Model Context Protocol.",
               "file", "Its memory.jsonl.", ()),
)
# fmt: on
