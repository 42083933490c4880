"""Version of the evaluation rules: changes with a rule, constant or word list (rule 6.7).

Comments, layout and the file of a rule do not change it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.metadata import version as installed
from pathlib import Path

from slowwave.common.garbage import BATCH, paused_collection
from slowwave.scoring.wordlists import lines_of

_WORDLESS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_UNSEEN = frozenset({"returns", "annotation", "type_params", "type_comment", "kind", "ctx", "simple"})
"""Fields of a definition that do not affect results."""


@cache
def code_version() -> str:
    """Return the package version and a digest of its rules."""
    return f"{installed('slowwave')}+{digest_of(folders())}"


def folders() -> tuple[Path, ...]:
    """Return the folders of the rules that the metrics depend on."""
    package = Path(__file__).parents[1]
    return package / "scoring", package / "quality", Path(__file__).parent


def digest_of(places: Iterable[Path]) -> str:
    """Compute the BLAKE2b-48 hex digest of all definitions and word lists in some places."""
    folders = list(places)
    files = [
        file for folder in folders for file in ([folder] if folder.suffix == ".py" else folder.rglob("*.py"))
    ]
    with paused_collection(BATCH):  # a syntax tree is many objects
        parts = sorted(part for file in files for part in _texts(file.read_bytes()))
    parts += sorted(
        " ".join([file.stem, *" ".join(lines_of(file.read_text(encoding="utf-8"))).split()])
        for folder in folders
        for file in folder.rglob("*.txt")
    )
    state = hashlib.blake2b(digest_size=6)
    for part in parts:
        state.update(part.encode() + b"\0")
    return state.hexdigest()


@lru_cache(maxsize=512)
def _texts(source: bytes) -> tuple[str, ...]:
    """Return the definitions of a file as text; several assets share files."""
    texts = []
    for definition in _definitions(ast.parse(source)):
        pieces: list[str] = []
        _describe(definition, pieces.append)
        texts.append("".join(pieces))
    return tuple(texts)


def _definitions(module: ast.Module) -> Iterator[ast.stmt]:
    """Yield the definitions of a module, without imports, `__all__` and type-checking blocks."""
    for statement in module.body:
        if isinstance(statement, _IMPORTS) or _is_words(statement):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            continue
        yield statement


def _is_words(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring of a definition or constant."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _describe(node: object, add: Callable[[str], None]) -> None:
    """Add a definition piece by piece as text that no Python version or layout changes."""
    if isinstance(node, list):
        for item in node:
            _describe(item, add)
    elif not isinstance(node, ast.AST):
        add(f"{node!r};")
    else:
        kind, values = type(node), vars(node)
        add(f"{kind.__name__}(")
        for name in _seen(kind._fields):
            value = values.get(name)
            if value is None or value == []:
                continue
            if name == "body" and isinstance(node, _WORDLESS):
                value = [item for item in value if not isinstance(item, _IMPORTS) and not _is_words(item)]
            add(f"{name}=")
            _describe(value, add)
        add(")")


@cache
def _seen(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in fields if name not in _UNSEEN)
