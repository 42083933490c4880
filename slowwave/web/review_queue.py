"""Pages of items that wait for a person: quarantine and decisions."""

from __future__ import annotations

from typing import Any, Final

import orjson
import polars as pl

from slowwave.home.visibility import open_rows
from slowwave.lifecycle.quarantine import held, listed
from slowwave.views import mcp_text
from slowwave.views.differences import Piece, apart
from slowwave.web.request import PAGE, PageRequest, PageRoute, Redirect, ShownPage, local, to, together

WAITING: Final = 5  # decisions with both their texts on a page (count)
CHARACTERS: Final = 4_000  # maximum characters of each of two compared texts


def quarantine(request: PageRequest) -> ShownPage:
    """List refused notes with their reasons."""
    skip = request.number("skip")
    rows = listed(request.memory.home, request.memory.namespace, limit=PAGE, skip=skip)
    total = request.waits.counts(request.memory).quarantine
    return ShownPage(
        "quarantine", "Quarantine", {"rows": rows, "total": total, "skip": skip, "page": PAGE}, "/quarantine"
    )


def refused(request: PageRequest) -> ShownPage:
    """Show one refused note in full."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    data = {"row": row, "quality": orjson.loads(row["parts"] or "{}")}
    return ShownPage("refused", row["title"] or row["source"], data, "/quarantine")


def release(request: PageRequest) -> Redirect:
    """Release a refused note unchanged."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    saved = request.memory.release(row["quarantine_id"])
    message = "Released unchanged. The journal records your name."
    return Redirect(to("memory", saved.memory_id), message)


def decisions(request: PageRequest) -> ShownPage:
    """List waiting decisions, and recent changes."""
    waiting, changed = together(
        lambda: request.memory.decisions(waiting=True, limit=WAITING),
        lambda: request.memory.decisions(outcome="changed", limit=PAGE),
    )
    texts = _texts(request, waiting)
    data = {
        "waiting": [row | {"both": _both(row, texts)} for row in waiting],
        "total": request.waits.counts(request.memory).decisions,
        "changed": changed,
        "most": PAGE,
    }
    return ShownPage("decisions", "Decisions", data, "/decisions")


def _texts(request: PageRequest, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the texts of memories of some decisions, except secret ones."""
    names = sorted({row[name] for row in rows for name in ("memory_id", "other_memory")})
    tenant = request.memory.tenant
    rows_ = tenant.store.read_by(
        "memories", "memory_id", names, columns=["memory_id", "content", "sensitivity"],
        also=tenant.mine("true"),
    )  # fmt: skip
    visible = rows_.filter(open_rows()).with_columns(pl.col("content").fill_null("").str.slice(0, CHARACTERS))
    return dict(visible.select("memory_id", "content").iter_rows())


def _both(row: dict[str, Any], texts: dict[str, str]) -> tuple[list[Piece], list[Piece]] | None:
    """Return both texts with marked differences; None if one is secret."""
    other, note = texts.get(row["other_memory"]), texts.get(row["memory_id"])
    return None if other is None or note is None else apart(other, note)


def accept(request: PageRequest) -> Redirect:
    """Carry out a waiting decision."""
    done = request.memory.accept(request.path["decision"])
    message = f"Done: {done['outcome']} of {done['memory_id']} and {done['other_memory']}. You can undo it."
    return Redirect("/decisions", message)


def decline(request: PageRequest) -> Redirect:
    """Decline a waiting decision."""
    done = request.memory.decline(request.path["decision"])
    both = f"{done['memory_id']} and {done['other_memory']}"
    return Redirect("/decisions", f"Declined: {both} stay unchanged, and you are not request again.")


def undo(request: PageRequest) -> Redirect:
    """Undo a decision."""
    done = request.memory.undo(request.path["decision"], viewer=request.viewer)
    message = mcp_text.undone(done["outcome"], done["memory_id"], done["other_memory"])
    return Redirect(local(request.form.get("back", ""), "/decisions" if request.person else "/"), message)


WAYS: Final = (
    PageRoute("/quarantine", quarantine),
    PageRoute("/quarantine/{note}", refused),
    PageRoute("/quarantine/{note}/release", release, post=True, changes=True),
    PageRoute("/decisions", decisions),
    PageRoute("/decisions/{decision}/accept", accept, post=True, changes=True),
    PageRoute("/decisions/{decision}/decline", decline, post=True, changes=True),
    PageRoute("/decisions/{decision}/undo", undo, post=True, person=False, changes=True),
)
