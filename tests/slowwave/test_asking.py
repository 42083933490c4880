"""Asking a running memory: what is asked, where it says that it runs, what is said and when."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import slowwave
from slowwave.errors import SlowwaveError
from slowwave.ipc import client, pidfile, protocol, request
from slowwave.ipc.request import Command, command_of, own_variables
from slowwave.ipc.server import MAX_AT_ONCE, RequestListener


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith("SLOWWAVE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TERM", "xterm-256color")


# -- what is asked -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "writes"),
    [
        (["search", "deploy"], False), (["explain", "--json", "x"], False), (["wakeup"], False),
        (["recall"], False), (["show", "last"], False), (["get", "m1", "--plain"], False),
        (["stats", "m1"], False), (["history", "m1"], False), (["decisions"], False),
        (["decisions", "accept", "d1"], True), (["decisions", "-n", "ada", "decline", "d1"], True),
        (["save", "a note"], True), (["feedback", "last", "1", "helpful"], True),
        (["observe", "last", "an answer"], True), (["outcome", "p", "success"], True),
        (["forget", "m1"], True), (["remember", "m1"], True), (["undo", "d1"], True),
    ],
)  # fmt: skip
def test_short_commands_about_one_namespace_are_asked(words, writes, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path))
    assert command_of(words) == Command(tmp_path, words[0], writes)


@pytest.mark.parametrize(
    "words",
    [
        [], ["--help"], ["--version"], ["search", "--help"], ["save", "-"], ["observe", "last", "-"],
        ["--install-completion"], ["--home"], ["--home", "x"], ["--home=x"], ["--homes=x", "search", "x"],
        ["night"], ["erase", "m1"], ["up"], ["mcp"], ["judge"], ["doctor"], ["export"], ["capture"],
        ["settings"], ["serch", "x"], ["-n", "ada", "search", "x"],
    ],
)  # fmt: skip
def test_everything_else_starts_cold(words):
    assert command_of(words) is None


def test_a_variable_forbids_to_ask(monkeypatch):
    monkeypatch.setenv("SLOWWAVE_ASK", "0")
    assert command_of(["search", "x"]) is None
    monkeypatch.setenv("SLOWWAVE_ASK", "1")
    assert command_of(["search", "x"]) is not None


def test_the_home_is_the_one_that_the_command_would_find(tmp_path, monkeypatch):
    def home(*words: str) -> Path:
        found = command_of(words)
        assert found is not None
        return found.home

    (tmp_path / ".slowwave").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert home("search", "x") == tmp_path / ".slowwave"
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "named"))
    assert home("search", "x") == tmp_path / "named"
    assert home("--home", "other", "search", "x") == tmp_path / "deep" / "other"
    assert home("--home", "first", "--home=../last", "search", "x") == tmp_path / "last"


def test_settings_in_variables_are_compared_and_the_home_is_not():
    given = {"SLOWWAVE_HOME": "/a", "SLOWWAVE_ASK": "1", "slowwave_namespace": "ada", "PATH": "/bin"}
    assert own_variables(given | {"SLOWWAVE_DEBUG": "1"}) == {
        "slowwave_namespace": "ada",
        "SLOWWAVE_DEBUG": "1",
    }


@pytest.mark.parametrize("dumb", ["dumb", "UNKNOWN"])
def test_a_terminal_with_a_size_of_its_own_is_not_asked_for(dumb, monkeypatch):
    assert request.request_of(["search", "x"]) is not None
    monkeypatch.setenv("TERM", dumb)
    assert request.request_of(["search", "x"]) is None


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_an_encoding_other_than_utf_8_is_not_asked_for(name, monkeypatch):
    latin = SimpleNamespace(encoding="latin-1", isatty=lambda: False)
    monkeypatch.setattr(f"sys.{name}", latin)
    assert request.request_of(["search", "x"]) is None
    monkeypatch.setattr(f"sys.{name}", None)
    assert request.request_of(["search", "x"]) is None


# -- where it says that it runs ------------------------------------------------------------------


RUNNING = pidfile.ServerInfo(1, "/nowhere/ask", slowwave.__version__, "2026-03-01T00:00:00+00:00")


def test_what_a_home_says_is_read_back_and_is_its_owners(tmp_path):
    assert pidfile.read(tmp_path) is None
    pidfile.write(tmp_path, RUNNING)
    assert pidfile.read(tmp_path) == RUNNING
    assert (tmp_path / "up.json").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["up.json"]
    pidfile.remove(tmp_path, RUNNING)
    assert list(tmp_path.iterdir()) == []


def test_only_the_one_that_wrote_it_removes_it(tmp_path):
    pidfile.write(tmp_path, RUNNING)
    pidfile.remove(tmp_path, RUNNING._replace(pid=2))
    assert pidfile.read(tmp_path) == RUNNING


def test_a_copy_of_a_home_says_nothing_and_takes_nothing_from_the_other(tmp_path):
    first, copy, folder = tmp_path / "first", tmp_path / "copy", tmp_path / f"{pidfile.FOLDER}x"
    first.mkdir()
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(str(folder / "ask"))
        running = RUNNING._replace(socket=str(folder / "ask"))
        with pidfile.acquire(first):
            pidfile.write(first, running)
            shutil.copytree(first, copy)
            assert pidfile.read(copy) is None
            with pidfile.acquire(copy):
                pass
            assert (folder / "ask").exists()
            assert pidfile.read(first) == running
            first.rename(tmp_path / "moved")  # it is the same one, wherever it is
            assert pidfile.read(tmp_path / "moved") == running


@pytest.mark.parametrize("text", ["", "no", "[]", "{}", '{"pid": "x"}', '"a"', "\udcff"])
def test_a_file_that_says_nothing_is_no_memory(text, tmp_path):
    (tmp_path / "up.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "up.json").chmod(0o600)
    assert pidfile.read(tmp_path) is None


def test_a_file_that_others_may_write_or_read_is_not_believed(tmp_path, monkeypatch):
    pidfile.write(tmp_path, RUNNING)
    (tmp_path / "up.json").chmod(0o660)
    assert pidfile.read(tmp_path) is None
    (tmp_path / "up.json").chmod(0o600)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert pidfile.read(tmp_path) is None


def test_a_second_one_is_refused_and_told_who_is_first(tmp_path):
    assert not pidfile.is_acquired(tmp_path)
    with pidfile.acquire(tmp_path):
        pidfile.write(tmp_path, RUNNING)
        assert pidfile.is_acquired(tmp_path)
        with (
            pytest.raises(SlowwaveError, match=r"running already \(process 1, since 2026"),
            pidfile.acquire(tmp_path),
        ):
            pass
        assert pidfile.read(tmp_path) == RUNNING
    assert not pidfile.is_acquired(tmp_path)


def test_what_a_killed_one_left_is_removed_with_its_socket(tmp_path):
    folder = tmp_path / f"{pidfile.FOLDER}x"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "ask"))
    pidfile.write(tmp_path, RUNNING._replace(socket=str(folder / "ask")))
    with pidfile.acquire(tmp_path):
        assert pidfile.read(tmp_path) is None
        assert not folder.exists()


def test_a_file_that_is_no_socket_of_ours_stays(tmp_path):
    precious = tmp_path / f"{pidfile.FOLDER}x" / "precious"
    precious.parent.mkdir()
    precious.write_text("kept")
    pidfile.remove(tmp_path, RUNNING._replace(socket=str(precious)))
    assert precious.read_text() == "kept"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "other"))
    pidfile.remove(tmp_path, RUNNING._replace(socket=str(tmp_path / "other")))
    assert (tmp_path / "other").exists()


# -- messages ------------------------------------------------------------------------------------


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    with here, there:
        yield here, there


def test_a_message_arrives_as_it_was_sent(ends):
    message = {"words": ["büro", "\udcff", ""], "deep": {"n": [1, None]}}
    protocol.send(ends[0], message)
    protocol.send(ends[0], {"next": 1})
    assert protocol.receive(ends[1], 1000) == message
    assert protocol.receive(ends[1], 1000) == {"next": 1}


@pytest.mark.parametrize(
    "sent", [b"", b"\0\0", b"\0\0\0\5{}", b"\0\0\0\2no", b"\0\0\0\2[]", b"\xff\xff\xff\xff{}"]
)
def test_what_is_no_message_is_nobody(ends, sent):
    ends[0].sendall(sent)
    ends[0].shutdown(socket.SHUT_WR)
    with pytest.raises(protocol.ConnectionLostError):
        protocol.receive(ends[1], 1000)


def test_the_other_end_is_of_the_same_user(ends, monkeypatch):
    assert protocol.is_same_user(ends[0])
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert not protocol.is_same_user(ends[0])


# -- both sides ----------------------------------------------------------------------------------


@pytest.fixture
def asked(tmp_path, monkeypatch) -> Iterator[Callable[..., int | None]]:
    """Asks a listener with the given answer, for a home that says where it is."""
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path))
    listeners = []

    def ask(answer: Any, *words: str, version: str = slowwave.__version__) -> int | None:
        listener = RequestListener(answer)
        listeners.append(listener)
        listener.start()
        pidfile.write(tmp_path, RUNNING._replace(socket=listener.path, version=version))
        return client.ask(words or ("search", "x"))

    yield ask
    for listener in listeners:
        listener.close()
        pidfile.remove(tmp_path, RUNNING._replace(socket=listener.path))


def test_the_answer_is_printed_and_its_code_is_the_end(asked, capfdbinary):
    said = [(1, "ü\n".encode().decode("latin-1")), (2, "warned\n"), (1, "\x1b[1mend\x1b[0m")]
    seen = []

    def answer(given: dict[str, Any]) -> Any:
        seen.append(given)
        return lambda: {"said": said, "code": 3}

    assert asked(answer, "save", "a note", "--title", "büro") == 3
    told = capfdbinary.readouterr()
    assert told.out == "ü\n\x1b[1mend\x1b[0m".encode()
    assert told.err == b"warned\n"
    assert seen[0]["words"] == ["save", "a note", "--title", "büro"]
    assert seen[0]["looks"]["TERM"] == "xterm-256color"


def test_a_socket_is_its_owners_alone(asked, tmp_path):
    asked(lambda _: None)
    running = pidfile.read(tmp_path)
    assert running is not None
    path = Path(running.socket)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("answer", [lambda _: None, lambda _: lambda: None], ids=["at once", "when it tried"])
def test_a_memory_may_say_that_the_command_is_to_start_cold(asked, answer, capfd):
    assert asked(answer, "save", "x") is None
    assert capfd.readouterr() == ("", "")


def test_another_version_is_not_asked(asked):
    assert asked(lambda _: pytest.fail("asked"), version="0.0.1") is None


def test_a_request_that_is_too_long_is_not_sent(asked):
    seen = []
    assert asked(lambda given: seen.append(given), "save", "x" * (protocol.MAX_REQUEST + 1)) is None
    assert seen == []


def _fault() -> dict[str, Any]:
    raise RuntimeError("the process ends here")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_memory_that_goes_away_is_not_asked_twice_to_write(asked, capfd):
    assert asked(lambda _: _fault, "search", "x") is None
    assert capfd.readouterr() == ("", "")
    assert asked(lambda _: _fault, "save", "x") == 1
    told = capfd.readouterr().err
    assert "`slowwave save` may be done" in told
    assert "slowwave search" in told


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_memory_that_goes_away_before_it_began_is_none(asked, capfd):
    assert asked(lambda _: _fault(), "save", "x") is None
    assert capfd.readouterr() == ("", "")


def test_nothing_is_done_for_a_client_that_does_not_say_go():
    done = []
    listener = RequestListener(lambda _: lambda: done.append(1) or {"said": [], "code": 0})
    listener.start()
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(listener.path)
        protocol.send(end, {"words": []})
        assert protocol.receive(end, 100) == {"ready": True}
    listener.close()
    assert done == []
    Path(listener.path).unlink()
    Path(listener.path).parent.rmdir()


def test_a_client_that_goes_away_harms_nothing(asked):
    finish = threading.Event()
    begun = threading.Event()

    def slow() -> dict[str, Any]:
        begun.set()
        finish.wait(60)
        return {"said": [[1, "x" * 1_000_000]], "code": 0}

    listener = RequestListener(lambda _: slow)
    listener.start()
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(listener.path)
        protocol.send(end, {"words": []})
        protocol.receive(end, 100)
        protocol.send(end, {"go": True})
        assert begun.wait(60)
    finish.set()
    assert asked(lambda _: lambda: {"said": [], "code": 4}) == 4
    listener.close()
    Path(listener.path).unlink()
    Path(listener.path).parent.rmdir()


@pytest.mark.parametrize(("slow", "code"), [(1, 7), (MAX_AT_ONCE, None)])
def test_a_slow_request_is_in_nobodys_way_and_beside_too_many_a_command_starts_cold(slow, code, asked):
    finish, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> dict[str, Any]:
        begun.release()
        finish.wait(60)
        return {"said": [], "code": 0}

    def answer(given: dict[str, Any]) -> Any:
        return wait if given["words"][1] == "slow" else lambda: {"said": [], "code": 7}

    codes: list[int | None] = []
    first = threading.Thread(target=lambda: codes.append(asked(answer, "search", "slow")))
    others = [
        threading.Thread(target=lambda: codes.append(client.ask(["search", "slow"]))) for _ in range(slow - 1)
    ]
    for one in (first, *others):
        one.start()
        assert begun.acquire(timeout=60)
    assert client.ask(["search", "quick"]) == code
    finish.set()
    for one in (first, *others):
        one.join(60)
    assert codes == [0] * slow


def test_who_reads_no_further_ends_it_quietly(asked, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        assert asked(lambda _: lambda: {"said": [[1, "x\n"]], "code": 0}) == 1


def test_a_home_where_nobody_listens_starts_cold(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path))
    assert client.ask(["search", "x"]) is None
    pidfile.write(tmp_path, RUNNING)
    assert client.ask(["search", "x"]) is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "ask"))
    pidfile.write(tmp_path, RUNNING._replace(socket=str(tmp_path / "ask")))
    assert client.ask(["search", "x"]) is None
    assert json.loads((tmp_path / "up.json").read_text())["pid"] == 1  # whoever runs next removes it
