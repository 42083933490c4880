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
        "The first quarter of an hour",
        """\
  slowwave init ~/assistant             a home: memory, journal, settings
  export SLOWWAVE_HOME=~/assistant      every command is about this home now
  slowwave save "We deploy on Thursday since 2 March; Friday is for repairs."
  slowwave search "when do we deploy?"
  slowwave feedback last 1 helpful      that search's first result was right
  slowwave ingest ~/notes               watch a folder of notes ...
  slowwave night                        ... and take in what it has
  slowwave explain "when do we deploy?" why each result stands where it does

What was saved is found at once. A folder of notes, and all feedback, are taken
in by the night: by hand with `slowwave night`, or every night by itself while
`slowwave up` runs. For its first fortnight the gate only warns of notes that it
would refuse (`slowwave gate report`).""",
    ),
    "homes": Topic(
        "Homes and namespaces",
        """\
A home is one folder: tables, journal, settings (slowwave.toml). A command is
about the first of these that there is:

  1. --home FOLDER before the command:  slowwave --home ~/assistant search ...
  2. the variable SLOWWAVE_HOME
  3. the nearest folder .slowwave, from here upwards

A namespace is a tenant within a home: no search and no command reads across it.
-n NAME chooses it; without, it is the setting `namespace` (`default`). A copy
of the folder is a copy of everything.""",
    ),
    "ids": Topic(
        "Ids, and how to write them shorter",
        """\
Searches, memories, decisions and what is in quarantine have ids. Wherever a
command takes one it takes its beginning, too: at least 4 characters, of one
alone. Where several begin so, it says which, and does nothing.

  last        as the id of a search: your last one in this namespace

  slowwave search "when do we deploy?"
  slowwave show last                    what that search showed, with ids
  slowwave feedback last 1 helpful      its first result was right
  slowwave decisions 4f0c9a1e           one decision, whole
  slowwave undo 4f0c                    takes it back

Tables show the shortest beginning that only one has (8 characters or more);
JSON always has whole ids.""",
    ),
    "exit-codes": Topic(
        "With what a command ends",
        """\
    0  it is done; also where there was nothing to show
    1  it was refused or failed: the reason is one line on standard error; and
       without a word where whoever reads the output went away (... | head)
    2  it was wrongly asked: no such option, an argument is missing
    3  the gate put the note of `slowwave save` into quarantine
    4  the act is in the journal and the tables could not follow: nothing has
       to be repeated, `slowwave night` takes it in
  130  it was stopped (Ctrl-C); what was finished is kept

`slowwave doctor` ends with 1 where something is wrong with the home, `slowwave
verify` where a backup is damaged.""",
    ),
    "json": Topic(
        "For programs: --json, pipes and colours",
        """\
With --json a command writes one JSON document to standard output and nothing
else. Progress, warnings and errors go to standard error; what went wrong is
told by the exit code (slowwave help exit-codes), also with --json. Times are
ISO 8601 in UTC, ids are whole, and a key that is there stays there.

  slowwave search "when do we deploy?" --json | jq -r '.results[0].text'

Colours and progress bars are left out where nobody looks: in a pipe, and where
the variable NO_COLOR is set. COLUMNS sets the width of tables. `search
--plain`, `get --plain` and `wakeup` are for assistants: what notes say is
quoted.""",
    ),
    "completion": Topic(
        "Completion of commands in the shell",
        """\
  slowwave --install-completion    for the shell that you are in (bash, zsh,
                                   fish, PowerShell); open a new one afterwards
  slowwave --show-completion       only show what would be installed

Then the Tab key completes commands and options.""",
    ),
    "feedback": Topic(
        "Saying what helped",
        """\
  slowwave feedback last 1 helpful      or neutral, or unhelpful: of one result
  slowwave observe last "the answer"    which results did this answer use?
  slowwave search "..." --project ferry
  slowwave outcome ferry success        how that project ended
  slowwave stats MEMORY                 what use says of one memory
  slowwave report feedback              is it getting better?

The next night takes it up, and ranking counts it from then on, for questions
like the one it was said of. The last word of a person on a result counts.""",
    ),
    "gate": Topic(
        "What may enter: the save gate",
        """\
The gate refuses notes that are malformed, say little, are junk (logs, boot
files) or repeat what is known. A new home only warns for a fortnight.

  slowwave gate report                  when it begins, and what it would refuse
  slowwave gate enforce                 refuse from now on
  slowwave gate postpone --days 14      put it off
  slowwave quarantine list              what was refused, whole, with reasons
  slowwave quarantine release ID        let it in all the same

docs/explanation/save-gate.md has more.""",
    ),
    "decisions": Topic(
        "Duplicates, merges and what replaced what",
        """\
  slowwave decisions                    what was merged, superseded or refused
  slowwave decisions ID                 one of them, with all of its evidence
  slowwave decisions --waiting          what waits for your word
  slowwave decisions accept ID          let it happen (or: decline ID)
  slowwave undo ID                      take one back, exactly
  slowwave decisions --outcome related  what only looked alike

Merging is off until the setting reconsolidation.policy is `guarded`.
docs/explanation/reconsolidation.md has more.""",
    ),
    "learning": Topic(
        "Learning, in a page",
        """\
What people select can teach: their question becomes a search key that leads
whoever asks nearly the same to the same memory; words of it may be learned,
too. It is off until the setting learning.enabled is true, and then a gate holds
it back until there is evidence: two closed cycles of evaluation (200 questions,
28 days), a week of proposals without effect, little noise, results not worse,
and a person's approval.

  slowwave learning status              the conditions, and what is missing
  slowwave learning terms --kind keys   past questions and where they lead
  slowwave learning approve --who NAME  a person's word, when only it is missing
  slowwave learning rollback ...        take any of it back, exactly
  slowwave learning log                 all that was ever learned and decided

Results are watched afterwards, and where they get worse it is taken back.
docs/explanation/learning.md has more.""",
    ),
    "evaluation": Topic(
        "How good is it?",
        """\
Every logged search can be ranked again by another policy, and judged by what
people used, rated or labelled.

  slowwave eval run                     evaluate what is new
  slowwave eval compare seeds           another ranking on past searches
  slowwave eval status                  the open cycle, and what it needs
  slowwave eval report                  what the last closed cycle found
  slowwave judge                        label pairs by hand

A verdict has an interval; where there is too little, it says so.
docs/explanation/evaluation.md has more.""",
    ),
    "privacy": Topic(
        "Forgetting, erasing, secrets",
        """\
  slowwave forget MEMORY                out of every search (remember: back)
  slowwave erase MEMORY                 gone for good, old states, too; it asks
  slowwave save "..." --sensitivity secret
                                        found only where it is asked for

Nothing leaves the machine but what you switch on (an embedding or judging
service of your own choice). docs/how-to/restrict-visibility.md has more.""",
    ),
    "settings": Topic(
        "Settings",
        """\
  slowwave settings                     what differs from the defaults
  slowwave settings gate.mode           one of them: meaning, default, range
  slowwave settings gate                a group
  slowwave settings --all               everything

They are read from arguments, from variables (SLOWWAVE_GATE__MODE=enforce), then
from slowwave.toml in the home. docs/explanation/constants.md lists them.""",
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
