"""The Dagster component, in the example project."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
import servers

import slowwave
from slowwave.orchestration.component import SlowwaveMemory

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "dagster_project"
DG = [str(Path(sys.executable).with_name("dg"))]
Load = Callable[..., dg.Definitions]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example project whose package can be imported."""
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".slowwave", ".env", "__pycache__"))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    for name in [name for name in sys.modules if name.split(".")[0] == "handbook"]:
        monkeypatch.delitem(sys.modules, name)  # that of another copy
    return folder


@pytest.fixture
def load(project: Path) -> Load:
    """Loads the project, with `attributes` in place of those of its defs.yaml."""

    def load_(attributes: str | None = None) -> dg.Definitions:
        file = project / "handbook" / "defs" / "memory" / "defs.yaml"
        if attributes is not None:
            file.write_text(f"type: slowwave.SlowwaveMemory\nattributes: {{{attributes}}}\n")
        return dg.load_from_defs_folder(path_within_project=project)

    return load_


def message(error: BaseException | None) -> str:
    """All that Dagster prints of an error: its causes, too."""
    lines = []
    while error is not None:
        lines.append(str(error))
        error = error.__cause__
    return "\n".join(lines)


def schedules(definitions: dg.Definitions) -> dict[str, str]:
    return {schedule.name: schedule.cron_schedule for schedule in definitions.schedules}


def home_of(definitions: dg.Definitions) -> Path:
    with dg.build_resources({"slowwave": definitions.resources["slowwave"]}) as made:
        return Path(made.slowwave.home)


@pytest.mark.slow
def test_the_night_takes_in_the_notes_of_the_vault(project, load):
    definitions = load()
    day = datetime.now(UTC).date().isoformat()
    with dg.DagsterInstance.ephemeral() as own:
        night = definitions.resolve_job_def("night").execute_in_process(partition_key=day, instance=own)
        assert night.success
        report = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            asset_selection=[dg.AssetKey("answers")], instance=own
        )
    (made,) = report.asset_materializations_for_node("answers")
    assert {question: answer.value for question, answer in made.metadata.items()} == {
        "When is the bakery closed?": "Opening hours of the bakery",
        "Which flour goes into the sourdough?": "Flour for the sourdough",
        "Who has the key to the cold store?": "Keys to the cold store",
    }
    with slowwave.open(project / ".slowwave", namespace="handbook") as memory:
        assert {result.source for result in memory.search("bakery, flour, key", limit=9)} == {
            "notes/cold-store.md", "notes/opening-hours.md", "notes/sourdough.md",
        }  # fmt: skip
    with slowwave.open(project / ".slowwave", namespace="default") as memory:
        assert not memory.search("bakery, flour, key", limit=9)


def test_the_project_has_its_own_asset_beside_those_of_the_memory(load):
    definitions = load()
    graph = definitions.resolve_asset_graph()
    assert graph.get(dg.AssetKey("answers")).parent_keys == {dg.AssetKey("search_index")}
    assert dg.AssetKey("learned_triggers") in graph.get_all_asset_keys()
    assert schedules(definitions) == {"nightly": "0 4 * * *", "evaluated": "30 4 * * *"}


def test_without_attributes_the_home_is_in_the_project_and_its_settings_hold(project, load):
    home = project / ".slowwave"
    home.mkdir()
    (home / "slowwave.toml").write_text("[night]\nhour = 9\n")
    definitions = load("")
    assert home_of(definitions) == home
    assert schedules(definitions)["nightly"] == "0 9 * * *"


def test_without_a_home_that_of_the_variable_is_taken(tmp_path, load, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "other"))
    assert home_of(load("")) == tmp_path / "other"


def test_values_come_from_variables_of_the_process_too(tmp_path, load, monkeypatch):
    monkeypatch.setenv("MEMORY_HOUR", "7")
    monkeypatch.setenv("MEMORY_HOME", str(tmp_path / "mine"))
    definitions = load("hour: '{{ env.MEMORY_HOUR }}', home: '{{ env.MEMORY_HOME }}'")
    assert schedules(definitions)["nightly"] == "0 7 * * *"
    assert home_of(definitions) == tmp_path / "mine"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("hour: 25", "25 is not a valid hour. Use 0 to 23 (UTC)"),
        ("hour: -1", "-1 is not a valid hour. Use 0 to 23 (UTC)"),
        ("namespace: '!x'", "'!x' is not a valid namespace. Use letters, digits and - _ . /"),
        ("vaults: notes", "attributes.vaults"),
        ("home: [1]", "attributes.home"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(load, attributes, expected):
    with pytest.raises(Exception, match=r"defs\.yaml \(SlowwaveMemory\) \(error\)") as raised:
        load(attributes)
    assert expected in message(raised.value)


def test_each_field_has_a_description():
    assert set(SlowwaveMemory.model_fields) == {"home", "namespace", "vault", "hour"}
    assert all(field.description for field in SlowwaveMemory.model_fields.values())


# -- where it is found --------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_is_an_attribute_of_the_package_that_does_not_import_dagster():
    code = "import sys, slowwave; print('dagster' in sys.modules, 'SlowwaveMemory' in dir(slowwave))"
    code += "; print(slowwave.SlowwaveMemory.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "SlowwaveMemory"]


def test_without_dagster_it_is_no_attribute(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "SlowwaveMemory" not in dir(slowwave)
    with pytest.raises(AttributeError, match="needs Dagster"):
        _ = slowwave.SlowwaveMemory


@pytest.mark.slow
@pytest.mark.parametrize("folder", [ROOT, EXAMPLE], ids=["checkout", "example"])
def test_dg_lists_it(folder, tmp_path):
    off = tmp_path / "dg.toml"
    off.write_text("[cli.telemetry]\nenabled = false\n")
    done = subprocess.run(
        [*DG, "list", "components", "--package", "slowwave", "--json"],
        cwd=folder, env=servers.clean_environment(DG_CLI_CONFIG=str(off)), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    (item,) = json.loads(done.stdout)["items"]
    assert item["key"] == "slowwave.SlowwaveMemory"
    assert item["summary"].startswith("A Slowwave memory")


@pytest.mark.slow
def test_dg_checks_the_example(project, tmp_path):
    off = tmp_path / "dg.toml"
    off.write_text("[cli.telemetry]\nenabled = false\n")
    done = subprocess.run(
        [*DG, "check", "defs"],
        cwd=project, env=servers.clean_environment(DG_CLI_CONFIG=str(off)), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All definitions loaded successfully" in done.stdout + done.stderr
