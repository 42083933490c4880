"""Pages of items that wait for a person: quarantine and decisions."""

from __future__ import annotations

from typing import Any, Final

import orjson
import polars as pl

from slowwave.common.pluralize import counted
from slowwave.home.visibility import open_rows
from slowwave.lifecycle.quarantine import DISCARDED, HELD, file_of, held, label_of, listed
from slowwave.views import mcp_text
from slowwave.views.differences import Piece, apart
from slowwave.web.request import PAGE, PageRequest, PageRoute, Redirect, ShownPage, local, to, together

WAITING: Final = 5  # decisions with both their texts on a page (count)
CHARACTERS: Final = 4_000  # maximum characters of each of two compared texts


def quarantine(request: PageRequest) -> ShownPage:
    """List refused notes with their reasons."""
    skip, memory = request.number("skip"), request.memory
    discarded = request.query.get("status") == DISCARDED
    counts = {
        status: memory.store.count("quarantine", memory.tenant.mine(f"status = '{status}'"))
        for status in (HELD, DISCARDED)
    }
    status = DISCARDED if discarded else HELD
    rows = listed(memory.home, memory.namespace, status=status, limit=PAGE, skip=skip)
    data = {
        "rows": [row | {"label": label_of(row), "file": file_of(row)} for row in rows],
        "total": counts[status], "skip": skip, "page": PAGE, "is_discarded": discarded,
        "discarded_count": counts[DISCARDED],
        "reasons": [] if discarded else _reasons(request),
    }  # fmt: skip
    return ShownPage("quarantine", "Discarded" if discarded else "Quarantine", data, "/quarantine")


def _reasons(request: PageRequest) -> list[tuple[str, int]]:
    """Return the reasons of several held notes, the most frequent first."""
    memory = request.memory
    rows = memory.store.read("quarantine", memory.tenant.mine(f"status = '{HELD}'"), columns=["reasons"])
    counts = rows["reasons"].explode().drop_nulls().value_counts(sort=True)
    return [(reason, count) for reason, count in counts.rows() if count > 1]


def refused(request: PageRequest) -> ShownPage:
    """Show one refused note in full."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    data = {"row": row, "quality": orjson.loads(row["parts"] or "{}")}
    return ShownPage("refused", label_of(row), data | {"file": file_of(row)}, "/quarantine")


def release(request: PageRequest) -> Redirect:
    """Release a refused note unchanged."""
    row = held(request.memory.store, request.memory.namespace, request.path["note"])
    saved = request.memory.release(row["quarantine_id"])
    message = f"Released unchanged: {label_of(row)}. The journal records your name."
    return Redirect(to("memory", saved.memory_id), message)


def discard(request: PageRequest) -> Redirect:
    """Discard one refused note."""
    (done,) = request.memory.discard(request.path["note"])
    return Redirect("/quarantine", f"Discarded: {done['label']}. Restore it under Discarded.")


def discard_reason(request: PageRequest) -> Redirect:
    """Discard all refused notes of one reason."""
    done = request.memory.discard(reason=request.path["reason"])
    return Redirect("/quarantine", f"Discarded: {counted(len(done), 'note')}. Restore them under Discarded.")


def restore(request: PageRequest) -> Redirect:
    """Undo the discard of a note."""
    (done,) = request.memory.restore_discarded(request.path["note"])
    return Redirect("/quarantine", f"In quarantine again: {done['label']}.")


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
    message = f"Done: {done['outcome']} of {_pair(done)}. You can undo it."
    return Redirect("/decisions", message)


def decline(request: PageRequest) -> Redirect:
    """Decline a waiting decision."""
    done = request.memory.decline(request.path["decision"])
    return Redirect("/decisions", f"Declined: {_pair(done)} stay unchanged, and you are not asked again.")


def _pair(row: dict[str, Any]) -> str:
    """Return the titles of the two memories of a decision, or their ids."""
    return f"{row['title'] or row['memory_id']} and {row['other_title'] or row['other_memory']}"


def undo(request: PageRequest) -> Redirect:
    """Undo a decision."""
    done = request.memory.undo(request.path["decision"], viewer=request.viewer)
    message = mcp_text.undone(done["outcome"], done["memory_id"], done["other_memory"])
    return Redirect(local(request.form.get("back", ""), "/decisions" if request.person else "/"), message)


WAYS: Final = (
    PageRoute("/quarantine", quarantine),
    PageRoute("/quarantine/{note}", refused),
    PageRoute("/quarantine/{note}/release", release, post=True, changes=True),
    PageRoute("/quarantine/{note}/discard", discard, post=True, changes=True),
    PageRoute("/quarantine/{note}/restore", restore, post=True, changes=True),
    PageRoute("/quarantine/reason/{reason}/discard", discard_reason, post=True, changes=True),
    PageRoute("/decisions", decisions),
    PageRoute("/decisions/{decision}/accept", accept, post=True, changes=True),
    PageRoute("/decisions/{decision}/decline", decline, post=True, changes=True),
    PageRoute("/decisions/{decision}/undo", undo, post=True, person=False, changes=True),
)
