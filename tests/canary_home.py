"""A home in which words stand that some may not see: of secret notes, of another namespace, of open notes.

Every such word ends in ``zyx`` and begins with whose it is, so one pattern finds them all, wherever they get.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import learning_rows
import pytest
from cycle_rows import put_cycle
from typer.testing import CliRunner
from warehouse_rows import put

from slowwave.cli import app
from slowwave.common import ids
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.vaults import vault

SECRET, FOREIGN, OPEN = (re.compile(rf"{who}[a-z]*zyx", re.IGNORECASE) for who in ("sec", "bob", "pub"))
QUESTION = "where is the safe with the secquestionzyx that nobody opens in winter?"
SAFE = "The safe in the cellar opens with sectextzyx since the ninth of March, as Ishbel has noted."
PUBLIC = "The lighthouse of pubtextzyx was painted white and its lamp turns once in twelve seconds."
SETTINGS = """\
namespace = "ada"
[embedding]
model = "wordllama-256"
[judge]
kind = "off"
[reconsolidation]
policy = "guarded"
[learning]
enabled = true
[evaluation]
ablations = false
"""


def labels(who: str) -> dict[str, Any]:
    """Everything that a note can say of itself."""
    return {
        "title": f"{who}titlezyx", "tags": [f"{who}tagzyx"], "trigger_phrases": [f"open {who}phrasezyx"],
        "aliases": [f"{who}aliaszyx"], "context": f"{who}contextzyx was said before",
        "metadata": {f"{who}keyzyx": f"{who}valuezyx"}, "importance_tier": "critical",
        "memory_type": "constraint",
    }  # fmt: skip


@dataclass
class CanaryHome:
    """The home, and the ids that a walk needs."""

    home: Path
    vault: Path
    secret: str = ""
    public: str = ""
    foreign: str = ""
    search: str = ""
    open_search: str = ""
    decisions: list[str] = field(default_factory=list)
    open_decision: str = ""
    refused: str = ""
    said: list[str] = field(default_factory=list)
    """What the commands printed that made it: nights and evaluations."""

    def run(self, *words: str, **options: Any) -> str:
        """What a command prints, on either stream, with the error that it ended in."""
        done = CliRunner().invoke(app, list(words), **options)
        error = "" if isinstance(done.exception, SystemExit | None) else repr(done.exception)
        return f"{done.stdout}\n{done.stderr}\n{error}"


def make(folder: Path, embedder: Any) -> CanaryHome:
    """Notes, searches, feedback, judgments and lessons; then a night, an evaluation and what is learned."""
    made = CanaryHome(folder / "home", folder / "vault")
    made.home.mkdir()
    (made.home / "slowwave.toml").write_text(SETTINGS)
    os.environ["SLOWWAVE_HOME"] = str(made.home)
    settings = load(made.home)
    _write_vault(made.vault)
    memory = Memory(settings, namespace="ada", principal="ann")
    memory._space.__dict__["embedder"] = embedder
    now = datetime.now(UTC)
    for namespace in ("ada", "bob"):
        vault.watch(memory.journal, namespace, made.vault, name="vault", as_of=now, principal="ann")
    _save(made, memory)
    other = Memory(settings, namespace="bob", principal="bob", space=memory._space)
    made.foreign = other.save(
        "The well of bobtextzyx is deep and cold, and its bucket was lost long ago.",
        key="bobsourcezyx",
        **labels("bob"),
    ).memory_id
    other.observe(other.search("how deep is the bobquestionzyx?").search_id, "Deep.", cited=[made.foreign])
    _use(made, memory)
    _put_rows(memory, made)
    memory.close()
    from slowwave.orchestration import cli as night

    for command in (night.night, night.evaluate):
        with pytest.MonkeyPatch.context() as patch:
            lines: list[str] = []
            patch.setattr(
                "slowwave.views.terminal._print_json",
                lambda data, kept=lines: kept.append(json.dumps(data, default=str)),
            )
            command(json=True)
            made.said += lines
    return made


def _write_vault(folder: Path) -> None:
    notes = {
        "public.md": f"---\ntitle: pubtitlezyx\n---\n{PUBLIC}",
        "pubshortzyx.md": "pubstubzyx",
        "secpathzyx/safe.md": "---\ntitle: secvaulttitlezyx\nsensitivity: secret\ntags: [sectagzyx]\n---\n"
        "The boat of secboatzyx lies in the northern basin and is never lent to anybody else.",
        "secshortzyx.md": "---\nsensitivity: secret\n---\nsecstubzyx",
        "secbrokenzyx.md": "---\nsensitivity: secret\nsecfieldzyx: [secbrokentextzyx\n---\nsecbrokenbodyzyx",
        "seclineszyx.jsonl": '{"id": "secidzyx", "sensitivity": "secret", "text": "secjsontextzyx"\n',
    }  # fmt: skip
    for form in ("NFC", "NFD"):  # one name, written in two ways: only one of them can be taken in
        notes[unicodedata.normalize(form, "sectwinézyx.md")] = "---\nsensitivity: secret\n---\nsectwinzyx"
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1e9, 1e9))


def _save(made: CanaryHome, memory: Memory) -> None:
    """A secret memory, and secret notes that merge with it, supersede another, repeat it and are refused."""
    of = {**labels("sec"), "sensitivity": "secret"}
    made.secret = memory.save(SAFE, key="secsourcezyx/key", **of).memory_id
    saved = [
        memory.save(f"{SAFE}\nIt is cleaned by secmergedzyx every spring.", key="secmergezyx", **of),
        memory.save(
            SAFE.replace("ninth", "tenth").replace("sectextzyx", "secnewerzyx"), key="secnewzyx", **of
        ),
        memory.save(SAFE, key="seccopyzyx", **of),
    ]
    made.decisions = [one.decision_id for one in saved if one.decision_id]
    made.refused = memory.save("secrefusedzyx", key="secrefusedkeyzyx", sensitivity="secret").memory_id
    made.public = memory.save(PUBLIC, key="pubsourcezyx", **labels("pub")).memory_id
    copy = memory.save(f"{PUBLIC}\nThe keeper is called pubkeeperzyx.", key="pubcopyzyx", **labels("pub"))
    made.open_decision = copy.decision_id or ""
    # Once secret, now open: its history is not.
    memory.save(
        "The old word of the house was secformerzyx, and it was changed by Morag.",
        key="opened",
        sensitivity="secret",
    )
    memory.save(
        "The word has been changed and is told to everybody now.", key="opened", sensitivity="internal"
    )


def _use(made: CanaryHome, memory: Memory) -> None:
    """What a person asked about the secret memory, and said of it; five of them, so that it is promoted."""
    for who in ("ann", "ben", "cid", "dan", "eve", "fay"):
        memory.principal = who
        found = memory.search(QUESTION, sensitivity=["secret", "internal"], project="secprojectzyx")
        made.search = found.search_id
        memory.feedback(found.search_id, made.secret, "helpful")
    memory.observe(made.search, SAFE, cited=[made.secret])
    memory.judge(QUESTION, made.secret, 3, explanation="secexplanationzyx says so")
    memory.judge("what colour is the pubquestionzyx?", made.public, 2, explanation="pubexplanationzyx")
    made.open_search = memory.search("what colour is the lighthouse?").search_id
    memory.observe(made.open_search, PUBLIC, cited=[made.public])
    memory.principal = "ann"


def _put_rows(memory: Memory, made: CanaryHome) -> None:
    """What would take a month: a closed cycle with the question, and selections that teach the memory."""
    store, now = memory.store, datetime.now(UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning_rows, "NEWS", ("secnewszyx", "sectermzyx", "secwordzyx"))
        learning_rows.put_open(memory._space, now, memory=made.secret)
    store.delete("memories", "revision IS NULL")  # nobody saved them
    put_cycle(store, 3, queries=5)
    named = {"cycle_id": "ada#3", "namespace": "ada", "query_id": ids.query_id("ada", QUESTION)}
    for variant in ("logged", "in force"):
        put(store, "cycle_scores", [
            {**named, "cycle_score_id": f"ada#3:{variant}:safe", "variant": variant, "query": QUESTION,
             "searches": 1, "relevant": 1, "judged_10": 1.0,
             **dict.fromkeys(("mrr_5", "ndcg_10", "recall_20", "hit_rate_1"), 0.0)}
        ])  # fmt: skip
    put(store, "cycle_judgments", [
        {**named, "cycle_judgment_id": "ada#3:safe", "memory_id": made.secret, "source": "manual",
         "grade": 3.0}
    ])  # fmt: skip
