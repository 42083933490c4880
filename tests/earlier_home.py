"""A home that earlier code has written, and what that code answered: unpacked, asked again, compared.

A folder of answers says all that is needed to ask again: each step has its moment, what was called and what
the answer was. So this file never lists what is asked, and a second folder may ask other things.
"""

from __future__ import annotations

import datetime as dt
import importlib
import io
import json
import lzma
import math
import os
import pkgutil
import re
import secrets
import shutil
import sys
import tarfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError
from undrawn import undrawn

import slowwave
from slowwave import embedding
from slowwave.cli import app, main
from slowwave.home.workspace import Workspace
from slowwave.mcp.server import build
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.views.terminal import err, out

FIXTURES = Path(__file__).parent / "fixtures"
ARCHIVE = "home.tar.xz"
LONG = 20_000  # characters of an answer that is kept packed
ROOT = Path(slowwave.__file__).parents[1]
NOT_OF_THE_PROJECT = {"tests", "bench", "examples"}
MEASURED = {"timings", "seconds", "run_id", "bytes"}
"""Keys whose values say how fast, how large on disk or by which run: a shape stands for each."""
TOOK = re.compile(r"[\d,]+ ms \(embedding [\d,]+\)")
VERSIONS = re.compile(r"\b\d+\.\d+(\.\w+)+")
PICTURE = re.compile(r"(data:image/svg\+xml;base64,)[\w+/=]+")
"""Plots, whose look may change; tests of plots say what is on them."""
NEAR = 2e-6
FRACTION = re.compile(r"\d+\.\d+(?:e-?\d+)?")

OF_THEN = {
    "SLOWWAVE_STORE__SNAPSHOT_MB": "0", "SLOWWAVE_RANKING__FEEDBACK_SCOPE": "memory",
    "SLOWWAVE_RANKING__KEY_WEIGHT": "0.4", "SLOWWAVE_RANKING__FIT_FLOOR": "0",
}  # fmt: skip
"""Settings of what was fixed then: words were weighed by the table of all namespaces, ratings counted for
their memory in every search, search keys for .4, and the best fit had no floor."""
CLEANED = "| versions_removed | bytes_removed |"
_COUNTS = re.compile(r"\| \d+ \| \d+ \|$", re.MULTILINE)

_moment = dt.datetime
_load_embedder = embedding.load_embedder
_uuid4, _token_hex = uuid.uuid4, secrets.token_hex


# -- time and chance -------------------------------------------------------------------------------


class Pins:
    """The present moment, and names that come by chance: both follow from the step alone."""

    def __init__(self) -> None:
        self.moment = _moment(2026, 3, 1, tzinfo=dt.UTC)
        self._step, self._drawn = "", 0

    def __call__(self) -> dt.datetime:
        return self.moment

    def begin(self, step: str, moment: dt.datetime) -> None:
        """From now on it is this moment; a step more or less changes no name of the others."""
        self.moment, self._step, self._drawn = moment, step, 0

    def draw(self, size: int) -> bytes:
        """The next bytes of chance."""
        self._drawn += 1
        return blake2b(f"{self._step}/{self._drawn}".encode(), digest_size=size).digest()


class _IsMoment(type):
    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _moment)

    def __subclasscheck__(cls, one: type) -> bool:
        return issubclass(one, _moment)


def _pinned_datetime(pins: Pins) -> type:
    """`datetime` whose present is pinned; what it makes are plain moments, as JSON and tables want them."""

    class Pinned(_moment, metaclass=_IsMoment):
        def __new__(cls, *given: Any, **named: Any) -> Any:
            return _moment(*given, **named)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return pins().astimezone(tz) if tz else pins().replace(tzinfo=None)

    return Pinned


def _modules() -> list[Any]:
    """Every module of the project, wherever it is kept: one imported later would see the true time."""
    for top in pkgutil.iter_modules([str(ROOT)]):
        if not top.ispkg or top.name in NOT_OF_THE_PROJECT:
            continue
        package = importlib.import_module(top.name)
        for found in pkgutil.walk_packages(package.__path__, f"{top.name}."):
            if "__main__" not in found.name:
                importlib.import_module(found.name)
    return [one for one in list(sys.modules.values()) if _is_ours(getattr(one, "__file__", None) or "")]


def _imported(name: str, fake: type) -> type:
    """What a module gets that imports a name of `datetime` while time is pinned."""
    if name != "datetime":
        raise AttributeError(f"module 'datetime' has no attribute {name!r}")
    return fake if _of_the_project(3) else _moment


def _of_the_project(depth: int = 2) -> bool:
    return _is_ours(sys._getframe(depth).f_code.co_filename)


def _is_ours(file: str) -> bool:
    return (
        file.startswith(f"{ROOT}{os.sep}")
        and "site-packages" not in file
        and not file.startswith(str(Path(__file__).parent))
    )


def _rank_as_then(home: Path) -> None:
    """Policy files of the home say what every ranking did before there was a choice."""
    for file in home.glob("*.json"):
        said = json.loads(file.read_text())
        said["policy"].setdefault("feedback_scope", "memory")
        said["policy"].setdefault("key_weight", 0.4)
        said["policy"].setdefault("fit_floor", 0.0)
        file.write_text(json.dumps(said))


@contextmanager
def pinned(home: Path) -> Iterator[Pins]:
    """Time and chance are pinned for the project's own modules, and no setting comes from outside."""
    pins = Pins()
    _rank_as_then(home)
    fake = _pinned_datetime(pins)
    modules = [one for one in _modules() if getattr(one, "datetime", None) is _moment]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    clean.pop("DAGSTER_HOME", None)
    shown = {"SLOWWAVE_HOME": str(home), "COLUMNS": "180", "NO_COLOR": "1", "TERM": "dumb"}

    models: dict[str, Any] = {}

    def load_embedder(settings: Any) -> Any:
        return models.get(settings.model) or models.setdefault(settings.model, _load_embedder(settings))

    def uuid4() -> uuid.UUID:
        return uuid.UUID(bytes=pins.draw(16), version=4) if _of_the_project() else _uuid4()

    def token_hex(size: int | None = None) -> str:
        return pins.draw(size or 32).hex() if _of_the_project() else _token_hex(size)

    with (
        patch.dict(os.environ, {**clean, **shown}, clear=True),
        patch.object(embedding, "load_embedder", load_embedder),
        patch.object(uuid, "uuid4", uuid4),
        patch.object(secrets, "token_hex", token_hex),
        undrawn(),
    ):
        for one in modules:
            one.datetime = fake
        # Commands import it when they run; whoever is not of the project gets the true one all the same.
        del dt.datetime
        dt.__getattr__ = lambda name: _imported(name, fake)
        groups = [app, *(one.typer_instance for one in app.registered_groups if one.typer_instance)]
        known = {id(one): list(one.registered_commands) for one in groups}
        widths = {console: console._width for console in (out, err)}  # an earlier test may have set them
        for console in widths:
            console._width = 180
        try:
            with patch.dict(os.environ, OF_THEN):
                yield pins
        finally:
            for console, width in widths.items():
                console._width = width
            for one in groups:  # without those that registered themselves, which later tests look for
                one.registered_commands[:] = known[id(one)]
            del dt.__getattr__
            dt.datetime = _moment
            for one in modules:
                one.datetime = _moment


# -- asking ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a home was unpacked: the home, its vault, and a folder for what commands write."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "memory"

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def fill(self, word: str) -> str:
        """A word of a step with the places of today."""
        return word.replace("{folder}", str(self.folder))

    def blank(self, text: str) -> str:
        """What was printed, without the places of today; where one stood in a table its columns moved."""
        if str(self.folder) not in text:
            return text
        return re.sub(r"[ ─━]{2,}", "  ", text.replace(str(self.folder), "{folder}"))


def unpack(archive: Path, folder: Path) -> Place:
    """The home, in another folder than it was made in."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        # A home is private, and says so where it is not. The Python of Debian 12 has no filters yet.
        packed.extractall(folder, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
    return Place(folder)


def pack(place: Place, archive: Path) -> None:
    """The home as one file; the moments of the notes stay, for they say when the notes were written."""
    with tarfile.open(archive, "w:xz", preset=9 | lzma.PRESET_EXTREME) as packed:
        for one in (place.home, place.notes):
            packed.add(one, one.name, filter=_nobody)


def _nobody(one: tarfile.TarInfo) -> tarfile.TarInfo:
    one.uid = one.gid = 0
    one.uname = one.gname = ""
    return one


def command(words: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
    """Exit code, output and errors of `slowwave` with these words, in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    code: Any = 0
    with (
        patch.object(sys, "argv", ["slowwave", *words]),
        patch.object(sys, "stdin", given),
        patch.object(sys, "stdout", streams[0]),
        patch.object(sys, "stderr", streams[1]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    out, err = (one.buffer.getvalue().decode() for one in streams)
    return int(code or 0), out, err


def ask(step: Mapping[str, Any], place: Place) -> Any:
    """The answer to one step, as JSON can hold it."""
    if "command" in step:
        return _command(step, place)
    if "file" in step:
        return place.blank(Path(place.fill(step["file"])).read_text()).splitlines()
    if "write" in step:
        return _write(step, place)
    if "search" in step:
        with slowwave.open(place.home, namespace=step["namespace"], principal=step["principal"]) as memory:
            return plain(memory.search(**step["search"]).to_dict())
    if "tables" in step:
        return tables(place, step["tables"])
    if "tool" in step or "resource" in step:
        return _tool(step, place)
    raise ValueError(f"nobody knows how to ask {step}")


def _command(step: Mapping[str, Any], place: Place) -> dict[str, Any]:
    code, out, err = command([place.fill(one) for one in step["command"]], step.get("stdin", ""))
    out, err = place.blank(out), place.blank(err)
    answer: dict[str, Any] = {"exit": code}
    said = [line.rstrip() for line in err.splitlines() if "━" not in line]  # a bar of progress says a time
    if said and not step.get("noisy"):
        answer["errors"] = said
    if "--json" in step["command"] and out:
        answer["json"] = plain(json.loads(out))
    elif "json lines" in step:
        answer["json lines"] = [plain(json.loads(line)) for line in out.splitlines()]
    else:
        answer["text"] = [TOOK.sub("<int> ms", line.rstrip()) for line in out.splitlines()]
    return answer


def _write(step: Mapping[str, Any], place: Place) -> str:
    """A note of the vault changes; its moment is that of the step, for the vault tells by it what is new."""
    file = Path(place.fill(step["write"]))
    if step["text"] is None:
        file.unlink()
        return "gone"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(step["text"])
    when = _moment.fromisoformat(step["at"]).timestamp()
    os.utime(file, (when, when))
    return "written"


def _tool(step: Mapping[str, Any], place: Place) -> Any:
    """What an assistant gets, by a client and a server in this process."""
    memories = MemoryPool(load(place.home), lambda: Caller(step["namespace"], step["principal"]))
    with start_blocking_portal() as portal:

        async def client() -> Client:
            return Client(build(memories))

        with portal.wrap_async_context_manager(portal.call(client)) as connected:
            if "resource" in step:
                try:
                    (content,) = portal.call(connected.read_resource, step["resource"]).contents
                except MCPError as error:
                    return {"error": place.blank(str(error))}
                return {"text": place.blank(content.text).splitlines()}
            told = portal.call(connected.call_tool, step["tool"], step["arguments"])
            words = "\n".join(part.text for part in told.content)
            return {
                "is_error": bool(told.is_error),
                "data": plain(told.structured_content),
                "text": place.blank(words).splitlines(),
            }


def tables(place: Place, names: Sequence[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """The rows of these tables, else of every one, by key."""
    space = Workspace(load(place.home))
    try:
        return {name: _rows(space, name) for name in sorted(names or space.store.specs)}
    finally:
        space.close()


FILES_OF_TABLES = ("checkpoint-", "vector_index")
"""Facts about files of tables: their versions follow from how often something was written."""


def _rows(space: Workspace, name: str) -> list[dict[str, Any]]:
    rows = space.store.read(name).sort(space.store.specs[name].key)
    if name == "meta":
        rows = rows.filter(~pl.any_horizontal(pl.col("name").str.starts_with(one) for one in FILES_OF_TABLES))
    return [
        plain({column: _sketch(column, value) for column, value in row.items()}) for row in rows.to_dicts()
    ]


def _sketch(column: str, value: Any) -> Any:
    """Of a vector three numbers that follow from all of it: the whole would fill the file."""
    if column != "vector" or value is None:
        return value
    vector = np.asarray(value, dtype=np.float64)
    return [float(vector[0]), float(vector.sum()), float(vector @ np.arange(1.0, vector.size + 1))]


def plain(value: Any, key: str = "") -> Any:
    """As JSON keeps it, without what is of the machine alone."""
    if (key in MEASURED or key.startswith("seconds")) and value is not None:
        return shape(value)
    if isinstance(value, Mapping):
        if key == "tables" and all(isinstance(one, int) for one in value.values()):
            return sorted(value)  # of a checkpoint: how often each was written is nobody's business
        if key == "candidates":
            return _by_first(value)
        if value.get("subject") in ("installation", "night"):  # of the doctor: what is installed here
            value = {**value, "message": VERSIONS.sub("<version>", value["message"])}
        return {str(name): plain(one, str(name)) for name, one in value.items()}
    if isinstance(value, str):
        shown = PICTURE.sub(r"\1", value)
        return re.sub(r"bytes [\d,]+", "bytes <int>", shown) if key == "summary" else shown
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _by_first(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Rows of a search's log, which is told by columns, by name: equal ones come in any order."""
    order = sorted(range(len(columns["chunk_id"])), key=lambda at: columns["chunk_id"][at])
    told = {
        name: [column[at] for at in order]
        if isinstance(column, list) and len(column) == len(order)
        else column
        for name, column in columns.items()
    }
    for score, rank in (("cosine", "vector_rank"), ("bm25", "bm25_rank")):
        told[rank] = _by_name_where_equal(told[score], told[rank])
    return told


def _by_name_where_equal(scores: Sequence[Any], ranks: Sequence[int]) -> list[int]:
    """Ranks of rows in the order of their names; which of two with one score is first is the table's whim."""
    places: dict[Any, list[int]] = {}
    for score, rank in sorted(zip(scores, ranks, strict=True), key=lambda one: one[1]):
        if rank:
            places.setdefault(score, []).append(rank)
    return [places[score].pop(0) if rank else rank for score, rank in zip(scores, ranks, strict=True)]


def shape(value: Any) -> Any:
    """Keys and types of a value."""
    if isinstance(value, Mapping):
        return {str(name): shape(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [shape(value[0])] if value else []
    return f"<{type(value).__name__}>"


# -- answers ---------------------------------------------------------------------------------------


def answer_files(folder: Path) -> list[Path]:
    """The files of steps and answers, in the order in which they were asked."""
    return sorted(folder.glob("[0-9][0-9]-*.json"))


def read_steps(file: Path) -> list[dict[str, Any]]:
    """The steps of a file, with what was answered."""
    steps = json.loads(file.read_text())
    packed = {one["packed"] for one in steps if "packed" in one}
    long = {name: json.loads(lzma.decompress((file.parent / name).read_bytes())) for name in packed}
    return [one | {"answer": long[one["packed"]][one["name"]]} if "packed" in one else one for one in steps]


def write_steps(file: Path, steps: Sequence[Mapping[str, Any]]) -> None:
    """Steps with their answers; long ones go, packed, into a second file, for nobody reads them whole."""
    packed = file.with_suffix(".long.json.xz")
    long = {one["name"]: one["answer"] for one in steps if len(json.dumps(one["answer"])) > LONG}
    if long:
        rows = json.dumps(long, sort_keys=True, indent=0, ensure_ascii=False).encode()
        packed.write_bytes(lzma.compress(rows, preset=9 | lzma.PRESET_EXTREME))
    written = [
        {key: value for key, value in one.items() if key != "answer"} | {"packed": packed.name}
        if one["name"] in long else {key: value for key, value in one.items() if key != "packed"}
        for one in steps
    ]  # fmt: skip
    file.write_text(json.dumps(written, sort_keys=True, indent=1, ensure_ascii=False) + "\n")


def replay(steps: Sequence[Mapping[str, Any]], place: Place, pins: Pins) -> list[Any]:
    """Ask again, one step after the other."""
    answers = []
    for step in steps:
        pins.begin(step["name"], _moment.fromisoformat(step["at"]))
        answers.append(json.loads(json.dumps(ask(step, place))))
    return answers


def called(step: Mapping[str, Any]) -> str:
    """What a person reads of a step."""
    if "command" in step:
        return "slowwave " + " ".join(json.dumps(one) if " " in one else one for one in step["command"])
    return str(step["name"])


# -- comparing -------------------------------------------------------------------------------------


def differences(
    then: Any, now: Any, where: str = "", *, near: float = NEAR, more: bool = False
) -> Iterator[str]:
    """Where two answers differ.

    Args:
        then: what was answered.
        now: what is answered.
        where: the place in the whole answer.
        near: how far fractions may be apart: another processor rounds the last digits otherwise.
        more: whether keys may have come since. Of tables they may: a migration adds columns.
    """
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now} if not more else then):
            if key not in now:
                yield f"{where}.{key}: was {_short(then[key])}, is not there"
            elif key not in then:
                yield f"{where}.{key}: was not there, is {_short(now[key])}"
            else:
                yield from differences(then[key], now[key], f"{where}.{key}", near=near, more=more)
    elif isinstance(then, list) and isinstance(now, list):
        if len(then) != len(now):
            yield f"{where}: had {len(then)} entries, has {len(now)}"
        for at, (one, other) in enumerate(zip(then, now, strict=False)):
            yield from differences(one, other, f"{where}[{_named(one, at)}]", near=near, more=more)
    elif not _same(then, now, near):
        yield f"{where}: was {_short(then)}, is {_short(now)}"


def _named(one: Any, at: int) -> str:
    """The place in a list, with the name of what stands there."""
    names = [value for key, value in one.items() if key.endswith("_id")] if isinstance(one, dict) else []
    return f"{at} {names[0]}" if names else str(at)


def _same(then: Any, now: Any, near: float) -> bool:
    if type(then) is type(now) and then == now:
        return True
    if isinstance(then, float) and isinstance(now, float):
        return math.isclose(then, now, rel_tol=near, abs_tol=near)
    if isinstance(then, str) and isinstance(now, str):
        return _same_text(then, now, near)
    return False


def _same_text(then: str, now: str, near: float) -> bool:
    """Whether two texts differ in fractions alone, and no further than these may.

    What a night cleaned up of old versions follows from how long it took.
    """
    if CLEANED in then:
        then, now = (_COUNTS.sub("|", text) for text in (then, now))
    if FRACTION.sub("#", then) != FRACTION.sub("#", now):
        return False
    pairs = zip(FRACTION.findall(then), FRACTION.findall(now), strict=True)
    return all(math.isclose(float(one), float(other), rel_tol=near, abs_tol=near) for one, other in pairs)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]} … ({len(text)} characters)"


def fresh(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
