"""Pages that erase a memory: preview and erasure."""

from __future__ import annotations

from typing import Any, Final

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.views import erasing
from slowwave.web.request import PageRequest, PageRoute, Redirect, ShownPage

LISTED: Final = 50  # memories and files that an erasure lists (count)


def about_to_erase(request: PageRequest) -> ShownPage:
    """Preview an erasure."""
    name = request.path["memory"]
    planned = request.memory.plan_erasure(name)
    data = {
        "name": name,
        "sections": erasing.goes(planned, LISTED),
        "beside": erasing.beside(planned, LISTED),
        "elsewhere": erasing.ELSEWHERE,
        "warning": erasing.NO_WAY_BACK,
        "shown": _mark(request, planned),
    }
    return ShownPage("erase", "Erase", data, place="/memories")


def erase(request: PageRequest) -> Redirect:
    """Erase a memory, if the plan is still the one that was shown."""
    planned = request.memory.plan_erasure(request.path["memory"])
    if request.form.get("shown") != _mark(request, planned):
        raise SlowwaveError(
            "The memory has changed since the preview. Nothing was erased. Open the preview again."
        )
    done = request.memory.execute_erasure(planned, why=request.form.get("why", "").strip())
    return Redirect("/memories", " ".join(["Erased.", f"The record is {done.erasure}.", *done.remains]))


def _mark(request: PageRequest, planned: Any) -> str:  # noqa: ANN401 - upkeep.erasure.Plan
    """Return a digest of the planned memories and their revisions."""
    names = [planned_memory.memory_id for planned_memory in planned.memories]
    revisions = dict(request.memory.tenant.memories(names, "memory_id", "revision").iter_rows())
    return ids.digest("erase", *(f"{name} {revisions.get(name)}" for name in names))


WAYS: Final = (
    PageRoute("/memory/{memory}/erase", about_to_erase),
    PageRoute("/memory/{memory}/erase", erase, post=True, changes=True),
)
