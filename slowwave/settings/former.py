"""Settings under the names that they had: read as before until they go, and said so once.

A setting that gets another name, or goes, is declared in `FORMER` and nowhere else; docs/versions.md says
for how long. Where its former name still stands it is read as if the present one stood there. The first time
a line on standard error says where that is, what to write instead, and when the former name goes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slowwave.errors import SettingsError
from slowwave.settings.finding import ENV_PREFIX

LOG = logging.getLogger("slowwave.settings")
_told: Final = set[str]()  # lines that this process has said


@dataclass(frozen=True, slots=True)
class Former:
    """A setting under the name that it had.

    Attributes:
        name: that it had, with its group, as `gate.mode`.
        now: the name that it has; None: it is gone, and what it says is passed over.
        since: first version that has it so, as `0.2`.
    """

    name: str
    now: str | None
    since: str

    @property
    def until(self) -> str:
        """The first version that may refuse the former name: two minor ones later, or the next major one."""
        major, minor = (int(part) for part in self.since.split(".")[:2])
        return f"{major + 1}.0" if major else f"0.{minor + 2}"


FORMER: tuple[Former, ...] = (Former("search_keys.quantile", None, "0.2"),)
"""Every setting whose former name is still read. One whose time is over is taken out here."""


@dataclass(frozen=True, slots=True)
class Given:
    """What is said of settings, as it is read: from arguments, from variables, from the file.

    Attributes:
        arguments: groups and settings by their names.
        variables: texts by the names of variables, in lower case.
        file: groups and settings by their names.
        groups: those that a variable gives whole, as JSON, each with the groups around it; by the variable.
    """

    arguments: dict[str, Any]
    variables: dict[str, str | None]
    file: dict[str, Any]
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)


def renamed(
    arguments: Mapping[str, Any], variables: Mapping[str, str | None], data: Mapping[str, Any], file: Path
) -> Given:
    """What is said of settings, all of it under the names that they have now.

    Args:
        arguments: of a program.
        variables: of the environment, their names in lower case.
        data: what the settings file says.
        file: where that is.

    Raises:
        SettingsError: something is said under the former name and under the present one.
    """
    texts = dict(variables)
    given = Given(_copy(arguments), texts, _copy(data), _groups(texts))
    for one in FORMER:
        _refuse_both(one, given, file)
        for place in _where(one.name, given, file):
            _tell(one, place)
        for tree in (given.arguments, given.file, *given.groups.values()):
            found, value = _taken(tree, one.name.split("."))
            if found and one.now is not None:
                _put(tree, one.now.split("."), value)
        variable = _variable(one.name).lower()
        if variable in given.variables:
            value = given.variables.pop(variable)
            if one.now is not None:
                given.variables[_variable(one.now).lower()] = value
    whole: dict[str, Any] = {}
    for tree in given.groups.values():
        _merge(whole, tree)
    for name, value in whole.items():
        text = value if isinstance(value, str) else json.dumps(value)
        given.variables.setdefault(_variable(name).lower(), text)  # one that is there is no JSON: an error
    return given


def _groups(texts: dict[str, str | None]) -> dict[str, dict[str, Any]]:
    """The groups that variables give whole, of those that a former name or its present one is in.

    Args:
        texts: of variables, by their names in lower case; those of these groups are taken out.
    """
    paths = [name.split(".") for one in FORMER for name in (one.name, one.now) if name is not None]
    groups = {tuple(path[:depth]) for path in paths for depth in range(1, len(path))}
    found: dict[str, dict[str, Any]] = {}
    for group in sorted(groups, key=len):  # what the variable of an inner one says counts more
        variable = _variable(".".join(group))
        try:
            said = json.loads(texts.get(variable.lower()) or "")
        except ValueError:
            continue
        if isinstance(said, dict):
            del texts[variable.lower()]
            _put(found.setdefault(variable, {}), [*group], said)
    return found


def _refuse_both(one: Former, given: Given, file: Path) -> None:
    """An argument may be other than what the file says, under whatever name; no two places of a person."""
    if one.now is None:
        return
    by_program = Given(given.arguments, {}, {})
    by_person = Given({}, given.variables, given.file, given.groups)
    for said in (by_program, by_person):
        former, present = [*_where(one.name, said, file)], [*_where(one.now, said, file)]
        if former and present:
            raise SettingsError(
                f"{former[0]} is the former name of {one.now}, which {present[0]} says, too. Take the former "
                f"one out."
            )


def _where(name: str, given: Given, file: Path) -> Iterator[str]:
    """The places at which a setting is given, in words."""
    path = name.split(".")
    if _has(given.arguments, path):
        yield f"the argument {name}"
    if _variable(name).lower() in given.variables:
        yield _variable(name)
    for variable, tree in given.groups.items():
        if _has(tree, path):
            yield f"{name} in {variable}"
    if _has(given.file, path):
        yield f"{name} in {file}"


def _tell(one: Former, where: str) -> None:
    """Say it, once in a process."""
    if one.now is None:
        told = f"{where} means nothing since version {one.since}. Take it out: {one.until} may refuse it."
    else:
        name = _variable(one.now) if where.startswith(ENV_PREFIX) else one.now
        told = f"{where} is called {name} since version {one.since}. Write that: {one.until} may refuse the "
        told += "former name."
    if told not in _told:
        _told.add(told)
        LOG.warning("%s", told)


def _variable(name: str) -> str:
    return ENV_PREFIX + name.replace(".", "__").upper()


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _copy(part) if isinstance(part, dict) else part for name, part in tree.items()}


def _has(tree: Any, path: list[str]) -> bool:  # noqa: ANN401 - any setting
    for name in path:
        if not isinstance(tree, dict) or name not in tree:
            return False
        tree = tree[name]
    return True


def _taken(tree: dict[str, Any], path: list[str]) -> tuple[bool, Any]:
    """Whether a setting is there, and its value; it is there no more, nor is a group that it leaves empty."""
    if not _has(tree, path):
        return False, None
    first, *rest = path
    if not rest:
        return True, tree.pop(first)
    taken = _taken(tree[first], rest)
    if not tree[first]:
        del tree[first]
    return taken


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:  # noqa: ANN401 - any setting
    *groups, name = path
    for group in groups:
        tree = tree.setdefault(group, {})
    tree[name] = value


def _merge(tree: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Put into a tree what another one says, which counts more."""
    for name, part in more.items():
        there = tree.get(name)
        if isinstance(part, dict) and isinstance(there, dict):
            _merge(there, part)
        else:
            tree[name] = part
