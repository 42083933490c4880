"""Learning commands that decide: status, approve, withdraw, ratings, rollback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, Why, app, open_namespace, reference
from slowwave.cli.gate import gates
from slowwave.views.learning_lists import OF, conditions, gate_state, nothing_taught, preview_rollback
from slowwave.views.section import Section
from slowwave.views.tables import cell, rich_table
from slowwave.views.terminal import Output, bars, err, out, prints_output, say, tell

if TYPE_CHECKING:
    from slowwave.learning.review import TakenBack
    from slowwave.quality.learning_gate import GateDecision
    from slowwave.scoring.feedback.learned import Kind

learning = typer.Typer(
    no_args_is_help=True,
    help="Learned terms and search keys: status, approval and rollback.",
)
app.add_typer(learning, name="learning")

Who = Annotated[str, typer.Option(help="Name of the person who decides; it is recorded.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation.")]

Kinds = Annotated[str, typer.Option("--kind", help="words (learned terms), keys (search keys) or both.")]
OneKind = Annotated[str, typer.Option("--kind", help="words (learned terms) or keys (search keys).")]

_SHOWN = 20  # memories listed by a rollback


@gates.command("status")
@learning.command("status")
@prints_output
def learning_status(namespace: Namespace = "") -> Output:
    """Learning gate: state and conditions for words and search keys, with counts."""
    with open_namespace(namespace) as memory:
        status = memory.learning.status()
    of_keys = _gate_data(status.key_gate) | {"keys": status.keys, "selections": status.selections}
    of_words = _gate_data(status.gate) | {"terms": status.terms, "proposals": status.proposals}

    def show() -> None:
        for gate, name, states, reasons in (
            (status.gate, "Terms", status.terms, status.proposals),
            (status.key_gate, "Keys", status.keys, status.selections),
        ):
            _print_gate(gate)
            counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
            out.print(f"{name}: {counts}", markup=False)
            if reasons:
                say(f"Selections: {', '.join(f'{count:,} {reason}' for reason, count in reasons.items())}")
            if gate.awaits_only_approval:
                out.print(
                    f"Only a person's approval is missing: [bold]slowwave learning approve --who NAME "
                    f"--kind {escape(gate.kind)}[/]"
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
    """Approve that learned terms and search keys are applied from today on.

    Words and search keys have separate approvals. With both, each kind is approved that only lacks approval.
    Earlier proposals of search keys apply, too. `withdraw` revokes it.
    """
    from slowwave.learning.review import ApprovalRefusedError

    kinds, done = kinds_of(kind), dict[Any, Any]()
    with open_namespace(namespace) as memory:
        gates_now = [memory.learning.gate(each) for each in kinds]
        for gate in gates_now:
            tell(Output(shown=partial(_print_gate, gate)))
        ready = [gate for gate in gates_now if gate.awaits_only_approval or gate.open]
        if not ready:
            raise ApprovalRefusedError(gates_now[0])
        for gate in ready:
            if gate.open:
                tell(Output(shown=f"{OF[gate.kind]} is already approved. Nothing was recorded."))
            elif not yes:
                effect = "learned terms apply" if gate.kind == "words" else "search keys apply"
                _ask(f"Let {effect} in {memory.namespace} from today on, approved by {who}?")
            done[gate.kind] = memory.learning.approve(who=who, why=why, kind=gate.kind)
    earlier = "; earlier proposals of search keys apply, too" if "keys" in done else ""
    message = (
        f"Approved by [bold]{escape(who)}[/]. Each nightly job applies what selections of its day "
        f"teach{earlier}. [dim]slowwave learning withdraw stops it; rollback deletes it.[/]"
    )
    return Output(_as_data(done, kind), "" if all(gate.open for gate in ready) else message)


@learning.command("withdraw")
@prints_output
def learning_withdraw(who: Who, why: Why = "", kind: Kinds = "both", namespace: Namespace = "") -> Output:
    """Withdraw the approval: nothing learned is applied from now on. Nothing is deleted."""
    from slowwave.learning.events import LearningError

    kinds, done, refused = kinds_of(kind), dict[Any, Any](), None
    with open_namespace(namespace) as memory:
        for each in kinds:
            try:
                done[each] = memory.learning.withdraw(who=who, why=why, kind=each)
            except LearningError as error:
                refused = refused or error
    if refused is not None and not done:
        raise refused
    alone = {"words": " of words", "keys": " of search keys"}[next(iter(done))] if len(done) == 1 else ""
    return Output(
        _as_data(done, kind),
        f"Withdrawn by [bold]{escape(who)}[/]. Searches ignore learned data from now on"
        f"{alone}. [dim]slowwave learning rollback deletes it.[/]",
    )


@learning.command("ratings")
@prints_output
def learning_ratings(
    switch: Annotated[str, typer.Argument(help="on or off; without it, show the state.")] = "",
    who: Who = "",
    why: Why = "",
    namespace: Namespace = "",
) -> Output:
    """Show whether ratings improve searches; switch them on or off."""
    from slowwave.evaluation.trend import trend_until
    from slowwave.views.tables import show
    from slowwave.views.trend import never_used, plain
    from slowwave.views.trend_plots import UNUSED_TITLE

    if switch not in ("", "on", "off"):
        fail(f"{switch!r} is neither on nor off. Leave it out to show the state.")
    with open_namespace(namespace) as memory:
        if switch:
            memory.learning.switch_ratings(on=switch == "on", who=who, why=why)
        off = memory.learning.ratings_off()
        trend = trend_until(memory.home, memory.home.now(), memory.namespace).of(memory.namespace)

    def shown() -> None:
        state = (
            f"Ratings are switched off: {off}" if off else "Ratings are on: they count for similar questions."
        )
        out.print(state, markup=False)
        if parts := never_used(trend):
            show(Section(UNUSED_TITLE, parts, ""))
        else:
            out.print("Ratings have not changed a judged search yet.")

    compared = plain(trend)["beside_never_used"]
    return Output({"on": not off, "why_off": off, "beside_never_used": compared}, shown)


@learning.command("rollback")
@prints_output
def learning_rollback(
    who: Who = "",
    everything: Annotated[bool, typer.Option("--everything", help="Everything learned.")] = False,
    memory: Annotated[str, typer.Option(help="Everything learned by this memory (id).")] = "",
    search: Annotated[str, typer.Option(help="Everything learned from this search (id, or last).")] = "",
    principal: Annotated[str, typer.Option(help="Everything learned from this user.")] = "",
    since: Annotated[str, typer.Option(help="Everything learned since this time (ISO, UTC).")] = "",
    why: Why = "",
    kind: Kinds = "both",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be rolled back.")] = False,
    yes: Yes = False,
    namespace: Namespace = "",
) -> Output:
    """Roll back learned data as if it was never learned. Later learning is not affected."""
    scope, value = _scope(
        everything, {"memory": memory, "search": search, "principal": principal, "since": since}
    )
    kinds = kinds_of(kind)
    with open_namespace(namespace) as home:
        if scope in ("memory", "search"):
            value = reference(home, scope, value)
        previews = [home.learning.preview_rollback(scope, value, kind=preview) for preview in kinds]
        tell(Output(shown=lambda: _print_rollback(previews)))
        if not dry_run:
            if not who.strip():
                fail("--who NAME is missing: the name of the person who decides. It is recorded.")
            if not yes:
                _ask(f"Roll back in {home.namespace}?")
            with bars():
                previews = [
                    home.learning.roll_back(scope, value, who=who, why=why, kind=preview) for preview in kinds
                ]
    results: dict[Any, Any] = {
        preview.kind: {
            "kind": preview.kind, "dry_run": dry_run, "scope": preview.rollback.scope,
            "value": preview.rollback.value, "lessons": preview.proposed,
            "deleted": preview.applied[preview.applied.columns[0]].to_list(), "live_terms": preview.live,
            "act": preview.act,
        }
        for preview in previews
    }  # fmt: skip
    message = "Nothing was changed. Run it again without --dry-run to apply."
    if not dry_run:
        message = (
            f"Rolled back by [bold]{escape(who)}[/]. It also covers selections up to now that no nightly job "
            f"has processed yet."
        )
    return Output(_as_data(results, kind), message)


# -- parts -----------------------------------------------------------------------------------------


def kinds_of(kind: str) -> Sequence[Kind]:
    """Return the kinds of learning that an option names."""
    from slowwave.scoring.feedback.learned import KINDS

    kinds = [known for known in KINDS if kind in (known, "both")]
    if not kinds:
        fail(f"Unknown --kind {kind}. Give words, keys or both.")
    return kinds


def _as_data(done: Mapping[Any, Any], kind: str) -> Any:  # noqa: ANN401 - the data of each kind
    """Return JSON data of one kind, or of words with that of keys as `search_keys`."""
    from dataclasses import asdict

    if kind != "both":
        return next(iter(done.values()))
    plain = {of: result if isinstance(result, dict) else asdict(result) for of, result in done.items()}
    keys = {"search_keys": plain["keys"]} if "keys" in plain else {}
    return plain.get("words", {}) | keys


def _print_gate(decision: GateDecision) -> None:
    """Print the gate in a line, and its conditions as a table."""
    where = f"{OF[decision.kind]} in [bold]{escape(decision.namespace)}[/]"
    mark, then = gate_state(decision)
    out.print(f"{where} is {cell(mark)}: {escape(then)}", highlight=False)
    out.print(rich_table(conditions(decision)))


def _print_rollback(previews: Sequence[TakenBack]) -> None:
    if all(preview.proposed.is_empty() for preview in previews):
        say(nothing_taught(previews[0].rollback))
    for preview in previews:
        if preview.proposed.height:
            title, table = preview_rollback(preview, _SHOWN)
            say(title)
            out.print(rich_table(table))


def _scope(everything: bool, options: dict[str, str]) -> tuple[Any, str]:
    """Return scope and value of a rollback from the one option given."""
    named = {name: value for name, value in options.items() if value}
    if len(named) + everything != 1:
        fail("Give exactly one of: --everything, --memory, --search, --principal, --since.")
    return ("everything", "") if everything else next(iter(named.items()))


def _ask(question: str) -> None:
    """Exit unless the user confirms. The question goes to standard error."""
    if not typer.confirm(question, err=True):
        err.print("Nothing was changed.")
        raise typer.Exit(1)


def fail(message: str) -> None:
    """Raise a learning error."""
    from slowwave.learning.events import LearningError

    raise LearningError(message)


def _gate_data(decision: GateDecision) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(decision) | {"state": decision.state, "open": decision.open}
