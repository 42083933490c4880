"""`slowwave eval compare`, `status` and `report`, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cycle_rows import put_cycle
from evaluation_days import QUERIES, fill, judge, memory_of, said, stage_days, strict_json
from feedback_days import fold_days
from typer.testing import CliRunner
from warehouse_rows import put

from slowwave.cli import app
from slowwave.settings.ranking_file import write_policy
from slowwave.views import terminal as output

ROOT = Path(__file__).parents[2]
HEAVY = "{'lancedb', 'polars', 'pyarrow', 'numpy', 'sqlalchemy', 'dagster'}"
# The commands of pyproject.toml, whether this package was installed before or after they were added.
PROBE = f"""
import sys, tomllib
from importlib import metadata
from pathlib import Path
plugins = tomllib.loads(Path("pyproject.toml").read_text())["project"]["entry-points"]["slowwave.commands"]
points = [metadata.EntryPoint(name, value, "slowwave.commands") for name, value in plugins.items()]
others = metadata.entry_points
metadata.entry_points = lambda **asked: points if asked["group"] == "slowwave.commands" else others(**asked)
from slowwave.cli import main
try:
    main()
except SystemExit:
    pass
print(sorted({HEAVY} & set(sys.modules)))
"""


@pytest.fixture
def memory(open_memory) -> Any:
    """The namespace that commands mean when none is given."""
    return open_memory("default")


@pytest.fixture
def run(home: Path, memory: Any, fast_embedder: Any, monkeypatch) -> Callable[..., str]:
    """Runs `slowwave eval` in this process, where the model is loaded; gives what it prints."""
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{fast_embedder.name}"\n')
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
    monkeypatch.setattr(output.out, "_width", 200)
    monkeypatch.setattr(output.err, "_width", 200)

    def run_(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["eval", *words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done.stdout if code == 0 else done.stderr

    return run_


@pytest.fixture
def judged(memory: Any) -> Any:
    """A day of searches, and what answers some of them."""
    fill(memory)
    for query in QUERIES:
        memory.search(query, limit=4)
    today = datetime.now(UTC).date().isoformat()
    stage_days(memory._space, [today])
    fold_days(memory._space, [today])
    keys = ("deploy", "battery", "rota", "gauge", "ferry")
    right = zip(QUERIES, keys, strict=False)
    judge(
        memory.store,
        [said(today, query, memory_of(key, "default"), 3.0, namespace="default") for query, key in right],
    )
    return memory


# -- compare ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ranking_is_compared_by_its_name(run, judged):
    told = run("compare", "BM25 alone")
    assert "BM25 alone against logged" in told
    for metric in ("MRR@5", "nDCG@10", "Recall@20", "HitRate@1", "Judged@10"):
        assert metric in told
    assert "insufficient evidence" in told
    assert "5 queries, in 5 of 8 searches" in told
    assert run("compare", "BM25 alone") == told


@pytest.mark.slow
def test_a_ranking_is_compared_by_its_file(run, judged, tmp_path):
    file = tmp_path / "mine.json"
    write_policy(file, judged.policy, {})
    found = strict_json(run("compare", str(file), "in force", "--json"))
    assert (found["first"], found["second"]) == ("in force", str(file))
    assert {one["ties"] for one in found["by_metric"].values()} == {5}
    assert strict_json(run("compare", str(file), "in force", "--json")) == found


def test_a_name_that_is_not_known_is_answered_with_those_that_are(run, judged):
    told = run("compare", "no such", code=1)
    assert "Error: 'no such' is neither a policy file nor one of: logged, in force, BM25 alone" in told
    assert "without vector" in told
    assert "Name two different ones" in run("compare", "seeds", "seeds", code=1)


def test_days_that_make_no_sense_are_told(run, judged):
    told = run("compare", "seeds", "--from", "yesterday", code=1)
    assert "--from yesterday: give a day as YYYY-MM-DD" in told
    told = run("compare", "seeds", "--from", "2026-03-05", "--to", "2026-03-01", code=1)
    assert "before they begin" in told


def test_without_judgments_it_says_what_to_do(run, memory):
    told = run("compare", "seeds")
    assert "0 queries, in 0 of 0 searches" in told
    assert "slowwave judge" in told
    found = strict_json(run("compare", "seeds", "--json"))
    assert found["by_metric"]["MRR@5"]["difference"] is None
    assert found["by_metric"]["MRR@5"]["verdict"] == "insufficient evidence"


def test_the_days_before_are_those_that_were_asked_for(run, judged):
    last = datetime.now(UTC).date() - timedelta(days=2)
    found = strict_json(run("compare", "seeds", "--to", last.isoformat(), "--days", "3", "--json"))
    assert (found["since"], found["until"]) == ((last - timedelta(days=2)).isoformat(), last.isoformat())
    assert found["searches"] == 0


# -- status ----------------------------------------------------------------------------------------


def test_before_anything_was_evaluated_status_says_what_it_takes(run):
    told = " ".join(run("status").split())
    assert told == "No evaluation cycle yet. Run a search, then `slowwave night` and `slowwave eval run`."
    assert strict_json(run("status", "--json")) == []


def test_status_shows_every_cycle_and_what_the_open_one_needs(run, memory):
    put_cycle(memory.store, 1, namespace="default")
    put_cycle(memory.store, 1, namespace="bob")
    put(
        memory.store,
        "evaluation_cycles",
        [{"cycle_id": "default#2", "namespace": "default", "number": 2, "status": "open", "days": 3,
          "opened_on": "2026-04-01", "searches": 40, "queries": 30,
          "summary": '{"counted":37,"queries_missing":63,"days_missing":11}'}],
    )  # fmt: skip
    told = run("status")
    assert "63 more queries, 11 more days" in told
    assert told.partition("2026-04-01")[2].split()[:6] == ["3", "40", "30", "37", "63", "more"]
    assert "bob" not in told
    first, second = strict_json(run("status", "--json"))
    assert (first["status"], second["status"]) == ("closed", "open")
    assert second["summary"] == {"counted": 37, "queries_missing": 63, "days_missing": 11}
    assert second["variants"] == {}
    assert [one["cycle_id"] for one in strict_json(run("status", "-n", "bob", "--json"))] == ["bob#1"]


def test_what_is_no_number_is_null(run, memory):
    told = {"judges": {"machine": {"kappa": [float("nan")] * 3}}}
    put_cycle(memory.store, 1, namespace="default", queries=25, summary=told)
    (one,) = strict_json(run("status", "--json"))
    assert one["summary"]["judges"]["machine"]["kappa"] == [None] * 3
    assert strict_json(run("report", "--json"))["judges"]["machine"]["kappa"] == [None] * 3


# -- report ----------------------------------------------------------------------------------------


def test_without_a_cycle_there_is_nothing_to_report(run):
    assert "No evaluation cycle yet" in run("report")


@pytest.mark.slow
def test_the_last_cycle_that_closed_is_reported_and_others_by_number(run, memory, tmp_path):
    for number in (1, 2):
        put_cycle(memory.store, number, namespace="default", queries=25)
    put_cycle(memory.store, 3, namespace="default", status="open")
    assert "cycle 2" in run("report")
    assert "cycle 1" in run("report", "1")
    assert "cycle 1" in run("report", "default#1")
    found = strict_json(run("report", "default#1", "--json"))
    assert (found["cycle_id"], found["namespace"]) == ("default#1", "default")
    page = tmp_path / "page.html"
    assert str(page) in run("report", "--html", str(page)).replace("\n", "")
    assert "<html" in page.read_text()


@pytest.mark.slow
def test_a_cycle_of_another_namespace_is_asked_for_by_it(run, memory):
    put_cycle(memory.store, 1, namespace="bob", queries=25)
    assert "is of another namespace than 'default'" in run("report", "bob#1", code=1)
    assert "cycle 1" in run("report", "bob#1", "--namespace", "bob")
    assert "cycle 1" in run("report", "--namespace", "bob")
    for word in ("x", "default#x", "default#"):
        assert "is no cycle. Give NAMESPACE#NUMBER" in run("report", word, code=1)
    assert "Unknown evaluation cycle 'default#7'" in run("report", "7", code=1)


# -- help ------------------------------------------------------------------------------------------


def asked(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_the_list_of_commands_needs_none_of_the_libraries_that_do_the_work():
    told = asked("--help")
    assert " eval " in told
    assert " night " in told
    assert told.splitlines()[-1] == "[]"


def test_the_group_lists_its_commands_and_that_of_the_night():
    told = asked("eval", "--help")
    for command in ("run", "compare", "report", "status"):
        assert f" {command} " in told
    assert told.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [("eval", "run"), ("night",)])
def test_the_commands_of_the_night_are_there_also_for_a_home_that_is_named(words, tmp_path):
    assert f" {' '.join(words)} [OPTIONS]" in asked("--home", str(tmp_path), *words, "--help")
