"""The day: what an application calls, and to which rooms each call hands on.

Read from the source of `Memory`, without running it: which names of which room the body of a call uses, its
private helpers among it. Annotations are no use of a name.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable
from functools import cache

from slowwave import memory
from tools.reference.drawing import COLOURS, GraphDrawing
from tools.reference.markdown import codes, paragraphs, section, summary, table
from tools.reference.rooms import layers

EVERYWHERE = {"common", "errors", "settings", "home"}  # rooms that almost every call has; they say nothing
PARTS = {"journal": "journal", "store": "store", "embedder": "embedding"}
"""Parts of a home, and the room that each is of."""
LEFT, HEAD, HIGH, COLUMN, NAMES = 16, 84, 24, 74, 150  # of the picture (pixels)
LINE = 100  # characters of a call that stands in one line


@cache
def _source() -> list[ast.stmt]:
    """Statements of the modules that the class is made of, the lowest layer first."""
    layers_of_class = [one for one in reversed(memory.Memory.__mro__) if one is not object]
    texts = [inspect.getsource(sys.modules[one.__module__]) for one in layers_of_class]
    return [statement for text in texts for statement in ast.parse(text).body]


@cache
def _of_memory() -> dict[str, ast.FunctionDef]:
    """The methods of the class, by their names, in the order of its files."""
    classes = {one.__name__ for one in memory.Memory.__mro__}
    bodies = [one.body for one in _source() if isinstance(one, ast.ClassDef) and one.name in classes]
    return {one.name: one for body in bodies for one in body if isinstance(one, ast.FunctionDef)}


@cache
def calls() -> dict[str, tuple[str, ...]]:
    """The rooms that each public call of `Memory` uses, by its name, in the order of the file."""
    at_top, methods = _imported(_source()), _of_memory()
    found = {}
    for name, method in methods.items():
        if not name.startswith("_") and not _is_part(method):
            rooms = _used(method, methods, at_top, set())
            found[name] = tuple(room for layer in layers() for room in layer if room in rooms - EVERYWHERE)
    return found


def _is_part(method: ast.FunctionDef) -> bool:
    """A property is a part of the memory, except the one that has calls of its own; so is its life."""
    return (_is_property(method) and method.name != "learning") or method.name in ("prepare", "close")


def _is_property(method: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list)


def _imported(statements: Iterable[ast.AST]) -> dict[str, str]:
    """The room of each name that is imported."""
    return {
        alias.asname or alias.name: statement.module.split(".")[1]
        for statement in statements
        if isinstance(statement, ast.ImportFrom)
        and statement.module
        and statement.module.startswith("slowwave.")
        for alias in statement.names
    }


def _used(
    method: ast.FunctionDef, methods: dict[str, ast.FunctionDef], at_top: dict[str, str], seen: set[str]
) -> set[str]:
    seen.add(method.name)
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    own = _imported(nodes)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    rooms = {room for name, room in (at_top | own).items() if name in names}
    rooms |= {PARTS[node.attr] for node in nodes if isinstance(node, ast.Attribute) and node.attr in PARTS}
    for name in {node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_self(node.value)}:
        if name in methods and name not in seen and not _is_part(methods[name]):
            rooms |= _used(methods[name], methods, at_top, seen)
    return rooms


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def page() -> str:
    """The page."""
    shown = "The calls of an application, and a mark at each room that a call hands on to"
    rows = [(f"[`{name}`](#{name})", summary(_doc(name)), ", ".join(to)) for name, to in calls().items()]
    return "\n\n".join(
        [
            "# The day",
            "What an application calls on `slowwave.open(home, namespace=...)`, and the rooms that each call "
            "hands on to itself; what those rooms use in turn is below them. It is read from the source of "
            f"`Memory`. {codes(sorted(EVERYWHERE))} are left out, as almost every call has them.",
            f"[![{shown}](day.svg)](day.svg)",
            table(["call", "what it does", "hands on to"], rows),
            *(section(2, name, f"```text\n{_signature(name)}\n```", _described(name)) for name in calls()),
        ]
    )


def _doc(name: str) -> str:
    return inspect.getdoc(getattr(memory.Memory, name)) or ""


def _described(name: str) -> str:
    """The docstring; its sections of arguments and errors as lists."""
    parts = []
    for block in _doc(name).split("\n\n"):
        head, _, rest = block.partition("\n")
        if head in ("Args:", "Returns:", "Raises:", "Attributes:", "Yields:"):
            parts.append(f"**{head}**\n\n{_items(inspect.cleandoc(rest))}")
        else:
            parts.append(paragraphs(block))
    return "\n\n".join(parts)


def _items(text: str) -> str:
    """Entries of a section, each with the lines that are indented below it."""
    entries: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return "\n".join(f"- {paragraphs(entry)}" for entry in entries)


def _signature(name: str) -> str:
    """How it is called, as the source says it."""
    method = _of_memory()[name]
    gives = ast.unparse(method.returns) if method.returns else "None"
    if _is_property(method):
        return f"memory.{name}  # {gives}"
    parts = _arguments(method.args)
    line = f"memory.{name}({', '.join(parts)}) -> {gives}"
    if len(line) <= LINE:
        return line
    return "\n".join([f"memory.{name}(", *(f"    {part}," for part in parts), f") -> {gives}"])


def _arguments(arguments: ast.arguments) -> list[str]:
    """The arguments of a method without itself, each with its type and its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    parts = [_argument(*pair) for pair in zip(positional, defaults, strict=True)][1:]
    if arguments.vararg:
        parts.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return parts + ([f"**{ast.unparse(arguments.kwarg)}"] if arguments.kwarg else [])


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(one) + (f" = {ast.unparse(default)}" if default is not None else "")


def picture() -> str:
    """A mark where a call hands on to a room."""
    made = calls()
    used = [room for layer in layers() for room in layer if any(room in rooms for rooms in made.values())]
    drawing = GraphDrawing(
        LEFT * 2 + NAMES + COLUMN * len(used),
        HEAD + HIGH * len(made) + LEFT,
        "One day of Slowwave",
        "Each call of an application in a row; a mark stands under each room that it hands on to.",
    )
    for at, room in enumerate(used):
        x = LEFT + NAMES + COLUMN * at + COLUMN / 2
        colour = COLOURS[at % len(COLOURS)]
        high = HEAD + HIGH * len(made) - LEFT
        drawing.rect(x - COLUMN / 2 + 3, LEFT, COLUMN - 6, high, kind="lane", colour=colour)
        drawing.text(x, LEFT + (20 if at % 2 == 0 else 42), room, "middle head")
    for number, (name, rooms) in enumerate(made.items()):
        y = HEAD + HIGH * number
        drawing.text(LEFT + NAMES - 10, y + 4, name, "end")
        for room in rooms:
            at = used.index(room)
            drawing.dot(LEFT + NAMES + COLUMN * at + COLUMN / 2, y, COLOURS[at % len(COLOURS)])
    return drawing.done()
