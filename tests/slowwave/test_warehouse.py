"""The warehouse: what its tables say, that it is made whole or not at all, that reading changes nothing."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import warm
from warehouse_rows import FIRST, SECRET_TITLE, TEXT, day_of, fill_day, put

from slowwave.errors import NotFoundError, SlowwaveError, StoreError
from slowwave.store import Store
from slowwave.warehouse import FILE, build, described, query
from slowwave.warehouse.marts import MARTS
from slowwave.warehouse.sources import MADE, SOURCES

duckdb = pytest.importorskip("duckdb", reason="duckdb comes with slowwave[night]")
ROOT = Path(__file__).parents[2]
SCALE = 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FILE


@pytest.fixture
def filled(store: Store) -> Store:
    """Three days of two namespaces."""
    for number in range(SCALE):
        fill_day(store, number)
    fill_day(store, 0, "bob")
    return store


def rows(path: Path, sql: str) -> list[dict[str, Any]]:
    answer = query(path, sql)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def first_day(path: Path, table: str) -> dict[str, Any]:
    (row,) = rows(path, f"FROM {table} WHERE namespace = 'ada' AND day = '{FIRST}'")
    return row


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    return {mart.name: query(path, f"FROM {mart.name}").rows for mart in MARTS}


def test_an_empty_store_makes_every_table_with_its_columns_and_comments(store: Store, path: Path) -> None:
    done = build(store, path)
    assert done.rows == {mart.name: 0 for mart in MARTS}
    assert done.bytes == path.stat().st_size
    found = {one.name: one for one in described(path)}
    assert set(found) == {mart.name for mart in MARTS}
    for mart in MARTS:
        assert found[mart.name].about == mart.about
        assert [name for name, _, _ in found[mart.name].columns] == [column.name for column in mart.columns]
        assert all(about.endswith(".") for _, _, about in found[mart.name].columns), mart.name


def test_every_source_is_read_by_a_table_and_names_columns_of_the_store(store: Store) -> None:
    assert {name for mart in MARTS for name in mart.reads} == {*SOURCES, *MADE}
    for name, source in SOURCES.items():
        assert set(source.columns) <= set(store.specs[name].schema.names), name


def test_rows_are_of_one_day_and_namespace(filled: Store, path: Path) -> None:
    done = build(filled, path)
    days = SCALE + 1
    assert done.rows == {
        "quality_by_day": 3 * days, "channel_contribution": 3 * days, "results_by_channels": days,
        "cycle_progress": days, "searches_by_day": days, "learning_funnel": days, "gate_status": 6 * days,
        "junk_and_duplicates": days, "memories": 2 * days, "trend": 0,
    }  # fmt: skip
    assert {row["day"] for row in rows(path, "FROM searches_by_day")} == {
        date.fromisoformat(day_of(number)) for number in range(SCALE)
    }


def test_quality_is_the_mean_over_queries_with_a_t_interval(filled: Store, path: Path) -> None:
    put(filled, "evaluation_scores", [
        {"day": day_of(9), "search_id": "x", "query_id": f"q{number}", "variant": "logged",
         "mrr_5": number % 2, "ndcg_10": 1.0}
        for number in range(21)
    ])  # fmt: skip
    build(filled, path)
    row = rows(path, "FROM quality_by_day WHERE namespace = 'ada' AND variant = 'rrf' ORDER BY day")[0]
    assert (row["searches"], row["queries"], row["abstained"], row["judged_10"]) == (4, 3, 1, 0.5)
    assert row["ndcg_10"] == pytest.approx((0.3 + 0.9 + 0.3) / 3)  # the two searches of q1 are one query
    assert (row["ndcg_10_low"], row["ndcg_10_high"]) == (0.0, 1.0)  # .5 ± 4.30 · .2, cut to what can be
    assert (row["recall_20"], row["recall_20_low"], row["recall_20_high"]) == (1.0, 1.0, 1.0)
    many = rows(path, f"FROM quality_by_day WHERE day = '{day_of(9)}'")[0]
    half = 2.085963 * 0.511766 / 21**0.5  # t at 20 degrees of freedom, standard deviation of ten of 21
    assert many["mrr_5"] == pytest.approx(10 / 21)
    assert many["mrr_5_high"] - many["mrr_5"] == pytest.approx(half, rel=1e-4)
    assert many["recall_20"] is many["recall_20_low"] is None
    put(filled, "evaluation_scores", [
        {"day": day_of(10), "search_id": "x", "query_id": "q", "variant": "logged", "mrr_5": 0.5}
    ])  # fmt: skip
    build(filled, path)
    alone = rows(path, f"FROM quality_by_day WHERE day = '{day_of(10)}'")[0]
    assert (alone["mrr_5"], alone["mrr_5_low"], alone["mrr_5_high"]) == (0.5, None, None)


def test_contribution_is_exclusive_results_of_all_results(filled: Store, path: Path) -> None:
    build(filled, path)
    found = rows(path, f"FROM channel_contribution WHERE namespace = 'ada' AND day = '{FIRST}'")
    assert {row["channel"]: (row["results"], row["coverage"], row["ecr"]) for row in found} == {
        "vector": (4, 0.75, 0.25), "bm25": (4, 0.5, 0.25), "trigger": (4, 0.25, 0.0),
    }  # fmt: skip
    whole = first_day(path, "results_by_channels")
    assert (whole["results"], whole["single"], whole["multi"], whole["unattributed"]) == (4, 2, 2, 0)


def test_the_funnel_follows_searches_whenever_their_feedback_came(filled: Store, path: Path) -> None:
    late = {"day": day_of(7), "search_id": "ada-0-2", "memory_id": "ada-0-a", "verdict": "unhelpful"}
    put(filled, "usage_signals", [late])
    put(filled, "usage_signals", [{**late, "namespace": "eve", "search_id": "ada-0-1"}])  # not of this search
    build(filled, path)
    row = first_day(path, "learning_funnel")
    names = (
        "searches",
        "shown",
        "with_feedback",
        "used",
        "helpful",
        "unhelpful",
        "memories_touched",
        "promoted",
    )
    assert [row[name] for name in names] == [3, 2, 2, 1, 1, 1, 2, 1]
    (quiet,) = rows(path, f"FROM learning_funnel WHERE namespace = 'ada' AND day = '{day_of(7)}'")
    assert [quiet[name] for name in names] == [0, 0, 0, 0, 0, 0, 1, 0]


def test_searches_are_counted_without_what_was_asked(filled: Store, path: Path) -> None:
    build(filled, path)
    row = first_day(path, "searches_by_day")
    names = ("searches", "queries", "abstained", "empty", "principals", "projects", "imported")
    assert [row[name] for name in names] == [3, 2, 1, 1, 2, 1, 1]
    assert row["mean_results"] == pytest.approx(2 / 3)


def test_what_was_refused_is_told_by_the_gate_and_by_reconsolidation(filled: Store, path: Path) -> None:
    build(filled, path)
    told = rows(path, f"FROM gate_status WHERE namespace = 'ada' AND day = '{FIRST}'")
    assert {(row["verdict"], row["reason"]): row["notes"] for row in told} == {
        ("pass", ""): 1, ("pass", "thin"): 1, ("refuse", "junk"): 1, ("refuse", "too_short"): 1,
        ("refuse", "near"): 1, ("retire", ""): 1,
    }  # fmt: skip
    row = first_day(path, "junk_and_duplicates")
    names = ("notes", "refused", "duplicates", "merged", "superseded", "quarantined", "held")
    assert [row[name] for name in names] == [4, 2, 1, 1, 0, 2, 1]
    assert row["refused_by_reason"] == {"junk": 1, "near": 1, "too_short": 1}
    assert (row["refused_rate"], row["duplicate_rate"], row["quarantined_rate"]) == (0.5, 0.25, 0.5)


def test_a_day_without_a_fault_has_no_reasons_and_one_of_deletions_no_rates(store: Store, path: Path) -> None:
    put(store, "gate_verdicts", [
        {"day": day_of(0), "memory_id": "m", "revision": "1", "verdict": "pass"},
        {"day": day_of(1), "memory_id": "m", "revision": "2", "verdict": "retire"},
    ])  # fmt: skip
    build(store, path)
    (row,) = rows(path, "FROM junk_and_duplicates")
    assert (row["notes"], row["refused_by_reason"], row["refused_rate"]) == (1, {}, 0.0)


def test_memories_have_no_text_and_secret_ones_no_title(filled: Store, path: Path) -> None:
    build(filled, path)
    first, secret = rows(path, "FROM memories WHERE namespace = 'ada' ORDER BY memory_id")[:2]
    assert (first["title"], first["tier"], first["effectiveness"]) == ("Deploy day", "important", 0.6)
    assert (first["stability_days"], first["last_verdict_at"]) == (
        2.0,
        datetime.fromisoformat("2026-03-01 12:00"),
    )
    assert (secret["title"], secret["sensitivity"], secret["effectiveness"]) == (None, "secret", None)
    held = path.read_bytes()
    for word in (SECRET_TITLE, TEXT, "DEPLOY?", "deploy?"):
        assert word.encode() not in held, word
    assert b"Deploy day" in held  # texts are found in the file as they are


@pytest.mark.slow
def test_the_same_tables_give_the_same_content_in_whatever_order_they_were_written(
    filled: Store, make_store: Any, path: Path, tmp_path: Path
) -> None:
    again = make_store()
    fill_day(again, 0, "bob")
    for number in reversed(range(SCALE)):
        fill_day(again, number)
    build(filled, path)
    build(again, tmp_path / "again.duckdb")
    assert contents(path) == contents(tmp_path / "again.duckdb")
    before = contents(path)
    build(filled, path)
    assert contents(path) == before


@pytest.mark.slow
def test_double_rows_of_the_store_stop_the_build_and_leave_the_old_file(filled: Store, path: Path) -> None:
    build(filled, path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    double = filled.read("memories").head(1)
    filled.table("memories").add(double.to_arrow())
    with pytest.raises(StoreError, match=r"memories was built with 9 rows and has 9 with 8 keys"):
        build(filled, path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(one.name for one in path.parent.iterdir()) == [FILE, f"{FILE}.lock"]


@pytest.mark.slow
def test_reading_changes_nothing_and_reaches_no_other_file(filled: Store, path: Path) -> None:
    build(filled, path)
    before = path.read_bytes()
    for sql in (
        "CREATE TABLE x AS SELECT 1", "DROP TABLE memories", "UPDATE memories SET title = 'x'",
        f"COPY memories TO '{path.parent / 'out.csv'}'", f"ATTACH '{path.parent / 'other.duckdb'}'",
        f"FROM read_text('{path}')", "SET enable_external_access = true", "not sql", "",
    ):  # fmt: skip
        with pytest.raises(SlowwaveError, match="slowwave warehouse tables"):
            query(path, sql)
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == [FILE, f"{FILE}.lock"]


@pytest.mark.slow
def test_a_query_may_be_cut(filled: Store, path: Path) -> None:
    build(filled, path)
    cut = query(path, "FROM memories", most=3)
    assert (len(cut.rows), cut.more) == (3, True)
    assert query(path, "FROM memories", most=8).more is False


def test_what_is_missing_or_broken_is_said(path: Path) -> None:
    with pytest.raises(NotFoundError, match="slowwave warehouse build"):
        query(path, "FROM memories")
    path.write_bytes(b"not a database" * 1_000)
    with pytest.raises(SlowwaveError, match="Cannot read"):
        described(path)


def test_without_duckdb_the_error_says_what_to_install(store: Store, path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(SlowwaveError, match=r"'\.\[night\]'"):
        build(store, path)
    with pytest.raises(SlowwaveError, match=r"'\.\[night\]'"):
        query(path, "FROM memories")


@pytest.mark.slow
def test_what_somebody_wrote_into_the_old_file_is_no_part_of_the_new_one(filled: Store, path: Path) -> None:
    code = (
        "import duckdb, os, sys\nconnection = duckdb.connect(sys.argv[1])\n"
        "connection.execute(\"SET checkpoint_threshold = '1GB'\")\n"
        "connection.execute('DELETE FROM memories')\nos._exit(1)"
    )
    build(filled, path)
    subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    left = path.with_name(f"{FILE}.wal")
    assert left.exists()
    build(filled, path)
    assert not left.exists()
    assert len(rows(path, "FROM memories")) == 8


# -- other processes -------------------------------------------------------------------------------

READER = """
import sys
from pathlib import Path
import duckdb

path = Path(sys.argv[1])
held = duckdb.connect(str(path), read_only=True)
before = held.execute("SELECT count(*) FROM searches_by_day").fetchone()
print("ready", flush=True)
seen = set()
for line in sys.stdin:
    seen.add(held.execute("SELECT count(*) FROM searches_by_day").fetchone())
print(sorted(seen) == [before], flush=True)
"""
LOOKS = """
import sys
from pathlib import Path
from slowwave.warehouse import query

while True:
    sql = "SELECT (SELECT count(*) FROM searches_by_day), (SELECT count(*) FROM cycle_progress)"
    days, cycles = query(Path(sys.argv[1]), sql).rows[0]
    print(days, cycles, flush=True)
"""
BUILD_AND_DIE = """
import os, signal, sys
from pathlib import Path
from slowwave.store import Store
from slowwave.warehouse import building as module

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

where = sys.argv[3]
if where == "replace":
    module.os.replace = die
elif where == "look":
    module._verify = die
else:
    made, left = module._create_table, [int(where)]
    def counted(connection, mart):
        left[0] -= 1
        if left[0] < 0:
            die()
        return made(connection, mart)
    module._create_table = counted
module.build(Store(sys.argv[1], model="hash-8", dimension=8), Path(sys.argv[2]))
"""


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    clean = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        warm.python("-c", code, *arguments), env=clean, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


@pytest.fixture
def ended() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are ended after the test."""
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


@pytest.mark.slow
def test_readers_see_the_old_warehouse_or_the_new_one_and_never_a_part(
    store: Store, path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    fill_day(store, 0)
    build(store, path)
    holder, looker = started(READER, path), started(LOOKS, path)
    ended += [holder, looker]
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert looker.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    assert looker.stdout.readline() == "1 1\n"
    for number in range(1, 5):
        fill_day(store, number)
        build(store, path)
        holder.stdin.write("look\n")
        holder.stdin.flush()
        looks = {looker.stdout.readline() for _ in range(3)}
        assert looks <= {f"{days} {days}\n" for days in range(1, number + 2)}
    holder.stdin.close()
    assert holder.stdout.readline() == "True\n"
    assert looker.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("where", ["0", "4", "look", "replace"])
def test_a_killed_build_leaves_the_old_warehouse_and_the_next_removes_what_it_began(
    store: Store, path: Path, ended: list[subprocess.Popen[str]], where: str
) -> None:
    fill_day(store, 0)
    build(store, path)
    before = path.read_bytes()
    fill_day(store, 1)
    killed = started(BUILD_AND_DIE, store.uri, path, where)
    ended.append(killed)
    assert killed.wait(120) == -signal.SIGKILL
    left = path.with_name(f"{FILE}.building")
    assert left.exists()
    assert path.read_bytes() == before
    done = build(store, path)
    assert done.rows["searches_by_day"] == 2
    assert not left.exists()
    assert not path.with_name(f"{FILE}.building.wal").exists()


@pytest.mark.slow
def test_two_builds_at_once_wait_for_each_other(
    store: Store, path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom slowwave.store import Store\n"
        "from slowwave.warehouse import build\nstore = Store(sys.argv[1], model='hash-8', dimension=8)\n"
        "for _ in range(3):\n    print(build(store, Path(sys.argv[2])).rows['memories'], flush=True)\n"
    )
    fill_day(store, 0)
    both = [started(code, store.uri, path) for _ in range(2)]
    ended += both
    for process in both:
        told, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        assert told.split() == ["2"] * 3
    assert len(rows(path, "FROM memories")) == 2
