"""The command `slowwave`, run in the process of the tests as if it had one of its own.

A process of its own begins with seconds of loading, so a test has one only where that is what it is about.
Here the entry point itself runs (not only the app beneath it): with the words as ``sys.argv``, a folder, an
environment and a standard input of its own, both outputs apart and in bytes, and its exit code, as a shell
sees them. What a process would take with it when it ends is put back.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from slowwave import cli, embedding
from slowwave.views import terminal as output

MODEL = "wordllama-256"
_loaded: dict[str, Any] = {}
_load = embedding.load_embedder


def run_command(
    *words: object,
    environment: Mapping[str, str],
    stdin: str | bytes = "",
    cwd: Path | None = None,
    before: Callable[[], object] = lambda: None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; `before` is called first, in the command's environment."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"),
        "stdout": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        "stderr": io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True),
    }
    argv = ["slowwave", *map(str, words)]
    with _apart(), contextlib.chdir(cwd or Path.cwd()):
        os.environ.clear()
        os.environ.update(environment)
        with patch.multiple(sys, argv=argv, **streams), _fresh_consoles(), _model_at_hand():
            before()
            code = _end(cli.main)
    said = {}
    for name in ("stdout", "stderr"):
        streams[name].flush()
        said[name] = streams[name].buffer.getvalue().decode()
    return subprocess.CompletedProcess(argv, code, **said)


def _end(main: Callable[[], None]) -> int:
    """The exit code that a process would end with."""
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """What a process has for itself, put back afterwards."""
    environment, hook, mask = dict(os.environ), sys.excepthook, os.umask(0)
    os.umask(mask)
    disabled = logging.root.manager.disable
    levels = {name: one.level for name, one in _loggers().items()}
    commands = [(group, list(group.registered_commands)) for group in (cli.app, cli.evaluation)]
    try:
        with warnings.catch_warnings(), patch.object(warnings, "showwarning", _told):
            warnings.resetwarnings()
            for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
                warnings.simplefilter("ignore", kind)  # as Python does where nobody asked for them
            yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        sys.excepthook = hook
        os.umask(mask)
        logging.disable(disabled)
        for name, one in _loggers().items():
            if one.level != levels.get(name, one.level):  # each change empties the caches of all loggers
                one.setLevel(levels[name])
        for group, registered in commands:  # those of other rooms join when the command runs
            group.registered_commands[:] = registered


def _told(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
    """Warnings stand on standard error, not among those of the tests."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _loggers() -> dict[str, logging.Logger]:
    return {
        name: one for name, one in logging.root.manager.loggerDict.items() if isinstance(one, logging.Logger)
    }


@contextlib.contextmanager
def _fresh_consoles() -> Iterator[None]:
    """The consoles as they are made when the program begins: of its environment's width, on its streams."""
    consoles = (output.out, {}), (output.err, {"stderr": True})
    kept = [(console, dict(vars(console))) for console, _ in consoles]
    for console, options in consoles:
        console.__init__(**options)
    try:
        yield
    finally:
        for console, state in kept:
            vars(console).clear()
            vars(console).update(state)


@contextlib.contextmanager
def _model_at_hand() -> Iterator[None]:
    """The fast model is read once for all commands; any other is loaded as the command would."""

    def load(settings: Any) -> Any:
        if settings.model != MODEL:
            return _load(settings)
        if MODEL not in _loaded:
            _loaded[MODEL] = _load(settings)
        return _loaded[MODEL]

    with patch.object(embedding, "load_embedder", load):
        yield
