"""Ingest speed of a vault, beside the embedding model alone on the same chunks (the floor).

    python bench/ingest.py --vault FOLDER [--model NAME ...] [--notes N] [--lines NAME ...]

Each line is a process of its own. ``embedder`` embeds the distinct chunk texts of the vault and nothing else;
``night`` is `ingest` and the night's job on a fresh home; ``save_many`` saves the same notes through the API;
``second night`` is the next day's night over the unchanged vault. ``in_model`` is spent in
the model, ``rest`` is everything else. ``ratio`` is the time over the embedder's,
all measured after start-up (imports, model loading, opening of databases).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from _notes import vault_notes
from _processes import child, peak_mb
from _report import bench, existing_folder, options, ratio, report

Measured = tuple[float, int, int, float]  # seconds, notes, chunks, seconds in the embedding model
LEAST = 50  # characters of a note that goes in
LINES = ("embedder", "night", "second night", "save_many")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run every line in a process of its own, model by model."""
    parser = options(__doc__)
    parser.add_argument("--vault", type=existing_folder, required=True, help="folder of notes")
    parser.add_argument("--model", nargs="+", default=["wordllama-256", "bge-small-en-v1.5"])
    parser.add_argument("--notes", type=int, default=0, help="only the first N notes; 0: all")
    parser.add_argument("--lines", nargs="+", default=LINES, choices=LINES, help="beside the embedder")
    parser.add_argument("--line", default="", help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if "second night" in arguments.lines and "night" not in arguments.lines:
        parser.error("--lines: a second night follows a first one")
    if arguments.line:
        print(json.dumps(_measure(arguments.line, arguments.vault, arguments.model[0], arguments.home)))
        return
    vault_notes(arguments.vault, most=arguments.notes, least=LEAST)  # says so where there is none
    rows = []
    for model in arguments.model:
        with tempfile.TemporaryDirectory() as folder:
            vault = _subset(arguments.vault, arguments.notes, Path(folder) / "vault")
            floor = 0.0
            for line in (name for name in LINES if name in {LINES[0], *arguments.lines}):
                home = Path(folder) / ("saved" if line == "save_many" else "home")
                print(f"{model}: {line} ...", file=sys.stderr)
                seconds, row = child(
                    __file__, "--vault", vault, "--model", model, "--line", line, "--home", home
                ).values()
                floor = seconds if line == "embedder" else floor
                rows.append({**row, "ratio": ratio(seconds, floor, 2)})
    report("ingest", rows, note=f"{arguments.vault}; peak memory is of the whole process")


def _subset(vault: Path, count: int, target: Path) -> Path:
    """The vault itself, or links to its first notes."""
    from slowwave.notes.folder import iter_vault

    if not count:
        return vault
    for file in list(iter_vault(vault))[:count]:
        link = target / file.source
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            link.hardlink_to(file.path)
        except OSError:  # another file system
            shutil.copy2(file.path, link)
    return target


def _measure(line: str, vault: Path, model: str, home: Path) -> dict[str, Any]:
    measures: dict[str, Callable[..., Measured]] = {
        "embedder": _embedder, "night": _first_night, "second night": _second_night, "save_many": _save_many
    }  # fmt: skip
    seconds, notes, chunks, in_model = measures[line](vault, model, home)
    row = {
        "model": model,
        "run": line,
        "notes": notes,
        "chunks": chunks,
        "seconds": round(seconds, 2),
        "in_model": round(in_model, 2),
        "rest": round(seconds - in_model, 2),
        "notes/s": ratio(notes, seconds, 1),
        "chunks/s": ratio(chunks, seconds, 1),
        "peak_mb": peak_mb(),
    }
    return {"seconds": seconds, "row": row}


def _embedder(vault: Path, model: str, home: Path) -> Measured:
    from slowwave.embedding import load_embedder
    from slowwave.notes.chunking import Chunker, indexed_text
    from slowwave.settings import EmbeddingSettings

    notes, chunker = vault_notes(vault, least=LEAST), Chunker()
    texts = [
        indexed_text(note.title, chunk.headings, chunk.text)
        for note in notes
        for chunk in chunker.split(note.content)
    ]
    distinct = list(dict.fromkeys(texts))
    embedder = load_embedder(EmbeddingSettings(model=model))
    embedder.embed_query("warm")
    start = time.perf_counter()
    embedder.embed_documents(distinct)
    seconds = time.perf_counter() - start
    return seconds, len(notes), len(texts), seconds


def _first_night(vault: Path, model: str, home: Path) -> Measured:
    """The vault goes in with yesterday's partition."""
    return _night(vault, model, home, days_ago=1)


def _second_night(vault: Path, model: str, home: Path) -> Measured:
    """Nothing has changed since; today's partition looks at the vault again."""
    return _night(vault, model, home, days_ago=0)


def _night(vault: Path, model: str, home: Path, *, days_ago: int) -> Measured:
    os.environ["SLOWWAVE_EMBEDDING__MODEL"] = model
    os.environ["SLOWWAVE_HOME"] = str(home)
    import dagster as dg

    from slowwave.home.workspace import Workspace
    from slowwave.orchestration.instance import dagster_home
    from slowwave.orchestration.run_nightly import run_night
    from slowwave.settings import load
    from slowwave.vaults.vault import scan, watch

    settings = load(home)
    os.environ["DAGSTER_HOME"] = str(dagster_home(settings))
    with dg.DagsterInstance.get() as instance:  # makes the instance's own databases: start-up
        instance.get_runs(limit=1)
    space = Workspace(settings)
    space.embedder.embed_query("warm")
    assert space.store.count("meta") > 0
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    start = time.perf_counter()
    source = watch(space.journal, "default", vault, name="vault", as_of=moment, principal="bench")
    scan(space.journal, source, settings.notes, as_of=moment)
    day = moment.date().isoformat()
    done = run_night(settings, day, day)
    seconds = time.perf_counter() - start
    assert done["success"], done["errors"]
    for step in done["steps"]:
        print(f"  {step['asset']}: {step['seconds']:.2f} s", file=sys.stderr)
    in_model = next(
        float(step["metadata"]["seconds in the model"])
        for step in done["steps"]
        if step["asset"] == "embedded_chunks"
    )
    return seconds, space.store.count("memories"), space.store.count("chunks"), in_model


def _save_many(vault: Path, model: str, home: Path) -> Measured:
    import slowwave

    notes = [
        {"content": note.content, "title": note.title, "key": note.source}
        for note in vault_notes(vault, least=LEAST)
    ]
    with slowwave.open(home, namespace="default", embedding={"model": model}) as memory:
        memory.embedder.embed_query("warm")
        memory.save(
            "A first note, so that everything is loaded: the lamp is lit at dusk and put out at dawn."
        )
        in_model = _timed(memory.embedder)
        start = time.perf_counter()
        for at in range(0, len(notes), 500):
            memory.save_many(notes[at : at + 500])
        seconds = time.perf_counter() - start
        return seconds, memory.count(), memory.store.count("chunks"), sum(in_model)


def _timed(embedder: Any) -> list[float]:  # noqa: ANN401 - an embedder to be wrapped
    """Note how long each call of the model takes from now on."""
    took: list[float] = []
    embed = embedder.embed_documents

    def timed(*arguments: Any) -> Any:  # noqa: ANN401
        start = time.perf_counter()
        vectors = embed(*arguments)
        took.append(time.perf_counter() - start)
        return vectors

    embedder.embed_documents = timed
    return took


if __name__ == "__main__":
    main()
