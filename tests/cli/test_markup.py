"""What people write is shown as they wrote it: square brackets in it are no markup, and end no command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_runner import run_command

ROOT = Path(__file__).parents[2]
SHOWN = [*sorted((ROOT / "slowwave" / "cli").glob("*.py")), ROOT / "orchestration" / "cli.py"]
SAFE_CALLS = {
    "escape", "_line", "cell", "counted", "size", "len", "rich_table", "Padding", "Text", "Grid", "grid",
}  # fmt: skip
"""Calls that give a text without markup of others, or a thing that is drawn."""
KNOWN = {
    "slowwave/cli/search.py": ("Text('   ').join(",),
    "slowwave/cli/curation.py": ("Text.assemble(",),
    "slowwave/cli/moving.py": ("' and '.join(parts)",),
    "slowwave/cli/up.py": ("code", "name"),
    "orchestration/cli.py": ("live",),
}
"""Beginnings of what a look at the place shows to be safe: things that are drawn, counts, constants."""
NUMBER = re.compile(r"[<>^]?[\d,.]*[,dfge%]|.*%[a-zA-Z].*")
"""Format of a number or a moment."""

FACT = "We deploy on Thursday since the second of March, and Friday is for repairs only."
OTHER = "The otter came back to the mill pond on the ninth of April, after a long winter."
TITLE, KEY, PROJECT = "Day[b] of [/red] deploys", "deploy[b]/[/red]", "spring[b]/[/red]"


# -- found by reading ------------------------------------------------------------------------------


def test_texts_that_are_printed_with_markup_are_escaped():
    """A print that has `markup=False`, or whose every text is a constant, a number or escaped, is safe."""
    wrong = []
    for file in SHOWN:
        name = file.relative_to(ROOT).as_posix()
        known = KNOWN.get(name, ())
        wrong += [f"{name}:{line}: {what}" for line, what in unescaped(file) if not what.startswith(known)]
    assert not wrong, "escape(...) it, or print with markup=False:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("out.print(f'[bold]{path}[/]')", ["path"]),
        ("out.print(f'[bold]{escape(str(path))}[/]')", []),
        ("out.print(f'{path}', markup=False)", []),
        ("out.print(f'{count:,} of {day:%F}, {name:<9}')", ["name"]),
        ("told = f'{path}'; err.print(told)", ["path"]),
        ("told = 'one' if new else 'two'; err.print(told)", []),
        ("out.print(words.since(report))", ["words.since(report)"]),
    ],
)
def test_what_is_found(tmp_path, line, found):
    file = tmp_path / "command.py"
    file.write_text(f"def command(path, name, count, day, new):\n    {line}\n")
    assert [what for _, what in unescaped(file)] == found


def unescaped(file: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file that print a text as markup which could be anybody's, and that text."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    for function in functions.values():
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _is_markup(call):
                for argument in call.args:
                    yield from ((call.lineno, what) for what in _risky(argument, function, functions))


def _is_markup(call: ast.Call) -> bool:
    plain = any(one.arg == "markup" and ast.unparse(one.value) == "False" for one in call.keywords)
    return ast.unparse(call.func) in ("out.print", "err.print", "Text.from_markup") and not plain


def _risky(node: ast.AST, inside: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> Iterator[str]:
    """Texts in an expression that may be markup of somebody else."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in functions and name not in SAFE_CALLS:
            inside = functions[name]
            parts = [one.value for one in ast.walk(inside) if isinstance(one, ast.Return) and one.value]
        case ast.Name(id=name) if given := [*_given(name, inside)]:
            parts = given
        case _:
            parts = _parts(node)
    if parts is None:
        yield ast.unparse(node)
    for part in parts or ():
        yield from _risky(part, inside, functions)


def _parts(node: ast.AST) -> list[ast.expr] | None:
    """What an expression is put together of; none of it, where it is safe; None where nobody knows."""
    match node:
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=str(form))])) if (
            NUMBER.fullmatch(form)
        ):
            return []
        case ast.FormattedValue(value=one) | ast.NamedExpr(value=one) | ast.Subscript(value=one):
            return [one]
        case ast.Call(func=ast.Attribute(value=one, attr="rstrip")):
            return [one]
        case ast.JoinedStr(values=several) | ast.BoolOp(values=several) | ast.Dict(values=several):
            return several
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.Constant():
            return []
    named = ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]
    return [] if named in SAFE_CALLS or named.strip("_").isupper() else None


def _given(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function assigns to a name."""
    for one in ast.walk(function):
        to = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
        if isinstance(one, ast.Assign | ast.NamedExpr) and name in [getattr(each, "id", "") for each in to]:
            yield one.value


# -- seen on a screen ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs commands on a home in a folder whose name could be markup; the folder, and the runner."""
    folder = tmp_path_factory.mktemp("markup") / "a[b]" / "[/red]"
    environment = {"HOME": str(folder), "PATH": "/usr/bin", "COLUMNS": "600", "SLOWWAVE_ASK": "0"}
    environment["SLOWWAVE_EMBEDDING__MODEL"] = "wordllama-256"
    (folder / "notes[b]").mkdir(parents=True)

    def run(*words: object, code: int = 0, home: Path = folder / "home") -> str:
        done = run_command("--home", home, *words, environment=environment, cwd=folder)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return " ".join((done.stdout + done.stderr).split())

    assert f"Home ready: {folder / 'home'}" in run("init")
    run("save", FACT, "--title", TITLE, "--key", KEY)
    run("search", "when do we deploy?", "--project", PROJECT)
    return folder, run


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("init", "{folder}/home"),
        ("doctor", "{folder}/home"),
        ("search deploy", TITLE),
        ("search deploy", KEY),
        ("explain deploy", TITLE),
        ("show", TITLE),
        ("show last", TITLE),
        ("wakeup", TITLE),
        ("wakeup --table", TITLE),
        ("ingest {folder}/notes[b]", "notes[b]: 0 new"),
        (f"outcome {PROJECT} success", f"{PROJECT}: success, for 1 search"),
        ("report feedback --html {folder}/feedback[b].html", "Written to {folder}/feedback[b].html"),
        ("export {folder}/out[b].jsonl", "{folder}/out[b].jsonl: "),
        ("backup --new-key {folder}/key[b]", "is in {folder}/key[b], for"),
        ("backup {folder}/kept[b]/[/red]", "verify {folder}/kept[b]/[/red]"),
        ("backups {folder}/kept[b]/[/red]", "Backups at {folder}/kept[b]/[/red]"),
        ("verify {folder}/kept[b]/[/red]", "at {folder}/kept[b]/[/red]: "),
        ("settings", "{folder}/home"),
    ],
)
def test_commands_show_names_paths_and_titles_as_they_are(shell, words, told):
    folder, run = shell
    given = [one.format(folder=folder) for one in words.split()]
    assert told.format(folder=folder) in run(*given)


@pytest.mark.parametrize("namespace", ["a[b]", "[/red]"])
def test_a_namespace_that_cannot_be_is_named_in_the_error(shell, namespace):
    _, run = shell
    assert repr(namespace) in run("search", "when?", "-n", namespace, code=1)


def test_a_restored_home_is_named(shell):
    folder, run = shell
    run("backup", folder / "others[b]")
    new = folder / "new[b]"
    assert f"to {new}." in run("restore", folder / "others[b]", home=new)


def test_what_another_server_says_is_no_markup(monkeypatch, shell):
    _, run = shell
    parts = {"[/red]": "no [bold] tables"}
    monkeypatch.setattr("slowwave.cli.health._health_report", lambda *_: {"ready": False, "parts": parts})
    assert "[/red] no [bold] tables" in run("health", code=1)
