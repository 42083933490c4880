"""Whatever a request brings, the answer is one that the schema has, and never a fault of the program."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from api_site import UNKNOWN, Api
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

ODD = st.sampled_from(["", "\0", "\ud800", "'; DROP --", "../..", "x" * 5_000, "é\u202e", " ", UNKNOWN, "1"])
LEAVES = ODD | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
JSON = st.recursive(
    LEAVES,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=5,
)
NOT_WALKED = {("post", "/v1/quarantine/{quarantine_id}/release")}


def wrong(schema: dict[str, Any], kind: dict[str, Any], data: object) -> list[str]:
    """What of an answer is not as its schema says."""
    whole = kind | {"components": schema["components"]}
    return [one.message for one in Draft202012Validator(whole).iter_errors(data)]


@st.composite
def body(draw: Any, schema: dict[str, Any], operation: dict[str, Any]) -> Any:
    """A good body in which some values are others, or something else altogether."""
    kind = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if kind is None:
        return None
    model = schema["components"]["schemas"][kind["$ref"].rpartition("/")[2]]
    good = dict(model["examples"][0])
    for name in draw(st.lists(st.sampled_from(sorted(model["properties"])), max_size=2)):
        good[name] = draw(JSON)
    return draw(st.just(good) | st.just(good) | st.just(good) | JSON)


@pytest.mark.slow
def test_no_request_is_answered_otherwise_than_the_schema_says(api: Api):
    schema = api.schema
    ways = [
        (method, path, operation)
        for path, methods in sorted(schema["paths"].items())
        for method, operation in sorted(methods.items())
        if (method, path) not in NOT_WALKED
    ]
    seen: dict[tuple[str, str], set[int]] = {}

    @settings(max_examples=150, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(st.data())
    def walk(data: Any) -> None:
        method, path, operation = data.draw(st.sampled_from(ways))
        name = data.draw(
            st.sampled_from([api.ids["deploy"], api.ids["secret"], UNKNOWN]) | ODD | st.text(max_size=9)
        )
        part = quote(name.encode(errors="surrogatepass"), safe="") or "-"
        where = path
        for one in operation.get("parameters", ()):
            if one["in"] == "path":
                where = where.replace(f"{{{one['name']}}}", part)
            elif one["in"] == "query" and data.draw(st.booleans()):
                value = quote(str(data.draw(LEAVES)).encode(errors="surrogatepass"))
                where += f"{'&' if '?' in where else '?'}{one['name']}={value}"
        by = data.draw(st.sampled_from(["reader", "assistant", "person", ""]))
        answer = api.ask(method, where, data.draw(body(schema, operation)), by=by, If_Match="*")
        seen.setdefault((method, path), set()).add(answer.status_code)
        routed = answer.status_code in (404, 405) and ("%2F" in where or where.endswith(("/.", "/..")))
        if routed:
            return
        told = operation["responses"].get(str(answer.status_code))
        assert told is not None, (method, where, answer.status_code, answer.text[:300])
        (kind,) = [part for name, part in told["content"].items() if answer.headers["content-type"] == name]
        assert wrong(schema, kind["schema"], answer.json()) == []

    walk()
    assert len(seen) > len(ways) // 2
    assert any(code in (200, 201) for codes in seen.values() for code in codes)


def test_the_schema_is_one():
    from slowwave.api.schemas import SearchBody

    Draft202012Validator.check_schema(SearchBody.model_json_schema())
