"""The day: what an application calls, and to which rooms each call hands on.

Read from the source of `Memory`, without running it: which names of which room the body of a call uses, its
private helpers among it. Annotations are no use of a name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache

from slowwave import memory
from tools.reference.drawing import COLOURS, Drawing
from tools.reference.markdown import paragraphs, section, summary, table
from tools.reference.rooms import layers

EVERYWHERE = {"common", "errors", "settings", "home"}  # rooms that almost every call has; they say nothing
PARTS = {"journal": "journal", "store": "store", "embedder": "embedding"}  # of a home, and the room that each is of
LEFT, HEAD, HIGH, COLUMN, NAMES = 16, 84, 24, 74, 150


@cache
def calls() -> dict[str, tuple[str, ...]]:
    """The rooms that each public call of `Memory` uses, by its name, in the order of the file."""
    tree = ast.parse(inspect.getsource(memory))
    at_top = _imported(statement for statement in tree.body if isinstance(statement, ast.ImportFrom))
    (of_class,) = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "Memory"]
    methods = {one.name: one for one in of_class.body if isinstance(one, ast.FunctionDef)}
    found = {}
    for name, method in methods.items():
        if not name.startswith("_") and not _is_part(method):
            rooms = _used(method, methods, at_top, set())
            found[name] = tuple(room for layer in layers() for room in layer if room in rooms - EVERYWHERE)
    return found


def _is_part(method: ast.FunctionDef) -> bool:
    """A property is a part of the memory, except the one that has calls of its own; so is its life."""
    is_property = any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list)
    return (is_property and method.name != "learning") or method.name in ("prepare", "close")


def _imported(statements: Iterator[ast.stmt] | Iterator[ast.ImportFrom]) -> dict[str, str]:
    """The room of each name that is imported."""
    return {
        alias.asname or alias.name: statement.module.split(".")[1]
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("slowwave.")
        for alias in statement.names
    }  # fmt: skip


def _used(
    method: ast.FunctionDef, methods: dict[str, ast.FunctionDef], at_top: dict[str, str], seen: set[str]
) -> set[str]:
    seen.add(method.name)
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    own = _imported(node for node in nodes if isinstance(node, ast.ImportFrom))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    rooms = {room for name, room in (at_top | own).items() if name in names}
    rooms |= {PARTS[node.attr] for node in nodes if isinstance(node, ast.Attribute) and node.attr in PARTS}
    for node in nodes:
        of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        if of_self and node.attr in methods and node.attr not in seen and not _is_part(methods[node.attr]):
            rooms |= _used(methods[node.attr], methods, at_top, seen)
    return rooms


def page() -> str:
    """The page."""
    rows = [(f"[`{name}`](#{name})", summary(_doc(name)), ", ".join(rooms)) for name, rooms in calls().items()]
    return "\n\n".join(
        [
            "# The day",
            "What an application calls on `slowwave.open(home, namespace=...)`, and the rooms that each call hands on to "
            "itself; what those rooms use in turn is below them. It is read from the source of `Memory`. "
            + ", ".join(f"`{room}`" for room in sorted(EVERYWHERE))
            + " are left out, as almost every call has them.",
            "[![The calls of an application, and a mark at each room that a call hands on to](day.svg)](day.svg)",
            table(["call", "what it does", "hands on to"], rows),
            *(section(2, name, f"```python\n{_signature(name)}\n```", _described(name)) for name in calls()),
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
    tree = ast.parse(inspect.getsource(memory))
    (method,) = [
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == name and _is_public_of_memory(one, tree)
    ]
    arguments = ast.unparse(method.args).removeprefix("self").removeprefix(", ")
    if any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list):
        return f"memory.{name}  # {ast.unparse(method.returns) if method.returns else ''}"
    one_line = f"memory.{name}({arguments}) -> {ast.unparse(method.returns) if method.returns else 'None'}"
    if len(one_line) <= 100:
        return one_line
    parts = _split(method.args)
    return f"memory.{name}(\n" + "".join(f"    {part},\n" for part in parts) + f") -> {ast.unparse(method.returns) if method.returns else 'None'}"


def _split(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults[-len(positional) :] if positional else []
    parts = [_argument(one, default) for one, default in zip(positional, defaults, strict=True)]
    if arguments.vararg:
        parts.append("*" + ast.unparse(arguments.vararg))
    elif arguments.kwonlyargs:
        parts.append("*")
    return parts + [_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(one) + (f" = {ast.unparse(default)}" if default is not None else "")


def _is_public_of_memory(one: ast.FunctionDef, tree: ast.Module) -> bool:
    (of_class,) = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Memory"]
    return one in of_class.body


def picture() -> str:
    """A mark where a call hands on to a room."""
    made = calls()
    used = [room for layer in layers() for room in layer if any(room in rooms for rooms in made.values())]
    drawing = Drawing(
        LEFT * 2 + NAMES + COLUMN * len(used),
        HEAD + HIGH * len(made) + LEFT,
        "One day of Slowwave",
        "Each call of an application in a row; a mark stands under each room that it hands on to.",
    )
    for at, room in enumerate(used):
        x = LEFT + NAMES + COLUMN * at + COLUMN / 2
        colour = COLOURS[at % len(COLOURS)]
        drawing.rect(x - COLUMN / 2 + 3, LEFT, COLUMN - 6, HEAD + HIGH * len(made) - LEFT, kind="lane", colour=colour)
        drawing.text(x, LEFT + (20 if at % 2 == 0 else 42), room, "middle head")
    for number, (name, rooms) in enumerate(made.items()):
        y = HEAD + HIGH * number
        drawing.text(LEFT + NAMES - 10, y + 4, name, "end")
        for room in rooms:
            at = used.index(room)
            drawing.dot(LEFT + NAMES + COLUMN * at + COLUMN / 2, y, COLOURS[at % len(COLOURS)])
    return drawing.done()
