"""One Dagster instance, however Dagster is started in a checkout."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import servers
import yaml
from dotenv import dotenv_values

from slowwave.backup.files import leftovers
from slowwave.common.home_discovery import is_home
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.orchestration.instance import dagster_home, env_file, write_env_file
from slowwave.settings import has_home, load, require_home

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PATIENCE_SECONDS = 180
HOME = Path("/somewhere/.slowwave")
OWN = 'SLOWWAVE_HOME="${SLOWWAVE_HOME:-/somewhere/.slowwave}"\nDAGSTER_HOME="${SLOWWAVE_HOME}/dagster"\n'


# -- the file .env ------------------------------------------------------------------------------------


def test_the_file_names_the_instance_of_the_home():
    header, *lines = env_file("", HOME).splitlines(keepends=True)
    assert header.startswith("# ")
    assert "".join(lines) == OWN


@pytest.mark.parametrize("existing", ["TOKEN=secret\n", "TOKEN=secret", "# only a comment\n"])
def test_lines_of_a_person_stay_and_come_first(existing):
    written = env_file(existing, HOME)
    assert written.startswith(existing)
    assert written.endswith(OWN)
    assert written.splitlines()[: len(existing.splitlines())] == existing.splitlines()


@pytest.mark.parametrize(
    "line", ["DAGSTER_HOME=/mine", "export DAGSTER_HOME=/mine", " DAGSTER_HOME = '/mine'"]
)
def test_an_instance_that_a_person_chose_is_left_alone(line):
    assert env_file(f"A=1\n{line}\n", HOME) == f"A=1\n{line}\n"


def test_the_instance_follows_a_home_that_a_person_chose():
    written = env_file("SLOWWAVE_HOME=/mine\n", HOME)
    assert written.startswith("SLOWWAVE_HOME=/mine\n")
    assert written.count("SLOWWAVE_HOME=") == 1
    assert written.endswith('DAGSTER_HOME="${SLOWWAVE_HOME}/dagster"\n')


def test_own_lines_are_replaced_and_not_repeated():
    before = env_file("A=1\n", Path("/before/.slowwave"))
    assert env_file(before, HOME) == env_file("A=1\n", HOME)
    assert env_file(env_file("", HOME), HOME) == env_file("", HOME)
    assert env_file(f"{before}B=2\n", HOME).startswith("A=1\nB=2\n")
    assert env_file(f"{before}DAGSTER_HOME=/mine\n", HOME) == "A=1\nDAGSTER_HOME=/mine\n"


@pytest.mark.parametrize("odd", ['"', "$", "}", "\\"])
def test_a_path_that_the_file_cannot_have_is_refused(odd):
    with pytest.raises(SlowwaveError, match="Set DAGSTER_HOME="):
        env_file("", Path(f"/some{odd}where"))


def test_dagster_reads_the_home_of_the_shell_before_that_of_the_file(tmp_path, monkeypatch):
    """Read as Dagster reads it: with python-dotenv, variables of the process first."""
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    write_env_file(checkout)
    default = checkout / ".slowwave"
    assert dotenv_values(checkout / ".env") == {
        "SLOWWAVE_HOME": str(default), "DAGSTER_HOME": str(default / "dagster"),
    }  # fmt: skip
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "other"))
    assert dotenv_values(checkout / ".env")["DAGSTER_HOME"] == str(tmp_path / "other" / "dagster")


def test_the_instance_is_made_for_the_default_home_and_for_the_one_of_the_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "other"))
    write_env_file(tmp_path)
    assert os.environ["SLOWWAVE_HOME"] == str(tmp_path / "other")
    for home in (tmp_path / ".slowwave", tmp_path / "other"):
        assert home.stat().st_mode & 0o777 == 0o700
        config = yaml.safe_load((home / "dagster" / "dagster.yaml").read_text())
        assert config["telemetry"] == config["nux"] == {"enabled": False}
    assert str(tmp_path / "other") not in (tmp_path / ".env").read_text()


def test_the_instance_is_made_for_a_home_that_the_file_names(tmp_path):
    (tmp_path / ".env").write_text(f"SLOWWAVE_HOME={tmp_path / 'mine'}\n")
    write_env_file(tmp_path)
    assert (tmp_path / "mine" / "dagster" / "dagster.yaml").is_file()


def test_nothing_is_made_where_a_person_chose_the_instance(tmp_path):
    (tmp_path / ".env").write_text("DAGSTER_HOME=/mine\n")
    write_env_file(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
    assert (tmp_path / ".env").read_text() == "DAGSTER_HOME=/mine\n"


# -- what Dagster does with it ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout after `make` and `slowwave init`, with an asset in the history of its instance."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "workspace.yaml", "slowwave"):
        (folder / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "slowwave.orchestration.instance"]
    environment = servers.clean_environment(SLOWWAVE_EMBEDDING__MODEL="wordllama-256")
    for step in (command, [str(BIN / "slowwave"), "init"]):
        subprocess.run(step, cwd=folder, env=environment, check=True)
    with dg.DagsterInstance.from_config(str(folder / ".slowwave" / "dagster")) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("in_the_history"))
    return folder


def commands(port: str) -> dict[str, list[str]]:
    """Every way to start Dagster's page that the documentation names."""
    others = [str(servers.free_port()) for _ in range(3)]
    up = ["--port", others[0], "--page-port", others[1], "--api-port", others[2], "--ui-port", port]
    return {
        "slowwave ui": [str(BIN / "slowwave"), "ui", "--port", port],
        "slowwave up": [str(BIN / "slowwave"), "up", *up],
        "dagster dev": [str(BIN / "dagster"), "dev", "-p", port],
        "dagster dev -w workspace.yaml": [str(BIN / "dagster"), "dev", "-w", "workspace.yaml", "-p", port],
        "dg dev": [str(BIN / "dg"), "dev", "-p", port],
    }


QUESTION = """{
  instance { info runQueuingSupported concurrencyLimits { concurrencyKey } }
  shouldShowNux
  assetsOrError { ... on AssetConnection { nodes { key { path } } } }
  repositoriesOrError { ... on RepositoryConnection { nodes { location { name } assetNodes { id } } } }
}"""


def ask(port: str) -> dict[str, Any] | None:
    """The answer of the page; None while it does not listen."""
    body = json.dumps({"query": QUESTION}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["data"]
    except (OSError, urllib.error.HTTPError):
        return None


@contextlib.contextmanager
def started(command: list[str], port: str, checkout: Path, log: Path, **variables: str) -> Iterator[dict]:
    """The first answer of a page that `command` serves, which ends with the block."""
    environment = servers.clean_environment(
        SLOWWAVE_EMBEDDING__MODEL="wordllama-256", HOME=str(log.parent), **variables
    )
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, cwd=checkout, env=environment, stdin=subprocess.DEVNULL, stdout=said,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        limit = time.monotonic() + PATIENCE_SECONDS
        while not (answer := ask(port)):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < limit, log.read_text()
            time.sleep(0.2)
        yield answer
        os.kill(process.pid, signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# One of Slowwave's and one of Dagster's; `slowwave ui` and `dagster dev` are in tests/e2e/test_page.py, too.
OFTEN = ("slowwave up", "dg dev")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in OFTEN else pytest.mark.soak) for one in commands("")]
)
def test_all_commands_use_the_same_instance(name: str, checkout: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in checkout.iterdir())
    port = str(servers.free_port())
    log = tmp_path / "log"
    off = tmp_path / "dg.toml"  # as the activated environment of a checkout names it
    off.write_text("[cli.telemetry]\nenabled = false\n")
    with started(commands(port)[name], port, checkout, log, DG_CLI_CONFIG=str(off)) as answer:
        during = sorted(path.name for path in checkout.iterdir())
    info = yaml.safe_load(answer["instance"]["info"])
    assert info["local_artifact_storage"]["config"]["base_dir"] == str(checkout / ".slowwave" / "dagster")
    assert info["run_retries"]["max_retries"] == 2
    assert info["concurrency"]["pools"] == {"default_limit": 1, "granularity": "op"}
    assert info["telemetry"] == {"enabled": False}
    assert answer["shouldShowNux"] is False
    assert {"path": ["in_the_history"]} in [node["key"] for node in answer["assetsOrError"]["nodes"]]
    (repository,) = answer["repositoriesOrError"]["nodes"]
    assert repository["location"]["name"] == "slowwave"
    assert repository["assetNodes"]
    assert during == before
    assert sorted(path.name for path in checkout.iterdir()) == before
    assert not (tmp_path / ".dagster").exists(), "usage is written down nowhere"
    assert not (checkout / ".slowwave" / "dagster" / ".telemetry").exists()


# -- an instance that waits for a home --------------------------------------------------------------


def test_a_folder_with_an_instance_alone_is_no_home(tmp_path: Path) -> None:
    home = tmp_path / ".slowwave"
    dagster_home(load(home))
    assert not is_home(home)
    assert has_home(load(home, journal={"url": "postgresql://db/slowwave"}))  # kept elsewhere
    with pytest.raises(SettingsError, match="There is no home at"):
        require_home(load(home))
    assert leftovers(load(home)) == []
    (home / "slowwave.toml").touch()
    assert is_home(home)
