"""The regression guard (rule 6.8): where what was learned makes results worse, it is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.learning.acts import REGRESSION, Act, acts, approved_namespaces, rollbacks, write_act
from slowwave.learning.gate import Gatekeeper
from slowwave.learning.lessons import day_end, taken_back
from slowwave.learning.log import log_acts

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

GUARD = "regression guard"


def close_where_worse(space: Workspace, day: str) -> dict[str, str]:
    """Take back everything and close the gate of each namespace whose results learning makes worse.

    Args:
        space: of the tables and the journal.
        day: up to whose end is looked.

    Returns:
        Why, by namespace.
    """
    found = {}
    heal(space)
    for namespace in approved_namespaces(space.journal):
        keeper = Gatekeeper(space, namespace, day, ())
        why = keeper.regression(day_end(day))
        if why:
            found[namespace] = why
            _close(space, namespace, why)
    return found


def heal(space: Workspace) -> None:
    """Finish what was decided and killed half-way: the audit log says it, what was taken back is gone."""
    decided = acts(space.journal)
    log_acts(space.store, decided)
    for act in decided:
        _take_back(space, act)


def _close(space: Workspace, namespace: str, why: str) -> None:
    act = write_act(
        space.journal,
        namespace,
        REGRESSION,
        who=GUARD,
        why=why,
        at=space.now(),
        detail={"scope": "everything"},
    )
    log_acts(space.store, [act])
    _take_back(space, act)


def _take_back(space: Workspace, act: Act) -> None:
    for rollback in rollbacks([act]):
        taken_back(space.store, rollback, log=REGRESSION if act.action == REGRESSION else "")
