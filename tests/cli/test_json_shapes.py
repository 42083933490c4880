"""What programs read stays where it is: every key of the answers to --json, and of which kind its value is.

An answer that is meant to change is changed in `__snapshots__` in the commit that means it (`pytest
--snapshot-update`), and CHANGELOG.md says so; a key that is gone or of another kind breaks somebody's script.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator

import pytest
from click.testing import Result
from syrupy.extensions.json import JSONSnapshotExtension

from slowwave.memory import Memory

TUESDAY = "We deploy on Tuesday at nine in the morning, everybody is there."
THURSDAY = TUESDAY.replace("Tuesday", "Thursday")
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
COMMANDS = """
help
help json
search 'when do we deploy?' --project ferry
explain 'when do we deploy?'
show
show {memory}
wakeup
get {memory}
feedback last 1 helpful
observe last 'On Thursday at nine.'
outcome ferry success
stats {memory}
history {memory}
decisions
decisions {decision}
decisions --outcome any
decisions --waiting
quarantine list
quarantine show {refused}
gate status
gate report
gate preview
learning status
learning terms
learning proposals
learning log
learning rollback --everything --dry-run
judge set 'when do we deploy?' {memory} 3
judge list
judge agreement
eval status
eval report
eval compare seeds
eval short-memories
report feedback
warehouse tables
settings
doctor
backups
upgrade --dry-run
checkpoint create one
checkpoint list
checkpoint delete one
reconsolidate --dry-run
undo {decision}
erase {memory}
erase --list
forget {memory}
unforget {memory}
quarantine release {refused}
"""


def kind(value: object) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "nothing" if value is None else "text"


def places(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Where a value is found in an answer, and of which kind it is."""
    if isinstance(value, dict):
        yield path, "mapping"
        for name, part in value.items():
            named = "*" if path.endswith(".tables") else name  # a new table breaks nobody's script
            yield from places(part, f"{path}.{named}")
    elif isinstance(value, list):
        yield path, "list"
        for part in value:
            yield from places(part, f"{path}[]")
    else:
        yield path, kind(value)


def shape(value: object) -> list[str]:
    """A line for every place, in their order, with the kinds of value that are there."""
    found: dict[str, set[str]] = {}
    for path, one in places(value):
        found.setdefault(path, set()).add(one)
    return [f"{path or '(whole)'}: {' or '.join(sorted(kinds))}" for path, kinds in sorted(found.items())]


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """One note superseded another; one is a duplicate, and refused."""
    memory = open_memory("default", reconsolidation={"policy": "guarded"})
    memory.save(TUESDAY, title="Deploy")
    memory.save(BATTERY, title="Battery")
    return memory


@pytest.mark.slow
def test_the_answers_for_programs_keep_their_keys(run: Callable[..., Result], memory: Memory, snapshot):
    superseding = memory.save(THURSDAY, title="Deploy")
    refused = memory.save(BATTERY, key="twin")
    assert (superseding.outcome, refused.status) == ("supersede", "quarantined")
    names = {
        "memory": superseding.memory_id,
        "decision": superseding.decision_id,
        "refused": refused.memory_id,
    }
    found = {}
    for line in COMMANDS.strip().splitlines():
        done = run(*shlex.split(line.format(**names)), "--json")
        assert done.exit_code in (0, 1), f"{line}: {done.output}"
        assert done.stdout.startswith(("{", "[", "null")), f"{line}: {done.output}"
        answer = json.loads(done.stdout)  # one document, and nothing else
        if line == "settings":
            answer = [answer["gate.mode"], answer["ranking.candidates"]]
        found[line] = shape(answer)
    assert found == snapshot(extension_class=JSONSnapshotExtension)
