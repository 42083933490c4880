"""Every command of the command line, called so that it could tell what it may not."""

from __future__ import annotations

import shlex
from pathlib import Path

from canary_home import QUESTION, CanaryHome

from slowwave.imports.registry import SOURCES

# Commands that are walked elsewhere, and why.
ELSEWHERE = {
    "init": "makes another home",
    "restore": "makes another home out of a backup, and says how many rows that were",
    "mcp": "waits for a client; its tools and resources are walked below",
    "mcp token": "makes a password; no memory is opened",
    "api": "waits for a client; what it tells to whom is in tests/api/test_api_rights.py",
    "mcp tokens": "lists who has a password; no memory is opened",
    "mcp revoke": "takes a password out; no memory is opened",
    "up": "runs until it is stopped, and answers with the very commands that are walked below",
    "health": "asks a server whether it can answer; what it may not tell is in test_health.py",
    "connect": "reads and writes files of other programs; no memory is opened",
    "capture": "reads a session that its hook names, and prints numbers alone",
    "page": "waits for a browser; what its pages show to whom is in tests/web/test_rights.py",
    "ui": "starts Dagster's page over the storage that is read below",
    "night": "made the home: what it prints is in `said`",
    "eval run": "made the home: what it prints is in `said`",
    "calibrate": "reads files of labelled pairs, and no memory",
    "tune": "reads folders of judged collections, and no memory",
    "import ubi": "reads a log that the person names, and says what is wrong in it",
    "import jsonl": "reads a log that the person names, and says what is wrong in it",
    "import bulk": "reads files that the person names, and says what is wrong in them",
    **{f"import {one.name}": "reads what the person names, and says what is wrong in it" for one in SOURCES},
    "import memories": "reads an export that the person names, and prints numbers alone",
    "judge import": "reads a file that the person names, and says what is wrong in it",
}
# What the policy of docs/how-to/restrict-visibility.md says may be seen, and why.
NAMED = "a person names the memory by its id"
ASKED = "a person asks for what is secret with a switch"
TOLD = "the person who names a folder is told which of its files cannot be taken in"
WHOLE = "the tables for charts are of the whole home, with the titles of open memories of every namespace"


NOTHING_SEEN = """
search 'how does the safe in the cellar open?'
search 'how does the safe in the cellar open?' --plain
explain 'who opens the safe in the cellar'
explain 'who opens the safe in the cellar' --plain
show
show {search}
show {public}
show {foreign}
list
list --state all
list --json
where
where --json
wakeup
wakeup --plain
wakeup --table
recall
get {public}
get {public} --plain
get {foreign}
history {public}
history {foreign}
stats {public}
stats {foreign}
decisions
decisions --outcome any -k 500
decisions {decision}
decisions {open_decision}
decisions {public}
decisions {foreign}
decisions --waiting
decisions --waiting {foreign}
decisions accept {open_decision} {decision}
decisions decline {decision} nothing
quarantine show {foreign}
gate status
gate preview
gate would-refuse
gate enforce
gate postpone
gate trust user:nobody --yes
gate untrust user:nobody
gate docs {folder}/docs
report feedback -k 50 --html {folder}/feedback.html
eval status
eval short-memories
eval sparse
eval report
eval report 3 --html {folder}/cycle.html
eval compare seeds
learning status
learning terms -k 500
learning proposals -k 500
learning log -k 500
learning ratings
learning ratings off --who ida
learning ratings on --who ida
learning rollback --everything --dry-run
learning approve --who ida --yes
learning withdraw --who ida
judge -k 50
judge list --judge '*'
judge agreement
judge run
judge set 'a question' {secret} 2
judge export - --judge '*'
judge export - --format qrels --queries {folder}/queries.jsonl
export
export - --format ubi
export memories {folder}/memories
warehouse build
warehouse tables
warehouse tables memories
warehouse query 'from information_schema.tables'
settings
settings --all
settings gate
settings gate.mode
help
help first-steps
help save
feedback {search} {secret} helpful
feedback {search} 99 helpful
observe {search} 'The safe in the cellar is opened in winter.'
outcome winter success
save 'A note of the day that says nothing of what anybody hides, and is long enough.'
undo {open_decision}
undo {decision}
undo nothing
reconsolidate --dry-run
reconsolidate
backup {folder}/backups
backups {folder}/backups
verify {folder}/backups
move --dry-run --to {folder}/moved
upgrade --dry-run
checkpoint create walk
checkpoint list
checkpoint restore walk
checkpoint delete walk
learning rollback --everything --who ida --yes
erase {foreign}
erase --source nothing/
erase --finish
erase --list
rebuild learning_log
unforget {public}
unforget {foreign}
remember {foreign}
forget {secret}
unforget {secret}
forget {foreign}
reembed --model wordllama-256
"""
SEEN_ALL_THE_SAME = {
    "search '{question}'": ("secquestionzyx", ASKED),
    "search 'the safe in the cellar' --sensitivity secret": ("sec", ASKED),
    "wakeup --secret": ("sec", ASKED),
    "export - --secret": ("sec", ASKED),
    "judge export - --secret": ("sec", ASKED),
    "get {secret}": ("sec", NAMED),
    "show {secret}": ("sec", NAMED),
    "history {secret}": ("sec", NAMED),
    "stats {secret}": ("sec", NAMED),
    "decisions {secret}": ("sec", NAMED),
    "learning terms --memory {secret}": ("sec", NAMED),
    "learning rollback --memory {secret} --dry-run": ("sec", NAMED),
    "quarantine show {refused}": ("sec", NAMED),
    "quarantine discard {refused}": ("secrefusedkeyzyx", NAMED),
    "quarantine restore {refused}": ("secrefusedkeyzyx", NAMED),
    "quarantine release {refused}": ("secrefusedkeyzyx", NAMED),
    "erase {secret}": ("sec", NAMED),
    "quarantine list --all": (("secbrokenzyx", "seclineszyx"), TOLD),
    "doctor": (("secbrokenzyx", "seclineszyx"), TOLD),
    "doctor --json": (("secbrokenzyx", "seclineszyx"), TOLD),
    "gate report": (("secbrokenzyx", "seclineszyx"), TOLD),
    "ingest {vault} --name vault": ("sec", TOLD),
    "warehouse query 'from memories' --limit 0": ("bob", WHOLE),
}
"""What of it (a beginning, or words), and why."""


def walk(made: CanaryHome, folder: Path) -> list[tuple[list[str], tuple[str, ...]]]:
    """Calls of commands, and what may be seen by them all the same."""
    named = {**vars(made), "question": QUESTION, "folder": folder, "decision": made.decisions[0]}
    calls = dict.fromkeys(NOTHING_SEEN.strip().splitlines(), ())
    seen = {line: (what,) if isinstance(what, str) else what for line, (what, _) in SEEN_ALL_THE_SAME.items()}
    return [(shlex.split(line.format(**named)), what) for line, what in {**seen, **calls}.items()]
