"""A new version that closes a note closes it at once, also if it cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.journal import Journal
from slowwave.settings import NotesSettings
from slowwave.vaults import vault

NOON = datetime(2026, 4, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = "Henrike keeps the spare key of the pump house under the third flower pot."
FORMER = f"---\ntags: [keys]\n---\n{TEXT}\n"


def scanned(journal: Journal, folder, day: int) -> vault.ScanResult:
    at = NOON + day * DAY
    source = vault.watch(journal, "ada", folder, name="", as_of=at, principal="test")
    return vault.scan(journal, source, NotesSettings(max_bytes=4_000), as_of=at)


def labels(journal: Journal, subject: str) -> list[tuple[str, object]]:
    """Kind and sensitivity of each event on a source, in order."""
    return [(entry.kind, entry.payload.get("sensitivity")) for entry in journal.about("ada", subject)]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "vault"
    made.mkdir()
    (made / "key.md").write_text(FORMER)
    (made / "other.md").write_text("The pump is oiled on the first Monday of each month.")
    return made


BROKEN = {
    "empty": b"---\nsensitivity: secret\n---\n",
    "too large": b"---\nsensitivity: secret\n---\n" + b"water level " * 400,
    "not UTF-8": b"---\nsensitivity: secret\n---\n" + bytes(range(128, 256)) * 4,
    "an unknown label": b"---\nsensitivity: confidential\n---\n",
}


@pytest.mark.parametrize("new", BROKEN.values(), ids=BROKEN)
def test_an_unreadable_version_that_says_secret_closes_the_stored_text(journal, folder, new):
    scanned(journal, folder, 0)
    (folder / "key.md").write_bytes(new)
    result = scanned(journal, folder, 1)
    assert result.unreadable == 1
    assert result.warnings[0].endswith("Its label makes its memory secret.")
    assert labels(journal, "vault/key.md") == [("save", "internal"), ("save", "secret"), ("unreadable", None)]
    closing = journal.about("ada", "vault/key.md")[1]
    assert (closing.payload["content"].strip(), closing.payload["tags"]) == (TEXT, ["keys"])
    assert scanned(journal, folder, 2).acts == 0
    assert labels(journal, "vault/other.md") == [("save", "internal")]


def test_an_unreadable_version_without_a_label_leaves_the_text_open(journal, folder):
    scanned(journal, folder, 0)
    (folder / "key.md").write_bytes(b"---\ntags: [secret]\n---\n")
    scanned(journal, folder, 1)
    assert labels(journal, "vault/key.md") == [("save", "internal"), ("unreadable", None)]


def test_a_note_that_opens_again_when_its_label_goes_is_read_again(journal, folder):
    scanned(journal, folder, 0)
    (folder / "key.md").write_bytes(BROKEN["empty"])
    scanned(journal, folder, 1)
    (folder / "key.md").write_text(FORMER)
    scanned(journal, folder, 2)
    assert labels(journal, "vault/key.md")[-1] == ("save", "internal")


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "7", "text": "", "sensitivity": "secret"}',
        '{"id": "7", "sensitivity": "secret", "text": "broken',
        '{"id": "7", "sensitivity": "secret", "text": "x" "y"}',
    ],
)
def test_a_broken_line_closes_the_note_of_its_id_only(journal, folder, line):
    lines = [f'{{"id": "7", "text": "{TEXT}"}}', '{"id": "8", "text": "The sluice opens in April."}']
    (folder / "facts.jsonl").write_text("\n".join(lines))
    scanned(journal, folder, 0)
    (folder / "facts.jsonl").write_text("\n".join([line, lines[1]]))
    scanned(journal, folder, 1)
    assert labels(journal, "vault/facts.jsonl#7") == [("save", "internal"), ("save", "secret")]
    assert labels(journal, "vault/facts.jsonl#8") == [("save", "internal")]
    assert scanned(journal, folder, 2).acts == 0


def test_a_note_that_a_user_forgot_is_not_revived_by_closing_it(journal, folder, act):
    scanned(journal, folder, 0)
    journal.append([act("vault/key.md", at=NOON + timedelta(hours=1))])
    (folder / "key.md").write_bytes(BROKEN["empty"])
    scanned(journal, folder, 1)
    assert [kind for kind, _ in labels(journal, "vault/key.md")] == ["save", "forget", "unreadable"]
