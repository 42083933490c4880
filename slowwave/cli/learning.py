"""The commands about learning with which people decide: status, approve, withdraw, rollback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, open_namespace, reference
from slowwave.cli.gate import gates
from slowwave.views.learning_lists import OF, conditions, nothing_taught, preview_rollback, says
from slowwave.views.section import Section
from slowwave.views.tables import rich_table
from slowwave.views.terminal import Output, bars, err, out, prints_output, say, tell

if TYPE_CHECKING:
    from slowwave.learning.review import TakenBack
    from slowwave.quality.learning_gate import GateDecision
    from slowwave.scoring.feedback.learned import Kind

learning = typer.Typer(
    no_args_is_help=True,
    help="What selections teach, behind a gate: look at it, approve it, take it back.",
)
app.add_typer(learning, name="learning")

Who = Annotated[str, typer.Option(help="Who decides: a person's name. It is recorded.")]
Why = Annotated[str, typer.Option(help="Why, in words. It is recorded.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

Kinds = Annotated[
    str, typer.Option("--kind", help="words, keys (past questions that lead somewhere) or both.")
]
OneKind = Annotated[str, typer.Option("--kind", help="words, or keys: past questions that lead somewhere.")]

BOTH = "both"
_SHOWN = 20  # memories whose lessons are taken back
_COLOURS = {"open": "green", "waits": "yellow", "closed": "red", "insufficient": "yellow"}


@gates.command("status")
@learning.command("status")
@prints_output
def learning_status(namespace: Namespace = "") -> Output:
    """Learning gate: whether it is open for words and for search keys, its conditions, what was learned."""
    with open_namespace(namespace) as memory:
        status = memory.learning.status()
    of_keys = _decided(status.key_gate) | {"keys": status.keys, "selections": status.selections}
    of_words = _decided(status.gate) | {"terms": status.terms, "proposals": status.proposals}

    def show() -> None:
        for gate, name, states, became in (
            (status.gate, "Terms", status.terms, status.proposals),
            (status.key_gate, "Keys", status.keys, status.selections),
        ):
            _print_gate(gate)
            counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
            out.print(f"{name}: {counts}", markup=False)
            if became:
                say(f"Selections: {', '.join(f'{count:,} {reason}' for reason, count in became.items())}")
            if gate.awaits_only_approval:
                out.print(
                    f"Only a person's approval is missing: "
                    f"[bold]slowwave learning approve --who NAME --kind {escape(gate.kind)}[/]"
                )

    return Output(of_words | {"search_keys": of_keys}, show)


@learning.command("approve")
@prints_output
def learning_approve(
    who: Who,
    why: Why = "",
    kind: Kinds = "both",
    yes: Yes = False,
    namespace: Namespace = "",
) -> Output:
    """Approve, after a look at the evidence, that selections teach from today on. It can be withdrawn.

    Words and search keys are approved apart; with both, each kind is approved of which only the approval is
    missing. Of keys what was proposed before comes in, too.
    """
    from slowwave.learning.review import ApprovalRefusedError

    kinds, done = kinds_of(kind), dict[Any, Any]()
    with open_namespace(namespace) as memory:
        gates_now = [memory.learning.gate(one) for one in kinds]
        for gate in gates_now:
            tell(Output(shown=partial(_print_gate, gate)))
        ready = [gate for gate in gates_now if gate.awaits_only_approval or gate.open]
        if not ready:
            raise ApprovalRefusedError(gates_now[0])
        for gate in ready:
            if gate.open:
                tell(Output(shown=f"{OF[gate.kind]} is approved already. Nothing was recorded."))
            elif not yes:
                what = "selections teach" if gate.kind == "words" else "past questions lead searches in"
                _ask(f"Let {what} {memory.namespace} from today on, approved by {who}?")
            done[gate.kind] = memory.learning.approve(who=who, why=why, kind=gate.kind)
    told = (
        f"Approved by [bold]{escape(who)}[/]. What selections teach from today on is applied, night by "
        f"night{_also(done)}. [dim]slowwave learning withdraw stops it; rollback deletes it.[/]"
    )
    return Output(_told(done, kind), "" if all(gate.open for gate in ready) else told)


@learning.command("withdraw")
@prints_output
def learning_withdraw(who: Who, why: Why = "", kind: Kinds = "both", namespace: Namespace = "") -> Output:
    """Withdraw the approval: nothing that was learned is used from now on. It is kept, not deleted."""
    from slowwave.learning.events import LearningError

    kinds, done, refused = kinds_of(kind), dict[Any, Any](), None
    with open_namespace(namespace) as memory:
        for one in kinds:
            try:
                done[one] = memory.learning.withdraw(who=who, why=why, kind=one)
            except LearningError as error:
                refused = refused or error
    if refused is not None and not done:
        raise refused
    return Output(
        _told(done, kind),
        f"Withdrawn by [bold]{escape(who)}[/]. Searches are from now on as if nothing had been learned"
        f"{_of(done)}. [dim]slowwave learning rollback deletes it.[/]",
    )


@learning.command("ratings")
@prints_output
def learning_ratings(
    switch: Annotated[str, typer.Argument(help="on or off; leave it out to look.")] = "",
    who: Who = "",
    why: Why = "",
    namespace: Namespace = "",
) -> Output:
    """Show whether ratings make searches better than a memory nobody used; switch them on or off."""
    from slowwave.evaluation.trend import trend_until
    from slowwave.views.tables import show
    from slowwave.views.trend import never_used, plain

    if switch not in ("", "on", "off"):
        fail(f"{switch!r}: say on or off, or nothing to look.")
    with open_namespace(namespace) as memory:
        if switch:
            memory.learning.switch_ratings(on=switch == "on", who=who, why=why)
        off = memory.learning.ratings_off()
        found = trend_until(memory.home, memory.home.now(), memory.namespace).of(memory.namespace)

    def shown() -> None:
        state = f"Ratings are switched off: {off}" if off else "Ratings count for questions like their own."
        out.print(state, markup=False)
        if parts := never_used(found):
            show(Section("Beside a memory nobody used", parts, ""))
        else:
            out.print("No judged search was changed by them yet.")

    compared = plain(found)["beside_never_used"]
    return Output({"on": not off, "why_off": off, "beside_never_used": compared}, shown)


@learning.command("rollback")
@prints_output
def learning_rollback(
    who: Who = "",
    everything: Annotated[bool, typer.Option("--everything", help="All that was learned.")] = False,
    memory: Annotated[str, typer.Option(help="What this memory learned (id).")] = "",
    search: Annotated[str, typer.Option(help="What this search taught (id, or last).")] = "",
    principal: Annotated[str, typer.Option(help="What this person or program taught.")] = "",
    since: Annotated[str, typer.Option(help="What was taught at this moment or later (ISO, UTC).")] = "",
    why: Why = "",
    kind: Kinds = "both",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would take back.")] = False,
    yes: Yes = False,
    namespace: Namespace = "",
) -> Output:
    """Take back what was learned, as if it had never been taught. What is taught later stands."""
    scope, value = _scope(
        everything, {"memory": memory, "search": search, "principal": principal, "since": since}
    )
    kinds = kinds_of(kind)
    with open_namespace(namespace) as home:
        if scope in ("memory", "search"):
            value = reference(home, scope, value)
        found = [home.learning.preview_rollback(scope, value, kind=one) for one in kinds]
        tell(Output(shown=lambda: _print_taken_back(found)))
        if not dry_run:
            if not who.strip():
                fail("Say who decides: --who NAME. It is recorded.")
            if not yes:
                _ask(f"Take it back in {home.namespace}?")
            with bars():
                found = [home.learning.roll_back(scope, value, who=who, why=why, kind=one) for one in kinds]
    told: dict[Any, Any] = {
        one.kind: {
            "kind": one.kind, "dry_run": dry_run, "scope": one.rollback.scope,
            "value": one.rollback.value, "lessons": one.proposed,
            "deleted": one.applied[one.applied.columns[0]].to_list(), "live_terms": one.live,
            "act": one.act,
        }
        for one in found
    }  # fmt: skip
    words = "Nothing was changed. Without --dry-run it is done."
    if not dry_run:
        words = (
            f"Taken back by [bold]{escape(who)}[/]. Selections up to now that no night has looked at "
            f"yet are covered, too."
        )
    return Output(_told(told, kind), words)


# -- parts -----------------------------------------------------------------------------------------


def kinds_of(kind: str) -> Sequence[Kind]:
    """The kinds of learning that are meant: one, or both."""
    from slowwave.scoring.feedback.learned import KINDS

    found = [one for one in KINDS if kind in (one, "both")]
    if not found:
        fail(f"--kind {kind}: say words, keys or both.")
    return found


def _of(done: Mapping[Any, Any]) -> str:
    """Of which kind it is said, where it is one alone."""
    names = {"words": " of words", "keys": " of search keys"}
    return names[next(iter(done))] if len(done) == 1 else ""


def _also(done: Mapping[Any, Any]) -> str:
    """What comes in at once."""
    return "; of search keys what was proposed before comes in, too" if "keys" in done else ""


def _told(done: Mapping[Any, Any], kind: str) -> Any:  # noqa: ANN401 - whatever is told of each kind
    """What programs are told: of one kind alone, or of words, with that of search keys under their name."""
    from dataclasses import asdict

    if kind != BOTH:
        return next(iter(done.values()))
    plain = {of: one if isinstance(one, dict) else asdict(one) for of, one in done.items()}
    keys = {"search_keys": plain["keys"]} if "keys" in plain else {}
    return plain.get("words", {}) | keys


def _print_gate(decision: GateDecision) -> None:
    """The gate in a line, and its conditions as a table."""
    where = f"{OF[decision.kind]} in [bold]{escape(decision.namespace)}[/]"
    out.print(f"{where} is {_says(decision)}", highlight=False)
    out.print(rich_table(conditions(decision)))


def _says(decision: GateDecision) -> str:
    mark, then = says(decision)
    return f"[{_COLOURS[mark.mark]}]{escape(mark.text)}[/]: {escape(then)}"


def _print_taken_back(found: Sequence[TakenBack]) -> None:
    if all(tried.proposed.is_empty() for tried in found):
        say(nothing_taught(found[0].rollback))
    for tried in found:
        if tried.proposed.height:
            said, table = preview_rollback(tried, _SHOWN)
            say(said)
            out.print(rich_table(table))


def _scope(everything: bool, given: dict[str, str]) -> tuple[Any, str]:
    """What is to be taken back: exactly one of the options."""
    named = {name: value for name, value in given.items() if value}
    if len(named) + everything != 1:
        fail("Say what to take back, one of: --everything, --memory, --search, --principal, --since.")
    return ("everything", "") if everything else next(iter(named.items()))


def _ask(question: str) -> None:
    """End unless a person says yes; the question does not mix with what programs read."""
    if not typer.confirm(question, err=True):
        err.print("Nothing was changed.")
        raise typer.Exit(1)


def fail(message: str) -> None:
    """End with an error for people."""
    from slowwave.learning.events import LearningError

    raise LearningError(message)


def _decided(decision: GateDecision) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(decision) | {"state": decision.state, "open": decision.open}
