"""A running memory in processes of its own: its answers are those of commands that start by themselves."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import warm

import slowwave
from slowwave.cli import up
from slowwave.cli.supervisor import ENOUGH_S, LONGEST_S, SupervisedProcess, next_backoff
from slowwave.errors import SlowwaveError
from slowwave.home.embedding_model import RESTORING
from slowwave.ipc import pidfile, protocol
from slowwave.serving.server import listening

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PROGRAM = """
import atexit, os, sys
atexit.register(lambda: open(os.environ["MODULES"], "w").write(" ".join(sys.modules)))
from slowwave.__main__ import main
main()
"""
HEAVY = {"typer", "rich", "polars", "lancedb", "pydantic", "numpy", "slowwave.cli", "slowwave.settings"}
NOTES = {
    "deploy": "We deploy on Thursday since 2 March; Friday is for repairs only, as Zoë of the büro says.",
    "battery": "The battery of the gauge on the roof lasts eleven months; Ruaridh changes it in winter.",
    "safe": "The safe in the cellar is opened with the brass key that hangs behind the green door.",
}
WIDE = (
    "The order of the trains to the coast is 漢字 first and then the slow one \U0001f682 with the bicycles."
)


def free_port() -> str:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Done(NamedTuple):
    """What a command came to, and whether a running memory did it."""

    out: str
    err: str
    code: int
    asked: bool


class Home:
    """A home, and commands on it in processes of their own."""

    def __init__(self, path: Path, **variables: str) -> None:
        self.path = path
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            clean.pop(name, None)
        self.environment = clean | {
            "PYTHONPATH": str(ROOT),
            "SLOWWAVE_HOME": str(path),
            "TERM": "xterm-256color",
            "MODULES": str(path.parent / "modules"),
            **variables,
        }
        self.memory_ids: dict[str, str] = {}
        self.process: subprocess.Popen[str] | None = None

    def start(self, *options: str, cold: bool = False) -> dict[str, Any]:
        """Run it until it says where everything is; one that is not killed may begin loaded.

        What the SDK of MCP writes into its log is only that of a cold one.
        """
        words = ("-m", "slowwave", "up", "--no-night", "--json", "--page-port", free_port(), *options)
        self.process = subprocess.Popen(
            [sys.executable, *words] if cold else warm.python(*words),
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if line == "}\n":
                break
        told: dict[str, Any] = json.loads(said)
        assert not cold or told["pid"] == self.process.pid
        return told

    def stop(self, ending: int = signal.SIGTERM) -> tuple[int, str]:
        """End it: its exit code and all that it said since."""
        assert self.process is not None
        self.process.send_signal(ending)
        out, err = self.process.communicate(timeout=120)
        code, self.process = self.process.returncode, None
        return code, out + err

    def run(self, *words: str, ask: bool = True, given: str = "", **variables: str) -> Done:
        """A command whose outputs are pipes; what starts by itself may begin loaded."""
        plain = [sys.executable, "-c", PROGRAM, *words]
        done = subprocess.run(
            plain if ask or variables else warm.python("-c", PROGRAM, *words),
            env={**self.environment, "SLOWWAVE_ASK": str(int(ask)), **variables},
            input=given.encode(), capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        return Done(done.stdout.decode(), done.stderr.decode(), done.returncode, self._was_asked())

    def run_in_terminal(self, *words: str, ask: bool = True, columns: int = 80, **variables: str) -> Done:
        """A command whose three streams are one terminal."""
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            env={**self.environment, "SLOWWAVE_ASK": str(int(ask)), **variables},
            stdin=there, stdout=there, stderr=there,
        )  # fmt: skip
        os.close(there)
        said = b""
        while True:
            try:
                part = os.read(here, 1 << 16)
            except OSError:  # nobody has the other end any more
                break
            if not part:
                break
            said += part
        os.close(here)
        return Done(said.decode(), "", process.wait(300), self._was_asked())

    def _was_asked(self) -> bool:
        modules = Path(self.environment["MODULES"])
        loaded = set(modules.read_text().split())
        modules.unlink()
        assert loaded.isdisjoint(HEAVY) or loaded >= HEAVY - {
            "slowwave.settings",
            "numpy",
            "polars",
            "lancedb",
        }
        return loaded.isdisjoint(HEAVY)


def masked(text: str) -> str:
    """What is said, without what no two commands have in common; of the line with a time no colours."""
    text = re.sub(r"\b(?:[0-9a-f]{32}|[0-9a-f]{8})\b", "ID", text)
    text = re.sub(r'"timings": \{[^}]*\}', "TIMINGS", text)
    text = re.sub(r"\b(0\.\d{4})\d+", r"\1", text)  # what fades with time has faded a little more
    text = re.sub(r"\d+ \w+ ago|just now", "AGO", text)
    text = re.sub(r'("(?:\w*_at|at|as_of)"): "[^"]*"', r"\1: WHEN", text)
    return "".join(_timeless(line) for line in text.splitlines(keepends=True))


def _timeless(line: str) -> str:
    plain = re.sub(r"\x1b\[[\d;]*m", "", line)
    told = re.fullmatch(r"search \w+ · \d+ ms \(embedding \d+\)(\s*)", plain)
    return line if told is None else f"TIME{told[1]}"


def new_home(path: Path) -> Home:
    made = Home(path)
    memory = slowwave.open(path, namespace="default", embedding={"model": "wordllama-256"})
    with memory:
        for months, (key, text) in enumerate((NOTES | {"trains": WIDE}).items()):
            written = datetime.now(UTC) - timedelta(
                days=30 * months
            )  # or scores are the same but for rounding
            saved = memory.save(text, key=key, title=key.capitalize(), created_at=written)
            made.memory_ids[key] = saved.memory_id
        memory.search("when do we deploy?")
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose memory is running; no test stops it."""
    made = new_home(tmp_path_factory.mktemp("up") / "home")
    made.start(cold=True)
    yield made
    made.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Home]:
    """A home whose memory a test starts and ends."""
    made = new_home(tmp_path / "home")
    yield made
    if made.process is not None:
        made.process.terminate()
        made.process.communicate()


# -- the same answers ----------------------------------------------------------------------------

READING = """
search when do we deploy?
search when do we deploy? --json
search battery --plain
search trains to the coast -k 1
search battery -n nobody
search
search x --type nothing
search x --since yesterday
search --limit x y
explain who opens the safe
explain who opens the safe --json
wakeup
wakeup --json
wakeup --table
wakeup --budget 3
recall
show
show nothing
get {deploy}
get {deploy} --json
get nosuchmemory
stats {battery}
history {safe} --json
decisions
decisions x y
decisions accept
observe last -
observe last
"""


def words_of(line: str, home: Home) -> list[str]:
    """Words of a command line in which a question is a word."""
    parts = line.format(**home.memory_ids).split()
    options = next((at for at, word in enumerate(parts) if word.startswith("-") and at), len(parts))
    joined = " ".join(parts[1:options])
    whole = [joined] if parts[0] in ("search", "explain") and joined else parts[1:options]
    return [parts[0], *whole, *parts[options:]]


COLD = ("search\n", "search --limit", "observe last")  # wrongly asked, or they read


@pytest.mark.parametrize("line", READING.strip().splitlines())
def test_an_answer_into_a_pipe_is_that_of_a_cold_command(line, home):
    words = words_of(line, home)
    asked, cold = (home.run(*words, ask=ask) for ask in (True, False))
    assert asked.asked is not f"{line}\n".startswith(COLD)
    assert not cold.asked
    assert masked(asked.out) == masked(cold.out)
    assert masked(asked.err) == masked(cold.err)
    assert asked.code == cold.code
    assert asked.out or asked.err


@pytest.mark.parametrize(
    ("line", "columns", "variables"),
    [
        ("search when do we deploy?", 80, {}),
        ("search when do we deploy?", 47, {"COLORTERM": "truecolor"}),
        ("explain who opens the safe", 80, {"NO_COLOR": "1"}),
        ("explain trains to the coast", 132, {"COLUMNS": "60"}),
        ("wakeup --table", 0, {"TERM": "xterm"}),
        ("get nosuchmemory", 80, {}),
        ("decisions", 80, {"TTY_COMPATIBLE": "0"}),
    ],
)
def test_an_answer_on_a_terminal_is_that_of_a_cold_command(line, columns, variables, home):
    words = words_of(line, home)
    asked = home.run_in_terminal(*words, columns=columns, **variables)
    cold = home.run_in_terminal(*words, columns=columns, ask=False, **variables)
    assert (asked.asked, cold.asked) == (True, False)
    assert masked(asked.out) == masked(cold.out)
    assert asked.code == cold.code
    assert ("\x1b[" in asked.out) is ("TTY_COMPATIBLE" not in variables)


def test_colours_that_are_wished_for_come_through_a_pipe(home):
    asked, cold = (home.run("search", "deploy", ask=ask, FORCE_COLOR="1") for ask in (True, False))
    assert (asked.asked, cold.asked) == (True, False)
    assert masked(asked.out) == masked(cold.out)
    assert "\x1b[1m" in asked.out


def test_what_one_saves_the_other_finds(home):
    saved = home.run("save", "The ferry to the island of Muck sails at noon on Tuesdays only.", "--json")
    assert (saved.asked, saved.code) == (True, 0)
    memory = json.loads(saved.out)["memory_id"]
    found = home.run("search", "ferry to Muck", "-k", "1", "--json", ask=False)
    assert json.loads(found.out)["results"][0]["memory_id"] == memory
    later = home.run(
        "save", "The ferry to the island of Rum sails at dawn, Sundays only.", "--json", ask=False
    )
    memory = json.loads(later.out)["memory_id"]
    found = home.run("search", "ferry to Rum at dawn", "-k", "1", "--json")
    assert found.asked
    assert json.loads(found.out)["results"][0]["memory_id"] == memory
    rated = home.run("feedback", "last", "1", "helpful")
    assert (rated.asked, rated.code) == (True, 0)
    assert home.run("feedback", "last", "1", "helpful", ask=False).out.startswith("Already rated helpful")
    gone = home.run("forget", memory)
    assert (gone.asked, gone.code) == (True, 0)
    assert memory not in home.run("search", "ferry to Rum at dawn", "--json", ask=False).out


def test_a_text_on_standard_input_is_read_by_the_command_itself(home):
    done = home.run("save", "-", "--json", given="The kiln in the shed is fired on Mondays, by Ida alone.")
    assert (done.asked, done.code, json.loads(done.out)["status"]) == (False, 0, "live")
    home.run("search", "when is the kiln fired?")
    looked = home.run("observe", "last", given="Ida fires the kiln in the shed on Mondays.")
    assert (looked.asked, looked.code) == (False, 0)
    assert "used" in looked.out


def test_a_note_that_the_gate_holds_ends_with_3(home):
    settings = home.path / "slowwave.toml"
    before = settings.read_text()
    settings.write_text(f'{before}\n[gate]\nmode = "enforce"\nmin_characters = 300\n')
    try:
        asked = home.run("save", "Thursday, more or less, is what somebody said about the boiler perhaps.")
        cold = home.run(
            "save", "Friday, more or less, is what somebody said of the kettle perhaps.", ask=False
        )
    finally:
        settings.write_text(before)
    assert (asked.code, cold.code, asked.asked) == (3, 3, True)
    told = [re.sub(r"\b[a-z2-7]{26}\b", "M", one.out) for one in (asked, cold)]
    assert told[0] == told[1]
    assert "Quarantined M: too_short" in told[0]


def test_commands_at_once_have_their_own_answers(home):
    done: dict[str, Done] = {}

    def run(key: str) -> None:
        words = [sys.executable, "-m", "slowwave", "get", home.memory_ids[key]]
        said = subprocess.run(words, env=home.environment, capture_output=True, timeout=300, check=False)
        done[key] = Done(said.stdout.decode(), said.stderr.decode(), said.returncode, asked=True)

    threads = [threading.Thread(target=run, args=(key,)) for key in NOTES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key, text in NOTES.items():
        said = " ".join(done[key].out.split())
        assert text in said
        assert (done[key].err, done[key].code) == ("", 0)


# -- what is never asked, and what changes meanwhile ----------------------------------------------


def test_other_settings_in_variables_start_cold(home):
    other = home.run("search", "deploy", SLOWWAVE_NAMESPACE="nobody")
    assert not other.asked
    assert "nobody" in other.out + other.err
    assert not home.run("search", "deploy", SLOWWAVE_RANKING__CANDIDATES="60").asked
    assert home.run("search", "deploy").asked


def test_settings_that_change_while_it_runs_count_at_once(home):
    settings = home.path / "slowwave.toml"
    before = settings.read_text()
    try:
        settings.write_text(f"{before}\n[ranking]\nabstention_floor = 1.0\n")
        strict = home.run("search", "deploy", "--json")
        settings.write_text(f"{before}\n[ranking]\npolicy_file = 'own.json'\n")
        for floor, name in ((0.0, "generous"), (1.0, "strict")):
            (home.path / "own.json").write_text(
                json.dumps({"policy": {"name": name, "abstention_floor": floor}})
            )
            asked, cold = (home.run("explain", "deploy", ask=ask) for ask in (True, False))
            assert (asked.asked, masked(asked.out)) == (True, masked(cold.out))
            assert name in asked.out
        settings.write_text("nonsense")
        wrong, cold = home.run("search", "deploy"), home.run("search", "deploy", ask=False)
    finally:
        settings.write_text(before)
    assert strict.asked
    assert json.loads(strict.out)["abstained"]
    assert (wrong.asked, wrong.code, wrong.err) == (True, 1, cold.err)
    assert "TOML" in wrong.err
    assert json.loads(home.run("search", "deploy", "--json").out)["results"]


def test_tables_that_are_made_again_or_gone_are_seen(own):
    own.start()
    assert own.run("rebuild", "--json", ask=False).code == 0
    asked, cold = (own.run("search", "deploy", ask=ask) for ask in (True, False))
    assert asked.asked
    assert masked(asked.out) == masked(cold.out)
    assert "1. Deploy" in asked.out
    (own.path / "lance").rename(own.path / "elsewhere")
    gone, cold = (own.run("search", "deploy", ask=ask) for ask in (True, False))
    assert (gone.asked, gone.code) == (True, 1)
    assert (gone.out, gone.err) == (cold.out, cold.err)
    (own.path / "elsewhere").rename(own.path / "lance")
    assert "1. Deploy" in own.run("search", "deploy").out
    assert own.stop()[0] == 0


def test_commands_about_a_copy_of_the_home_are_about_the_copy(own):
    own.start()
    copy = own.path.with_name("copy")
    shutil.copytree(own.path, copy)
    saved = own.run("--home", str(copy), "save", "The heron stands by the weir at dawn, all March.", "--json")
    assert (saved.asked, saved.code) == (False, 0)
    memory = json.loads(saved.out)["memory_id"]
    assert own.run("get", memory).code == 1
    assert own.run("--home", str(copy), "get", memory).code == 0
    assert own.run("search", "deploy").asked
    running = pidfile.read(own.path)
    assert running is not None
    request = {
        "version": slowwave.__version__, "words": ["search", "deploy"], "variables": {}, "looks": {},
        "columns": 80, "lines": 24, "terminals": [False, False],
    }  # fmt: skip
    for home, answers in ((own.path, True), (copy, False)):  # whatever a process sends there
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.connect(running.socket)
            protocol.send(end, {**request, "home": pidfile.home_identity(home)})
            assert ("ready" in protocol.receive(end, protocol.MAX_REQUEST)) is answers


def test_another_model_is_used_at_once(own):
    own.start()
    assert own.run("reembed", "--model", "bge-small-en-v1.5", ask=False).code == 0
    asked, cold = (own.run("search", "deploy", "--json", ask=ask) for ask in (True, False))
    assert asked.asked
    assert masked(asked.out) == masked(cold.out)
    assert json.loads(asked.out)["results"]


# -- its beginning and its end -------------------------------------------------------------------


def test_a_second_one_is_refused_and_an_end_leaves_nothing(own):
    own.start(cold=True)
    running = pidfile.read(own.path)
    assert running is not None
    second = subprocess.run(
        warm.python("-m", "slowwave", "up", "--no-night", "--page-port", free_port()),
        env=own.environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert second.returncode == 1
    assert f"running already (process {running.pid}" in second.stderr
    told = json.loads(own.run("doctor", "--json", ask=False).out)["findings"][-1]
    assert (told["subject"], told["ok"]) == ("running", True)
    assert f"process {running.pid}" in told["message"]
    assert own.stop(signal.SIGTERM) == (0, "")
    assert pidfile.read(own.path) is None
    assert not Path(running.socket).parent.exists()
    assert json.loads(own.run("doctor", "--json", ask=False).out)["findings"][-1]["message"].startswith(
        "no server (slowwave up)"
    )
    own.start()
    assert own.stop(signal.SIGINT) == (0, "")


def test_one_that_is_killed_is_in_nobodys_way(own):
    own.start(cold=True)
    running = pidfile.read(own.path)
    assert running is not None
    own.stop(signal.SIGKILL)
    assert pidfile.read(own.path) == running
    done = own.run("search", "deploy")
    assert (done.asked, done.code) == (False, 0)
    assert "1. Deploy" in done.out
    told = json.loads(own.run("doctor", "--json", ask=False).out)["findings"][-1]
    assert (told["ok"], told["message"][:23]) == (True, "no server (slowwave up)")
    own.start()
    assert not Path(running.socket).parent.exists()
    assert own.run("search", "deploy").asked


def test_one_of_another_version_is_not_asked(own):
    own.start()
    running = pidfile.read(own.path)
    assert running is not None
    pidfile.write(own.path, running._replace(version="0.0.1"))
    assert not own.run("get", own.memory_ids["deploy"]).asked
    assert own.process is not None
    assert own.process.wait(120) == 1  # another one's file is in the place of its own
    own.process.communicate()
    own.process = None


def test_without_a_home_there_is_nothing_to_run(tmp_path):
    nowhere = Home(tmp_path / "nowhere")
    done = nowhere.run("up", "--no-night")
    assert done.code == 1
    assert "There is no home" in done.err
    assert not nowhere.path.exists()


def test_assistants_are_served_by_the_same_process(own):
    token = own.run("mcp", "token", "-n", "default", "--principal", "ada", ask=False).out.strip()
    port = free_port()
    own.start("--port", port, cold=True)

    def call(tool: str, **arguments: str) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/mcp",
            json.dumps(asked).encode(),
            {
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["result"]["structuredContent"]

    saved = call("memory_save", content="The heron stands by the weir at dawn, all through March.")
    found = own.run("search", "where is the heron?", "--json")
    assert found.asked
    assert json.loads(found.out)["results"][0]["memory_id"] == saved["memory_id"]
    assert own.run("save", "The otter came back to the mill pond on the ninth of April.").asked
    assert "otter" in str(call("memory_search", query="when did the otter come back?")["results"][0])
    assert own.stop() == (0, "")


def test_the_http_api_is_served_by_the_same_process(own):
    token = own.run("mcp", "token", "-n", "default", "--principal", "ada", ask=False).out.strip()
    where = own.start("--port", free_port(), "--api-port", free_port(), cold=True)["api"]

    def ask(path: str, **body: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(where + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)

    saved = ask("/v1/memories", content="The heron stands by the weir at dawn, all through March.")
    found = own.run("search", "where is the heron?", "--json")
    assert found.asked
    assert json.loads(found.out)["results"][0]["memory_id"] == saved["memory_id"]
    assert own.run("save", "The otter came back to the mill pond on the ninth of April.").asked
    assert "otter" in str(ask("/v1/search", query="when did the otter come back?")["results"][0])
    with urllib.request.urlopen(f"{where}/docs", timeout=300) as page:
        assert "/v1/search" in page.read().decode()
    assert own.stop() == (0, "")


def test_the_page_is_served_by_the_same_process(own):
    """A link opens one session, `slowwave page` makes as many as are wanted; all see what others do."""
    own.run("mcp", "token", "-n", "default", "--principal", "ada", ask=False)
    where = own.start("--port", free_port(), cold=True)["page"]
    asked = [own.run("page", "--json") for _ in range(2)]
    assert all(one.asked for one in asked)
    links = [json.loads(one.out)["link"] for one in asked]
    assert links[0] != links[1]
    browsers = [urllib.request.build_opener(urllib.request.HTTPCookieProcessor()) for _ in links]
    for browser, link in zip(browsers, links, strict=True):
        assert link.startswith(f"{where}/enter?key=")
        with browser.open(link, timeout=300) as page:
            assert "<title>" in page.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(link, timeout=300)
    assert own.run("save", "The heron stands by the weir at dawn, all through March.").asked
    for browser in browsers:
        with browser.open(f"{where}/?q=where+is+the+heron", timeout=300) as page:
            assert "by the weir at dawn" in page.read().decode()
    alone = own.run("page", "--port", where.rpartition(":")[2])  # one of its own, which finds that port taken
    assert (alone.asked, alone.code, alone.out) == (False, 1, "")
    assert "Set another port with --port" in alone.err
    assert own.stop() == (0, "")


def test_without_a_wish_the_page_takes_another_port_where_its_own_is_taken():
    with ExitStack() as parts:
        taken = parts.enter_context(socket.socket())
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        end = parts.enter_context(listening("127.0.0.1", port, or_any=True))
        assert end.getsockname()[1] not in (0, port)
        free = int(free_port())
        assert parts.enter_context(listening("127.0.0.1", free, or_any=True)).getsockname()[1] == free
        with pytest.raises(SlowwaveError, match="Set another port with --page-port"):
            parts.enter_context(listening("127.0.0.1", port, "--page-port"))
        with pytest.raises(SlowwaveError, match="Cannot listen on"):
            parts.enter_context(listening("203.0.113.7", port, or_any=True))  # an address of another machine


@pytest.mark.skipif(find_spec("dagster") is None, reason="the night is not installed")
@pytest.mark.parametrize(("words", "code"), [((), 0), (("--ui-port",), 1)], ids=["default", "asked for"])
def test_dagster_has_another_port_where_its_own_is_taken_and_one_that_was_asked_for_is_told(
    words, code, monkeypatch
):
    with socket.create_server(("127.0.0.1", 0)) as taken, ExitStack() as parts:
        port = taken.getsockname()[1]
        monkeypatch.setattr("slowwave.cli.up._DAGSTER_PORT", port)
        ports = up._Ports(8760, None, None, port if words else None, "127.0.0.1", True)
        if code:
            with pytest.raises(SlowwaveError, match=f"Cannot listen on .*{port} .* with --ui-port"):
                up._reserve_for_dagster(ports, parts)
        else:
            assert up._reserve_for_dagster(ports, parts) not in (None, 0, port)
        assert up._reserve_for_dagster(ports._replace(night=False), parts) is None


@pytest.mark.skipif(find_spec("dagster") is None, reason="the night is not installed")
@pytest.mark.timeout(300)
def test_ctrl_c_ends_it_with_a_word_of_ours_alone_while_dagster_starts(own):
    """Dagster takes it with a traceback, or `Aborted!`, for as long as it loads itself."""
    ports = ("--port", free_port(), "--page-port", free_port(), "--ui-port", free_port())
    own.process = subprocess.Popen(
        [sys.executable, "-m", "slowwave", "up", *ports], env=own.environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not (own.path / "dagster/workspace.yaml").exists():
        assert own.process.poll() is None
        time.sleep(0.05)
    time.sleep(1)  # it is loading now
    os.killpg(own.process.pid, signal.SIGINT)  # as a terminal does
    out, err = own.process.communicate(timeout=120)
    code, own.process = own.process.returncode, None
    assert (code, err) == (0, "")
    assert out.startswith("Running; stop with Ctrl-C.\n")
    assert out.endswith("/readyz\nStopped.\n")


def test_with_logs_as_json_every_line_of_standard_error_is_an_object(own):
    own.environment["SLOWWAVE_TELEMETRY__LOGS"] = "json"
    where = own.start()
    assert own.run("search", "when do we deploy?").asked
    asked, cold = (own.run("get", "nosuchmemory", ask=ask) for ask in (True, False))
    assert (asked.asked, cold.asked) == (True, False)
    said = [json.loads(one.err) | {"at": ""} for one in (asked, cold)]
    assert said[0] == said[1]
    assert said[0]["level"] == "error"
    with socket.create_connection(("127.0.0.1", int(where["page"].rpartition(":")[2])), timeout=60) as end:
        end.sendall(b"\0no request\r\n\r\n")
        end.recv(4_096)
    code, rest = own.stop()
    assert code == 0
    lines = [json.loads(line) for line in rest.splitlines()]
    told = [line.get("event") or line["message"] for line in lines]
    assert told == ["search", "Invalid HTTP request received."]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = own.run("up", "--no-night", "--page-port", str(taken.getsockname()[1]), ask=False)
    assert (done.code, json.loads(done.err)["level"]) == (1, "error")


def test_logs_as_json_that_are_asked_for_while_it_runs_count_after_a_restart(own):
    own.start()
    with (own.path / "slowwave.toml").open("a") as file:
        file.write('\n[telemetry]\nlogs = "json"\n')
    assert own.run("search", "when do we deploy?").asked
    refused = own.run("get", "nosuchmemory")
    assert refused.asked
    assert refused.err.startswith("Error: ")
    assert own.stop() == (0, "")


@pytest.mark.skipif(find_spec("dagster") is None, reason="the night is not installed")
def test_a_port_of_dagster_that_is_taken_is_told_before_anything_starts(own):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = own.run("up", "--ui-port", str(taken.getsockname()[1]), "--page-port", free_port(), ask=False)
    assert (done.code, done.out) == (1, "")
    assert "Set another port with --ui-port" in done.err
    assert pidfile.read(own.path) is None


def test_a_half_restored_home_is_refused_with_the_words_of_restoring(own):
    (own.path / RESTORING).write_text(json.dumps({"backup": "one"}))
    done = own.run("up", "--no-night", "--page-port", free_port(), ask=False)
    assert (done.code, done.out) == (1, "")
    assert "run the same `slowwave restore` again" in done.err
    assert "Traceback" not in done.err
    assert pidfile.read(own.path) is None


def test_where_everything_is_is_told_as_it_is(capsys):
    """What stands in square brackets is no style of the terminal's."""
    here = up._Place("http://[fe80::1]:8770")
    lacks = up._Place("", "not served: pip install '.[api,mcp]' in Slowwave's folder")
    up._print_places(Path("/home/[bold]ada"), here, lacks, lacks, lacks, here)
    told = capsys.readouterr().out
    assert "/home/[bold]ada" in told
    assert "http://[fe80::1]:8770" in told
    assert told.count("pip install '.[api,mcp]' in") == 3


def test_without_a_token_it_says_a_command_that_makes_one(home, monkeypatch):
    told = up._no_token().why_not
    assert "`slowwave mcp token --namespace NAMESPACE --principal NAME`" in told
    words = ["mcp", "token", "--namespace", "NAMESPACE", "--principal", "NAME"]
    assert home.run(*words, SLOWWAVE_MCP__TOKENS="[]").code == 0
    monkeypatch.setenv("SLOWWAVE_MCP__TOKENS", "[]")
    assert "SLOWWAVE_MCP__TOKENS is set and names none" in up._no_token().why_not


@pytest.mark.parametrize(
    ("option", "other"), [("--port", "--page-port"), ("--page-port", "--port"), ("--api-port", "--port")]
)
def test_a_port_that_is_taken_is_told_before_anything_starts(own, option, other):
    own.run("mcp", "token", "-n", "default", "--principal", "ada", ask=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = own.run("up", "--no-night", option, str(taken.getsockname()[1]), other, free_port(), ask=False)
    assert done.code == 1
    assert f"Set another port with {option}" in done.err
    assert pidfile.read(own.path) is None


# -- the program beside it -----------------------------------------------------------------------


def test_pauses_double_up_to_a_minute_and_begin_again_after_a_long_run():
    pauses, pause = [], 0.0
    for ran in (1, 1, 1, 1, 1, 1, 1, 1, ENOUGH_S - 1, ENOUGH_S, 0):
        pause = next_backoff(pause, ran)
        pauses.append(pause)
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_S, 60, 60, 1, 2]


def test_a_child_that_dies_is_started_again_and_ends_when_it_is_told_to(tmp_path, monkeypatch):
    monkeypatch.setattr("slowwave.cli.supervisor.FIRST_S", 0.01)
    runs, told, again = tmp_path / "runs", [], threading.Semaphore(0)
    program = (
        "import pathlib, sys, time\n"
        f"runs = pathlib.Path({str(runs)!r})\n"
        "count = len(runs.read_text()) if runs.exists() else 0\n"
        "runs.write_text('x' * (count + 1))\n"
        "sys.exit(5) if count < 2 else time.sleep(600)\n"
    )

    def tell(code: int, pause: float) -> None:
        told.append((code, pause))
        again.release()

    kept = SupervisedProcess([sys.executable, "-c", program], os.environ, tell)
    kept.start()
    assert again.acquire(timeout=120)
    assert again.acquire(timeout=120)
    while not runs.exists() or len(runs.read_text()) < 3:
        time.sleep(0.01)
    kept.stop()
    assert told == [(5, 0.01), (5, 0.02)]
    assert len(runs.read_text()) == 3


KEEPS = """
import os, sys, time
from slowwave.cli.supervisor import SupervisedProcess
SupervisedProcess([sys.executable, "-c", sys.argv[1]], os.environ, print).start()
time.sleep(600)
"""
RUNS = """
import os, sys
from slowwave.orchestration.process_groups import run_group
program = "import os, time; open(os.environ['TOLD'], 'w').write(str(os.getpid())); time.sleep(600)"
run_group([sys.executable, "-c", program], os.environ, grace=1.0, with_input=True)
"""


def test_the_child_of_a_killed_memory_ends_with_all_that_it_started(tmp_path):
    told = tmp_path / "told"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TOLD": str(told)}
    parent = subprocess.Popen([sys.executable, "-c", KEEPS, RUNS], env=environment)
    try:
        while not told.exists() or not told.read_text():
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    started = int(told.read_text())
    while _is_there(started):  # the limit of the test is the limit of this
        time.sleep(0.05)


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_night_runs_as_a_process_of_its_own(own, monkeypatch):
    """`slowwave ui` is started with this home and its port, and asked to end at the end."""
    seen: list[Any] = []

    class Child:
        def __init__(self, command: list[str], environment: Any, tell: Any) -> None:
            seen.append((command, dict(environment)["SLOWWAVE_HOME"]))

        def start(self) -> None:
            seen.append("start")

        def stop(self, hurry: threading.Event) -> None:
            seen.append("stop")

    monkeypatch.setattr("slowwave.cli.supervisor.SupervisedProcess", Child)
    monkeypatch.setenv("SLOWWAVE_HOME", str(own.path))
    with ExitStack() as parts:
        ports = up._Ports(8760, None, None, None, "127.0.0.1", True)
        where = up._run_night(ports, 3999, threading.Event(), parts, up._Night())
        assert where.url == "http://127.0.0.1:3999"
        told = [
            up._run_night(one, None, threading.Event(), parts, up._Night()).why_not
            for one in (ports, ports._replace(night=False))
        ]
        assert told == ["not run: pip install '.[night]' in Slowwave's folder", "not run: --no-night"]
    words = [sys.executable, "-m", "slowwave", "ui", "--host", "127.0.0.1", "--port", "3999", "--with-input"]
    assert seen == [(words, str(own.path)), "start", "stop"]
