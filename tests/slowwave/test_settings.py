from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from slowwave.common.home_discovery import find_home
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.evaluation.variants import variants
from slowwave.home.workspace import Workspace
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import InForce, Settings, in_force, load


def toml(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "slowwave.toml").write_text(text)


def origins(settings: Settings) -> dict[str, str]:
    return {row.name: row.origin for row in in_force(settings)}


# -- which value wins ------------------------------------------------------------------------------


def test_an_argument_wins_over_the_environment_over_the_file_over_the_default(home, monkeypatch):
    assert load(home).ranking.candidates == 100
    toml(home, "[ranking]\ncandidates = 1\nrrf_k = 1\n")
    assert (load(home).ranking.candidates, load(home).ranking.rrf_k) == (1, 1)
    monkeypatch.setenv("SLOWWAVE_RANKING__CANDIDATES", "2")
    assert (load(home).ranking.candidates, load(home).ranking.rrf_k) == (2, 1)
    chosen = load(home, ranking={"candidates": 3})
    assert (chosen.ranking.candidates, chosen.ranking.rrf_k) == (3, 1)


def test_a_variable_that_changes_is_read_again(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_MCP__ALLOWED_HOSTS", '["one.example"]')
    default = load(home).ranking.candidates
    monkeypatch.setenv("SLOWWAVE_RANKING__CANDIDATES", str(default + 1))
    assert load(home).ranking.candidates == default + 1
    monkeypatch.delenv("SLOWWAVE_RANKING__CANDIDATES")
    assert (load(home).ranking.candidates, load(home).mcp.allowed_hosts) == (default, ("one.example",))


def test_where_a_value_comes_from_is_shown(home, monkeypatch):
    toml(home, '[embedding]\nmodel = "wordllama-256"\n[night]\nhour = 2\n')
    monkeypatch.setenv("SLOWWAVE_NOTES__MAX_BYTES", "5000")
    found = origins(load(home, gate={"min_characters": 7}))
    assert found["embedding.model"] == "slowwave.toml"
    assert found["night.hour"] == "slowwave.toml"
    assert found["notes.max_bytes"] == "SLOWWAVE_NOTES__MAX_BYTES"
    assert found["gate.min_characters"] == "argument"
    assert found["home"] == "argument"
    assert found["ranking.candidates"] == "default"


@pytest.mark.parametrize("where", ["environment", "file"])
def test_an_argument_that_won_is_shown_as_an_argument(home, monkeypatch, where):
    if where == "file":
        toml(home, "[gate]\nmin_characters = 9\n")
    else:
        monkeypatch.setenv("SLOWWAVE_GATE__MIN_CHARACTERS", "9")
    settings = load(home, gate={"min_characters": 7})
    assert settings.gate.min_characters == 7
    assert origins(settings)["gate.min_characters"] == "argument"


def test_every_setting_is_listed_with_what_it_means(home, monkeypatch):
    for name in [name for name in os.environ if name.startswith("SLOWWAVE_")]:
        monkeypatch.delenv(name)  # which the tests have for one another
    rows = in_force(load(home))
    assert len({row.name for row in rows}) == len(rows) > 25
    assert all(row.description for row in rows)
    assert {row.origin for row in rows} == {"default", "argument"}
    values = {row.name: row.value for row in rows}
    assert values["embedding.model"] == "bge-small-en-v1.5"
    assert (values["gate.score"], values["gate.min_characters"]) == ("applicable", None)
    assert (values["gate.mode"], values["gate.warn_days"], values["gate.min_quality"]) == ("warn", 14, 0.40)
    assert (values["reconsolidation.policy"], values["reconsolidation.neighbours"]) == ("off", 3)
    assert values["night.first_day"] == "2024-01-01"


def test_settings_cannot_be_changed(home):
    settings = load(home)
    with pytest.raises(ValueError, match="frozen"):
        settings.namespace = "x"
    with pytest.raises(ValueError, match="frozen"):
        settings.gate.min_characters = 1


def test_the_store_and_the_journal_are_in_the_home_unless_said_otherwise(home):
    settings = load(home)
    assert (settings.store_uri, settings.journal_file) == (str(home / "lance"), home / "journal.db")
    assert load(home, store={"uri": "s3://bucket/x"}).store_uri == "s3://bucket/x"


# -- values that are not allowed -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ({"ranking": {"candidates": 0}}, ["ranking.candidates = 0", "greater than or equal to 1"]),
        ({"ranking": {"candidates": 10_001}}, ["ranking.candidates = 10001", "less than or equal to 10000"]),
        ({"ranking": {"vector_weight": 1.5}}, ["ranking.vector_weight = 1.5", "less than or equal to 1"]),
        ({"ranking": {"fusion": "sum"}}, ["ranking.fusion = 'sum'", "'convex' or 'rrf'"]),
        ({"gate": {"mode": "refuse"}}, ["gate.mode = 'refuse'", "'off', 'warn' or 'enforce'"]),
        ({"gate": {"min_quality": 1.1}}, ["gate.min_quality = 1.1", "less than or equal to 1"]),
        ({"gate": {"warn_days": -1}}, ["gate.warn_days = -1", "greater than or equal to 0"]),
        ({"gate": {"echo_hours": -1}}, ["gate.echo_hours = -1", "greater than or equal to 0"]),
        ({"reconsolidation": {"policy": "on"}}, ["reconsolidation.policy = 'on'", "'guarded' or 'literal'"]),
        ({"reconsolidation": {"neighbours": 0}}, ["reconsolidation.neighbours = 0", "than or equal to 1"]),
        ({"reconsolidation": {"merge": 1.5}}, ["reconsolidation.merge = 1.5", "less than or equal to 1"]),
        (
            {"reconsolidation": {"merge": 0.7, "conflict": 0.8}},
            ["reconsolidation", "conflict = 0.8 is above merge = 0.7"],
        ),
        (
            {"reconsolidation": {"conflict": 0.9, "duplicate": 0.8}},
            ["conflict = 0.9 is above duplicate = 0.8; it has to be conflict ≤ merge ≤ duplicate"],
        ),
        ({"feedback": {"important_at": 11}}, ["important_at = 11 is above critical_at = 10"]),
        ({"night": {"hour": 24}}, ["night.hour = 24", "less than or equal to 23"]),
        ({"night": {"first_day": "soon"}}, ["night.first_day = 'soon'", "pattern"]),
        ({"notes": {"max_retired_share": 0}}, ["notes.max_retired_share = 0", "greater than 0"]),
        ({"namespace": "a b"}, ["namespace = 'a b'", "pattern"]),
        ({"embedding": {"model": ""}}, ["embedding.model = ''", "at least 1 character"]),
        ({"chunks": {"min_words": 200}}, ["chunks", "min_words (200) is above max_words (150)"]),
        (
            {"ranking": {"candidats": 3}},
            ["ranking.candidats is not a setting", "mean ranking.candidates?", "slowwave settings"],
        ),
        ({"rankings": {}}, ["rankings is not a setting", "Did you mean ranking?"]),
        ({"gate": 3}, ["gate = 3"]),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_its_range(home, groups, words):
    with pytest.raises(SettingsError) as caught:
        load(home, **groups)
    for word in words:
        assert word in str(caught.value)


def test_all_values_that_are_not_allowed_are_named_at_once(home):
    with pytest.raises(SettingsError) as caught:
        load(home, ranking={"candidates": 0, "rrf_k": 0}, gate={"mode": "x"})
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SLOWWAVE_RANKING__CANDIDATES", "many", "ranking.candidates = 'many'"),
        ("SLOWWAVE_RANKING__RRFK", "3", "Did you mean ranking.rrf_k?"),
        ("SLOWWAVE_RANKNG__RRF_K", "3", "Did you mean SLOWWAVE_RANKING__RRF_K?"),
        ("SLOWWAVE_GATE__MODE", "", "gate.mode = ''"),
        ("SLOWWAVE_MCP__ALLOWED_HOSTS", "memory.example.org", "SLOWWAVE_MCP__ALLOWED_HOSTS: a list"),
    ],
)
def test_a_variable_that_is_not_allowed_is_named(home, monkeypatch, name, value, words):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load(home)
    assert words in str(caught.value)


def test_a_misspelt_group_in_the_environment_is_named(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_RANKNG__CANDIDATES", "3")
    with pytest.raises(SettingsError):
        load(home)


@pytest.mark.parametrize("text", ["[ranking\ncandidates = 1", "= 3", "a = 1\na = 2", 'x = "'])
def test_a_file_that_is_no_toml_is_named(home, text):
    toml(home, text)
    with pytest.raises(SettingsError) as caught:
        load(home)
    assert f"{home / 'slowwave.toml'} is not valid TOML" in str(caught.value)


@pytest.mark.parametrize("text", ["candidates = 3", "[ranking]\ncandidates = 0", "[rank]\nk = 1"])
def test_a_file_with_a_value_that_is_not_allowed_is_an_error(home, text):
    toml(home, text)
    with pytest.raises(SettingsError):
        load(home)


def test_a_file_that_is_not_utf8_is_named(home):
    home.mkdir()
    (home / "slowwave.toml").write_bytes(b'[embedding]\nmodel = "caf\xe9"\n')
    with pytest.raises(SettingsError, match=r"slowwave\.toml"):
        load(home)


def test_a_first_day_that_does_not_exist_is_refused(home):
    with pytest.raises(SettingsError, match="first_day"):
        load(home, night={"first_day": "2024-13-45"})


# -- secrets ---------------------------------------------------------------------------------------


def test_secrets_are_covered_on_a_screen(home):
    options = {
        "aws_access_key_id": "AKIA1", "aws_secret_access_key": "s3cr3t", "session_TOKEN": "t0k3n",
        "Password": "pw",         "region": "eu", "endpoint": "http://host",
    }  # fmt: skip
    settings = load(
        home,
        store={"storage_options": options},
        journal={"url": "postgresql+psycopg://ada:hunter2@host:5432/db"},
    )
    rows = {row.name: row for row in in_force(settings)}
    assert rows["store.storage_options"].shown == {
        "aws_access_key_id": "***", "aws_secret_access_key": "***", "session_TOKEN": "***", "Password": "***",
        "region": "eu", "endpoint": "http://host",
    }  # fmt: skip
    assert rows["journal.url"].shown == "postgresql+psycopg://ada:***@host:5432/db"
    shown = " ".join(str(row.shown) for row in rows.values())
    for secret in ("AKIA1", "s3cr3t", "t0k3n", "hunter2"):
        assert secret not in shown
    assert rows["journal.url"].value.count("hunter2") == 1


@pytest.mark.parametrize("url", ["postgresql://ada@host/db", "sqlite:///a/b.db", ""])
def test_a_url_without_a_password_is_shown_whole(url):
    assert InForce("journal.url", url, "default", "").shown == url


@pytest.mark.parametrize("url", ["postgresql://ada:hun@ter2@host/db", "postgresql://:ter2@host/db"])
def test_no_part_of_a_password_is_shown(url):
    assert "ter2" not in InForce("journal.url", url, "default", "").shown


# -- the home --------------------------------------------------------------------------------------


def test_the_home_is_the_one_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "named"))
    (tmp_path / ".slowwave").mkdir()
    assert find_home(tmp_path) == (tmp_path / "named").resolve()
    monkeypatch.setenv("SLOWWAVE_HOME", "~/x")
    assert find_home(tmp_path) == (Path("~").expanduser() / "x").resolve()


def test_the_home_is_the_nearest_one_upwards(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_home(deep) == deep.resolve() / ".slowwave"
    (tmp_path / ".slowwave").mkdir()
    assert find_home(deep) == tmp_path.resolve() / ".slowwave"
    (tmp_path / "a" / ".slowwave").mkdir()
    assert find_home(deep) == tmp_path.resolve() / "a" / ".slowwave"
    (tmp_path / "a" / "b" / ".slowwave").write_text("a file is no home")
    assert find_home(deep) == tmp_path.resolve() / "a" / ".slowwave"


def test_the_home_is_looked_for_from_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_home() == tmp_path.resolve() / ".slowwave"
    assert load().home == tmp_path.resolve() / ".slowwave"
    assert list(tmp_path.iterdir()) == []


# -- files that settings name, and what they leave out ---------------------------------------------


@pytest.fixture
def nothing_set(monkeypatch):
    """Without the variables that the tests have for one another."""
    for name in [name for name in os.environ if name.startswith("SLOWWAVE_")]:
        monkeypatch.delenv(name)


def write_policy_file(path: Path, **parameters: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"policy": parameters}))


def test_a_file_is_looked_for_in_the_home_wherever_one_stands(nothing_set, home, tmp_path, monkeypatch):
    write_policy_file(home / "policies" / "mine.json", rrf_k=77)
    write_policy_file(tmp_path / "elsewhere" / "policies" / "mine.json", rrf_k=5)
    evaluation = 'interleave = "policies/mine.json"\nshadow_policies = { mine = "policies/mine.json" }\n'
    toml(home, f'[ranking]\npolicy_file = "policies/mine.json"\n[evaluation]\n{evaluation}')
    monkeypatch.chdir(tmp_path / "elsewhere")
    space = Workspace(load(home))
    assert space.policy.rrf_k == 77
    assert space.interleaved_policy is None  # the same as the one in force
    (mine,) = [one for one in variants(space.policy, space.settings.evaluation, space.policy_of)
               if one.role == "shadow"]  # fmt: skip
    assert mine.variant.policy.rrf_k == 77
    assert origins(space.settings)["ranking.policy_file"] == "slowwave.toml"
    assert load(home, store={"uri": "tables"}).store_uri == str(home / "tables")


def test_what_a_policy_file_leaves_out_is_the_models(nothing_set, home):
    write_policy_file(home / "some.json", rrf_k=77)
    groups = {"embedding": {"model": "wordllama-256"}, "ranking": {"policy_file": "some.json"}}
    space = Workspace(load(home, **groups, evaluation={"shadow_policies": {"some": "some.json"}}))
    assert space.policy == replace(space.model_policy, rrf_k=77)
    assert space.model_policy.vector_weight != RankingPolicy().vector_weight
    (some,) = [one for one in variants(space.policy, space.settings.evaluation, space.policy_of)
               if one.role == "shadow"]  # fmt: skip
    assert some.variant.policy == space.policy
    assert Workspace(
        load(home, **{**groups, "ranking": {"policy_file": "some.json", "rrf_k": 9}})
    ).policy == (replace(space.model_policy, rrf_k=9))


def test_a_parameter_that_no_policy_has_is_told_with_the_nearest_one(home):
    write_policy_file(home / "some.json", rrfk=77)
    with pytest.raises(SettingsError, match=r"rrfk: unknown ranking parameter\. Did you mean rrf_k\?"):
        _ = Workspace(load(home, ranking={"policy_file": "some.json"})).policy


def test_the_policies_of_an_old_home_are_still_tried(home):
    write_policy_file(home / "bad.json", rrf_k=77)
    toml(home, '[evaluation.shadow]\nbad = "bad.json"\n')
    settings = load(home)
    assert settings.evaluation.shadow
    assert settings.evaluation.shadow_policies == {"bad": Path("bad.json")}


def test_without_shadow_scoring_no_other_ranking_is_tried(home):
    settings = load(home, evaluation={"shadow": False, "shadow_policies": {"bad": "none.json"}})
    assert variants(RankingPolicy(), settings.evaluation) == []


def test_what_is_left_without_search_keys_is_tried_where_they_are_on(home):
    settings = load(home).evaluation
    plain, more = (
        [one.variant.name for one in variants(RankingPolicy(), settings, keys=keys)] for keys in (False, True)
    )
    assert "without keys" not in plain
    assert sorted([*plain, "without keys"]) == sorted(more)


def test_thresholds_that_cross_those_of_the_model_are_refused(open_memory):
    memory = open_memory(reconsolidation={"merge": 0.99, "policy": "guarded"})
    with pytest.raises(SettingsError, match=r"merge = 0.99 is above duplicate = 0.94.*You set merge"):
        memory.save("The boat leaves at nine from the northern pier, every day but Sunday.")


def test_a_calibration_that_is_out_of_order_is_refused(open_memory):
    memory = open_memory()
    store = memory._space.store
    crossed = {"duplicate": 0.8, "merge": 0.9, "conflict": 0.5}
    store.put_meta(f"calibration-{store.identity.model}", crossed)
    with pytest.raises(SlowwaveError, match=r"merge = 0.9 is above duplicate = 0.8.*calibrate"):
        _ = memory._space.thresholds


@pytest.mark.parametrize("group", [("page", "url"), ("night", "ui_url")])
def test_the_address_of_a_web_ui_is_one_that_a_browser_opens(tmp_path, group):
    name, key = group
    given = {"https://memory.example.org/ui/": "https://memory.example.org/ui", "http://10.0.0.7:3000": None}
    for address, kept in given.items():
        assert getattr(getattr(load(tmp_path, **{name: {key: address}}), name), key) == (kept or address)
    for wrong in (
        "memory.example.org",
        "javascript:alert(1)",
        "https://ada:pw@example.org",
        "https://a.b/#x",
    ):
        with pytest.raises(SettingsError, match=f"{name}.{key}"):
            load(tmp_path, **{name: {key: wrong}})
