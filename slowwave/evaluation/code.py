"""Which rules a cycle was evaluated by: a version that changes with a rule, a constant or a list (rule 6.7).

Not with words about them, with the layout of a line, or with the file that a rule stands in.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version as installed
from pathlib import Path

from slowwave.scoring.wordlists import lines_of

_WORDLESS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_UNSEEN = frozenset({"returns", "annotation", "type_params", "type_comment", "kind", "ctx", "simple"})
"""Parts of a definition that nothing is computed from."""


@cache
def code_version() -> str:
    """Version of the package, and a digest of its rules."""
    return f"{installed('slowwave')}+{digest_of(folders())}"


def folders() -> tuple[Path, ...]:
    """Where the rules stand that a figure of a cycle comes from."""
    package = Path(__file__).parents[1]
    return package / "scoring", package / "quality", Path(__file__).parent


def digest_of(places: Iterable[Path]) -> str:
    """BLAKE2b-48, as hex digits, of all definitions and lists of words in some folders and files."""
    folders = list(places)
    found = sorted(
        "".join(_parts(definition))
        for folder in folders
        for file in ([folder] if folder.suffix == ".py" else folder.rglob("*.py"))
        for definition in _definitions(ast.parse(file.read_bytes()))
    )
    found += sorted(
        " ".join([file.stem, *" ".join(lines_of(file.read_text(encoding="utf-8"))).split()])
        for folder in folders
        for file in folder.rglob("*.txt")
    )
    state = hashlib.blake2b(digest_size=6)
    for one in found:
        state.update(one.encode() + b"\0")
    return state.hexdigest()


def _definitions(module: ast.Module) -> Iterator[ast.stmt]:
    """What a module defines; not where it has names from, nor what only a type checker reads."""
    for statement in module.body:
        if isinstance(statement, _IMPORTS) or _is_words(statement):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            continue
        yield statement


def _is_words(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, of a definition or of the constant above it."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _parts(node: object) -> Iterator[str]:
    """A definition as text, the same for every version of Python and every layout."""
    if isinstance(node, list):
        for one in node:
            yield from _parts(one)
    elif not isinstance(node, ast.AST):
        yield f"{node!r};"
    else:
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if name in _UNSEEN or value is None or value == []:
                continue
            if name == "body" and isinstance(node, _WORDLESS):
                value = [
                    one
                    for one in value
                    if not _is_words(one) and not isinstance(one, ast.Import | ast.ImportFrom)
                ]
            yield f"{name}="
            yield from _parts(value)
        yield ")"
