from __future__ import annotations

import logging
from functools import reduce
from pathlib import Path

import pytest

from slowwave.errors import SettingsError
from slowwave.settings import Settings, deprecated, in_force, load
from slowwave.settings.deprecated import DEPRECATED

ROOT = Path(__file__).parents[2]
DEFAULTS = {one.name: one.default for one in in_force(Settings())}
VALUES = {
    "learning.max_noise_rate": 0.04, "learning.max_mrr_loss": 0.01, "search_keys.minority_fraction": 0.5,
    "learning.max_events_per_window": 2, "search_keys.max_events_per_window": 2,
    "learning.common_term_min_memories": 4, "search_keys.max_user_boost": 0.02,
    "search_keys.usage_weight": 0.6, "search_keys.position_bias_exponent": 0.4,
}  # fmt: skip
"""Allowed values where the default plus 1 is not."""
RENAMED = [(old, new, VALUES.get(new) or DEFAULTS[new] + 1) for old, new in DEPRECATED.items()]
renamed = pytest.mark.parametrize(("old", "new", "value"), RENAMED, ids=list(DEPRECATED))


@pytest.fixture(autouse=True)
def _a_new_process(monkeypatch):
    monkeypatch.setattr(deprecated, "_warned", set())


def value_of(settings: Settings, name: str) -> object:
    return reduce(getattr, name.split("."), settings)


def write(home: Path, **settings: object) -> Path:
    home.mkdir(exist_ok=True)
    file = home / "slowwave.toml"
    file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    return file


def variable(name: str) -> str:
    return f"SLOWWAVE_{name.replace('.', '__')}".upper()


@renamed
def test_a_deprecated_name_is_read_from_the_file(home, caplog, old, new, value):
    file = write(home, **{old: value})
    assert value != DEFAULTS[new]
    assert value_of(load(home), new) == value_of(load(home), new) == value
    assert caplog.messages == [f"{old} in {file} is deprecated: use {new}"]
    (row,) = [one for one in in_force(load(home)) if one.name == new]
    assert (row.value, row.origin) == (value, "slowwave.toml")


@renamed
def test_a_deprecated_name_is_read_from_variables(home, monkeypatch, caplog, old, new, value):
    monkeypatch.setenv(variable(old), str(value))
    settings = load(home)
    assert value_of(settings, new) == value
    message = f"{variable(old)} in the environment is deprecated: use {variable(new)}"
    assert caplog.messages == [message]
    (row,) = [one for one in in_force(settings) if one.name == new]
    assert (row.value, row.origin) == (value, variable(old))


@renamed
def test_a_deprecated_name_is_read_from_arguments(home, caplog, old, new, value):
    group, name = old.split(".")
    given = {name: value}
    assert value_of(load(home, **{group: given}), new) == value
    assert caplog.messages == [f"{old} in the arguments is deprecated: use {new}"]
    assert given == {name: value}


def test_a_deprecated_name_is_read_from_a_variable_with_a_whole_group(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_MCP", '{"requests": 7}')
    assert load(home).mcp.max_concurrent_requests == 7


@renamed
def test_both_names_in_one_place_are_refused(home, monkeypatch, old, new, value):
    file = write(home, **{old: value, new: value})
    with pytest.raises(SettingsError) as caught:
        load(home)
    assert str(caught.value) == f"Both {old} (deprecated) and {new} are set in {file}. Remove {old}."
    file.unlink()
    monkeypatch.setenv(variable(old), str(value))
    monkeypatch.setenv(variable(new), str(value))
    with pytest.raises(SettingsError, match=f"Both {variable(old)} .* in the environment. Remove"):
        load(home)


def test_the_stronger_place_wins_whichever_name_it_has(home, monkeypatch):
    write(home, **{"learning.least_principals": 2})
    monkeypatch.setenv("SLOWWAVE_LEARNING__MIN_USERS", "3")
    assert load(home).learning.min_users == 3
    assert load(home, learning={"least_principals": 4}).learning.min_users == 4


def test_a_value_that_is_not_allowed_has_the_current_name(home):
    write(home, **{"mcp.half_sent": 0})
    with pytest.raises(SettingsError, match=r"mcp\.max_pending_connections = 0"):
        load(home)


@pytest.mark.parametrize("unknown", ["search_keys.rech", "learning.noise_term", "store.reach"])
def test_an_unknown_name_is_refused_as_before(home, monkeypatch, unknown):
    file = write(home, **{unknown: 1})
    with pytest.raises(SettingsError, match=f"{unknown} is not a setting"):
        load(home)
    file.unlink()
    monkeypatch.setenv(variable(unknown), "1")
    with pytest.raises(SettingsError, match=f"{unknown} is not a setting"):
        load(home)


def test_current_names_warn_of_nothing(home, caplog):
    write(home, **{new: value for _, new, value in RENAMED})
    with caplog.at_level(logging.DEBUG, "slowwave.settings"):
        load(home)
    assert not caplog.messages


def test_the_page_on_upgrades_lists_all():
    page = (ROOT / "docs/how-to/upgrade.md").read_text(encoding="utf-8")
    table = page.partition("### Renamed settings")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{old}` | `{new}` |" for old, new in DEPRECATED.items()]
