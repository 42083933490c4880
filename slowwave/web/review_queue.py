"""What waits for a person's word: notes that were refused, and merges that nobody dares without one."""

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
CHARACTERS: Final = 4_000  # of each of two texts side by side


def quarantine(asked: PageRequest) -> ShownPage:
    """Notes that were refused, and why."""
    skip = asked.number("skip")
    rows = listed(asked.memory.home, asked.memory.namespace, limit=PAGE, skip=skip)
    total = asked.waits.counts(asked.memory).quarantine
    return ShownPage(
        "quarantine", "Quarantine", {"rows": rows, "total": total, "skip": skip, "page": PAGE}, "/quarantine"
    )


def refused(asked: PageRequest) -> ShownPage:
    """One refused note, whole."""
    row = held(asked.memory.store, asked.memory.namespace, asked.path["note"])
    data = {"row": row, "quality": orjson.loads(row["parts"] or "{}")}
    return ShownPage("refused", row["title"] or row["source"], data, "/quarantine")


def release(asked: PageRequest) -> Redirect:
    """Let a note in as it is."""
    row = held(asked.memory.store, asked.memory.namespace, asked.path["note"])
    saved = asked.memory.release(row["quarantine_id"])
    told = "Let in, as it is; the act is in the journal with your name."
    return Redirect(to("memory", saved.memory_id), told)


def decisions(asked: PageRequest) -> ShownPage:
    """Decisions that wait for a person, and those that changed something lately."""
    waiting, changed = together(
        lambda: asked.memory.decisions(waiting=True, limit=WAITING),
        lambda: asked.memory.decisions(outcome="changed", limit=PAGE),
    )
    texts = _texts(asked, waiting)
    data = {
        "waiting": [row | {"both": _both(row, texts)} for row in waiting],
        "total": asked.waits.counts(asked.memory).decisions,
        "changed": changed,
        "most": PAGE,
    }
    return ShownPage("decisions", "Decisions", data, "/decisions")


def _texts(asked: PageRequest, rows: list[dict[str, Any]]) -> dict[str, str]:
    """What the memories of some decisions say, but for those that may not be listed."""
    names = sorted({row[name] for row in rows for name in ("memory_id", "other_memory")})
    tenant = asked.memory.tenant
    found = tenant.store.read_by(
        "memories", "memory_id", names, columns=["memory_id", "content", "sensitivity"],
        also=tenant.mine("true"),
    )  # fmt: skip
    told = found.filter(open_rows()).with_columns(pl.col("content").fill_null("").str.slice(0, CHARACTERS))
    return dict(told.select("memory_id", "content").iter_rows())


def _both(row: dict[str, Any], texts: dict[str, str]) -> tuple[list[Piece], list[Piece]] | None:
    """Texts of both memories with their differences marked; None where one may not be listed."""
    other, note = texts.get(row["other_memory"]), texts.get(row["memory_id"])
    return None if other is None or note is None else apart(other, note)


def accept(asked: PageRequest) -> Redirect:
    """Let it happen."""
    done = asked.memory.accept(asked.path["decision"])
    told = f"Done: {done['outcome']} of {done['memory_id']} and {done['other_memory']}. It can be taken back."
    return Redirect("/decisions", told)


def decline(asked: PageRequest) -> Redirect:
    """Leave both as they are."""
    done = asked.memory.decline(asked.path["decision"])
    both = f"{done['memory_id']} and {done['other_memory']}"
    return Redirect("/decisions", f"Declined: {both} stay as they are, and are not asked about again.")


def undo(asked: PageRequest) -> Redirect:
    """Take a decision back."""
    done = asked.memory.undo(asked.path["decision"], viewer=asked.viewer)
    told = mcp_text.undone(done["outcome"], done["memory_id"], done["other_memory"])
    return Redirect(local(asked.form.get("back", ""), "/decisions" if asked.person else "/"), told)


WAYS: Final = (
    PageRoute("/quarantine", quarantine),
    PageRoute("/quarantine/{note}", refused),
    PageRoute("/quarantine/{note}/release", release, post=True, changes=True),
    PageRoute("/decisions", decisions),
    PageRoute("/decisions/{decision}/accept", accept, post=True, changes=True),
    PageRoute("/decisions/{decision}/decline", decline, post=True, changes=True),
    PageRoute("/decisions/{decision}/undo", undo, post=True, person=False, changes=True),
)
