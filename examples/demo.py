"""The demo: a vault goes in by night, answers come out by day. Run by `make demo`."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from month import month
from rich.console import Console
from rich.markup import escape

from slowwave.cli.demo_home import DONE
from slowwave.views.terminal import bars

HERE = Path(__file__).parent
SETTINGS = """\
# A new home warns for a fortnight before its gate refuses anything, and merges nothing unless it is told to.
# Learning is off until it is enabled, too. The demo shows all three at once.
[gate]
mode = "enforce"

[reconsolidation]
policy = "guarded"

[learning]
enabled = true
"""
QUESTIONS = (
    "What weekday and hour do new backend versions go live?",
    "Where do we keep the thing that opens our backups?",
    "Which reference height do I enter for the second instrument on the Lyness quay?",
    "Which landing place is closed to us while the seals are there?",
)


UNKNOWN = "What caused the outage INC-4821?"
LIMITS = {
    "API limit": "The limit of the API is 60 requests a minute, and the gateway enforces it.",
    "API limit raised": "We raised the limit of the API to 100 requests a minute for every plan.",
}
CHATS: tuple[tuple[str, str, str, str, list[str]], ...] = (
    ("2026-05-04", "Berth of the boat", "The berth of our boat in Stromness is number 14 on pontoon C.",
     "fact", ["boat"]),
    ("2026-06-30", "Radio check",
     "The radio check with the coastguard is at 07:45, on channel 67, before each landing.",
     "procedure", ["boat", "safety"]),
    ("2026-09-21", "New berth",
     "We moved the boat: the berth in Stromness is number 3 on pontoon A now.", "fact", ["boat"]),
    ("2026-10-12", "Plots for the board",
     "Marit wants the plots for the board as one PDF, with the datum in each title.",
     "preference", ["plots"]),
    ("2026-11-02", "Spare logger",
     "The spare logger is in the Net Loft, on the shelf above the door. Its battery is charged.",
     "fact", ["logger"]),
)  # fmt: skip
"""Memories that an assistant saves: date of the chat, title, text, type, tags."""
HINT = "Why did the ferry company get the same text message two times?"
LINES = 12  # of the output of one command, so that a step fits on a screen


def main() -> None:
    """Take in the example vault and ask it questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".demo"))
    home = parser.parse_args().home.resolve()
    os.environ["SLOWWAVE_HOME"] = str(home)
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700, parents=True)
    (home / "slowwave.toml").write_text(SETTINGS)

    say = Console(highlight=False)
    start = time.monotonic()
    say.rule("[bold]1. Watch a vault[/]  the notes of Skerry Data, a small tide-gauge company")
    run("ingest", str(HERE / "vault"))
    say.rule("[bold]2. Run the night[/]  stage, gate, embed, index: twelve Dagster assets")
    run("night")
    say.print("\n  What was not let in; it is kept, whole, and can be released:")
    run("quarantine", "list", "-k", "2")
    say.print("\n  What became of notes beside what was known; every decision can be undone:")
    run("decisions", "-k", "2")
    say.rule("[bold]3. Ask by day[/]")
    ask(say)
    say.print("\n  An assistant saves what it hears in chats; you can edit that on the page:")
    chat(say)
    say.print("\n  A value that changed: the newest first, and the older one says so.")
    for title, text in LIMITS.items():
        run("save", text, "--title", title, lines=2)
    run("search", "What is the API limit?", "--limit", "2")
    grade(say)
    say.print("\n  What nobody wrote down is said to be missing, before what is only near:")
    run("search", UNKNOWN, "--limit", "1", lines=8)
    say.rule("[bold]4. Ask why[/]  every score, down to the words")
    run("explain", QUESTIONS[0], "--limit", "1", lines=20)
    say.rule("[bold]5. Say what helped[/]  ratings and answers; the next night learns from them")
    teach(say)
    say.rule("[bold]6. Measure it[/]  every search ranked again by others, judged by what was used")
    run("eval", "run", lines=8)
    run("eval", "compare", "BM25 alone")
    run("eval", "status")
    say.rule("[bold]7. What it may learn[/]  nothing without evidence and a person's word")
    run("learning", "status", lines=LINES + 4)
    say.rule("[bold]8. A month in a minute[/]  what searches teach, behind a gate")
    with bars():
        month(home.with_name(f"{home.name}-month"), say)
    os.environ["SLOWWAVE_HOME"] = str(home)
    say.rule("[bold]9. Start a session[/]  what an assistant should know at once")
    run("wakeup", "--budget", "200")
    (home / DONE).touch()
    say.rule("[bold]Where to look next[/]")
    shown = escape(os.path.relpath(home))
    say.print(f"  The demo took {time.monotonic() - start:.0f} s. Its memory is in [bold]{shown}[/].")
    say.print(f'  Ask more:       [bold].venv/bin/slowwave --home {shown} search "{HINT}"[/]', soft_wrap=True)
    say.print("  Open the page:  [bold].venv/bin/slowwave page --demo[/]")
    say.print(f"  See the night:  [bold].venv/bin/slowwave --home {shown} ui[/]   (Dagster's web page)")
    say.print("  What is planted in the vault: examples/README.md. What everything means: README.md.")


def run(*words: str, lines: int = LINES) -> None:
    """Run a command of the command line as a person would, and show the first lines of what it says."""
    command = Path(sys.executable).with_name("slowwave")
    screen = Console()
    line(screen, f"\n[dim]$ slowwave {escape(shlex.join(words))}[/]")
    looks = {"COLUMNS": str(screen.width)} | ({"FORCE_COLOR": "1"} if screen.is_terminal else {})
    done = subprocess.run(
        [command, *words], check=True, stdout=subprocess.PIPE, text=True, env=os.environ | looks
    )
    said = done.stdout.splitlines()
    sys.stdout.write("\n".join([*said[:lines], ""]))
    sys.stdout.flush()
    if len(said) > lines:
        screen.print(f"[dim]… and {len(said) - lines} more lines[/]", highlight=False)


def line(say: Console, text: str) -> None:
    """Print what fits on a line."""
    say.print(text, no_wrap=True, overflow="ellipsis", highlight=False)


def ask(say: Console) -> None:
    """Ask the questions and show the best answer to each."""
    import slowwave

    with slowwave.open(namespace="default", principal="demo") as memory:
        for question in QUESTIONS:
            found = memory.search(question, limit=2)
            line(say, f"\n[bold cyan]? {question}[/]")
            for result in found:
                mark = "→" if result.rank == 1 else " "
                line(say, f"  {mark} {result.score:.2f}  [bold]{result.title}[/]  [dim]{result.source}[/]")
                if result.rank == 1:
                    line(say, f"       {escape(' '.join(result.text.split()))}")


def chat(say: Console) -> None:
    """Save what an assistant heard in chats, under its own name, and show it."""
    import slowwave

    with slowwave.open(namespace="default", principal="claude") as memory:
        for day, title, text, kind, tags in CHATS:
            at = datetime.fromisoformat(f"{day}T09:00:00+00:00")
            memory.save(text, title=title, key=f"chat/{day}", memory_type=kind, tags=tags, created_at=at)
            line(say, f"  [bold]{title}[/]  [dim]chat/{day}[/]  {escape(text)}")


def teach(say: Console) -> None:
    """Rate the best answer of three searches, run the night, and show what that changed."""
    import slowwave

    question = QUESTIONS[0]
    with slowwave.open(namespace="default", principal="demo") as memory:
        for _ in range(3):
            found = memory.search(question, limit=3)
            memory.observe(found.search_id, f"{found[0].title}: {found[0].text}")
            memory.feedback(found.search_id, 1, "helpful")
            memory.feedback(found.search_id, 2, "unhelpful")
    line(say, f"  Three times asked and answered: [bold cyan]{question}[/]")
    best, second = (escape(one.title) for one in found.results[:2])
    line(say, f"  helpful: [bold]{best}[/], unhelpful: [bold]{second}[/]")
    run("night", lines=8)
    with slowwave.open(namespace="default", principal="demo") as memory:
        after = {result.memory_id: result.score for result in memory.search(question, limit=10)}
    for before in found.results[:2]:
        now = after.get(before.memory_id)
        shown = "not shown any more" if now is None else f"{now:.2f}"
        say.print(f"  {before.score:.2f} → {shown}  [bold]{escape(before.title)}[/]")
    run("report", "feedback", "-k", "2")


def grade(say: Console) -> None:
    """Say how often the right note came first, over the questions that have one; it is labelled as such."""
    import slowwave
    from slowwave.common.ids import memory_id

    questions = [json.loads(line) for line in (HERE / "questions.jsonl").read_text().splitlines()]
    answerable = [question for question in questions if question["expected"]]
    ranks = []
    with slowwave.open(namespace="default", principal="demo") as memory:
        for question in answerable:
            found = [result.source for result in memory.search(question["text"], limit=5)]
            expected = f"vault/{question['expected']}"
            ranks.append(found.index(expected) + 1 if expected in found else 0)
            memory.judge(question["text"], memory_id(memory.namespace, expected), 3)
    first, five = ranks.count(1), len(ranks) - ranks.count(0)
    say.print(
        f"\n  These were picked. examples/questions.jsonl has {len(ranks)} with an answer, in other words"
    )
    say.print(f"  than the notes use: {first} have the right note first, {five} in the top five.")


if __name__ == "__main__":
    main()
