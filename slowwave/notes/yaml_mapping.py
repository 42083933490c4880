"""YAML mappings of labels: values kept as written, within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

import yaml

from slowwave.notes.fields import MAX_DEPTH, TEXT_FIELDS, field_name

try:
    from yaml import CSafeLoader as _YamlLoader
except ImportError:  # PyYAML built without libyaml: ten times slower, same result
    from yaml import SafeLoader as _YamlLoader  # type: ignore[assignment]

MAX_FRONT_MATTER = 65_536
"""Maximum size of front matter (characters)."""
MAX_FRONT_MATTER_EXPANDED = 262_144
"""Maximum size of front matter with expanded aliases (characters)."""
MAX_FRONT_MATTER_DEPTH = MAX_DEPTH
"""Maximum nesting of front matter."""

_YAML_STRING = "tag:yaml.org,2002:str"
_YAML_MERGE = "tag:yaml.org,2002:merge"
_YAML_TYPED_SCALARS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "timestamp"))

_HASHTAGS = re.compile(
    r"""^(?P<before>[ \t]*(?:-|(?:tags?|keywords?)[ \t]*:)[ \t]+)"""
    r"""(?P<tags>\#[^\s\#"'][^\n"]*?)(?P<after>[ \t]*)$""",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")


class BadYamlError(Exception):
    """Fault in front matter."""


def load_mapping(head: str) -> dict[str, Any]:
    """Return the fields of a YAML mapping, under their names as written.

    Hashtags after `tags:` or in a list are tags, which to YAML would be a comment.

    Raises:
        BadYamlError: If it is no YAML mapping, or beyond the limits.
    """
    if "#" in head:
        head = _HASHTAGS.sub(r'\g<before>"\g<tags>"\g<after>', head)
    try:
        return _load_yaml(head)
    except yaml.YAMLError as error:
        raise BadYamlError(str(error)) from error


def check_size(head: str) -> None:
    """Refuse front matter of more than `MAX_FRONT_MATTER` characters."""
    if len(head) > MAX_FRONT_MATTER:
        raise BadYamlError(f"front matter of {len(head):,} characters, the limit is {MAX_FRONT_MATTER:,}")


class _Loader(_YamlLoader):
    """Safe YAML loader that keeps scalars as written, unless plain numbers or valid dates.

    YAML 1.1 would read `10:30` as 630 and `010` as 8, and refuse `2024-13-01`.
    """

    def check_depth(self) -> None:
        """Refuse too deep nesting before loading; libyaml crashes on some thousands of levels."""
        depth = 0
        while not isinstance(event := self.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_FRONT_MATTER_DEPTH:
                    raise BadYamlError(f"nested deeper than {MAX_FRONT_MATTER_DEPTH} levels")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1


def _construct_integer(loader: _Loader, node: yaml.ScalarNode) -> int | str:
    written = str(loader.construct_scalar(node))
    return int(written) if _PLAIN_INTEGER.fullmatch(written) else written


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float | str:
    written = str(loader.construct_scalar(node))
    try:
        number = float(written)
    except ValueError:
        return written
    return number if isfinite(number) else written


def _or_as_written(construct: Callable[[Any, yaml.ScalarNode], Any]) -> Callable[[Any, yaml.ScalarNode], Any]:
    def constructor(loader: _Loader, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - any YAML scalar
        try:
            return construct(loader, node)
        except (ValueError, KeyError, AttributeError, OverflowError):
            return node.value

    return constructor


_Loader.add_constructor("tag:yaml.org,2002:int", _construct_integer)
_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)
_Loader.add_constructor("tag:yaml.org,2002:bool", _or_as_written(_YamlLoader.construct_yaml_bool))
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _or_as_written(_YamlLoader.construct_yaml_timestamp))


def _load_yaml(head: str) -> dict[str, Any]:
    check_size(head)
    # A level takes a line or one of these characters, and `- a: b` is two levels with one of them.
    if 2 * sum(map(head.count, "\n[{-?")) >= MAX_FRONT_MATTER_DEPTH:
        checker = _Loader(head)
        try:
            checker.check_depth()
        finally:
            checker.dispose()
    loader = _Loader(head)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise BadYamlError("not a list of 'name: value' fields")
        _check_nodes(node)
        _keep_as_written(node)
        fields: dict[str, Any] = loader.construct_document(node)
    finally:
        loader.dispose()
    return fields


def _check_nodes(root: yaml.MappingNode) -> None:
    """Refuse duplicate keys and runaway aliases; make every key a string."""
    budget = MAX_FRONT_MATTER_EXPANDED
    pending: list[yaml.Node] = [root]
    while pending:
        node = pending.pop()
        budget -= 1
        if isinstance(node, yaml.ScalarNode):
            budget -= len(node.value)
        elif isinstance(node, yaml.MappingNode):
            _check_keys(node)
            for key, value in node.value:
                pending += (key, value)
        else:
            pending += node.value
        if budget < 0:
            raise BadYamlError(
                f"aliases (*name) expand to more than {MAX_FRONT_MATTER_EXPANDED:,} characters"
            )


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in seen:
            raise BadYamlError(f"duplicate key {key.value!r}")
        seen.add(key.value)
        if key.tag != _YAML_MERGE:
            key.tag = _YAML_STRING


def _keep_as_written(root: yaml.MappingNode) -> None:
    """Keep text fields from being typed: a tag `on` is not true, a title `1.10` is not 1.1."""
    for key, value in root.value:
        if isinstance(key, yaml.ScalarNode) and field_name(key.value) in TEXT_FIELDS:
            leaves = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for leaf in leaves:
                if leaf.tag in _YAML_TYPED_SCALARS:
                    leaf.tag = _YAML_STRING
