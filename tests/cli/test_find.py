"""The commands that find and fit, run as a user runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.common.quoting import NOTICE
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings.ranking_file import read_policy
from slowwave.views import terminal as output

ROOT = Path(__file__).parents[2]
FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."
PROBE = """
import sys
from slowwave.cli import main
try:
    main()
except SystemExit:
    pass
print(sorted({'lancedb', 'polars', 'pyarrow', 'numpy', 'sqlalchemy'} & set(sys.modules)))
"""
NOTES = [
    {"key": "plain", "content": f"{FERRY} It is blue.", "title": "Ferry [blue]"},
    {"key": "sea/decision", "content": f"{FERRY} That was decided by the harbour board.", "title": "Board",
     "memory_type": "decision", "tags": ["ops", "sea"], "importance_tier": "important"},
    {"key": "sea/project", "content": f"{FERRY} The new pier will change that.", "title": "Pier",
     "memory_type": "project", "tags": ["sea"], "importance_tier": "critical",
     "trigger_phrases": ["who paints the pier"]},
    {"key": "hidden", "content": f"{FERRY} The code of the gate is quuxzyx.", "title": "Gate",
     "memory_type": "decision", "sensitivity": "secret", "tags": ["ops"]},
    {"key": "old", "content": f"{FERRY} Long ago it was a sailing boat.", "title": "Boat",
     "created_at": datetime(2020, 5, 4, tzinfo=UTC)},
]  # fmt: skip


@dataclass(frozen=True)
class Done:
    """What became of a command."""

    returncode: int
    stdout: str
    stderr: str


def run(*words: str, home: Path) -> Done:
    """Run the command in this process, where the model and the libraries are loaded already."""
    done = CliRunner().invoke(app, words, env={"SLOWWAVE_HOME": str(home)})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def process(*words: str, program: str = "from slowwave.cli import main; main()", **environment: str) -> str:
    """Run it in a process of its own, as the installed script does: its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "COLUMNS": "200", "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **environment},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.out, "_width", 200)


def shown(*words: str, home: Path) -> str:
    done = run(*words, home=home)
    assert done.returncode == 0, done.stderr
    return done.stdout


def data(*words: str, home: Path) -> dict:
    return json.loads(shown(*words, "--json", home=home))


def refused(*words: str, home: Path) -> str:
    """The one line that a command says when it cannot do what was asked."""
    done = run(*words, home=home)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that no test changes, but for the searches in its journal."""
    from slowwave.memory import open_memory

    folder = tmp_path_factory.mktemp("made") / "home"
    assert run("init", str(folder), "--model", "wordllama-256", home=folder).returncode == 0
    with open_memory(folder, namespace="default", gate={"mode": "off"}) as memory:
        assert {one.status for one in memory.save_many(NOTES)} == {"live"}
    return folder


# -- the list of commands --------------------------------------------------------------------------


def test_help_lists_the_commands_that_find_and_fit():
    told = process("--help")
    for name in ("search", "explain", "wakeup", "tune"):
        assert f" {name} " in told


@pytest.mark.parametrize(
    "words", [["--help"], ["explain", "--help"], ["wakeup", "--help"], ["tune", "--help"]]
)
def test_help_imports_neither_the_store_nor_the_data_frames(words):
    assert process(*words, program=PROBE).splitlines()[-1] == "[]"


# -- search ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"plain", "sea/decision", "sea/project", "old"}),
        (["--type", "decision"], {"sea/decision"}),
        (["--type", "decision", "--type", "project"], {"sea/decision", "sea/project"}),
        (["--tier", "critical", "--tier", "important"], {"sea/decision", "sea/project"}),
        (["--tag", "ops"], {"sea/decision"}),
        (["--tag", "ops", "--tag", "sea"], {"sea/decision", "sea/project"}),
        (["--sensitivity", "secret"], {"hidden"}),
        (["--source", "sea/"], {"sea/decision", "sea/project"}),
        (["--since", "2026-01-01"], {"plain", "sea/decision", "sea/project"}),
        (["--until", "2026-01-01"], {"old"}),
        (["--since", "2020-05-04", "--until", "2020-05-05"], {"old"}),
        (["--since", "2020-05-05", "--until", "2020-05-06"], set()),
        (["--superseded"], {"plain", "sea/decision", "sea/project", "old"}),
        (["--tag", "sea", "--type", "project", "--tier", "critical"], {"sea/project"}),
    ],
)  # fmt: skip
def test_every_filter_of_a_search(made, options, expected):
    told = data("search", "when does the ferry leave?", "-k", "20", *options, home=made)
    assert {result["source"] for result in told["results"]} == expected
    assert [result["rank"] for result in told["results"]] == list(range(1, len(expected) + 1))
    assert all(result["explanation"] is None for result in told["results"])


def test_a_past_day_is_asked_for(made):
    today = datetime.now(UTC).date()
    told = data("search", "ferry", "--as-of", (today - timedelta(days=1)).isoformat(), home=made)
    assert told["results"] == []
    assert len(data("search", "ferry", "--as-of", today.isoformat(), home=made)["results"]) == 4


@pytest.mark.slow
def test_a_search_as_text(made):
    told = process("search", "the blue ferry", "--limit", "1", SLOWWAVE_HOME=str(made))
    assert re.match(r"1\. Ferry \[blue\]  0\.\d{3}\n   note of \d{4}-\d\d-\d\d · plain · [0-9a-z]{8}\n", told)
    assert "2. " not in told
    assert re.search(r"search \S+ · \d+ ms \(embedding \d+\)", told)
    assert "No results were requested: limit = 0." in shown("search", "ferry", "-k", "0", home=made)


@pytest.mark.parametrize("command", ["search", "explain"])
def test_an_unknown_namespace_or_label_is_named_with_those_that_there_are(made, command):
    told = refused(command, "ferry", "-n", "defualt", home=made)
    assert told == "namespace = 'defualt' is unknown: nothing was saved in it. Known namespaces: 'default'."
    assert refused(command, "ferry", "--type", "decison", home=made).startswith(
        "memory_type = 'decison' is unknown. Did you mean 'decision'?"
    )


@pytest.mark.parametrize(
    "words",
    [("wakeup",), ("gate", "report"), ("gate", "preview"), ("decisions",), ("quarantine", "list"),
     ("report", "feedback")],
)  # fmt: skip
def test_what_is_read_of_an_unknown_namespace_is_refused(made, words):
    told = refused(*words, "-n", "defualt", home=made)
    assert told == "namespace = 'defualt' is unknown: nothing was saved in it. Known namespaces: 'default'."


def test_a_label_that_a_person_mistypes_is_named_and_nothing_is_saved(made):
    before = shown("doctor", home=made)
    told = refused("save", FERRY, "--type", "desicion", home=made)
    assert told.startswith("--type = 'desicion' is unknown. Did you mean 'decision'? There are chat, ")
    assert refused("save", FERRY, "--sensitivity", "private", home=made).startswith(
        "--sensitivity = 'private' is unknown. There are internal, public, secret."
    )
    assert shown("doctor", home=made) == before


def test_short_memories_are_diagnosed(made):
    told = data("eval", "short-memories", home=made)
    figures = ("sparse_recall_injections", "sparse_recall_hit_rate", "sparse_recall_false_positive_rate")
    assert [told[name] for name in figures] == [0, None, None]
    assert told["asked"] == len(told["memories"]) > 0
    assert {one["by_id"] for one in told["memories"]} == {1.0}
    text = " ".join(shown("eval", "short-memories", home=made).split())
    assert all(name in text for name in figures)
    assert f"{told['asked']} short memories were searched with their own questions" in text
    one = told["memories"][0]["memory_id"]
    assert one in shown("eval", "short-memories", "--memory", one, home=made)
    assert "nobody is no short, searchable memory" in refused(
        "eval", "short-memories", "--memory", "nobody", home=made
    )


def test_a_new_home_says_how_to_begin_and_is_no_error(tmp_path):
    home = tmp_path / "home"
    assert run("init", str(home), "--model", "wordllama-256", home=home).returncode == 0
    for words in (("search", "ferry"), ("search", "ferry", "--plain"), ("explain", "ferry")):
        told = shown(*words, home=home)
        assert "This home is empty. Save a note with `slowwave save TEXT`" in " ".join(told.split())
        assert "observe" not in told


# -- explain ---------------------------------------------------------------------------------------


def test_an_account_as_data_sums_to_the_score(made):
    told = data("explain", "who paints the pier of the ferry?", home=made)
    assert len(told["results"]) == 3
    assert len(told["not_shown"]) == 1
    assert set(told["not_shown"][0]) == {"memory_id", "title", "score", "place", "reason"}
    for result in told["results"]:
        rows = result["explanation"]["contributions"]
        assert all(set(row) == {"source", "field", "term", "value"} for row in rows)
        assert sum(row["value"] for row in rows) == pytest.approx(result["score"], abs=1e-9)
        assert result["explanation"]["formula"].endswith(f"= {result['score']:.3f}")
    best = told["results"][0]
    assert best["source"] == "sea/project"
    assert {"trigger", "title", "vector", "bm25"} <= {
        row["source"] for row in best["explanation"]["contributions"]
    }
    assert "quuxzyx" not in json.dumps(told)


def test_an_account_as_text(made):
    told = shown("explain", "who paints the pier of the ferry?", home=made)
    head, *_ = told.splitlines()
    assert head == "who paints the pier of the ferry?"
    assert re.search(r"policy default [0-9a-f]{12} · namespace default", told)
    (bar,) = re.findall(r"^1\. Pier +(█+) +(0\.\d{3}|1\.000)", told, flags=re.MULTILINE)
    assert len(bar[0]) == pytest.approx(48 * float(bar[1]), abs=1)
    for meaning in ("█ meaning", "█ words", "█ trigger phrase", "█ title", "█ effectiveness"):
        assert meaning in told
    tables = re.findall(r"│ +│ +│ sum = score +│ +(-?\d\.\d{4}) +│", told)
    scores = [float(one) for one in re.findall(r"= (\d\.\d{3}) *$", told, flags=re.MULTILINE)]
    assert [float(one) for one in tables] == pytest.approx(scores, abs=6e-4)
    assert len(scores) == 3
    parts = told.split("sum = score")[0].split("contribution")[1]
    assert sum(float(one) for one in re.findall(r"[+-]\d\.\d{4}", parts)) == pytest.approx(
        scores[0], abs=2e-3
    )
    assert re.search(r"0\.7 · \d\.\d{3} \+ 0\.3 · 0\.500", told)
    assert "found by " in told
    assert "Candidates not returned" in told
    assert re.search(r"│ +4 │ Board +│ \d\.\d{3} │ limit", told)
    assert re.search(r"signal 1\.000; the policy abstains below \d\.\d{3}", told)


def test_explain_has_the_filters_of_a_search(made):
    told = data("explain", "ferry", "--type", "project", "--tag", "sea", "--tier", "critical",
                "--source", "sea", "--since", "2026-01-01", "--superseded", home=made)  # fmt: skip
    assert [result["source"] for result in told["results"]] == ["sea/project"]
    assert told["not_shown"] == []


def test_an_abstention_is_said_and_explained(made, tmp_path, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_RANKING__ABSTENTION_FLOOR")  # which the tests have for one another
    home = tmp_path / "strict"
    shutil.copytree(made, home)
    with (home / "slowwave.toml").open("a") as file:
        file.write("[ranking]\nabstention_floor = 0.999\n")
    assert "No memory is near enough" in shown("search", "weather on the moon", home=home)
    told = shown("explain", "weather on the moon [/]", home=home)
    assert told.startswith("weather on the moon [/]\n")
    assert "abstained" in told
    assert "abstains below 0.999" in told


def test_the_name_of_a_policy_is_shown_as_it_is(made, tmp_path):
    from slowwave.settings.ranking_file import write_policy

    home = tmp_path / "named"
    shutil.copytree(made, home)
    write_policy(tmp_path / "policy.json", RankingPolicy(name="[/] [bold]mine"), {})
    with (home / "slowwave.toml").open("a") as file:
        file.write(f'[ranking]\npolicy_file = "{tmp_path / "policy.json"}"\n')
    assert "policy [/] [bold]mine " in shown("explain", "ferry", home=home)


# -- wakeup ----------------------------------------------------------------------------------------


def test_a_packet_as_data_text_and_table(made):
    told = data("wakeup", home=made)
    assert [section["name"] for section in told["sections"]] == ["decision", "project", "note"]
    assert told["tokens"] <= told["budget"] == 2_000
    assert {item["source"] for section in told["sections"] for item in section["items"]} == {
        "sea/decision", "sea/project", "plain", "old",
    }  # fmt: skip
    plain = shown("wakeup", "--plain", home=made)
    assert plain == told["text"] + "\n"
    assert plain.startswith(f"{NOTICE}\n## Decision\n> [medium] Board: The ferry")
    assert "Ferry [blue]: The ferry" in plain
    assert shown("wakeup", home=made) == plain
    table = shown("wakeup", "--table", home=made)
    for word in ("Decision", "Project", "Note", "Ferry [blue]", "critical", "confidence"):
        assert word in table
    assert f"about {told['tokens']:,} of 2,000 tokens" in table
    assert "quuxzyx" not in plain + table + json.dumps(told)


def test_a_packet_with_secrets_and_with_little_room(made):
    told = data("wakeup", "--secret", home=made)
    assert "quuxzyx" in told["text"]
    small = shown("wakeup", "--table", "--budget", "60", home=made)
    assert re.search(r"Note  \(\d left out\)", small)
    assert "budget = 10 is too small: a packet needs 50 tokens" in refused(
        "wakeup", "--budget", "10", home=made
    )


# -- tune ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection of labelled queries."""
    folder = tmp_path_factory.mktemp("data") / "places"
    folder.mkdir()
    places = ["harbour", "lighthouse", "bridge", "mill", "airfield", "chapel", "quarry", "museum", "orchard",
              "distillery"]  # fmt: skip
    things = {"battery": "lasts eleven weeks", "key": "hangs behind the door", "boat": "sails at seven",
              "gauge": "reports a level"}  # fmt: skip
    corpus, queries, qrels = [], [], ["query\tdocument\tgrade"]
    for place in places:
        for thing, does in things.items():
            name = f"{place}-{thing}"
            corpus.append({"_id": name, "title": place, "text": f"The {thing} of the {place} {does}."})
            queries.append({"_id": f"q-{name}", "text": f"what about the {place} {thing}"})
            qrels.append(f"q-{name}\t{name}\t1")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in corpus))
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries))
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n")
    return folder


@pytest.mark.slow
def test_a_policy_is_fitted_written_and_nothing_else(made, collection, tmp_path):
    settings = data("settings", home=made)
    config = (made / "slowwave.toml").read_text()
    out, report, cache = tmp_path / "deep" / "p.json", tmp_path / "report.md", tmp_path / "cache"
    words = ("tune", "--data", str(collection), "--out", str(out), "--cache", str(cache))
    told = shown(*words, "--report", str(report), home=made)
    assert "policies tried" in told
    for word in ("present", "fitted", "seeds", "rrf", "Changed parameters"):
        assert word in told
    assert out.name in told
    written = json.loads(out.read_text())
    policy = read_policy(out)
    assert (written["version"], written["fitted_on"]) == (policy.version, ["places"])
    assert {row["policy"] for row in written["report"]} >= {"present", "fitted", "seeds", "rrf"}
    assert "| parameter | present | fitted |" in report.read_text()
    assert data("settings", home=made) == settings
    assert (made / "slowwave.toml").read_text() == config
    again = data(*words, home=made)
    assert again["policy"] == policy.to_dict()
    assert again["report"] == written["report"]


def test_what_cannot_be_fitted_leaves_no_policy(made, collection, tmp_path):
    out = tmp_path / "p.json"
    few = tmp_path / "few"
    shutil.copytree(collection, few)
    (few / "qrels.tsv").write_text("".join((collection / "qrels.tsv").read_text().splitlines(True)[:6]))
    broken = tmp_path / "broken"
    shutil.copytree(collection, broken)
    (broken / "corpus.jsonl").write_text("{\n")
    for folder, said in (
        (tmp_path / "nowhere", "Cannot read"),
        (few, "has 5 queries with a relevant document"),
        (broken, "corpus.jsonl, line 1 is not JSON"),
    ):
        assert said in refused("tune", "--data", str(folder), "--out", str(out), home=made)
    assert not out.exists()
    assert run("tune", home=made).returncode == 2  # without a folder


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "x", "--as-of", "nonsense"), "--as-of nonsense: give a day as YYYY-MM-DD."),
        (("search", "x", "--since", "nonsense"), "--since nonsense: give a day as YYYY-MM-DD."),
        (("search", "x", "--until", "2026-02-30"), "--until 2026-02-30: give a day"),
        (("explain", "x", "--as-of", "[/]"), "--as-of [/]: give a day"),
        (("search", "x", "--as-of", "2999-01-01"), "2999-01-01"),
        (("explain", " "), "The query is empty"),
        (("explain", "x", "-n", "a b"), "Namespace 'a b'"),
        (("wakeup", "-n", "a b"), "Namespace 'a b'"),
        (("wakeup", "--budget", "49"), "budget = 49"),
        (("tune", "--data", "does/not/exist"), "Cannot read does/not/exist/corpus.jsonl"),
    ],
)
def test_an_error_is_one_line_and_ends_with_1(made, words, message):
    assert message in refused(*words, home=made)


@pytest.mark.parametrize("words", [("search", "x"), ("explain", "x"), ("wakeup",)])
def test_without_a_home_nothing_is_made(tmp_path, words):
    assert "There is no home" in refused(*words, home=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


# -- identifiers that nothing mentions -------------------------------------------------------------


def test_an_unknown_identifier_is_said_first(made):
    question = ("when does the ferry FER-4821 leave?", "-k", "1")
    message = "Nothing here mentions FER-4821. The results are only near it."
    for words in (("search", *question), ("search", *question, "--plain"), ("explain", *question)):
        told = shown(*words, home=made)
        assert told.index(message) < told.index("sum = score" if words[0] == "explain" else FERRY[:20])
    found = data("search", *question, home=made)
    assert (found["unknown"], found["unknown_message"]) == (["FER-4821"], message)
    assert found["results"][0]["flags"] == ["only_near"]
    assert data("search", "when does the ferry leave?", home=made)["unknown_message"] == ""
