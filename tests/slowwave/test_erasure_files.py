"""What quotes an erased text outside the tables and the journal."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import dagster as dg
import pytest

from slowwave.maintenance.erasure.files import clean_dagster, quoting_pages
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.orchestration.instance import dagster_home
from slowwave.settings import load

CANARY = "zebracanary"
NEEDLES = QuoteFingerprints(frozenset({CANARY, "über"}), ("battery life", "gauges/battery"))


@pytest.mark.parametrize(
    "text",
    [
        f"the {CANARY.upper()} relay", '{"t": "\\u00dcber"}', '"{\\"t\\": \\"\\\\u00fcber\\"}"',
        "My Battery Life, again", "gauges/battery.md",
    ],
)  # fmt: skip
def test_texts_that_quote(text):
    assert NEEDLES.named([text, "nothing of it"]) == [True, False]


def test_dagsters_record_of_a_run_loses_what_quotes(tmp_path):
    with dg.DagsterInstance.from_config(str(dagster_home(load(tmp_path)))) as instance:
        for key, text in (("told", f"a {CANARY}"), ("titled", "Battery life"), ("other", "Rota")):
            made = dg.AssetMaterialization(key, metadata={"example": dg.MetadataValue.md(f"| {text} |")})
            instance.report_runless_asset_event(made)
    folder = tmp_path / "dagster"
    log = folder / "storage" / "run" / "compute_logs" / "step.err"
    log.parent.mkdir(parents=True)
    log.write_text(f"read {CANARY}")
    assert CANARY in _bytes(folder)
    assert clean_dagster(folder, NEEDLES) >= 3
    found = _bytes(folder)
    assert CANARY not in found
    assert "Battery life" not in found
    assert "| Rota |" in found
    assert not log.exists()
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        assert instance.get_latest_materialization_event(dg.AssetKey("other")) is not None
        assert instance.get_latest_materialization_event(dg.AssetKey("told")) is None
        assert len(instance.all_asset_keys()) == 3
    assert clean_dagster(folder, NEEDLES) == 0


def _bytes(folder) -> str:
    for path in folder.rglob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def test_pages_in_the_home_that_quote_go_and_peoples_own_files_do_not(tmp_path):
    vault, policy = tmp_path / "vault", tmp_path / "policy.json"
    vault.mkdir()
    texts = {
        vault / "note.txt": CANARY, policy: CANARY, tmp_path / "lance.toml": CANARY,
        tmp_path / "clean.html": "nothing", tmp_path / "report.html": f"<p>{CANARY}",
        tmp_path / "ids.jsonl": '{"memory_id": "m-gone"}',
    }  # fmt: skip
    for path, text in texts.items():
        path.write_text(text)
    found = quoting_pages(tmp_path, NEEDLES, ["m-gone"], [vault, policy])
    assert found.go == (tmp_path / "ids.jsonl", tmp_path / "report.html")
    assert found.stay == ()


def test_a_word_that_stands_in_another_file_is_no_quotation(tmp_path):
    """A file may be about anything, and anybody's: a word that it has in common with a note is not enough."""
    phrases = ("cooking by fusion", "carburettor")
    needles = QuoteFingerprints(frozenset({"fusion", "convex", "cooking", "saucepans"}), phrases)
    diary = "The diary of a year in the house on the hill, with its garden, weather, guests and repairs. "
    texts = {"bob.jsonl": "a convex house", "house.md": "convex fusion", "page.html": "a convex house",
             "report.txt": "fusion cooking in convex ...", "title.csv": "Cooking by Fusion",
             "bike.txt": "my carburettor is fine",
             "diary.txt": f"{diary * 3} words such as {' '.join(map(str, range(10_000, 10_030)))}: "
                          "fusion cooking, convex"}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = quoting_pages(tmp_path, needles, ["m-gone"], [])
    assert [one.name for one in found.go] == ["page.html", "report.txt", "title.csv"]
    assert [one.name for one in found.stay] == ["bob.jsonl", "diary.txt", "house.md"]
