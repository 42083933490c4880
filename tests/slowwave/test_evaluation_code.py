"""The version of the rules changes with a rule, and with nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from slowwave.evaluation.code import code_version, digest_of, folders

RULE = '''\
"""Words about the module."""

from collections.abc import Sequence

BOUND = 0.25
"""Words about the constant."""


def enough(found: Sequence[float], least: int = 3) -> bool:
    """Words about the rule."""
    from math import isclose

    # why it is so
    return len(found) >= least and not isclose(found[0], BOUND)
'''


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "bounds.py").write_text(RULE)
    (folder / "other.py").write_text("def other(x):\n    return x\n")
    return folder


def changed(rules: Path, was: str, becomes: str) -> bool:
    before = digest_of([rules])
    assert was in RULE
    (rules / "bounds.py").write_text(RULE.replace(was, becomes))
    return digest_of([rules]) != before


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("0.25", "0.26"),
        ("least: int = 3", "least: int = 4"),
        (">=", ">"),
        ("and not", "or not"),
        ("found[0]", "found[-1]"),
        ("def enough", "def plenty"),
        ("len(found)", "max(found)"),
    ],
)
def test_a_rule_or_a_constant_changes_it(rules, was, becomes):
    assert changed(rules, was, becomes)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("Words about the rule", "Other words about the rule"),
        ("Words about the module", "Other words"),
        ("Words about the constant", "Other words"),
        ("# why it is so", "# why it is not otherwise"),
        ("0.25", "0.250"),
        ("len(found) >= least and not", "(len(found) >= least) and not"),
        ("from collections.abc", "from typing"),
        ("found: Sequence[float]", "found: list[float]"),
    ],
)
def test_words_layout_and_where_names_come_from_do_not(rules, was, becomes):
    assert not changed(rules, was, becomes)


def test_where_a_rule_stands_does_not_matter(rules):
    before = digest_of([rules])
    (rules / "deeper").mkdir()
    (rules / "bounds.py").rename(rules / "deeper" / "renamed.py")
    assert digest_of([rules]) == before
    (rules / "other.py").write_text(
        (rules / "deeper" / "renamed.py").read_text() + (rules / "other.py").read_text()
    )
    (rules / "deeper" / "renamed.py").unlink()
    assert digest_of([rules]) == before


def test_a_rule_that_is_gone_or_stands_twice_changes_it(rules):
    before = digest_of([rules])
    shutil.copy(rules / "other.py", rules / "again.py")
    assert digest_of([rules]) != before
    (rules / "again.py").unlink()
    (rules / "other.py").unlink()
    assert digest_of([rules]) != before


def test_a_list_of_words_changes_it_and_what_is_said_about_the_list_does_not(rules):
    found = rules / "words" / "denied.txt"
    found.parent.mkdir()
    found.write_text("# Words that are denied.\nthe of\nand\n")
    before = digest_of([rules])
    found.write_text("# What nobody learns.\nthe\nof and\n")
    assert digest_of([rules]) == before
    found.write_text("# What nobody learns.\nthe\nof or\n")
    assert digest_of([rules]) != before


def test_it_is_of_the_rules_of_this_package():
    assert code_version().endswith(f"+{digest_of(folders())}")
    for folder in folders():
        assert any(folder.rglob("*.py")), folder
