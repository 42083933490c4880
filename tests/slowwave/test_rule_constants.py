"""Every constant of the rules is a setting, or docs/reference/settings.md says why not."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from functools import reduce
from importlib import import_module
from math import inf
from pathlib import Path

import pytest

from slowwave.embedding import profile
from slowwave.errors import SettingsError
from slowwave.home.workspace import Workspace
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.learning_bounds import GateBounds
from slowwave.quality.reconsolidation import Thresholds
from slowwave.scoring.feedback.policy import FeedbackPolicy, KeyTeaching, LearningPolicy, UsagePolicy
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.parameters import Declared, parameters
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import EvaluationSettings, Settings, load
from slowwave.settings.rules import GateSettings, LearningSettings, ReconsolidationSettings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
ROW = re.compile(r"^\| ([3-8][.\d]*) \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
PLACE = re.compile(r"^`([\w.]+)`: ")
POLICIES = {
    UsagePolicy: "feedback", FeedbackPolicy: "feedback", LearningPolicy: "learning", GateBounds: "learning",
    KeyTeaching: "search_keys", KeyPolicy: "search_keys", RankingPolicy: "ranking",
    Thresholds: "reconsolidation", GatePolicy: "gate",
}  # fmt: skip
SETTINGS = [
    pytest.param(group, one, id=f"{group}.{one.name}")
    for policy, group in POLICIES.items()
    for one in parameters(policy)
    if not one.spec.fixed
]


def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall(PAGE.read_text())


@pytest.fixture
def shipped(home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in [name for name in os.environ if name.startswith("SLOWWAVE_")]:
        monkeypatch.delenv(name)  # which the tests have for one another
    return Workspace(load(home))


@pytest.mark.parametrize(("group", "one"), SETTINGS)
def test_a_setting_is_what_its_parameter_declares(shipped: Workspace, group: str, one: Declared):
    value = getattr(getattr(shipped.settings, group), one.name)
    field = type(getattr(shipped.settings, group)).model_fields[one.name]
    assert field.description.startswith(one.description)
    if group in ("ranking", "reconsolidation"):
        assert value is None
        assert field.description.endswith(f"; unset: {one.shown_default}")
    else:
        assert value == one.default


def test_what_is_unset_and_not_the_models_is_the_default_of_the_policy(shipped):
    of_model = {one.name for one in parameters(RankingPolicy) if one.spec.of_model}
    changed = {f.name for f in fields(RankingPolicy) if getattr(shipped.policy, f.name) != f.default}
    assert changed <= of_model
    assert {"vector_weight", "abstention_floor"} <= of_model


@pytest.mark.parametrize(
    "policy", [UsagePolicy, FeedbackPolicy, LearningPolicy, KeyTeaching, KeyPolicy, GateBounds, Thresholds]
)
def test_all_of_a_policy_is_declared_with_words_and_rule(policy):
    declared = parameters(policy)
    assert {one.name for one in declared} == {part.name for part in fields(policy)}
    assert all(one.spec.words and one.spec.rule for one in declared)


@pytest.mark.parametrize(("group", "one"), SETTINGS)
def test_a_setting_takes_what_its_policy_takes_and_no_more(home: Path, group: str, one: Declared):
    if one.kind not in (int, float):
        return
    low, high = one.spec.min, one.spec.max
    for value in (low, high):
        if abs(value) != inf:
            rest = {"duplicate": 1, "merge": 1, "conflict": -1} if group == "reconsolidation" else {}
            if one.name in ("important_at", "critical_at"):
                rest = {"important_at": 1}
            given = {**rest, one.name: value}
            if given.get("duplicate") == -1:
                given["merge"] = -1
            assert getattr(getattr(load(home, **{group: given}), group), one.name) == value
    for value in (low - 1, high + 1, one.spec.above, one.spec.below):
        if value is not None and abs(value) != inf:
            with pytest.raises(SettingsError, match=one.name):
                load(home, **{group: {one.name: value}})


def test_every_row_says_where_it_stands_or_why_it_is_fixed():
    assert len(rows()) > 25
    for rule, constant, value, why in rows():
        assert value, f"{rule} {constant}"
        assert re.match(r"^(`[\w.]+`: )?\w+", why), f"{rule} {constant}"


def test_what_is_fixed_is_where_the_table_says():
    for _, constant, ships, why in rows():
        if not (found := PLACE.match(why)):
            continue
        module, rest = found[1].split("."), list[str]()
        while module:
            try:
                value = import_module(".".join(module))
                break
            except ModuleNotFoundError:
                rest.insert(0, module.pop())
        value = reduce(getattr, rest, value)
        if isinstance(value, int | float):
            assert value == float(ships.split(",")[0]), constant


def test_the_nearness_of_questions_is_that_of_the_models():
    (row,) = [row for row in rows() if "ModelProfile.same_question" in row[3]]
    assert (
        tuple(map(float, row[2].removesuffix(" model").split(", ")))
        == profile("nobody-measured").same_question
    )
    told = re.search(r"`([\w-]+)` has (\S+) and (\S+)$", row[3])
    assert profile(told[1]).same_question == (float(told[2]), float(told[3]))


def test_the_table_names_every_switch_of_the_rules():
    text = PAGE.read_text().split("## Switches")[1].split("\n## ")[0]
    for name in (
        "ranking.mpab", "gate.mode", "reconsolidation.policy", "learning.enabled", "evaluation.shadow",
        "ranking.negative_feedback",
    ):  # fmt: skip
        assert f"`{name}`" in text
    assert (LearningSettings().enabled, EvaluationSettings().shadow) == (False, True)
    assert (GateSettings().mode, ReconsolidationSettings().policy) == ("warn", "off")
    assert {*POLICIES.values()} <= {*Settings.model_fields}
