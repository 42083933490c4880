"""A home remembers what it was made with: its settings file, and what goes before what."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import warm
from typer.testing import CliRunner

import slowwave
from slowwave.cli import app
from slowwave.errors import ModelError
from slowwave.home.embedding_model import in_force, model_of, remember
from slowwave.home.workspace import Workspace
from slowwave.journal import Journal
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import Settings, load
from slowwave.settings.first_file import text, write_first
from slowwave.store import Store

FAST, OTHER, DEFAULT = "wordllama-256", "hash-8", "bge-small-en-v1.5"
VARIABLE = "SLOWWAVE_EMBEDDING__MODEL"
NOTE = "We deploy on Thursday since the second of March, and Friday is for repairs only."
LATER = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
MINE = "# Mine, by hand.\n[gate]\nmode = 'off'  # we trust it\n"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command on `home`, as a person without settings of their own."""
    monkeypatch.delenv("SLOWWAVE_RANKING__ABSTENTION_FLOOR", raising=False)
    monkeypatch.delenv("SLOWWAVE_RANKING__CUT_SHARE", raising=False)
    monkeypatch.delenv("SLOWWAVE_RANKING__FIT_FLOOR", raising=False)

    def run_(*words: str, **variables: str) -> str:
        done = CliRunner().invoke(app, ["--home", str(home), *words], env=variables)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run_


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "deploy.md").write_text(f"# Deploy day\n\n{NOTE}\n")
    return tmp_path / "notes"


def said(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "slowwave.toml").read_text())


def written(home: Path, more: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "slowwave.toml").write_text(more)


def tables_of(home: Path, model: str, dimension: int) -> None:
    """Tables that a home has had from before, with no word of their model in a settings file."""
    home.mkdir(exist_ok=True)
    Store(str(home / "lance"), model=model, dimension=dimension)


# -- whoever makes the home ------------------------------------------------------------------------


def by_open(home: Path, notes: Path, run: Any) -> None:
    with slowwave.open(home, namespace="ada", embedding={"model": FAST}) as memory:
        memory.save(NOTE)


def by_search(home: Path, notes: Path, run: Any) -> None:
    with slowwave.open(home, namespace="ada", embedding={"model": FAST}) as memory:
        memory.search("deploy day")


def by_save(home: Path, notes: Path, run: Any) -> None:
    run("save", NOTE, "--namespace", "ada", **{VARIABLE: FAST})


def by_ingest(home: Path, notes: Path, run: Any) -> None:
    run("ingest", str(notes), "--namespace", "ada", **{VARIABLE: FAST})


def by_ingest_with_an_option(home: Path, notes: Path, run: Any) -> None:
    run("ingest", str(notes), "--namespace", "ada", "--model", FAST)


def by_init(home: Path, notes: Path, run: Any) -> None:
    run("init", str(home), "--model", FAST, SLOWWAVE_NAMESPACE="ada")


def by_mcp(home: Path, notes: Path, run: Any) -> None:
    home.mkdir()  # as `slowwave mcp` asks for one
    settings = load(home, embedding={"model": FAST})
    memories = MemoryPool(settings, lambda: Caller("ada", "claude"), namespace="ada")
    memories.of(memories.caller()).save(NOTE)
    memories.close()


@pytest.mark.parametrize(
    "make", [by_open, by_search, by_save, by_ingest, by_ingest_with_an_option, by_init, by_mcp]
)
def test_whoever_makes_a_home_writes_down_what_was_chosen_and_the_next_command_knows_it(
    home, notes, run, make, monkeypatch
):
    make(home, notes, run)
    assert said(home) == {"namespace": "ada", "embedding": {"model": FAST}}
    monkeypatch.delenv(VARIABLE, raising=False)
    run("save", LATER)
    with slowwave.open(home, namespace="ada") as memory:
        assert memory.embedder.name == memory.store.identity.model == FAST
        assert [one.text for one in memory.search("how long does the battery last?")][:1] == [LATER]


def test_what_nobody_chose_is_a_comment(home, notes, run):
    run("ingest", str(notes))
    assert said(home) == {}
    assert (model_of(load(home)), load(home).namespace) == (DEFAULT, "default")


def test_an_unknown_model_is_refused_before_it_is_written_down(home, notes):
    done = CliRunner().invoke(
        app, ["--home", str(home), "ingest", str(notes)], env={VARIABLE: "wordlama-256"}
    )
    assert done.exit_code == 1
    assert not (home / "slowwave.toml").exists()
    assert not (home / "journal.db").exists()


# -- what the file says ----------------------------------------------------------------------------


def test_every_example_is_a_setting_and_shows_its_default():
    examples = re.sub(r"^# (?=\[|\w+ = )", "", text(), flags=re.MULTILINE)
    told = tomllib.loads(examples)
    assert set(told) == {"namespace", "embedding", "gate", "learning", "night", "judge"}
    known = Settings.model_construct()
    for group, values in told.items():
        if group == "namespace":
            assert values == known.namespace
            continue
        for name, value in values.items():
            assert value == getattr(getattr(known, group), name), (group, name)
    assert "slowwave settings" in examples
    assert max(map(len, text(model=FAST).splitlines())) <= 80


def test_a_name_with_quotes_is_written_so_that_it_is_read_again(home):
    home.mkdir()
    assert write_first(home, model='fastembed:a"b\\c')
    assert said(home) == {"embedding": {"model": 'fastembed:a"b\\c'}}


def test_a_group_may_be_added_at_the_end(home):
    home.mkdir()
    write_first(home, namespace="ada", model=FAST)
    with (home / "slowwave.toml").open("a") as file:
        file.write("[gate]\nwarn_days = 3\n[night]\nhour = 5\n[judge]\nkind = 'off'\n")
    assert (load(home).gate.warn_days, load(home).night.hour, load(home).embedding.model) == (3, 5, FAST)


def test_a_file_that_is_there_keeps_every_word_and_gets_the_model_that_it_does_not_name(home, notes, run):
    written(home, MINE)
    run("ingest", str(notes), **{VARIABLE: FAST})
    assert (home / "slowwave.toml").read_text().startswith(MINE)
    assert said(home) == {"gate": {"mode": "off"}, "embedding": {"model": FAST}}


@pytest.mark.parametrize("words", [MINE, f"{MINE}[embedding]\nmodel = '{FAST}'\n", "", "# nothing\n"])
def test_a_file_stays_as_it_is_where_nothing_is_to_be_added(home, notes, run, words, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    written(home, words)
    run("ingest", str(notes))
    run("ingest", str(notes), "--namespace", "ada", **{VARIABLE: FAST})  # the home is not new any more
    assert (home / "slowwave.toml").read_text() == words


def test_the_namespace_is_not_added_to_a_file_that_is_there(home):
    written(home, MINE)
    remember(load(home), "ada")
    assert (home / "slowwave.toml").read_text() == MINE


# -- what goes before what -------------------------------------------------------------------------


def named_in(home: Path, *places: str) -> Settings:
    """Settings of a home; each of the places names the fast model, and the others name none."""
    if "the tables" in places:
        tables_of(home, FAST, 256)
    if "the file" in places:
        written(home, f"[embedding]\nmodel = '{FAST}'\n")
    if "a variable" in places:
        os.environ[VARIABLE] = FAST
    return load(home, **({"embedding": {"model": FAST}} if "an argument" in places else {}))


@pytest.mark.parametrize("place", ["an argument", "a variable", "the file", "the tables"])
def test_each_of_them_goes_before_the_default(home, place):
    assert model_of(named_in(home, place)) == FAST
    assert Workspace(load(home)).model == (FAST if place != "an argument" else DEFAULT)


def test_nothing_said_is_the_default(home):
    assert model_of(named_in(home)) == DEFAULT
    assert not home.exists()  # it is only looked at


def test_an_argument_goes_before_a_variable_before_the_file(home, monkeypatch):
    written(home, "[embedding]\nmodel = 'lancedb:a/file'\n")
    assert model_of(load(home)) == "lancedb:a/file"
    monkeypatch.setenv(VARIABLE, "lancedb:a/variable")
    assert model_of(load(home)) == "lancedb:a/variable"
    assert model_of(load(home, embedding={"model": "lancedb:an/argument"})) == "lancedb:an/argument"
    assert model_of(load(home, embedding={"threads": 1})) == "lancedb:a/variable"


@pytest.mark.parametrize("place", ["an argument", "a variable", "the file"])
def test_what_is_said_and_differs_from_the_tables_is_refused_with_the_way_out(home, place):
    tables_of(home, OTHER, 8)
    with Workspace(named_in(home, place)).journal, pytest.raises(ModelError) as caught:
        _ = Workspace(named_in(home, place)).store
    for words in (
        f"embedded with '{OTHER}'",
        f"embedding.model is '{FAST}'",
        f"slowwave reembed --model {FAST}",
    ):
        assert words in str(caught.value)


def test_a_file_that_another_process_wrote_since_goes_before_the_tables(home):
    tables_of(home, OTHER, 8)
    early = load(home)
    written(home, f"[embedding]\nmodel = '{FAST}'\n")
    assert model_of(early) == FAST


def test_the_policy_of_a_home_is_that_of_its_tables_model(home):
    tables_of(home, FAST, 256)
    assert Workspace(load(home)).policy == Workspace(load(home, embedding={"model": FAST})).policy
    assert Workspace(load(home)).policy != Workspace(load(home, embedding={"model": DEFAULT})).policy


# -- homes of before -------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [None, "", MINE])
def test_a_home_of_before_opens_with_its_own_model_and_gets_no_file(home, run, file, monkeypatch):
    with slowwave.open(home, namespace="default", embedding={"model": FAST}) as memory:
        memory.save(NOTE)
    (home / "slowwave.toml").unlink()
    if file is not None:
        written(home, file)
    assert NOTE in run("search", "when do we deploy?", "--json")
    row = next(one for one in in_force(load(home)) if one.name == "embedding.model")
    assert (row.value, row.origin) == (FAST, "the store")
    assert f'"value": "{FAST}"' in run("settings", "--json")
    assert (home / "slowwave.toml").exists() is (file is not None)
    if file is not None:
        assert (home / "slowwave.toml").read_text() == file


def test_where_a_model_is_said_it_is_shown_from_there(home):
    tables_of(home, FAST, 256)
    written(home, f"[embedding]\nmodel = '{FAST}'\n")
    row = next(one for one in in_force(load(home)) if one.name == "embedding.model")
    assert (row.value, row.origin) == (FAST, "slowwave.toml")


def test_init_gives_a_home_of_before_its_file(home, run):
    tables_of(home, FAST, 256)
    with Journal.open_path(home / "journal.db"):
        pass
    run("init", str(home))
    assert said(home) == {}
    run("search", "deploy")


def test_tables_that_cannot_be_read_are_told_by_whoever_opens_them(home):
    tables_of(home, FAST, 256)
    for file in (home / "lance" / "meta.lance" / "data").iterdir():
        file.write_bytes(b"")
    assert model_of(load(home)) == DEFAULT
    assert "rebuild" in CliRunner().invoke(app, ["--home", str(home), "search", "deploy"]).output


@pytest.mark.parametrize(
    "groups", [{"store": {"uri": "memory://elsewhere"}}, {"journal": {"url": "sqlite:////tmp/elsewhere"}}]
)
def test_a_home_that_keeps_its_things_elsewhere_gets_no_file(home, groups):
    home.mkdir()
    space = Workspace(load(home, embedding={"model": FAST}, **groups), namespace="ada")
    space._make_home()
    assert list(home.iterdir()) == []


# -- processes and rights --------------------------------------------------------------------------

AT_ONCE = """
import sys, threading
import slowwave
home, model, note = sys.argv[1:]
memory = slowwave.open(home, namespace="ada", **({"embedding": {"model": model}} if model else {}))
print("ready", flush=True)
sys.stdin.readline()
memory.save(note)
memory.close()
"""


@pytest.mark.slow
def test_two_processes_that_make_a_home_at_once_have_one_whole_file(home):
    started = [
        subprocess.Popen(
            warm.python("-c", AT_ONCE, home, FAST, f"{NOTE} It is rule {number} of the harbour."),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(2)
    ]  # fmt: skip
    for one in started:
        assert one.stdout.readline() == "ready\n", one.communicate()[1]
    for one in started:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate(timeout=120)[1] for one in started]
    assert [one.returncode for one in started] == [0, 0], told
    assert said(home) == {"namespace": "ada", "embedding": {"model": FAST}}
    assert not list(home.glob(".slowwave.toml*"))
    with slowwave.open(home, namespace="ada") as memory:
        assert memory.count() == 2


def test_of_two_writers_the_first_wins_and_neither_leaves_anything(home, monkeypatch):
    home.mkdir()
    real = os.link

    def beaten(begun: Path, path: Path) -> None:
        monkeypatch.setattr(os, "link", real)
        write_first(home, model="lancedb:the/first")
        real(begun, path)

    monkeypatch.setattr(os, "link", beaten)
    assert not write_first(home, model=FAST)
    assert said(home) == {"embedding": {"model": "lancedb:the/first"}}
    assert [path.name for path in home.iterdir()] == ["slowwave.toml"]


@pytest.mark.parametrize("there", [False, True])
def test_a_file_system_without_links_has_the_file_too(home, monkeypatch, there):
    def no_links(begun: Path, path: Path) -> None:
        if there:
            path.write_text(MINE)
        raise OSError(1, "Operation not permitted")

    home.mkdir(mode=0o700)
    monkeypatch.setattr(os, "link", no_links)
    assert write_first(home, model=FAST) is not there
    assert (home / "slowwave.toml").read_text() == (MINE if there else text(model=FAST))
    assert [path.name for path in home.iterdir()] == ["slowwave.toml"]
    if not there:
        assert stat.S_IMODE((home / "slowwave.toml").stat().st_mode) == 0o600


def test_the_file_is_its_owners_alone_or_also_the_groups(home):
    with slowwave.open(home, namespace="ada", embedding={"model": FAST}) as memory:
        memory.save(NOTE)
    assert stat.S_IMODE((home / "slowwave.toml").stat().st_mode) == 0o600
    shared = home.with_name("shared")
    shared.mkdir()
    shared.chmod(0o2770)
    before = os.umask(0o002)
    try:
        write_first(shared, model=FAST)
    finally:
        os.umask(before)
    assert stat.S_IMODE((shared / "slowwave.toml").stat().st_mode) == 0o660


def test_a_home_that_may_only_be_read_is_not_written_to(home, monkeypatch):
    """Rights do not bind whoever runs the tests as root, so every attempt to write is caught."""
    tables_of(home, FAST, 256)
    with Journal.open_path(home / "journal.db"):
        pass

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a home that is not new is written to")

    monkeypatch.setattr("slowwave.home.embedding_model.write_first", refused)
    space = Workspace(load(home))
    assert (space.store.identity.model, space.model) == (FAST, FAST)
    space.close()
    assert not (home / "slowwave.toml").exists()


def test_where_the_file_cannot_be_written_the_memory_works_all_the_same(home, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("slowwave.home.embedding_model.write_first", full)
    with slowwave.open(home, namespace="ada", embedding={"model": FAST}) as memory:
        memory.save(NOTE)
    with slowwave.open(home, namespace="ada") as memory:  # the tables know
        assert [one.text for one in memory.search("when do we deploy?")] == [NOTE]
    assert not (home / "slowwave.toml").exists()
