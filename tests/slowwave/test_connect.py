"""`slowwave connect` on real files, in a person's folder that is made for the test."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from command_runner import run_command
from mcp import StdioServerParameters
from mcp_helpers import ROOT, connected, environment

from slowwave.connect import files
from slowwave.connect.clients import BY_NAME, CLIENTS, Places, file_of
from slowwave.connect.command import launch
from slowwave.errors import SlowwaveError

SAID = "We decided to use PostgreSQL 16 for the billing service."
BEFORE = {
    "json": '{\n    "theme": "dark",\n    "n": 1.50,\n    "other": {"a": ["caf\\u00e9"]}\n}\n',
    "toml": '# my settings\nmodel = "o3" # the best\n\n[profiles.a]\nx = 1\n',
}
PROJECTS = [client for client in CLIENTS if client.project]


class Desk:
    """A person's folder, with a home of a memory that has spaces and quotes in its path."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.project = folder / "work" / "shop"
        self.project.mkdir(parents=True)
        kept = {name: value for name, value in environment(home).items() if not name.startswith("XDG_")}
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            kept.pop(name, None)
        self.variables = kept | {"HOME": str(folder), "APPDATA": str(folder / "roaming"), "COLUMNS": "80"}
        self.places = Places("linux", folder, self.variables)

    def run(self, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
        return run_command(*words, environment=self.variables, cwd=self.project, **options)

    def file(self, client, *, before: bool = False) -> Path:
        path = file_of(client, self.places)
        if before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(BEFORE[client.form])
        return path


@pytest.fixture
def desk(tmp_path, open_memory) -> Desk:
    if sys.platform != "linux":
        pytest.skip("the places of Linux")
    folder = tmp_path / "ada"
    home = folder / 'my memory\'s "home" $x'
    open_memory(path=home).close()
    return Desk(folder, home)


def entry_in(client, path: Path, name: str = "memory") -> dict:
    text = path.read_text()
    document = tomllib.loads(text) if client.form == "toml" else json.loads(text)
    return document[client.servers][name]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_connected_again_and_taken_out_a_file_is_what_it_was_to_the_byte(desk, client):
    path = desk.file(client, before=True)
    path.chmod(0o640)
    done = desk.run("connect", client.name)
    assert done.returncode == 0, done.stderr
    assert f"{client.title} is connected to namespace default of {desk.home}" in done.stdout
    entry = entry_in(client, path)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-6:] == [str(desk.home), "mcp", "--namespace", "default", "--principal", client.name]
    assert {name: entry[name] for name in client.more} == dict(client.more)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for fragment in BEFORE[client.form].splitlines()[:2]:
        assert fragment.rstrip("}") in path.read_text()

    bytes_then, moment = path.read_bytes(), path.stat().st_mtime_ns
    again = desk.run("connect", client.name)
    assert (again.returncode, "already connected" in again.stdout) == (0, True)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (bytes_then, moment)

    gone = desk.run("connect", client.name, "--remove")
    assert "no longer connected" in gone.stdout
    assert path.read_text() == BEFORE[client.form]
    nothing = desk.run("connect", client.name, "--remove")
    assert (nothing.returncode, "nothing to remove" in nothing.stdout) == (0, True)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_file_that_is_made_is_private_and_goes_again(desk, client):
    path = desk.file(client)
    assert desk.run("connect", client.name).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert desk.run("connect", client.name, "--remove").returncode == 0
    assert not path.exists()


@pytest.mark.parametrize("client", PROJECTS, ids=lambda client: client.name)
def test_a_project_has_a_file_of_its_own(desk, client):
    assert desk.run("connect", client.name, "--project", "-n", "shop").returncode == 0
    assert "shop" in entry_in(client, desk.project / client.project)["args"]
    assert not desk.file(client).exists()


@pytest.mark.parametrize("client", [BY_NAME["cursor"], BY_NAME["codex"]], ids=lambda client: client.name)
def test_a_dry_run_shows_the_difference_and_writes_nothing(desk, client):
    path = desk.file(client, before=True)
    done = desk.run("connect", client.name, "--dry-run", "--json")
    (change,) = json.loads(done.stdout)["changes"]
    added = [line for line in change["diff"].splitlines() if line.startswith("+") and "memory" in line]
    assert (change["change"], bool(added)) == ("added", True)
    assert path.read_text() == BEFORE[client.form]
    shown = desk.run("connect", client.name, "--dry-run").stdout
    assert f"+++ {path}" in shown
    assert "Nothing was written" in shown
    assert path.read_text() == BEFORE[client.form]


def test_a_link_stays_a_link_and_its_file_is_written(desk):
    cursor = BY_NAME["cursor"]
    kept = desk.folder / "dotfiles" / "mcp.json"
    kept.parent.mkdir()
    kept.write_text(BEFORE["json"])
    path = desk.file(cursor)
    path.parent.mkdir()
    path.symlink_to(kept)
    assert desk.run("connect", "cursor").returncode == 0
    assert path.is_symlink()
    assert entry_in(cursor, kept)
    assert desk.run("connect", "cursor", "--remove").returncode == 0
    assert (path.is_symlink(), kept.read_text()) == (True, BEFORE["json"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"mcpServers": {"memory": {"command": "npx", "args": []}}}', "did not write"),
        ('// mine\n{"mcpServers": {}}', "Add this by hand"),
        (b'{"a": "caf\xe9"}', "not UTF-8"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_file_that_is_not_to_be_changed_is_an_error_and_stays(desk, text, said, more):
    path = desk.file(BY_NAME["cursor"])
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = path.read_bytes()
    done = desk.run("connect", "cursor", *more)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert str(path) in done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["curser"], "Did you mean 'cursor'?"),
        (["windsurf", "--project"], "no project file"),
        (["cursor", "--hooks"], "no hooks that Slowwave supports"),
        (["claude-code", "--hooks", "--file", "x.json"], "--hooks and --file exclude each other"),
        (["cursor", "--project", "--file", "x.json"], "not both"),
        (["cursor", "--name", "my memory"], "--name"),
        (["cursor", "-n", "../x"], "--namespace"),
        (["cursor", "--principal", "-x"], "--principal"),
    ],
)
def test_what_cannot_be_is_said(desk, words, said):
    done = desk.run("connect", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert [path for path in desk.folder.iterdir() if path not in (desk.home, desk.folder / "work")] == []


def test_there_has_to_be_a_home_to_connect_and_none_to_take_out(desk, tmp_path):
    desk.file(BY_NAME["cursor"], before=True)
    desk.run("connect", "cursor")
    desk.variables["SLOWWAVE_HOME"] = str(tmp_path / "nowhere")
    refused = desk.run("connect", "vscode")
    assert (refused.returncode, "slowwave init" in refused.stderr) == (1, True)
    assert desk.run("connect", "cursor", "--remove").returncode == 0
    assert desk.file(BY_NAME["cursor"]).read_text() == BEFORE["json"]
    assert not (tmp_path / "nowhere").exists()


def test_another_file_another_name_and_another_principal(desk):
    path = desk.folder / "elsewhere.json"
    desk.run("connect", "cursor", "--file", path, "--name", "slow", "--principal", "ada", "-n", "work")
    assert entry_in(BY_NAME["cursor"], path, "slow")["args"][-4:] == [
        "--namespace",
        "work",
        "--principal",
        "ada",
    ]
    assert not desk.file(BY_NAME["cursor"]).exists()


def test_a_file_that_another_program_writes_meanwhile_is_left_to_it(tmp_path):
    path = tmp_path / "f.json"
    path.write_text("new")
    with pytest.raises(SlowwaveError, match="Another program has changed"):
        files.replace(path, "old", "mine")
    assert path.read_text() == "new"


def test_the_list_says_what_is_here_and_what_is_connected(desk):
    empty = json.loads(desk.run("connect", "--json").stdout)["clients"]
    assert [one["client"] for one in empty] == [client.name for client in CLIENTS]
    assert not any(one["connected"] for one in empty)
    (desk.folder / ".codeium" / "windsurf").mkdir(parents=True)
    desk.run("connect", "claude-code", "--hooks")
    desk.run("connect", "vscode", "--project", "-n", "shop")
    broken = desk.file(BY_NAME["zed"])
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    found = {one["client"]: one for one in json.loads(desk.run("connect", "--json").stdout)["clients"]}
    assert found["windsurf"]["here"]
    code = found["claude-code"]
    assert (code["here"], code["connected"]) == (True, True)
    assert code["files"][0]["servers"]["memory"] == {
        "home": str(desk.home), "namespace": "default", "principal": "claude-code",
    }  # fmt: skip
    assert sorted(code["files"][1]["hooks"]) == ["capture", "recall"]
    assert found["vscode"]["files"][1]["file"] == str(desk.project / ".vscode" / "mcp.json")
    assert "not valid JSON" in found["zed"]["files"][0]["fault"]
    shown = desk.run("connect").stdout
    assert "memory: namespace shop of" in shown
    assert "~/.claude/settings.json" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_where_no_command_can_be_started_nothing_is_written(desk, monkeypatch):
    monkeypatch.setattr("slowwave.connect.command.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    done = desk.run("connect", "cursor")
    assert (done.returncode, "neither on the PATH" in done.stderr) == (1, True)
    assert not desk.file(BY_NAME["cursor"]).exists()


def test_the_link_that_an_installer_made_is_what_is_written(tmp_path, monkeypatch):
    real, link = tmp_path / "venv" / "slowwave", tmp_path / "bin" / "slowwave"
    for path in (real, link):
        path.parent.mkdir()
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    link.symlink_to(real)
    monkeypatch.setattr(sys, "argv", ["slowwave", "connect"])
    monkeypatch.setenv("PATH", str(link.parent))
    assert launch() == (str(link),)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bin/slowwave"])
    assert launch() == (str(link),)


# -- what is written is run ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_entry_that_was_written_starts_a_server_that_answers(desk):
    desk.run("connect", "cursor", "-n", "ada")
    entry = entry_in(BY_NAME["cursor"], desk.file(BY_NAME["cursor"]))
    variables = {**desk.variables, "SLOWWAVE_HOME": "/nowhere"}  # the entry's own home counts
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=variables, cwd=str(desk.folder)
    )
    with connected(server) as assistant:
        assistant.call("memory_save", content="The battery of the northern gauge lasts eleven weeks.")
        assert "eleven weeks" in assistant.say("memory_search", query="battery of the gauge")


def transcript(desk: Desk, *lines: dict) -> str:
    """The JSON of a session's end, with its file."""
    file = desk.folder / "a session's.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = {"session_id": "s1", "transcript_path": str(file), "cwd": str(desk.project), "reason": "other"}
    return json.dumps(told | {"hook_event_name": "SessionEnd"})


def hook(desk: Desk, event: str, given: str) -> subprocess.CompletedProcess[str]:
    """Run a hook that was written, as the client does."""
    settings = json.loads((desk.folder / ".claude" / "settings.json").read_text())
    (group,) = settings["hooks"][event]
    command = group["hooks"][0]["command"]
    variables = {**desk.variables, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["sh", "-c", command], input=given, env=variables, cwd=desk.project, text=True, capture_output=True,
        timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_hooks_recall_what_a_session_before_captured(desk, open_memory):
    desk.run("connect", "claude-code", "--hooks", "-n", "ada")
    assert hook(desk, "SessionStart", "{}").stdout == ""  # nothing is remembered yet
    user = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": f"{SAID} Now fix the test."}}
    ended = hook(desk, "SessionEnd", transcript(desk, user))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    log = desk.home / "capture.log"
    until = time.monotonic() + 240
    while "statements" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.2)
    assert "1 messages, 1 statements" in " ".join(log.read_text().split())
    began = hook(desk, "SessionStart", "{}")
    assert began.returncode == 0
    assert f"> [medium] {SAID}" in began.stdout
    (act,) = open_memory("ada", path=desk.home).journal.read(kinds=["save"]).iter_rows(named=True)
    assert (act["principal"], act["subject"]) == ("claude-code", "session:s1/u1/1")
    (desk.folder / ".claude" / "settings.json").unlink()


def test_the_words_of_a_hook_are_one_line_of_a_shell(desk):
    desk.run("connect", "claude-code", "--hooks")
    settings = json.loads((desk.folder / ".claude" / "settings.json").read_text())
    words = shlex.split(settings["hooks"]["SessionStart"][0]["hooks"][0]["command"])
    assert words[1:3] == ["--home", str(desk.home)]
    desk.run("connect", "claude-code", "--remove")
    assert not (desk.folder / ".claude" / "settings.json").exists()
    assert not desk.file(BY_NAME["claude-code"]).exists()
    assert list((desk.folder / ".claude").iterdir()) == []
