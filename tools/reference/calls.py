"""Reference of the API's calls, and the packages that each call uses.

Read statically from the source of `Memory`: names of each package that the body of a call uses, including its
private helpers. Annotations do not count.
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

EVERYWHERE = {"common", "errors", "settings", "home"}  # packages that almost every call uses
PARTS = {"journal": "journal", "store": "store", "embedder": "embedding"}
"""Package of each part of a home."""
LEFT, HEAD, HIGH, COLUMN, NAMES = 16, 84, 24, 74, 150  # of the picture (pixels)
LINE = 100  # maximum characters of a call on one line


@cache
def _source() -> list[ast.stmt]:
    """Return the statements of the modules of the class, lowest layer first."""
    layers_of_class = [base for base in reversed(memory.Memory.__mro__) if base is not object]
    texts = [inspect.getsource(sys.modules[base.__module__]) for base in layers_of_class]
    return [statement for text in texts for statement in ast.parse(text).body]


@cache
def _of_memory() -> dict[str, ast.FunctionDef]:
    """Return the methods of the class by name, in file order."""
    classes = {base.__name__ for base in memory.Memory.__mro__}
    bodies = [node.body for node in _source() if isinstance(node, ast.ClassDef) and node.name in classes]
    return {node.name: node for body in bodies for node in body if isinstance(node, ast.FunctionDef)}


@cache
def calls() -> dict[str, tuple[str, ...]]:
    """Return the packages that each public call of `Memory` uses, in file order."""
    at_top, methods = _imported(_source()), _of_memory()
    packages = {}
    for name, method in methods.items():
        if not name.startswith("_") and not _is_part(method):
            rooms = _used(method, methods, at_top, set())
            packages[name] = tuple(room for layer in layers() for room in layer if room in rooms - EVERYWHERE)
    return packages


def _is_part(method: ast.FunctionDef) -> bool:
    """Whether a method is a part of the memory: a property without calls of its own, or its set-up."""
    return (_is_property(method) and method.name != "learning") or method.name in ("prepare", "close")


def _is_property(method: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "property" for node in method.decorator_list)


def _imported(statements: Iterable[ast.AST]) -> dict[str, str]:
    """Return the package of each imported name."""
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
    """Return the page."""
    shown = "Calls of the API, with a mark at each package that a call uses"
    rows = [(f"[`{name}`](#{name})", summary(_doc(name)), ", ".join(to)) for name, to in calls().items()]
    return "\n\n".join(
        [
            "# Calls of the API",
            "These are the calls of `slowwave.open(home, namespace=...)`, with the packages that each call "
            "uses directly. The list is read from the source of `Memory`. Almost every call uses "
            f"{codes(sorted(EVERYWHERE))}, which are omitted.",
            f"[![{shown}](day.svg)](day.svg)",
            table(["call", "description", "packages"], rows),
            *(section(2, name, f"```text\n{_signature(name)}\n```", _described(name)) for name in calls()),
        ]
    )


def _doc(name: str) -> str:
    return inspect.getdoc(getattr(memory.Memory, name)) or ""


def _described(name: str) -> str:
    """Return the docstring, with its sections as lists."""
    parts = []
    for block in _doc(name).split("\n\n"):
        head, _, rest = block.partition("\n")
        if head in ("Args:", "Returns:", "Raises:", "Attributes:", "Yields:"):
            parts.append(f"**{head}**\n\n{_items(inspect.cleandoc(rest))}")
        else:
            parts.append(paragraphs(block))
    return "\n\n".join(parts)


def _items(text: str) -> str:
    """Return the entries of a section, each with its indented lines."""
    entries: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return "\n".join(f"- {paragraphs(entry)}" for entry in entries)


def _signature(name: str) -> str:
    """Return the signature of a call."""
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
    """Return the arguments of a method except self, each with its type and default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    parts = [_argument(*pair) for pair in zip(positional, defaults, strict=True)][1:]
    if arguments.vararg:
        parts.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return parts + ([f"**{ast.unparse(arguments.kwarg)}"] if arguments.kwarg else [])


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")


def picture() -> str:
    """Draw a mark for each package that a call uses."""
    made = calls()
    used = [room for layer in layers() for room in layer if any(room in rooms for rooms in made.values())]
    drawing = GraphDrawing(
        LEFT * 2 + NAMES + COLUMN * len(used),
        HEAD + HIGH * len(made) + LEFT,
        "Calls of the API of Slowwave",
        "One call per row, with a mark under each package that it uses.",
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
