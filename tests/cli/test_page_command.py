"""The command that serves the page, before it serves."""

from __future__ import annotations

import importlib
import json
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest
import servers
from starlette.testclient import TestClient

from slowwave.errors import SlowwaveError
from slowwave.settings import load
from slowwave.web.serving import address

PROBE = """
import sys
from slowwave.cli import main
try:
    main()
except SystemExit:
    pass
print(sorted({'starlette', 'jinja2', 'uvicorn', 'anyio'} & set(sys.modules)))
"""


page = importlib.import_module("slowwave.cli.page")  # the package's name is the command


@pytest.fixture
def served(monkeypatch, run, memory):
    """Runs the command; what it would have served."""
    made = []
    monkeypatch.setattr("slowwave.web.serving.serve", lambda *parts: made.append(parts))

    def serve(*words: str):
        done = run("page", *words)
        return SimpleNamespace(done=done, parts=made[-1] if made else None)

    return serve


def test_its_link_lets_a_person_in(served, home):
    port = servers.free_port()
    found = served("--json", "--port", str(port))
    assert found.done.exit_code == 0, found.done.output
    address = json.loads(found.done.stdout)["link"]
    assert address.startswith(f"http://127.0.0.1:{port}/enter?key=")
    serving, _, memories, namespaces = found.parts
    assert namespaces == ["default"]
    client = TestClient(serving.config.app, base_url=f"http://127.0.0.1:{port}", follow_redirects=False)
    assert client.get(address).status_code == 303
    assert "default" in client.get("/").text
    memories.close()


def test_without_json_the_link_is_all_of_its_output_and_a_taken_port_is_in_nobodys_way(served, monkeypatch):
    port = servers.free_port()
    monkeypatch.setattr(page, "PORT", port)  # what listens on this machine's 8770 is none of ours
    with socket.socket() as other:
        found = served()
        (line,) = found.done.stdout.splitlines()
        assert line.startswith(f"http://127.0.0.1:{port}/enter?key=")
        found.parts[2].close()
        other.bind(("127.0.0.1", port))
        other.listen()
        beside = served()
        (line,) = beside.done.stdout.splitlines()
        assert line.startswith("http://127.0.0.1:")
        assert f":{port}/" not in line
        beside.parts[2].close()


def test_other_machines_need_a_name(served):
    found = served("--host", "0.0.0.0")
    assert found.done.exit_code == 1
    assert "mcp.allowed_hosts" in found.done.output
    assert found.parts is None


def test_it_says_at_once_what_it_starts(served, home):
    found = served()
    assert f"Starting the web page of {home}" in " ".join(found.done.stderr.split())
    found.parts[2].close()


DEMO = """
import argparse, os, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("--home", type=pathlib.Path)
home = parser.parse_args().home
home.mkdir(exist_ok=True)
with (home / "runs").open("a") as runs:
    runs.write("run\\n")
print("-- 1. Watch a vault --")
if (home.parent / "fails").exists():
    sys.exit("the vault is on fire")
(home / "demo-is-complete").touch()
"""


def test_the_demo_home_is_made_once_and_again_when_it_was_not_finished(tmp_path, capsys):
    from slowwave.cli.demo_home import demo_home

    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "demo.py").write_text(DEMO)
    (tmp_path / "fails").touch()
    with pytest.raises(SlowwaveError, match="the vault is on fire"):
        demo_home(tmp_path)
    (tmp_path / "fails").unlink()
    made = demo_home(tmp_path)
    assert made == tmp_path / ".demo"
    assert demo_home(tmp_path) == made
    assert (made / "runs").read_text().split() == ["run", "run"]
    assert capsys.readouterr().err.count("Making the demo home") == 2


def test_an_installation_without_examples_has_no_demo(tmp_path):
    from slowwave.cli.demo_home import demo_home

    with pytest.raises(SlowwaveError, match="Clone the"):
        demo_home(tmp_path)


def test_the_demo_is_opened_instead_of_ones_own_home(served, home, memory, monkeypatch, tmp_path):
    import shutil

    memory.close()
    other = tmp_path / "demo"
    shutil.copytree(home, other)
    monkeypatch.setattr("slowwave.cli.demo_home.demo_home", lambda: other)
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))  # so that what the command sets ends with the test
    found = served("--demo")
    assert found.done.exit_code == 0, found.done.output
    assert f"Starting the web page of {other}" in " ".join(found.done.stderr.split())
    found.parts[2].close()


@pytest.mark.parametrize("missing", ["jinja2", "starlette", "uvicorn"])
def test_what_is_missing_is_named(served, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else True)
    found = served()
    assert found.done.exit_code == 1
    assert "pip install '.[page]'" in found.done.output


def test_help_loads_nothing_of_it(home):
    words = [sys.executable, "-c", PROBE, "page", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("host", "https", "expected"),
    [
        ("127.0.0.1", False, "http://127.0.0.1:8770"),
        ("::1", False, "http://[::1]:8770"),
        ("0.0.0.0", False, "http://127.0.0.1:8770"),
        ("::", False, "http://[::1]:8770"),
        ("10.0.0.7", False, "http://memory.example.org:8770"),
        ("127.0.0.1", True, "https://memory.example.org"),
        ("10.0.0.7", True, "https://memory.example.org"),
    ],
)
def test_where_a_person_finds_it(home, memory, host, https, expected):
    """Every one of them is a name that the page answers to, and https only where a proxy speaks it."""
    with (home / "slowwave.toml").open("a") as settings:
        settings.write(
            f'[mcp]\nallowed_hosts = ["memory.example.org"]\n[page]\nhttps = {str(https).lower()}\n'
        )
    assert address(load(home), host, 8770) == expected


@pytest.mark.parametrize("rights", ["assistant", "person"])
def test_a_token_has_rights(run, home, memory, rights):
    done = run("mcp", "token", "-n", "ada", "--principal", "ida", "--rights", rights, "--json")
    assert json.loads(done.stdout)["rights"] == rights
    (token,) = load(home).mcp.tokens
    assert token.rights == rights
    assert ("rights" in (home / "slowwave.toml").read_text()) == (rights == "person")


def test_other_rights_there_are_none(run, home, memory):
    done = run("mcp", "token", "-n", "ada", "--principal", "ida", "--rights", "king")
    assert done.exit_code == 1
    assert "rights" in done.output
    assert load(home).mcp.tokens == ()
