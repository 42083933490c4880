"""Search filters as SQL conditions; the namespace is always part of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC
from typing import TYPE_CHECKING

from slowwave.common.arguments import known_word, moment
from slowwave.common.search_request import LABELS, MOMENT, SEARCH_ARGUMENTS, SearchFilters
from slowwave.errors import SlowwaveError
from slowwave.feedback.tiers import tier_filter
from slowwave.home.visibility import open_where
from slowwave.quality.admission.statuses import LIVE, SUPERSEDED
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.store import one_of, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from lancedb.table import Table


class Filters(SearchFilters):
    """Search filters as conditions on rows, always with the namespace."""

    __slots__ = ()

    @classmethod
    def of(cls, **arguments: object) -> Filters:
        """Build filters from search arguments: one text stands for a list of one.

        Raises:
            SlowwaveError: a value has the wrong type.
        """
        filters = cls(**{name: _checked(name, value) for name, value in arguments.items()})  # type: ignore[arg-type]
        if filters.since is not None and filters.until is not None and filters.since >= filters.until:
            raise SlowwaveError(
                f"since = {filters.since} is not before until = {filters.until}: nothing can match."
            )
        return filters

    def __str__(self) -> str:
        """Describe the filters for display."""
        parts = [f"{name} {', '.join(values)}" for name in _LABELS if (values := getattr(self, name))]
        parts += [f"tag {', '.join(self.tags)}"] if self.tags else []
        parts += [f"source {self.source}…"] if self.source else []
        parts += [f"since {self.since:%F}"] if self.since else []
        parts += [f"until {self.until:%F}"] if self.until else []
        return " and ".join(parts) or "no filter"

    def refuse_unknown(self, namespace: str, opened: Callable[[], Table]) -> None:
        """Raise if a label is unknown, since it can match nothing.

        Args:
            namespace: The tenant.
            opened: Opens ``chunks`` or ``memories``; only words that are not predefined are looked up.

        Raises:
            ArgumentError: an unknown label; names it and the known ones.
        """
        for name, column in _LABELS.items():
            predefined = KNOWN_WORDS[column]
            for word in getattr(self, name):
                of_namespace = within(namespace)
                if word in predefined or (table := opened()).count_rows(
                    f"{of_namespace} AND {column} = {quote(word)}"
                ):
                    continue
                rows = (
                    table.search()
                    .where(f"{of_namespace} AND {open_where()}")
                    .select([column])
                    .limit(None)
                    .to_arrow()
                )
                known_word(name, word, predefined | set(rows.column(column).to_pylist()))

    def where(
        self, namespace: str, promoted: Mapping[str, str] | None = None, heirs: Collection[str] = ()
    ) -> str:
        """Build the condition on ``chunks`` (or ``memories``), in SQL that LanceDB and Polars both read.

        Args:
            namespace: The tenant.
            promoted: Tier of the namespace's promoted memories.
            heirs: Memories that absorbed one of the source.
        """
        parts = [within(namespace)]
        parts.append(one_of("status", [LIVE, SUPERSEDED]) if self.superseded else f"status = {quote(LIVE)}")
        if self.memory_type:
            parts.append(one_of("memory_type", self.memory_type))
        if self.tier:
            parts.append(tier_filter(self.tier, promoted or {}))
        if self.sensitivity:
            parts.append(one_of("sensitivity", self.sensitivity))
        else:
            parts.append(open_where())
        if self.tags:
            parts.append(_tagged(self.tags))
        if self.source:
            of_source = f"starts_with(source, {quote(self.source)})"
            parts.append(f"({of_source} OR {one_of('memory_id', heirs)})" if heirs else of_source)
        for sign, bound in ((">=", self.since), ("<", self.until)):
            if bound is not None:
                at = bound.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
                parts.append(f"created_at {sign} CAST({quote(at)} AS TIMESTAMP)")
        return " AND ".join(parts)

    def visible(self, namespace: str) -> str:
        """Build the condition on what the caller may see, with no other filter."""
        opened = open_where()
        if self.sensitivity:
            opened = f"({opened} OR {one_of('sensitivity', self.sensitivity)})"
        return f"{within(namespace)} AND {one_of('status', [LIVE, SUPERSEDED])} AND {opened}"


_LABELS = {"memory_type": "memory_type", "tier": "importance_tier", "sensitivity": "sensitivity"}
_MARK = "\x1f"  # on both sides of each tag
_TAGS = f"concat('{_MARK}', lower(array_to_string(tags, '{_MARK}')), '{_MARK}')"


def labelled(labels: Collection[str]) -> str:
    """Build the condition that a memory has one of the labels as tag or type."""
    return f"({_tagged(labels)} OR {one_of('memory_type', labels)})"


def _tagged(tags: Collection[str]) -> str:
    wanted = "|".join(re.escape(tag.strip().lower()) for tag in tags)
    # Without the plus LanceDB rewrites the pattern to LIKE, where a backslash is not literal.
    return f"regexp_like({_TAGS}, {quote(f'{_MARK}+(?:{wanted}){_MARK}')})"


def _checked(name: str, value: object) -> object:
    kind = SEARCH_ARGUMENTS[name].kind if name in SEARCH_ARGUMENTS else None
    if kind == LABELS:
        texts = (value,) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple | set | frozenset) or not all(
            isinstance(text, str) and "\0" not in text for text in texts
        ):
            raise SlowwaveError(f"{name} = {value!r} is neither a text nor a list of texts.")
        return tuple(dict.fromkeys(text.strip().lower() for text in texts if text))
    if kind == MOMENT and value is not None:
        return moment(name, value)
    if kind is str and (not isinstance(value, str) or "\0" in value):
        raise SlowwaveError(f"source = {value!r} is no text. Give the prefix of a source.")
    return value
