"""The table of the rules' constants (docs/settings.md) says what ships, and leaves none out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from slowwave.embedding import profile
from slowwave.errors import SettingsError
from slowwave.home.workspace import Workspace
from slowwave.quality.learning_bounds import GateBounds
from slowwave.scoring.feedback.policy import FeedbackPolicy, KeyTeaching, LearningPolicy
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import EvaluationSettings, load
from slowwave.settings.learning import LearningSettings
from slowwave.settings.rules import GateSettings, ReconsolidationSettings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
ROW = re.compile(r"^\| ([3-6][.\d]*|[78]\.[1-6]) \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
SETTING = re.compile(r"^`(\w+)\.(\w+)`$")
FIXED = re.compile(r"^fixed \(`([\w.]+)`\)")


def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall(PAGE.read_text())


def settings_of_table() -> Iterator[tuple[str, str, str]]:
    for _, _, ships, where in rows():
        if found := SETTING.match(where):
            yield found[1], found[2], ships


@pytest.fixture
def shipped(home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("SLOWWAVE_RANKING__ABSTENTION_FLOOR")  # as for all other tests
    return Workspace(load(home))


def told(ships: str) -> Any:
    word = ships.removesuffix(" model")
    return {"true": True, "false": False}.get(word, word)


@pytest.mark.parametrize(("group", "name", "ships"), list(settings_of_table()))
def test_a_setting_has_the_default_of_the_table(shipped, group, name, ships):
    value = getattr(getattr(shipped.settings, group), name)
    if value is None:
        value = getattr(shipped.policy, name)
    wanted = told(ships)
    assert value == (wanted if isinstance(value, bool | str) else float(wanted))


def test_what_is_unset_and_not_the_models_is_the_default_of_the_policy(shipped):
    for group, name, ships in settings_of_table():
        if group == "ranking" and name != "candidates" and not ships.endswith(" model"):
            assert getattr(shipped.policy, name) == getattr(RankingPolicy(), name)


def test_every_row_is_a_setting_or_says_why_it_is_fixed():
    assert len(rows()) > 80
    assert {rule for rule, *_ in rows()} >= {"8.1", "8.2"}
    for rule, constant, _, where in rows():
        assert SETTING.match(where) or re.match(r"^fixed( \(`.+`\))?: \w+", where), f"{rule} {constant}"


def test_what_is_fixed_is_where_the_table_says():
    for _, constant, ships, where in rows():
        if not (found := FIXED.match(where)):
            continue
        parts = found[1].split(".")
        module, rest = parts, list[str]()
        while module:
            try:
                value = import_module(".".join(module))
                break
            except ModuleNotFoundError:
                rest.insert(0, module.pop())
        of = FeedbackPolicy() if rest[-1:] == ["prior"] else value
        value = reduce(getattr, rest[-1:] if of is not value else rest, of)
        if isinstance(value, int | float):
            assert value == float(ships), constant


def test_the_nearness_of_questions_is_that_of_the_models():
    (row,) = [row for row in rows() if "ModelProfile.same_question" in row[3]]
    assert (
        tuple(map(float, row[2].removesuffix(" model").split(", ")))
        == profile("nobody-measured").same_question
    )
    told = re.search(r"`([\w-]+)` has (\S+) and (\S+)$", row[3])
    assert profile(told[1]).same_question == (float(told[2]), float(told[3]))


@pytest.mark.parametrize(
    ("policy", "groups", "but"),
    [
        (RankingPolicy, {"ranking"}, {"name"}),
        (FeedbackPolicy, {"feedback"}, {"prior"}),
        (LearningPolicy, {"learning"}, set()),
        (GateBounds, {"learning"}, set()),
        (KeyTeaching, {"search_keys"}, set()),
        (KeyPolicy, {"search_keys"}, {"weight"}),  # it is `ranking.key_weight`
    ],
)
def test_every_parameter_of_a_policy_is_a_setting_in_the_table(policy, groups, but):
    known = {name for group, name, _ in settings_of_table() if group in groups}
    assert {part.name for part in fields(policy)} - but <= known


def test_a_setting_takes_exactly_what_its_policy_takes(home):
    """The bounds are in two places: none may allow what the other refuses at the ends."""
    from slowwave.scoring.ranking.policy import _BOUNDS

    for name, (low, high) in _BOUNDS.items():
        least = 3 if name == "sparse_keeps" else low  # logged searches kept none, and are replayed so
        for value in (least, high):
            if name not in ("rrf_k",) and abs(value) != float("inf"):
                settings = load(home, ranking={name: value})
                assert getattr(Workspace(settings).policy, name) == value
        for value in (low - 1, high + 1):
            if abs(value) != float("inf"):
                with pytest.raises(SettingsError, match=name):
                    load(home, ranking={name: value}), name


def test_the_table_names_every_switch_of_the_rules():
    text = PAGE.read_text().split("## Rule 3")[0]
    for name in (
        "ranking.mpab", "gate.mode", "reconsolidation.policy", "learning.enabled", "evaluation.shadow",
        "ranking.negative_feedback",
    ):  # fmt: skip
        assert f"`{name}`" in text
    assert (LearningSettings().enabled, EvaluationSettings().shadow) == (False, True)
    assert (GateSettings().mode, ReconsolidationSettings().policy) == ("warn", "off")
