"""Injured notes through a real home: bodies found, refusals, labels kept, and labels that close.

    python bench/injuries.py --vault FOLDER [--notes 500]

The front matter or the bytes of every note are injured, one kind at a time, as editors and sync tools leave
them. Each kind has a namespace: `ingest` and one nightly job with an enforcing gate. `found`: notes that are
among the first ten results for a sentence of theirs; only those that are found uninjured take part.
`refused`: notes in quarantine. `labels`: notes that keep their tag, tier and date. In a second namespace the
same files also have a label that closes, in a spelling that is drawn: `closed` is the number of those notes
that are secret, `shown` of those that a search without rights returns.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from _injuries import FLAT, KINDS, SPELLINGS, Injury
from _notes import vault_notes
from _report import UnusableError, bench, existing_folder, options, positive, report

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

MOST = 1_500  # characters of a body
LEAST = 120
SPARE = 1.4  # notes to draw for one that takes part
CONTROL = "uninjured"
_SENTENCE = re.compile(r"(?:^|(?<=[.!?]) )([A-Z][^.!?|<>\[\]`*_#\n]{40,160}[.!?])")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Print a row per kind of injury."""
    parser = options(__doc__)
    parser.add_argument("--vault", type=existing_folder, required=True, help="folder of notes")
    parser.add_argument("--notes", type=positive, default=500)
    parser.add_argument("--model", default="wordllama-256")
    parser.add_argument("--kinds", default="", help="only these, with commas")
    arguments = parser.parse_args(argv)
    names = [name.strip() for name in arguments.kinds.split(",")] if arguments.kinds else list(KINDS)
    if unknown := set(names) - set(KINDS):
        raise UnusableError(f"there is no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    bodies = _bodies(arguments.vault, int(arguments.notes * SPARE) + 2)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _configure(folder / "first", arguments.model)
        _ingest(folder / "first", {CONTROL: _write(folder / CONTROL, bodies, Injury(), closes=False)})
        found = _found(folder / "first", CONTROL, bodies)
        bodies = {name: bodies[name] for name in list(bodies) if name in found}
        bodies = dict(list(bodies.items())[: arguments.notes])
        _configure(folder / "home", arguments.model)
        folders = {}
        for number, kind in enumerate(names):
            for closes in (False, True):
                path = folder / f"{number}-{closes}"
                folders[path.name.lower()] = _write(path, bodies, KINDS[kind], closes=closes)
        _ingest(folder / "home", folders)
        rows = [
            {"injury": kind, "notes": len(bodies), **_row(folder / "home", number, kind, bodies)}
            for number, kind in enumerate(names)
        ]
    numbers = ("notes", "found", "refused", "labels", "closed", "shown")
    totals = {name: sum(row[name] or 0 for row in rows) for name in numbers}
    report("injuries", rows, totals=totals, note=f"{arguments.vault}, {arguments.model}, an enforcing gate")


def _bodies(vault: Path, count: int) -> dict[str, tuple[str, str]]:
    """Bodies of notes with a sentence that no other has."""
    texts = list(dict.fromkeys(_cut(note.content) for note in vault_notes(vault)))
    random.Random(38).shuffle(texts)
    sentences = [list(dict.fromkeys(_sentences(text))) for text in texts]
    notes_with = pl.Series([one for own in sentences for one in own], dtype=pl.String).value_counts(name="n")
    alone = set(notes_with.filter(pl.col("n") == 1).to_series().to_list())
    chosen: dict[str, tuple[str, str]] = {}
    for text, own in zip(texts, sentences, strict=True):
        unique = sorted((one for one in own if one in alone), key=len)
        if unique and len(text) >= LEAST and len(chosen) < count:
            chosen[f"note-{len(chosen):04}"] = (text, unique[-1])
    if not chosen:
        raise UnusableError(f"{vault} has no note with a sentence of its own")
    return chosen


def _sentences(text: str) -> Iterator[str]:
    for part in re.split(r"\n{2,}", text):
        yield from _SENTENCE.findall(" ".join(part.split()))


def _cut(text: str) -> str:
    """The first paragraphs, without rules and blocks of code that would be cut open."""
    kept, size = [], 0
    for part in re.split(r"\n{2,}", text):
        if part.startswith(("```", "~~~", "---")):
            continue
        size += len(part)
        if kept and size > MOST:
            break
        kept.append(part)
    return "\n\n".join(kept).strip() + "\n"


def _write(folder: Path, bodies: dict[str, tuple[str, str]], injury: Injury, *, closes: bool) -> Path:
    folder.mkdir()
    chance = random.Random(folder.name)
    flat = injury.place.startswith("{head}")
    for name, (text, _) in bodies.items():
        closing = chance.choice(FLAT if flat else SPELLINGS) if closes else ""
        (folder / f"{name}{injury.suffix}").write_bytes(injury.file(text, closing))
    return folder


def _configure(home: Path, model: str) -> None:
    os.environ["SLOWWAVE_EMBEDDING__MODEL"] = model
    os.environ["SLOWWAVE_GATE__MODE"] = "enforce"
    os.environ["SLOWWAVE_HOME"] = str(home)


def _ingest(home: Path, folders: dict[str, Path]) -> None:
    """Scan each folder into a namespace of its own, and run the nightly job."""
    import dagster as dg

    from slowwave.home.workspace import Workspace
    from slowwave.orchestration.instance import dagster_home
    from slowwave.orchestration.run_nightly import run_night
    from slowwave.settings import load
    from slowwave.vaults.vault import scan, watch

    settings = load(home)
    os.environ["DAGSTER_HOME"] = str(dagster_home(settings))
    with dg.DagsterInstance.get() as instance:
        instance.get_runs(limit=1)
    space = Workspace(settings)
    space.store.count("meta")
    now = datetime.now(UTC)
    for namespace, folder in folders.items():
        source = watch(space.journal, namespace, folder, name="vault", as_of=now, principal="bench")
        scan(space.journal, source, settings.notes, as_of=now)
    space.close()
    day = now.date().isoformat()
    done = run_night(settings, day, day)
    assert done["success"], done["errors"]


def _found(home: Path, namespace: str, bodies: dict[str, tuple[str, str]]) -> set[str]:
    """Names of the notes that a search for their sentence returns."""
    import slowwave

    found = set()
    with slowwave.open(home, namespace=namespace) as memory:
        for name, (_, sentence) in bodies.items():
            results = memory.search(sentence, log=False)
            if any(name in result.source for result in results):
                found.add(name)
    return found


def _row(home: Path, number: int, kind: str, bodies: dict[str, tuple[str, str]]) -> dict[str, Any]:
    import slowwave

    injured, closed = f"{number}-false", f"{number}-true"
    with slowwave.open(home, namespace=injured) as memory:
        refused = memory.quarantine()
        rows = _memories(memory.home, injured)
        secret = _memories(memory.home, closed).filter(pl.col("sensitivity") == "secret")
    kept = rows.filter(
        pl.col("tags").list.contains("kept"),
        pl.col("importance_tier") == "important",
        pl.col("created_at").dt.date() == datetime(2024, 3, 14, tzinfo=UTC).date(),
    )
    return {
        "found": len(_found(home, injured, bodies)),
        "refused": len(refused),
        "labels": kept.height if KINDS[kind].has_labels else None,
        "closed": secret.height,
        "shown": len(_found(home, closed, bodies)),
    }


def _memories(space: Workspace, namespace: str) -> pl.DataFrame:
    columns = ["namespace", "source", "tags", "importance_tier", "created_at", "sensitivity"]
    return space.store.read("memories", columns=columns).filter(pl.col("namespace") == namespace)


if __name__ == "__main__":
    main()
