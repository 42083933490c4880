"""A setting that is called otherwise now is read by its former name for a while, and that is said."""

from __future__ import annotations

import logging
import os

import pytest
from command_runner import run_command

from slowwave.errors import SettingsError
from slowwave.settings import former, in_force, load
from slowwave.settings.former import FORMER, Former

MADE_UP = (
    Former("gate.sternness", "gate.mode", "0.2"),
    Former("pace.hour", "night.hour", "0.3"),
    Former("pace.names", "mcp.allowed_hosts", "0.3"),
    Former("night.moon", None, "1.4"),
    Former("mcp.sign_in.maker", "mcp.oauth.issuer", "0.3"),
)


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    monkeypatch.setattr(former, "FORMER", MADE_UP)
    monkeypatch.setattr(former, "_told", set())
    monkeypatch.delenv("SLOWWAVE_GATE__MODE", raising=False)


def write(home, text):
    home.mkdir(exist_ok=True)
    (home / "slowwave.toml").write_text(text)
    return home


def test_a_former_name_in_the_file_counts_and_is_told_once(home, caplog):
    write(home, '[gate]\nsternness = "enforce"\nwarn_days = 3\n')
    settings = load(home)
    assert (settings.gate.mode, settings.gate.warn_days) == ("enforce", 3)
    load(home)
    assert [one.message for one in caplog.records] == [
        f"gate.sternness in {home / 'slowwave.toml'} is called gate.mode since version 0.2. Write that: 0.4 "
        f"may refuse the former name."
    ]


def test_a_former_variable_counts_as_the_present_one_does(home, monkeypatch, caplog):
    monkeypatch.setenv("SLOWWAVE_PACE__HOUR", "7")
    monkeypatch.setenv("SLOWWAVE_PACE__NAMES", '["memory.example.org"]')
    settings = load(home)
    assert settings.night.hour == 7
    assert list(settings.mcp.allowed_hosts) == ["memory.example.org"]
    assert (
        "SLOWWAVE_PACE__HOUR is called SLOWWAVE_NIGHT__HOUR since version 0.3. Write that: 0.5 may refuse "
        "the former name."
    ) in [one.message for one in caplog.records]


def test_a_former_name_in_a_group_that_a_variable_gives_whole_counts(home, monkeypatch, caplog):
    monkeypatch.setenv("SLOWWAVE_GATE", '{"sternness": "off", "warn_days": 3}')
    monkeypatch.setenv("SLOWWAVE_GATE__ECHO_HOURS", "4")
    monkeypatch.setenv("SLOWWAVE_PACE", '{"hour": 7, "names": ["memory.example.org"]}')
    monkeypatch.setenv("SLOWWAVE_NIGHT", '{"moon": 3, "owner": "team:night"}')
    monkeypatch.setenv("SLOWWAVE_MCP", '{"requests": 4}')
    monkeypatch.setenv("SLOWWAVE_MCP__SIGN_IN", '{"maker": "https://login.example.org"}')
    monkeypatch.setenv("SLOWWAVE_MCP__OAUTH__RESOURCE", "https://memory.example.org/mcp")
    settings = load(home)
    assert (settings.gate.mode, settings.gate.warn_days) == ("off", 3)
    assert settings.gate.echo_hours == 4
    assert (settings.night.hour, settings.night.owner) == (7, "team:night")
    assert list(settings.mcp.allowed_hosts) == ["memory.example.org"]
    assert settings.mcp.requests == 4
    assert settings.mcp.oauth.issuer == "https://login.example.org"
    told = [one.message for one in caplog.records]
    assert told[0].startswith("gate.sternness in SLOWWAVE_GATE is called gate.mode since version 0.2.")
    assert told[-1].startswith("mcp.sign_in.maker in SLOWWAVE_MCP__SIGN_IN is called mcp.oauth.issuer since")
    assert len(told) == 5


def test_a_former_argument_counts(home):
    assert load(home, gate={"sternness": "off"}).gate.mode == "off"


def test_a_setting_that_is_gone_is_passed_over_and_told(home, monkeypatch, caplog):
    write(home, "[night]\nmoon = 3\nhour = 5\n")
    monkeypatch.setenv("SLOWWAVE_NIGHT__MOON", "4")
    assert load(home).night.hour == 5
    assert [one.message for one in caplog.records] == [
        "SLOWWAVE_NIGHT__MOON means nothing since version 1.4. Take it out: 2.0 may refuse it.",
        f"night.moon in {home / 'slowwave.toml'} means nothing since version 1.4. Take it out: 2.0 may "
        f"refuse it.",
    ]


@pytest.mark.parametrize(
    ("text", "variables", "arguments"),
    [
        ('[gate]\nsternness = "off"\nmode = "off"\n', {}, {}),
        ('[gate]\nsternness = "off"\n', {"SLOWWAVE_GATE__MODE": "off"}, {}),
        ('[gate]\nmode = "off"\n', {"SLOWWAVE_GATE__STERNNESS": "off"}, {}),
        ("", {"SLOWWAVE_GATE__STERNNESS": "off", "SLOWWAVE_GATE__MODE": "off"}, {}),
        ("", {}, {"gate": {"sternness": "off", "mode": "off"}}),
        ('[gate]\nsternness = "off"\n', {"SLOWWAVE_GATE": '{"mode": "off"}'}, {}),
        ('[gate]\nmode = "off"\n', {"SLOWWAVE_GATE": '{"sternness": "off"}'}, {}),
        ("", {"SLOWWAVE_GATE": '{"sternness": "off", "mode": "off"}'}, {}),
        ("", {"SLOWWAVE_GATE": '{"sternness": "off"}', "SLOWWAVE_GATE__MODE": "off"}, {}),
    ],
)
def test_both_names_are_an_error(home, monkeypatch, text, variables, arguments):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=r"is the former name of gate\.mode, which .* says, too"):
        load(write(home, text), **arguments)


def test_an_argument_wins_over_a_former_name_in_the_file(home):
    assert load(write(home, '[gate]\nsternness = "off"\n'), gate={"mode": "warn"}).gate.mode == "warn"


def test_where_the_value_comes_from_is_shown(home):
    settings = load(write(home, '[gate]\nsternness = "off"\n'))
    found = {one.name: one.origin for one in in_force(settings)}
    assert found["gate.mode"] == "slowwave.toml"


def test_what_never_was_a_setting_is_still_an_error(home, monkeypatch):
    with pytest.raises(SettingsError, match=r"gate\.sternest"):
        load(write(home, "[gate]\nsternest = 1\n"))
    monkeypatch.setenv("SLOWWAVE_PACES__HOUR", "7")
    with pytest.raises(SettingsError, match="SLOWWAVE_PACES__HOUR is not a setting"):
        load(write(home, ""))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLOWWAVE_PACE__HUOR", "7"),
        ("SLOWWAVE_PACE", '{"hour": 7, "huor": 7}'),
        ("SLOWWAVE_PACE", "7"),
        ("SLOWWAVE_PACE__HOUR__OF", "7"),
    ],
)
def test_of_a_group_that_is_no_more_only_what_was_a_setting_is_known(home, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name} is not a setting"):
        load(home)


def test_a_group_that_cannot_be_read_is_an_error_as_ever(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_PACE", '{"hour": 7}')
    monkeypatch.setenv("SLOWWAVE_NIGHT", "{hour")
    with pytest.raises(SettingsError, match="SLOWWAVE_NIGHT: a list or mapping in a variable has to be JSON"):
        load(home)


def test_a_command_says_it_on_standard_error_alone(home, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest's own
    write(home, '[gate]\nsternness = "off"\n')
    done = run_command(
        "settings", "gate.mode", "--json", environment={**os.environ, "SLOWWAVE_HOME": str(home)}
    )
    assert done.returncode == 0
    assert '"off"' in done.stdout
    assert "sternness" not in done.stdout
    assert done.stderr.count("gate.sternness in ") == 1


def wrong(entries, names):
    """Those whose former name is a setting, or whose present one is none."""
    return [one.name for one in entries if one.name in names or one.now not in {*names, None}]


def test_present_names_of_those_that_are_declared_are_settings_and_former_ones_are_none(home):
    names = {one.name for one in in_force(load(home))}
    assert not wrong(FORMER, names)
    assert not wrong(MADE_UP, names)
    faulty = (
        Former("gate.mode", "gate.warn_days", "0.2"),  # still one
        Former("gate.sternness", "gate.mood", "0.2"),
        Former("pace", "night", "0.2"),  # a group is no setting
        Former("night.hour", None, "0.2"),
    )
    assert wrong(faulty, names) == [one.name for one in faulty]
