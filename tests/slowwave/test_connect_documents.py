"""What is written into a client's file, as a text: nothing of others changes, and it can be taken out."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.connect import documents, hooks, json_text
from slowwave.connect.clients import BY_NAME, CLIENTS, Places, file_of
from slowwave.connect.documents import CommentsError, connected, connections, disconnected
from slowwave.connect.entries import HomeConnection, connection_in, entry_of
from slowwave.errors import SlowwaveError

HOME = HomeConnection("/home/ada/my memory's", "default", "cursor")
LAUNCH = ("/opt/slow wave/bin/slowwave",)
CURSOR, CODEX, CODE = BY_NAME["cursor"], BY_NAME["codex"], BY_NAME["claude-code"]
ENTRY = entry_of(CURSOR, LAUNCH, HOME)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
servers = st.dictionaries(st.text().filter(lambda name: name != "memory"), values, max_size=3)
objects = st.builds(
    lambda rest, own: rest | own,
    st.dictionaries(st.text(), values, max_size=4),
    st.one_of(st.just({}), servers.map(lambda there: {"mcpServers": there})),
).filter(lambda found: isinstance(found.get("mcpServers", {}), dict))
spellings = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": 4, "ensure_ascii": False},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"indent": 1, "separators": (" , ", " : ")},
    ]
)
ends = st.sampled_from(["", "\n", "\n\n", " "])


def made(text: str | None, client=CURSOR, name: str = "memory", connection: HomeConnection = HOME) -> str:
    return connected(text, client, name, LAUNCH, connection, "mcp.json")


def gone(text: str, client=CURSOR, name: str = "memory") -> str | None:
    return disconnected(text, client, name, "mcp.json")


@given(document=objects, spelling=spellings, end=ends, mark=st.sampled_from(["", "\ufeff"]))
def test_any_json_says_the_same_and_the_entry_and_gets_its_very_text_back(document, spelling, end, mark):
    document.get("mcpServers", {}).pop("memory", None)
    text = mark + json.dumps(document, **spelling) + end
    with_it = made(text)
    wanted = {**document, "mcpServers": {**document.get("mcpServers", {}), "memory": ENTRY}}
    assert json.loads(with_it.removeprefix("\ufeff")) == wanted
    assert made(with_it) == with_it
    assert gone(with_it) == text


@given(document=objects, spelling=spellings, others=servers)
def test_what_others_write_meanwhile_stays(document, spelling, others):
    document.get("mcpServers", {}).pop("memory", None)
    found = json.loads(made(json.dumps(document, **spelling)))
    found["mcpServers"] |= {name: value for name, value in others.items() if name != "memory"}
    found["mcpServers"]["after"] = {"command": "x"}
    left = json.loads(gone(json.dumps(found, **spelling)))
    del found["mcpServers"]["memory"]
    assert left == found


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize("text", [None, "", "\n", "  \n"])
def test_a_file_that_is_not_there_is_made_and_goes_and_a_blank_one_stays(client, text):
    with_it = made(text, client)
    assert connections(documents.read(with_it, client.form, "f"), client) == {"memory": HOME}
    assert gone(with_it, client) == text


def test_line_breaks_of_windows_and_the_indentation_of_the_file_are_kept():
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "x"}\r\n\t}\r\n}\r\n'
    with_it = made(text)
    assert '\r\n\t\t"memory": {\r\n\t\t\t"command": ' in with_it
    assert "\n" not in with_it.replace("\r\n", "")
    assert gone(with_it) == text


TOMLS = [
    'model = "o3"  # the best one\n',
    'model = "o3"',
    '# all alone\n',
    '[mcp_servers.a]\ncommand = "x"   # mine\n\n[profiles.b]\n# kept\nz = 1\n',
    '[mcp_servers]\n',
    "[[x]]\ny = 1979-05-27T07:32:00Z\n\n\n",
    "a = 1\r\n",
    "mcp_servers.a.command = 'x'\n",
]  # fmt: skip


@pytest.mark.parametrize("text", TOMLS)
def test_toml_keeps_its_comments_and_gets_its_very_text_back(text):
    with_it = made(text, CODEX)
    assert with_it.startswith(text)
    document = tomllib.loads(with_it)
    assert document["mcp_servers"].pop("memory") == entry_of(CODEX, LAUNCH, HOME)
    assert {**tomllib.loads(text), "mcp_servers": document["mcp_servers"]} == document
    assert made(with_it, CODEX) == with_it
    assert gone(with_it, CODEX) == text


def test_a_table_that_people_have_changed_is_taken_out_whole_and_comments_of_others_stay():
    text = made("# first\nmodel = 'o3'\n", CODEX) + "startup_timeout_sec = 20\n\n[z] # last\na = 1\n"
    left = gone(text, CODEX)
    assert tomllib.loads(left) == {"model": "o3", "z": {"a": 1}}
    assert "# first" in left
    assert "# last" in left


@pytest.mark.parametrize("client", [CURSOR, CODEX], ids=lambda client: client.name)
def test_another_home_replaces_the_one_before_and_keeps_what_people_added(client):
    if client is CODEX:
        text = made(None, client) + "startup_timeout_sec = 20 # slow disk\n"
    else:
        text = json.dumps({"mcpServers": {"memory": ENTRY | {"env": {"A": "1"}}}}, indent=2)
    other = replace(HOME, home="/srv/other", namespace="work")
    now = made(text, client, connection=other)
    document = documents.read(now, client.form, "f")
    assert connections(document, client) == {"memory": other}
    kept = document[client.servers]["memory"]
    assert kept.get("env") == {"A": "1"} or kept.get("startup_timeout_sec") == 20
    assert ("# slow disk" in now) == (client is CODEX)


FOREIGN = [
    {"command": "npx", "args": ["-y", "server-memory"]},
    {"url": "https://memory.example.org/mcp"},
    {"command": "/bin/slowwave", "args": ["--home", "/h", "serve"]},
    {"command": "/bin/slowwave", "args": ["mcp"]},
    {"command": "/bin/other", "args": ENTRY["args"]},
    "text",
    None,
]


@pytest.mark.parametrize("entry", FOREIGN)
def test_an_entry_of_others_is_neither_replaced_nor_taken_out(entry):
    text = json.dumps({"mcpServers": {"memory": entry}})
    for act in (made, gone):
        with pytest.raises(SlowwaveError, match=r"did not write.*--name"):
            act(text)
    assert json.loads(made(text, name="slow"))["mcpServers"]["memory"] == entry


COMMENTED = [
    '// mine\n{"mcpServers": {}}',
    '{"a": 1, /* why */ "b": 2}',
    '{"a": "http://x", }',
    '{"list": [1, 2,],}',
]


@pytest.mark.parametrize("text", COMMENTED)
def test_json_with_comments_is_never_written_and_the_error_says_what_to_add(text):
    with pytest.raises(CommentsError) as error:
        made(text)
    shown = str(error.value).split("by hand:\n")[1]
    assert json.loads(shown) == {"mcpServers": {"memory": ENTRY}}
    assert gone(text) == text
    by_hand = text.replace("{", '{"mcpServers": ' + json.dumps({"memory": ENTRY}) + ", ", 1)
    if "mcpServers" not in text:
        assert made(by_hand) == by_hand
        with pytest.raises(CommentsError, match="by hand"):
            gone(by_hand)


@given(st.text(alphabet='"\\/*,]}{[ \n:ab1', max_size=40))
def test_looking_past_comments_keeps_the_place_of_every_other_character(text):
    bare = json_text.without_comments(text)
    assert len(bare) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, bare, strict=True))


def test_a_string_that_looks_like_a_comment_is_none():
    text = '{"a": "// no", "b": "/* no */", "c": ",}", "d": "\\"//"}'
    assert json_text.without_comments(text) == text


@pytest.mark.parametrize(
    ("client", "text", "said"),
    [
        (CURSOR, '{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        (CURSOR, "[1, 2]", "list, not an object"),
        (CURSOR, "[" * 100_000, "nested too deeply"),
        (CURSOR, '{"mcpServers": []}', "mcpServers is not an object"),
        (CURSOR, '{"mcpServers": null}', "mcpServers is not an object"),
        (CODEX, "a = 1\nb =\n", "line 2"),
        (CODEX, "mcp_servers = { a = { command = 'x' } }\n", "cannot add to"),
    ],
)
def test_a_file_that_cannot_be_changed_is_an_error_that_says_where(client, text, said):
    with pytest.raises(SlowwaveError, match=said):
        made(text, client)


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["/usr/bin/slowwave", *ENTRY["args"]], True),
        ([r"C:\Program Files\slowwave.exe", *ENTRY["args"]], True),
        (["/usr/bin/python3", "-m", "slowwave", *ENTRY["args"]], True),
        (["/usr/bin/python3", "-m", "slowdown", *ENTRY["args"]], False),
        (["/usr/bin/slowwave", *ENTRY["args"][:-1]], False),
    ],
)
def test_an_entry_is_known_by_how_it_starts_the_server(words, known):
    found = connection_in({"command": words[0], "args": words[1:]})
    assert found == (HOME if known else None)


# -- hooks ---------------------------------------------------------------------------------------

THEIRS = {"type": "command", "command": "echo hello"}


def hooked(text: str | None) -> str:
    return hooks.hooked(text, LAUNCH, HOME, "settings.json")


@pytest.mark.parametrize(
    "document",
    [
        None,
        "",
        "{}",
        json.dumps({"model": "opus", "hooks": {}}, indent=2),
        json.dumps({"hooks": {"SessionStart": []}}, indent=2) + "\n",
        json.dumps(
            {"hooks": {"SessionStart": [{"hooks": [THEIRS]}], "Stop": [{"hooks": [THEIRS]}]}}, indent=2
        ),
        json.dumps({"hooks": {"SessionEnd": [{"hooks": [THEIRS]}]}, "z": [1]}),
    ],
)
def test_hooks_go_in_beside_those_of_others_and_out_again(document):
    text = hooked(document)
    assert hooked(text) == text
    found = json.loads(text)["hooks"]
    assert [command for command, _ in hooks.hooked_for({"hooks": found})].count("recall") == 1
    before = json.loads(document).get("hooks", {}) if document else {}
    for event, groups in before.items():
        assert [group for group in found[event] if group in groups] == groups
    assert hooks.unhooked(text, "settings.json") == document


def test_only_our_hook_leaves_a_group_that_others_have_joined():
    settings = json.loads(hooked(None))
    settings["hooks"]["SessionEnd"][0]["hooks"].append(THEIRS)
    left = json.loads(hooks.unhooked(json.dumps(settings, indent=2), "settings.json"))
    assert left == {"hooks": {"SessionEnd": [{"hooks": [THEIRS]}]}}


def test_hooks_of_another_home_are_replaced():
    before = hooks.hooked(None, LAUNCH, replace(HOME, home="/elsewhere"), "settings.json")
    now = hooked(before)
    assert {connection for _, connection in hooks.hooked_for(json.loads(now))} == {HOME}
    assert len(hooks.hooked_for(json.loads(now))) == 2


@pytest.mark.parametrize("found", [5, [], {"SessionStart": {}}, {"SessionStart": None}])
def test_hooks_of_another_form_are_an_error(found):
    with pytest.raises(SlowwaveError, match="Cannot change"):
        hooked(json.dumps({"hooks": found}))


# -- where files are -----------------------------------------------------------------------------

WHERE = {
    "linux": {
        "claude-code": "/p/.claude.json",
        "claude-desktop": "/p/.config/Claude/claude_desktop_config.json",
        "cursor": "/p/.cursor/mcp.json",
        "vscode": "/p/.config/Code/User/mcp.json",
        "codex": "/p/.codex/config.toml",
        "gemini-cli": "/p/.gemini/settings.json",
        "windsurf": "/p/.codeium/windsurf/mcp_config.json",
        "zed": "/p/.config/zed/settings.json",
    },
    "macos": {
        "claude-desktop": "/p/Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "/p/Library/Application Support/Code/User/mcp.json",
        "zed": "/p/.config/zed/settings.json",
    },
    "windows": {
        "claude-desktop": "/r/Claude/claude_desktop_config.json",
        "vscode": "/r/Code/User/mcp.json",
        "zed": "/r/Zed/settings.json",
        "cursor": "/p/.cursor/mcp.json",
    },
}


@pytest.mark.parametrize(
    ("system", "name"), [(system, name) for system, names in WHERE.items() for name in names]
)
def test_each_system_has_its_places(system, name):
    places = Places(system, Path("/p"), {"APPDATA": "/r"})
    assert file_of(BY_NAME[name], places) == Path(WHERE[system][name])


def test_variables_move_folders_of_clients():
    moved = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/g"}
    places = Places("linux", Path("/p"), moved)
    assert file_of(CODE, places) == Path("/c/.claude.json")
    assert places.path(CODE.hooks.file) == Path("/c/settings.json")
    assert file_of(CODEX, places) == Path("/x/config.toml")
    assert file_of(BY_NAME["vscode"], places) == Path("/g/Code/User/mcp.json")


def test_every_client_of_the_table_in_the_documentation_is_there_with_its_files():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "connect-an-assistant.md").read_text()
    for client in CLIENTS:
        assert f"`{client.name}`" in page
        linux = file_of(client, Places("linux", Path("~"), {}))
        assert f"`{linux}`" in page
        assert not client.project or f"`{client.project}`" in page
