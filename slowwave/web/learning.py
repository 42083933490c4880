"""Learning page: gates, approval, learned terms, search keys, audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from slowwave.common.pluralize import counted
from slowwave.errors import NotFoundError
from slowwave.learning.review import ApprovalRefusedError
from slowwave.scoring.feedback.learned import KINDS, Kind
from slowwave.views import learning_lists
from slowwave.web.request import PAGE, PageRequest, PageRoute, Redirect, ShownPage


def learning(request: PageRequest) -> ShownPage:
    """Show the learning gates and what was learned."""
    home = request.memory.learning
    status, terms, keys = home.overview()
    log, refused = learning_lists.decided(home.log(limit=None))
    kinds = [
        _kind(status.gate, "terms", status.terms, status.proposals),
        _kind(status.key_gate, "keys", status.keys, status.selections),
    ]
    live = {"term": status.terms["live"], "search key": status.keys["live"]}
    data = {
        "kinds": kinds,
        "nothing": terms.is_empty() and keys.is_empty() and log.is_empty(),
        "live": " and ".join(counted(count, noun) for noun, count in live.items() if count),
        "enabled": request.memory.settings.learning.enabled,
        "terms": learning_lists.terms(terms, PAGE),
        "keys": learning_lists.keys(keys, PAGE),
        "log": learning_lists.log(log, PAGE, request.now),
        "refused": counted(refused, "selection") if refused else "",
        "when": learning_lists.WHEN,
        "selections": learning_lists.SELECTIONS,
        "dagster": request.memory.settings.night.ui_url,
    }
    return ShownPage("learning", "Learning", data, "/learning")


def _kind(gate: Any, unit: str, states: Any, reasons: Any) -> dict[str, Any]:  # noqa: ANN401 - of Status
    mark, then = learning_lists.gate_state(gate)
    return {
        "gate": gate,
        "name": learning_lists.OF[gate.kind],
        "mark": mark,
        "then": then,
        "conditions": learning_lists.conditions(gate),
        "unit": unit,
        "states": {state: count for state, count in states.items() if count},
        "became": reasons,
        "approved": any(
            condition.name == "approval" and condition.state == "open" for condition in gate.conditions
        ),
    }


def about_to_approve(request: PageRequest) -> ShownPage:
    """Show the evidence before an approval."""
    kind = _named(request)
    gate = request.memory.learning.gate(kind)
    if not gate.awaits_only_approval and not gate.open:
        raise ApprovalRefusedError(gate)
    return ShownPage("approve", f"Approve: {learning_lists.OF[kind]}", _kind(gate, "", {}, {}), "/learning")


def approve(request: PageRequest) -> Redirect:
    """Approve a kind of learning."""
    return _decide(request, request.memory.learning.approve, "approved")


def withdraw(request: PageRequest) -> Redirect:
    """Withdraw an approval."""
    then = " Searches ignore it from now on. Nothing was deleted."
    return _decide(request, request.memory.learning.withdraw, "withdrawn", then)


def _decide(request: PageRequest, decide: Callable[..., object], done: str, then: str = "") -> Redirect:
    kind, who = _named(request), request.form.get("who", "")
    decide(who=who, why=request.form.get("why", "").strip(), kind=kind)
    return Redirect("/learning", f"{learning_lists.OF[kind]}: {done} by {who.strip()}.{then}")


def about_to_roll_back(request: PageRequest) -> ShownPage:
    """Preview a rollback of what a user taught, or of everything."""
    principal = request.query.get("principal", "").strip()
    scope = _scope(principal)
    previews = [request.memory.learning.preview_rollback(*scope, kind=kind) for kind in KINDS]
    hit = [preview for preview in previews if preview.proposed.height]
    data = {
        "principal": principal,
        "nothing": "" if hit else learning_lists.nothing_taught(previews[0].rollback),
        "found": [
            (learning_lists.OF[preview.kind], *learning_lists.preview_rollback(preview, PAGE))
            for preview in hit
        ],
    }
    return ShownPage("rollback", "Roll back learning", data, "/learning")


def roll_back(request: PageRequest) -> Redirect:
    """Roll back what a user taught, or everything."""
    who, why = request.form.get("who", ""), request.form.get("why", "").strip()
    principal = request.form.get("principal", "").strip()
    scope = _scope(principal)
    previews = [request.memory.learning.preview_rollback(*scope, kind=kind) for kind in KINDS]
    if not any(preview.proposed.height for preview in previews):
        message = learning_lists.nothing_taught(previews[0].rollback)
        return Redirect(f"/learning/roll-back?{urlencode({'principal': principal})}", message, failed=True)
    for kind in KINDS:
        request.memory.learning.roll_back(*scope, who=who, why=why, kind=kind)
    return Redirect("/learning", f"Rolled back by {who.strip()}.")


def _scope(principal: str) -> tuple[Any, str]:
    return ("principal", principal) if principal else ("everything", "")


def _named(request: PageRequest) -> Kind:
    kind = request.path["kind"]
    for known in KINDS:
        if known == kind:
            return known
    raise NotFoundError(f"Unknown kind of learning {kind!r}. Use {' or '.join(KINDS)}.")


WAYS: Final = (
    PageRoute("/learning", learning),
    PageRoute("/learning/roll-back", about_to_roll_back),
    PageRoute("/learning/roll-back", roll_back, post=True, changes=True),
    PageRoute("/learning/{kind}/approve", about_to_approve),
    PageRoute("/learning/{kind}/approve", approve, post=True),
    PageRoute("/learning/{kind}/withdraw", withdraw, post=True),
)
