from __future__ import annotations

import tomllib
from hashlib import sha256

import pytest

from slowwave.errors import SettingsError
from slowwave.serving.tokens import add_token, known_token
from slowwave.settings import McpToken, in_force, load

OLD = f'token_sha256 = "{"0" * 64}"\nnamespace = "old"\nprincipal = "p"'


def opens(token: str, tokens: tuple[McpToken, ...]) -> tuple[str, str]:
    """What a token opens, and in whose name."""
    known = known_token(token, tokens)
    assert known is not None
    return known.namespace, known.principal


def test_a_token_opens_its_namespace_and_only_its_hash_is_kept(home):
    home.mkdir()
    first = add_token(load(home), "ada", "claude")
    second = add_token(load(home), "bob/notes", "cursor")
    text = (home / "slowwave.toml").read_text()
    assert first not in text
    assert second not in text
    assert sha256(first.encode()).hexdigest() in text
    tokens = load(home).mcp.tokens
    assert opens(first, tokens) == ("ada", "claude")
    assert opens(second, tokens) == ("bob/notes", "cursor")


@pytest.mark.parametrize(
    "change", [str.upper, lambda token: token[:-1], lambda token: token + " ", lambda _: ""]
)
def test_what_is_nearly_a_token_opens_nothing(home, change):
    home.mkdir()
    token = add_token(load(home), "ada", "claude")
    tokens = load(home).mcp.tokens
    assert known_token(token, tokens)
    assert known_token(change(token), tokens) is None
    assert known_token(tokens[0].token_sha256, tokens) is None
    assert known_token(token, ()) is None


def test_two_tokens_are_never_the_same(home):
    home.mkdir()
    assert len({add_token(load(home), "ada", "claude") for _ in range(20)}) == 20
    assert len(load(home).mcp.tokens) == 20


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# mine\n[gate]\nmode = \"off\"  # for now\n",
        "[mcp]\nallowed_hosts = [\"memory.example.org\"]\n\n[gate]\nmode = \"off\"\n",
        f"[[mcp.tokens]]\n{OLD}\n\n[gate]\nmode = \"off\"\n",
        f"[mcp]\ntokens = [{{{OLD.replace(chr(10), ', ')}}}]\n",
        "mcp.allowed_hosts = [\"memory.example.org\"]\n",
    ],
)  # fmt: skip
def test_a_token_leaves_the_rest_of_the_settings_file_as_it_is(home, before):
    home.mkdir()
    (home / "slowwave.toml").write_text(before)
    was = tomllib.loads(before)
    old = was.get("mcp", {}).get("tokens", [])
    token = add_token(load(home), "ada", "claude")
    text = (home / "slowwave.toml").read_text()
    now = tomllib.loads(text)
    assert now["mcp"].pop("tokens")[:-1] == old
    was.get("mcp", {}).pop("tokens", None)
    assert now | {"mcp": now["mcp"] or was.get("mcp", {})} == was | {"mcp": was.get("mcp", {})}
    assert all(line in text for line in before.splitlines() if line.startswith(("#", "mode", "allowed")))
    assert opens(token, load(home).mcp.tokens) == ("ada", "claude")


@pytest.mark.parametrize(("namespace", "principal"), [("a b", "claude"), ("", "claude"), ("ada", "")])
def test_a_token_for_nobody_is_refused_and_nothing_is_written(home, namespace, principal):
    home.mkdir()
    with pytest.raises(SettingsError, match=r"mcp\.tokens"):
        add_token(load(home), namespace, principal)
    assert not (home / "slowwave.toml").exists()


def test_the_settings_show_who_has_a_token_but_not_the_token(home):
    home.mkdir()
    token = add_token(load(home), "ada", "claude")
    (row,) = [row for row in in_force(load(home)) if row.name == "mcp.tokens"]
    shown = {"token_sha256": "***", "namespace": "ada", "principal": "claude", "rights": "assistant"}
    shown |= {"name": "", "expires": None}
    assert row.shown == [shown]
    assert row.origin == "slowwave.toml"
    assert sha256(token.encode()).hexdigest() not in repr(row.shown)


@pytest.mark.parametrize(
    "entry",
    [
        'tokens = [{token_sha256 = "hunter2", namespace = "ada", principal = "p"}]',
        'tokens = [{token = "hunter2", namespace = "ada", principal = "p"}]',
        'tokens = ["hunter2"]',
        'tokens = "hunter2"',
        f'tokens = [{{token_sha256 = "{"c0ffee" * 10}0000", namespace = "a", principal = "p"}},'
        f' {{token_sha256 = "{"c0ffee" * 10}0000", namespace = "b", principal = "p"}}]',
    ],
)
def test_a_fault_in_the_settings_does_not_show_the_token(home, entry):
    home.mkdir()
    (home / "slowwave.toml").write_text(f"[mcp]\n{entry}\n")
    with pytest.raises(SettingsError) as caught:
        load(home)
    assert "mcp" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "c0ffee" not in str(caught.value)


def test_one_token_cannot_open_two_namespaces(home):
    entry = {"token_sha256": "0" * 64, "principal": "p"}
    with pytest.raises(SettingsError, match="one namespace only"):
        load(home, mcp={"tokens": [entry | {"namespace": "ada"}, entry | {"namespace": "bob"}]})
