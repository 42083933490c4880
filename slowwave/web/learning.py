"""What use teaches, and whether it may act: the gates, a person's word, what is live, the log."""

from __future__ import annotations

from typing import Any, Final

from slowwave.common.pluralize import counted
from slowwave.errors import NotFoundError
from slowwave.learning.review import ApprovalRefusedError
from slowwave.scoring.feedback.learned import KINDS, Kind
from slowwave.views import learning_lists
from slowwave.web.request import PAGE, PageRequest, PageRoute, Redirect, ShownPage


def learning(asked: PageRequest) -> ShownPage:
    """The gates, and what was learned."""
    home = asked.memory.learning
    status, terms, keys = home.overview()
    log, refused = learning_lists.decided(home.log(limit=None))
    kinds = [
        _kind(status.gate, "terms", status.terms, status.proposals),
        _kind(status.key_gate, "keys", status.keys, status.selections),
    ]
    data = {
        "kinds": kinds,
        "enabled": asked.memory.settings.learning.enabled,
        "terms": learning_lists.terms(terms, PAGE),
        "keys": learning_lists.keys(keys, PAGE),
        "log": learning_lists.log(log, PAGE, asked.now),
        "refused": counted(refused, "selection") if refused else "",
        "when": learning_lists.WHEN,
    }
    return ShownPage("learning", "Learning", data, "/learning")


def _kind(gate: Any, unit: str, states: Any, became: Any) -> dict[str, Any]:  # noqa: ANN401 - of Status
    mark, then = learning_lists.says(gate)
    return {
        "gate": gate,
        "name": learning_lists.OF[gate.kind],
        "mark": mark,
        "then": then,
        "conditions": learning_lists.conditions(gate),
        "unit": unit,
        "states": states,
        "became": became,
        "approved": any(one.name == "approval" and one.state == "open" for one in gate.conditions),
    }


def about_to_approve(asked: PageRequest) -> ShownPage:
    """The evidence, before a person's word."""
    kind = _named(asked)
    gate = asked.memory.learning.gate(kind)
    if not gate.awaits_only_approval and not gate.open:
        raise ApprovalRefusedError(gate)
    return ShownPage("approve", f"Approve: {learning_lists.OF[kind]}", _kind(gate, "", {}, {}), "/learning")


def approve(asked: PageRequest) -> Redirect:
    """A person's word."""
    kind = _named(asked)
    asked.memory.learning.approve(
        who=asked.form.get("who", ""), why=asked.form.get("why", "").strip(), kind=kind
    )
    return Redirect("/learning", f"{learning_lists.OF[kind]}: approved by {asked.form['who'].strip()}.")


def withdraw(asked: PageRequest) -> Redirect:
    """Take that word back."""
    kind = _named(asked)
    asked.memory.learning.withdraw(
        who=asked.form.get("who", ""), why=asked.form.get("why", "").strip(), kind=kind
    )
    told = "Searches are from now on as if nothing had been learned of it; it is kept, and not deleted."
    return Redirect(
        "/learning", f"{learning_lists.OF[kind]}: withdrawn by {asked.form['who'].strip()}. {told}"
    )


def about_to_roll_back(asked: PageRequest) -> ShownPage:
    """What would be taken back of what somebody taught; of everything where nobody is named."""
    principal = asked.query.get("principal", "").strip()
    scope = _scope(principal)
    found = [asked.memory.learning.preview_rollback(*scope, kind=kind) for kind in KINDS]
    hit = [one for one in found if one.proposed.height]
    data = {
        "principal": principal,
        "nothing": "" if hit else learning_lists.nothing_taught(found[0].rollback),
        "found": [(learning_lists.OF[one.kind], *learning_lists.preview_rollback(one, PAGE)) for one in hit],
    }
    return ShownPage("rollback", "Take back what was learned", data, "/learning")


def roll_back(asked: PageRequest) -> Redirect:
    """Take it back."""
    who, why = asked.form.get("who", ""), asked.form.get("why", "").strip()
    scope = _scope(asked.form.get("principal", "").strip())
    for kind in KINDS:
        asked.memory.learning.roll_back(*scope, who=who, why=why, kind=kind)
    return Redirect("/learning", f"Taken back by {who.strip()}.")


def _scope(principal: str) -> tuple[Any, str]:
    return ("principal", principal) if principal else ("everything", "")


def _named(asked: PageRequest) -> Kind:
    kind = asked.path["kind"]
    for one in KINDS:
        if one == kind:
            return one
    raise NotFoundError(f"There is no learning of {kind!r}; there is {' and '.join(KINDS)}.")


WAYS: Final = (
    PageRoute("/learning", learning),
    PageRoute("/learning/roll-back", about_to_roll_back),
    PageRoute("/learning/roll-back", roll_back, post=True, changes=True),
    PageRoute("/learning/{kind}/approve", about_to_approve),
    PageRoute("/learning/{kind}/approve", approve, post=True),
    PageRoute("/learning/{kind}/withdraw", withdraw, post=True),
)
