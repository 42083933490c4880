"""Reference of the settings: type, range, default and meaning, and the fixed constants.

Switches and constants that no model declares are in `settings_fixed.md`, beside this file.
"""

from __future__ import annotations

import enum
import re
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from slowwave.scoring.feedback.policy import FeedbackPolicy, UsagePolicy
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.parameters import parameters
from slowwave.settings import CONFIG_FILE, Settings
from slowwave.settings.display import variable_of
from tools.reference.markdown import code, codes, paragraphs, prose, section, table

PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path"}
BOUNDS = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
LENGTHS = {"min_length": "at least {} long", "max_length": "at most {} long"}
FIXED = "Parameters of policies that no setting changes, with the reason."
HEAD = ["setting", "type and range", "default", "meaning"]
HERE = Path(__file__).parent
RULES = HERE.parents[1] / "docs" / "reference" / "rules.md"
INTRO = """\
This page lists every setting, and every constant of the [rules](rules.md) that is fixed. `slowwave settings`
prints the settings of a home that differ from the defaults; with `--all` it prints all of them, and where
each comes from.

- **Where.** A setting is in `{file}` in the home, under the table that its group names, or in an
  environment variable: `embedding.model` is `model` under `[embedding]`, and `{variable}`.
- **Precedence.** Argument, then variable, then file, then default.
- **Errors.** An unknown name, a value out of range and an unknown parameter of a policy file are errors.
  The message names the nearest name or the range.
- **Unset** settings of `ranking` have the value of the policy file, else of the embedding model, else the
  default. Those of `reconsolidation` have that of the model. A policy file may leave parameters out.
- **Paths.** A relative path in `ranking.policy_file`, `evaluation.shadow_policies`,
  `evaluation.interleave` or `store.uri` is relative to the home, wherever a command starts.
- **Safeguards.** Limits that are safeguards can only be made stricter: their range begins or ends at the
  default.
- **Order.** Thresholds must rise: `reconsolidation.conflict` ≤ `merge` ≤ `duplicate` (together with the
  model's, too), `feedback.important_at` ≤ `critical_at`, `chunks.min_words` ≤ `max_words`."""


def page() -> str:
    """Return the page."""
    variable = variable_of(("embedding", "model"))
    switches, constants = (
        (HERE / "settings_fixed.md").read_text(encoding="utf-8").split("\n## Fixed constants")
    )
    parts = [
        "# Settings",
        INTRO.format(file=CONFIG_FILE, variable=variable),
        switches.strip(),
        section(2, "Home", table(HEAD, _rows(Settings, ()))),
    ]
    for name, group in _groups(Settings):
        parts.append(section(2, name, paragraphs(group.__doc__), table(HEAD, _rows(group, (name,)))))
        for inner, model in _listed(group):
            title = f"{name}.{inner}: each of them"
            parts.append(section(3, title, paragraphs(model.__doc__), table(HEAD, _rows(model, ()))))
    parts.append("## Fixed constants" + constants.rstrip())
    head = ["parameter", "value", "meaning", "reason"]
    parts.append(section(3, "Fixed parameters of policies", FIXED, table(head, _fixed())))
    return _cited("\n\n".join(parts), _anchors(RULES.read_text(encoding="utf-8")))


def _anchors(rules: str) -> dict[str, str]:
    """Return the anchor of each rule by number, from the headings of the rules page."""
    headings = re.findall(r"^#+ (Rule ([\d.]+):.*)$", rules, re.MULTILINE)
    return {number: re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title, number in headings}


def _cited(text: str, anchors: Mapping[str, str]) -> str:
    """Return the text with rule numbers as links."""

    def link(match: re.Match[str]) -> str:
        return f"{match[1]}[{match[2]}](rules.md#{anchors[match[3]]})" if match[3] in anchors else match[0]

    return re.sub(r"([(, ])(rule (\d(?:\.\d+)?))(?=[),;])", link, text)


def _fixed() -> Iterator[tuple[str, str, str, str]]:
    """Yield the policy parameters that are no settings."""
    for policy in (UsagePolicy, FeedbackPolicy, KeyPolicy):
        for declared in parameters(policy):
            if declared.spec.fixed:
                name = code(f"{policy.__name__}.{declared.name}")
                yield (
                    name,
                    code(declared.shown_default),
                    prose(declared.description),
                    prose(declared.spec.fixed),
                )


def _groups(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield name, field.annotation


def _listed(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield settings that are lists of rows, with the model of a row."""
    for name, field in model.model_fields.items():
        for part in get_args(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield name, part


def _rows(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    inner = dict(_groups(model))
    for name, field in model.model_fields.items():
        if name not in inner:
            type_and_range = ", ".join(filter(None, [_type(field.annotation), _range(field.metadata)]))
            yield (
                code(".".join((*path, name))),
                type_and_range,
                _default(field),
                prose(field.description or ""),
            )


def _type(kind: Any) -> str:  # noqa: ANN401 - any annotation
    if get_origin(kind) is Annotated:
        inner, *metadata = get_args(kind)
        return ", ".join(filter(None, [_type(inner), _range(metadata)]))
    if get_origin(kind) is Literal:
        return codes(map(str, get_args(kind)))
    if get_origin(kind) in (Union, types.UnionType):
        kinds = [_type(arg) for arg in get_args(kind) if arg is not type(None)]
        return " or ".join(kinds) + (", or unset" if type(None) in get_args(kind) else "")
    if get_origin(kind) in (tuple, list):
        return f"list of {_type(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return "table of names and values"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return codes(str(member.value) for member in kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "rows"
    return PLAIN.get(kind, getattr(kind, "__name__", str(kind)))


def _range(metadata: list[Any]) -> str:
    """Return the bounds of a value: numbers, lengths, a pattern."""
    bounds = []
    for words in (BOUNDS, LENGTHS):
        for name, wording in words.items():
            bounds += [wording.format(_number(getattr(rule, name))) for rule in metadata if _has(rule, name)]
    bounds += [f"like {code(rule.pattern)}" for rule in metadata if _has(rule, "pattern")]
    return " ".join(bounds)


def _has(rule: Any, name: str) -> bool:  # noqa: ANN401
    return getattr(rule, name, None) is not None


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, enum.Enum):
        return code(value.value)
    if isinstance(value, int | float):
        return code(f"{value:g}" if isinstance(value, float) else value)
    return code(value) if str(value) and value not in ((), {}, []) else "empty"
