"""The command that serves, before it serves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import run_command

from slowwave.serving.tokens import known_token
from slowwave.settings import load

ROOT = Path(__file__).parents[2]
MAIN = "from slowwave.cli import main; main()"
PROBE = """
import sys
from slowwave.cli import main
try:
    main()
except SystemExit:
    pass
print(sorted({'mcp', 'mcp_types', 'starlette', 'uvicorn', 'anyio'} & set(sys.modules)))
"""
WITHOUT_SDK = "import sys; sys.modules['mcp'] = None"


def environment(home: Path) -> dict[str, str]:
    ours = {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "200", "SLOWWAVE_HOME": str(home)}
    return {**os.environ, **ours, "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256"}


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in this process."""
    return run_command(*words, environment=environment(home))


def process(home: Path, *words: str, code: str = MAIN) -> subprocess.CompletedProcess[str]:
    """Run it, or this code, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *words], env=environment(home),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture
def made(home: Path) -> Path:
    home.mkdir()
    return home


@pytest.mark.parametrize("words", [("--help",), ("mcp", "--help"), ("mcp", "token", "--help")])
def test_help_does_not_load_the_sdk(home, words):
    assert process(home, *words, code=PROBE).stdout.splitlines()[-1] == "[]"


def test_the_command_is_in_the_list(home):
    assert "mcp" in run(home, "--help").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mcp", "--http"), "slowwave mcp token --namespace NAMESPACE --principal NAME"),
        (("mcp", "--http", "--namespace", "ada"), "a client's token sets"),
        (("mcp", "--http", "--principal", "claude"), "a client's token sets"),
        (("mcp", "--namespace", "a b"), "Namespace 'a b'"),
        (("mcp", "token", "--namespace", "a b", "--principal", "claude"), "--namespace = "),
        (("mcp", "token", "--namespace", "ada", "--principal", "claude", "--rights", "all"), "--rights = "),
    ],
)
def test_what_cannot_be_served_is_said_on_standard_error(made, words, told):
    done = run(made, *words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert told in done.stderr
    assert "mcp.tokens" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("lacks", ["port", "metrics"])
def test_where_it_serves_is_not_said_before_it_does(made, lacks):
    run(made, "mcp", "token", "--namespace", "ada", "--principal", "claude")
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as free:
        port, other = (end.getsockname()[1] for end in (taken, free))
        free.close()
        if lacks == "metrics":
            pytest.importorskip("prometheus_client")
            (made / "slowwave.toml").open("a").write(f"\n[telemetry]\nmetrics_port = {port}\n")
            port, other = other, port
        done = run(made, "mcp", "--http", "--port", str(port))
    assert done.returncode == 1
    assert "Cannot listen on" in done.stderr
    assert "Serving" not in done.stderr
    assert "Serving" not in run(made.parent, "mcp", "--http").stderr


def test_where_the_variable_counts_it_says_what_to_put_there(made, monkeypatch):
    """What it says is a value that the variable takes, and the token that was printed is known by it."""
    monkeypatch.setenv("SLOWWAVE_MCP__TOKENS", "[]")
    none = run(made, "mcp", "--http").stderr
    assert "SLOWWAVE_MCP__TOKENS is set and names none" in none
    assert "token_sha256" in none
    for more in ((), ("--rights", "person", "--days", "3", "--name", "[bold]phone")):
        done = run(made, "mcp", "token", "--namespace", "ada", "--principal", "claude", *more)
        assert "accept it at once" not in done.stderr
        entry = done.stderr[done.stderr.index("{") :].strip()
        monkeypatch.setenv("SLOWWAVE_MCP__TOKENS", f"[{entry}]")
        (known,) = load(made).mcp.tokens
        assert known_token(done.stdout.strip(), [known]) is known
        assert (known.rights, known.label) == (("person", "[bold]phone") if more else ("assistant", "claude"))
        assert (known.expires is not None) is bool(more)


def test_where_the_file_counts_a_running_server_takes_all_but_the_first_at_once(made, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_MCP__TOKENS", raising=False)
    done = run(made, "mcp", "token", "--namespace", "ada", "--principal", "[bold]claude")
    assert "as [bold]claude. It is" in done.stderr
    assert "Restart the server: " in done.stderr
    assert "at once" not in done.stderr
    later = run(made, "mcp", "token", "--namespace", "ada", "--principal", "cursor")
    assert "Running servers accept it at once." in later.stderr
    assert "Restart the server" not in later.stderr


def test_where_a_provider_lets_clients_in_the_first_token_counts_at_once(made, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_MCP__TOKENS", raising=False)
    provider = '[mcp.oauth]\nissuer = "https://id.example.org"\nresource = "https://memory.example.org/mcp"\n'
    (made / "slowwave.toml").write_text(provider)
    done = run(made, "mcp", "token", "--namespace", "ada", "--principal", "claude")
    assert "Running servers accept it at once." in done.stderr


def test_another_address_than_the_loopback_needs_its_names(made):
    run(made, "mcp", "token", "--namespace", "ada", "--principal", "claude")
    done = run(made, "mcp", "--http", "--host", "0.0.0.0")
    assert done.returncode == 1
    assert "mcp.allowed_hosts" in done.stderr


def test_a_home_that_is_not_there_is_not_made(home):
    for words in (
        ("mcp",),
        ("mcp", "--http"),
        ("mcp", "token", "--namespace", "ada", "--principal", "claude"),
    ):
        done = run(home, *words)
        assert done.returncode == 1
        assert "There is no home" in done.stderr
    assert not home.exists()


def test_without_the_sdk_it_says_how_to_install_it(made):
    done = process(made, "mcp", code=f"{WITHOUT_SDK}; {MAIN}")
    assert done.returncode == 1
    assert "pip install '.[mcp]' in its folder" in done.stderr
    token = ("mcp", "token", "--namespace", "ada", "--principal", "claude")
    assert process(made, *token, code=f"{WITHOUT_SDK}; {MAIN}").returncode == 0


def test_a_token_is_printed_once_and_kept_nowhere(made):
    token = ("mcp", "token", "--namespace", "ada", "--principal", "claude")
    printed = process(made, *token).stdout.strip()
    assert printed.startswith("slowwave_")
    assert len(printed) > 40
    as_json = json.loads(run(made, *token, "--json").stdout)
    assert (as_json["namespace"], as_json["principal"]) == ("ada", "claude")
    shown = run(made, "settings").stdout + run(made, "settings", "--json").stdout
    kept = (made / "slowwave.toml").read_text() + shown
    for secret in (printed, as_json["token"]):
        assert secret not in kept
    assert "claude" in shown
    assert "***" in shown
