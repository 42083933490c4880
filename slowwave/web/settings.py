"""Settings page: switches, the save gate, trusted sources and all values, for the owner of the home."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from slowwave.home.embedding_model import in_force
from slowwave.lifecycle.gate_notice import notice_without_counts
from slowwave.lifecycle.trusted_sources import trusted_sources
from slowwave.serving.statuses import StatusError
from slowwave.web.request import PageRequest, PageRoute, ShownPage

if TYPE_CHECKING:
    from slowwave.settings import InForce

ADDRESS: Final = "/settings"
SWITCHES: Final = (
    "gate.mode", "reconsolidation.policy", "learning.enabled", "learning.words", "learning.keys",
    "ranking.negative_feedback", "ranking.mark_outdated", "evaluation.shadow", "judge.kind",
    "journal.log_searches",
)  # fmt: skip
"""Settings that turn a whole feature on or off, in the order of the page."""
COMMANDS: Final = {
    "gate.mode": "In mode warn, `slowwave gate enforce` starts it and `slowwave gate postpone` delays it, "
    "without a restart.",
    "learning.enabled": "Without a restart, the page Learning approves and rolls back what is learned.",
}
"""Ways to change the effect of a switch at run time."""
_FROM_POLICY: Final = "ranking policy"
"""Origin of a ranking parameter that no setting names."""
_NOT_SET: Final = ("default", _FROM_POLICY)


def shown(request: PageRequest) -> ShownPage:
    """Show the settings in force, with their origins and how to change them.

    Raises:
        StatusError: A token opens one namespace; settings are of the whole home.
    """
    if not request.session.at_home:
        raise StatusError(403, "Settings are of the whole home. Open them with the link of slowwave page.")
    memory = request.memory
    rows = [_resolved(request, row) for row in in_force(memory.settings)]
    by_name = {row.name: row for row in rows}
    groups = groupby(sorted(rows, key=_group), key=_group)
    data: dict[str, Any] = {
        "home": memory.settings.home, "switches": [by_name[name] for name in SWITCHES],
        "commands_of": COMMANDS, "gate": notice_without_counts(memory.home, request.now),
        "trusted": trusted_sources(memory.tenant),
        "changed": [
            row for row in rows if row.origin not in _NOT_SET and row.name not in ("home", *SWITCHES)
        ],
        "groups": [(name, list(members)) for name, members in groups], "total": len(rows),
    }  # fmt: skip
    return ShownPage("settings", "Settings", data, ADDRESS)


def _group(row: InForce) -> str:
    return row.name.rpartition(".")[0] or "home"


def _resolved(request: PageRequest, row: InForce) -> InForce:
    """Return a ranking parameter; if it is unset, with the value in force."""
    group, _, name = row.name.rpartition(".")
    if group != "ranking" or row.value is not None or not hasattr(request.memory.policy, name):
        return row
    return replace(row, value=getattr(request.memory.policy, name), origin=_FROM_POLICY)


WAYS: Final = (PageRoute(ADDRESS, shown),)
