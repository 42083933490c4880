"""The texts of `slowwave help TOPIC`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple


class Topic(NamedTuple):
    """A short text for people, in lines of at most 80 characters."""

    title: str
    text: str


TOPICS: Final[Mapping[str, Topic]] = {
    "first-steps": Topic(
        "The first 15 minutes",
        """\
  slowwave init ~/assistant             create a home: tables, journal, settings
  slowwave save "We deploy on Thursday since 2 March; Friday is for repairs."
  slowwave search "when do we deploy?"
  slowwave feedback last 1 helpful      rate that search's first result
  slowwave ingest ~/notes               watch a folder of notes
  slowwave night                        run the nightly job now
  slowwave explain "when do we deploy?" show how each score is made

Searches find a saved note at once. The nightly job ingests folders and
processes feedback. Run it with `slowwave night`, or keep `slowwave up` running:
it starts the job every night. For the first 14 days the save gate only warns
about notes that it would refuse (`slowwave gate report`).""",
    ),
    "homes": Topic(
        "Homes and namespaces",
        """\
A home is the data directory: tables, journal, settings (slowwave.toml). A
command uses the first of these that is given:

  1. --home FOLDER before the command:  slowwave --home ~/assistant search ...
  2. the variable SLOWWAVE_HOME
  3. the nearest folder .slowwave, from the current folder upwards
  4. the default home: the first that `slowwave init` made, or the one of
     `slowwave init FOLDER --default`. Its path is in the file default-home of
     the configuration folder (~/.config/slowwave; SLOWWAVE_CONFIG_DIR names
     another)

`slowwave where` says which one it is, and why. No command makes a home in a
folder that nobody named: run `slowwave init` there first.

A namespace is a tenant within a home: every search and every command uses
exactly one. -n NAME selects it; the default is the setting `namespace`
(`default`). A copy of the folder is a copy of everything.""",
    ),
    "ids": Topic(
        "Ids and their short forms",
        """\
Searches, memories, decisions and quarantined notes have ids. Every command
also accepts the beginning of an id: at least 4 characters that fit only one.
If several ids fit, the command lists them and does nothing.

  last        your last search in this namespace, as an id

  slowwave search "when do we deploy?"
  slowwave show last                    its results again, with ids
  slowwave feedback last 1 helpful      rate its first result
  slowwave decisions 4f0c9a1e           show one decision
  slowwave undo 4f0c                    undo it

Tables show the shortest unique beginning (8 characters or more); JSON has
complete ids.""",
    ),
    "exit-codes": Topic(
        "Exit codes",
        """\
    0  success, also if there was nothing to show
    1  refused or failed; the reason is one line on standard error. Without a
       message if the reader of the output has closed it (... | head)
    2  usage error: unknown option or missing argument
    3  `slowwave save`: the save gate quarantined the note
    4  the journal has the event, but the tables could not be updated. Do not
       repeat the command: `slowwave night` updates them
  130  interrupted (Ctrl-C); finished work is kept

`slowwave doctor` exits with 1 if it finds a problem with the home, `slowwave
verify` if a backup is damaged.""",
    ),
    "json": Topic(
        "For programs: --json, pipes and colours",
        """\
With --json a command writes exactly one JSON document to standard output.
Progress, warnings and errors go to standard error, and the exit code reports
failures (slowwave help exit-codes). Times are ISO 8601 in UTC, ids are
complete, and keys stay stable between versions.

  slowwave search "when do we deploy?" --json | jq -r '.results[0].text'

Progress bars are off in pipes. Colours are off in pipes and if NO_COLOR is set.
COLUMNS sets the width of tables. `search --plain`, `get --plain` and `wakeup`
are for assistants: they quote the text of notes.""",
    ),
    "completion": Topic(
        "Shell completion",
        """\
  slowwave --install-completion    for the current shell (bash, zsh, fish,
                                   PowerShell); then open a new one
  slowwave --show-completion       print it without installing

Then the Tab key completes commands and options.""",
    ),
    "feedback": Topic(
        "Give feedback",
        """\
  slowwave feedback last 1 helpful      rate a result; or neutral, unhelpful
  slowwave observe last "the answer"    detect which results an answer used
  slowwave search "..." --project ferry
  slowwave outcome ferry success        report how that project ended
  slowwave stats MEMORY                 usage and ratings of one memory
  slowwave report feedback              is search getting better?

The next nightly job processes feedback. Ranking then uses it for questions
like the one it was given for. A user's last rating of a result counts.""",
    ),
    "gate": Topic(
        "The save gate",
        """\
The save gate validates a note before it is stored. It refuses malformed notes,
notes that say little, junk (logs, boot files) and duplicates. In a new home it
only warns for 14 days.

  slowwave gate report                  start of enforcement, and what it
                                        would refuse
  slowwave gate enforce                 refuse from now on
  slowwave gate postpone --days 14      start later
  slowwave quarantine list              refused notes with their reasons
  slowwave quarantine release ID        store one anyway

More: docs/explanation/save-gate.md.""",
    ),
    "decisions": Topic(
        "Duplicates, merges and superseded memories",
        """\
  slowwave decisions                    list merged, superseded, refused notes
  slowwave decisions ID                 one of them with all its evidence
  slowwave decisions --waiting          decisions that wait for a person
  slowwave decisions accept ID          apply it (or: decline ID)
  slowwave undo ID                      undo it exactly
  slowwave decisions --outcome related  similar memories without a change

Merging is off until the setting reconsolidation.policy is `guarded`.
More: docs/explanation/reconsolidation.md.""",
    ),
    "learning": Topic(
        "Learning",
        """\
Selected results can teach. Their query becomes a search key that boosts the
same memory for similar queries, and its words may become learned terms.
Learning is off until the setting learning.enabled is true. A learning gate then
keeps it inactive until all of these hold: two closed evaluation cycles (200
searches, 28 days), a week of proposals without effect, a low noise rate,
results not worse, and a person's approval.

  slowwave learning status              the conditions and what is missing
  slowwave learning terms --kind keys   search keys and their memories
  slowwave learning approve --who NAME  record your approval
  slowwave learning rollback ...        take learning back exactly
  slowwave learning log                 everything learned and decided

If results get worse later, the regression guard takes learning back.
More: docs/explanation/learning.md.""",
    ),
    "evaluation": Topic(
        "Evaluate search quality",
        """\
Every logged search can be replayed with another ranking policy, and judged by
selections, ratings and labels.

  slowwave eval run                     evaluate new searches
  slowwave eval compare seeds           replay past searches with a policy
  slowwave eval status                  the open evaluation cycle
  slowwave eval report                  results of the last closed cycle
  slowwave judge                        label pairs by hand

Each verdict has an interval, or says that the evidence is insufficient.
More: docs/explanation/evaluation.md.""",
    ),
    "privacy": Topic(
        "Forget, erase, secrets",
        """\
  slowwave forget MEMORY                hide from search (undo: unforget)
  slowwave erase MEMORY                 delete irreversibly, with all earlier
                                        versions; it asks first
  slowwave save "..." --sensitivity secret
                                        found only by `--sensitivity secret`

Nothing leaves the machine unless you configure an external service for
embedding or judging. More: docs/how-to/restrict-visibility.md.""",
    ),
    "settings": Topic(
        "Settings",
        """\
  slowwave settings                     differences from the defaults
  slowwave settings gate.mode           one setting: meaning, default, range
  slowwave settings gate                a group
  slowwave settings --all               all settings

They are read from arguments, from variables (SLOWWAVE_GATE__MODE=enforce), then
from slowwave.toml in the home. docs/reference/settings.md lists them.""",
    ),
}
"""By name. Each begins with what to type."""

_ALSO: Final = {
    "first": "first-steps", "start": "first-steps", "steps": "first-steps", "first steps": "first-steps",
    "home": "homes", "namespace": "homes", "namespaces": "homes", "id": "ids", "last": "ids",
    "exit": "exit-codes", "exit-code": "exit-codes", "codes": "exit-codes", "exit codes": "exit-codes",
    "pipe": "json", "pipes": "json", "colour": "json", "color": "json", "colours": "json",
    "shell": "completion", "secret": "privacy",
}  # fmt: skip
"""Other words for a topic."""


def named(topic: str) -> str | None:
    """The name of the topic that is meant, or None."""
    word = " ".join(topic.casefold().replace("_", "-").split())
    known = _ALSO.get(word, word)
    return known if known in TOPICS else None


def nearest(word: str, names: Iterable[str]) -> str:
    """The name that is nearest to a word; empty where none is near."""
    return next(iter(get_close_matches(word.casefold(), [*names, *_ALSO], n=1)), "")
