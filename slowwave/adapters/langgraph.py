"""LangGraph: a `BaseStore` whose items are memories of one namespace.

An item is a memory whose source is made of the item's namespace and key, each part percent-encoded, under
``langgraph/``: no tuple can name anything that is not below it, and a tuple is no tenant. What it says is the
text of its value, by which searches of every face find it; the value itself is in the memory's metadata.
"""

from __future__ import annotations

from slowwave.adapters.needed import require
from slowwave.common.arguments import limit_of

require("langchain", "langgraph")

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from slowwave.adapters.matching import fits, matches
from slowwave.adapters.saving import save
from slowwave.common import ids
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.home.tenant import Saved
from slowwave.home.visibility import Viewer, open_where
from slowwave.memory import Memory
from slowwave.store import one_of
from slowwave.store import quote as sql
from slowwave.views.gate_text import reason_lines

ROOT: Final = "langgraph/"
_KEY: Final = ":"  # before a key; in an encoded part there is none
_VALUE: Final = "langgraph"  # name in a memory's metadata
_COLUMNS: Final = ["memory_id", "source", "metadata", "created_at", "updated_at"]
_MOST_FOUND: Final = 500  # memories that a filtered search looks through, the best first (count)
_LONGEST_QUERY: Final = limit_of("query").characters


class RefusedError(SlowwaveError):
    """The gate did not let an item in; what the key had before is what it has still."""


class SlowwaveStore(BaseStore):
    """Items of LangGraph in a memory.

    Args:
        memory: that has them, open.
        fields: paths of a value whose texts an item is found by; None: all its texts.
        refused: what becomes of an item that the gate does not let in: `raise` tells who puts it, `keep` lets
            it in as it is, as a person does with ``slowwave quarantine release``.
    """

    supports_ttl = False

    def __init__(
        self,
        memory: Memory,
        *,
        fields: Sequence[str] | None = None,
        refused: Literal["raise", "keep"] = "raise",
    ) -> None:
        self._memory, self._fields, self._refused = memory, fields, refused

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things; what is put is seen by calls after this one.

        Raises:
            RefusedError: an item was not let in; all others were.
            ProtectedError: only a person may replace or forget what an item's key has; nothing was put.
            NotImplementedError: an item is to be forgotten at some time: a memory has no time to live.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                if op.ttl is not None:
                    raise NotImplementedError("A memory has no time to live (ttl): delete the item instead.")
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._answer(op))
        self._put(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """:meth:`batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ArgumentError(f"{type(op).__name__} is no operation of a store.")

    # -- reading ---------------------------------------------------------------------------------

    def _rows(self, condition: str) -> list[tuple[str, Item, bool]]:
        """Items that are there and no secret: their memory, and whether searches find them."""
        there = f"({condition}) AND status <> 'retired' AND content_hash IS NOT NULL AND {open_where()}"
        memory = self._memory
        rows = memory.store.read("memories", memory.tenant.mine(there), columns=_COLUMNS)
        return [made for row in rows.iter_rows() if (made := _item(*row)) is not None]

    def _get(self, op: GetOp) -> Item | None:
        name = ids.memory_id(self._memory.namespace, source_of(op.namespace, op.key))
        for _, item, _ in self._rows(one_of("memory_id", [name])):
            return item
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        last = op.offset + op.limit
        prefix = source_of(op.namespace_prefix)
        if not op.query:
            there = [one for _, one, _ in self._rows(f"starts_with(source, {sql(prefix)})")]
            there.sort(key=lambda one: one.updated_at)
            return [_found(one, None) for one in there if fits(one.value, op.filter)][op.offset : last]
        limit = _MOST_FOUND if op.filter or len(op.namespace_prefix) else last
        asked = op.query[:_LONGEST_QUERY]
        response = self._memory.search(asked, limit=max(limit, last), source=prefix)
        known = {
            name: item
            for name, item, indexed in self._rows(one_of("memory_id", [one.memory_id for one in response]))
            if indexed and source_of(item.namespace, item.key).startswith(prefix)
        }
        best = [(known[one.memory_id], one.score) for one in response if one.memory_id in known]
        return [_found(item, score) for item, score in best if fits(item.value, op.filter)][op.offset : last]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        there = {item.namespace for _, item, _ in self._rows(f"starts_with(source, {sql(ROOT)})")}
        conditions: tuple[MatchCondition, ...] = op.match_conditions or ()
        found = {one for one in there if all(matches(condition, one) for condition in conditions)}
        if op.max_depth is not None:
            found = {one[: op.max_depth] for one in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    # -- writing ---------------------------------------------------------------------------------

    def _put(self, ops: Sequence[PutOp]) -> None:
        notes = [self._note(op) for op in ops if op.value is not None]
        self._delete([op for op in ops if op.value is None])
        saved = save(self._memory, notes) if notes else []
        refused = [(note, one) for note, one in zip(notes, saved, strict=True) if not self._let_in(one)]
        if refused:
            note, one = refused[0]
            more = f" ({len(refused) - 1} more were refused, too.)" if len(refused) > 1 else ""
            namespace, key = item_of(note["key"])
            raise RefusedError(
                f"The save gate refused {key!r} of {namespace}: {'; '.join(reason_lines(one.reasons))}. "
                f"The note "
                f"is in quarantine as {one.memory_id}; the key keeps its previous value. Put whole "
                f"sentences, or "
                f'open the store with refused="keep".{more}'
            )

    def _let_in(self, saved: Saved) -> bool:
        """Whether an item is there, if need be by a word of who put it: two keys may say the same."""
        if saved.status != "quarantined":
            return True
        if saved.duplicate_of and saved.decision_id:
            self._memory.undo(saved.decision_id)
            return True
        if self._refused == "keep":
            return self._memory.release(saved.memory_id).status != "quarantined"
        return False

    def _delete(self, ops: Sequence[PutOp]) -> None:
        names = {ids.memory_id(self._memory.namespace, source_of(op.namespace, op.key)) for op in ops}
        if names:
            for name, _, _ in self._rows(one_of("memory_id", sorted(names))):
                self._memory.forget(name, viewer=Viewer.ASSISTANT)

    def _note(self, op: PutOp) -> dict[str, Any]:
        """The note of an item."""
        value = dict(op.value or {})
        texts = _texts(value, op.index or self._fields)
        indexed = op.index is not False
        return {
            "content": "\n".join(texts),
            "title": op.key if op.key.strip() else "",
            "key": source_of(op.namespace, op.key),
            "metadata": {_VALUE: {"value": value} if indexed else {"value": value, "indexed": False}},
        }


def source_of(namespace: Sequence[str], key: str | None = None) -> str:
    """The source of an item, or without a key what those of all items below a namespace begin with."""
    below = ROOT + "".join(f"{_encoded(part)}/" for part in namespace)
    return below if key is None else f"{below}{_KEY}{_encoded(key)}"


def item_of(source: str) -> tuple[tuple[str, ...], str]:
    """Namespace and key of the item that has a source."""
    *parts, key = source.removeprefix(ROOT).split("/")
    return tuple(unquote(part) for part in parts), unquote(key.removeprefix(_KEY))


def _encoded(part: str) -> str:
    try:
        return quote(part, safe="").replace(".", "%2E")
    except UnicodeEncodeError:
        raise ArgumentError(f"{part!a} has halves of characters, which no key can have.") from None


def _item(
    name: str, source: str, metadata: str, created_at: datetime, updated_at: datetime
) -> tuple[str, Item, bool] | None:
    """A memory as an item; None where it is none, for instance since somebody else saved under its key."""
    kept = orjson.loads(metadata or "{}").get(_VALUE)
    if not source.startswith(ROOT) or not isinstance(kept, Mapping) or "value" not in kept:
        return None
    namespace, key = item_of(source)
    item = Item(
        value=kept["value"], key=key, namespace=namespace, created_at=created_at, updated_at=updated_at
    )
    return name, item, bool(kept.get("indexed", True))


def _found(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _texts(value: Mapping[str, Any], fields: Sequence[str] | None) -> list[str]:
    """What an item says: the texts at these paths, or all that it has, each with its name."""
    if fields is not None and (named := [text for path in fields for text in _at(value, path)]):
        return named
    leaves = list(_leaves(value, ""))
    only = [text for _, text in leaves if isinstance(text, str) and text.strip()]
    if len(only) == 1 and len(leaves) == 1:
        return only
    return [f"{name}: {text}" for name, text in leaves] or ["{}"]


def _at(value: Mapping[str, Any], path: str) -> list[str]:
    if path == "$":
        return [f"{name}: {text}" for name, text in _leaves(value, "")]
    return [one for one in get_text_at_path(value, tokenize_path(path)) if one.strip()]


def _leaves(value: Any, name: str) -> Iterable[tuple[str, Any]]:
    """What is in a value that is no list and no mapping, with the path to it."""
    if isinstance(value, Mapping):
        for part, one in value.items():
            yield from _leaves(one, f"{name}.{part}" if name else str(part))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one, name)
    else:
        yield name, value
