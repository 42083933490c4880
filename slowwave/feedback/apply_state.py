"""Writer of ``memory_state``, the feedback state that searches read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.stale_days import processed_days
from slowwave.feedback.text_attribution import Texts, in_force, of_text
from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.columns import day_ends
from slowwave.scoring.feedback.effectiveness import SUMS
from slowwave.scoring.feedback.effectiveness import effectiveness as rated
from slowwave.scoring.feedback.influence_limits import capped_votes, count_first_seen_users, users_by
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import WHO
from slowwave.store import one_of, quote
from slowwave.store.frames import IDS_PER_FILTER, batches
from slowwave.store.reading import distinct, parts
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.store import Store
from slowwave.feedback.rows import EXPLICIT, FOLDED, ids_in, newest_about, newest_of, rows_about

_USE = ("namespace", "memory_id", "text", *WHO)


_VOTE = tuple(name for name in FOLDED if name not in ("day", "chunk_id", "evidence"))


_USERS = ("namespace", "day", *WHO)


USER_COUNTS = "voices"  # its name in the store
"""Key in ``meta``: number of users per namespace when ``memory_state`` was written."""


def states(
    store: Store,
    memories: pl.DataFrame,
    until: str,
    policy: FeedbackPolicy,
    has: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Compute the ``memory_state`` rows of these memories at the end of a day.

    Args:
        store: Store of the tables.
        memories: namespace and memory_id; those without feedback are left out.
        until: Last day that counts (YYYY-MM-DD).
        policy: Feedback policy.
        has: Current text of memories, where not the first. Feedback on another text waits until that text
            returns.
    """
    has = has or {}
    names, by = memories["memory_id"].to_list(), f"day <= {quote(until)}"
    used = f"tier = 'implicit' AND verdict = 'used' AND weight > 0 AND {by}"
    of_current_text = partial(of_text, names=has)
    effective = newest_about(store, "effectiveness", names, f"chunk_id IS NULL AND {by}", of_current_text)
    strong = newest_about(store, "strength", names, by, of_current_text)
    votes = of_text(rows_about(store, "usage_signals", names, f"{EXPLICIT} AND {by}", _VOTE), has)
    uses = of_text(_uses(store, names, used), has).drop("text")
    promoted = of_text(rows_about(store, "promotions", names, f"reason = 'promoted' AND {by}"), has)
    where = f"{one_of('namespace', memories['namespace'].unique().to_list())} AND {by}"
    num_users = users_by(
        count_first_seen_users(distinct(store, "usage_signals", where, columns=_USERS)), until
    )
    sums = capped_votes(votes, uses, effective.select("memory_id", *SUMS[2:]), num_users, policy)
    effective = effective.select("memory_id", "day").join(sums, on="memory_id")
    ends = day_ends(effective["day"].str.to_date())
    states = {
        "effective": effective.with_columns(rated(effective, ends, policy)),
        "strong": strong.drop("strength_id", "namespace", "current", "interval", "text"),
        "promoted": newest_of(promoted, "memory_id").select("memory_id", "day", tier="to_tier"),
    }
    rows = memories.select("namespace", "memory_id").unique("memory_id")
    for name, part in states.items():
        part = part.drop("namespace", strict=False)
        rows = rows.join(part, on="memory_id", how="left", suffix=f"_{name}")
    days = [name for name in rows.columns if name == "day" or name.startswith("day_")]
    return (
        rows.with_columns(day=pl.max_horizontal(days), state_id="memory_id")
        .filter(pl.col("day").is_not_null())
        .select(store.specs["memory_state"].schema.names)
    )


def _uses(store: Store, names: Sequence[str], where: str) -> pl.DataFrame:
    """Return the users of these memories, with their number of uses (``times``)."""
    if len(names) <= IDS_PER_FILTER:
        return rows_about(store, "usage_signals", names, where, _USE)
    wanted = pl.Series("memory_id", names, dtype=pl.String).to_frame()
    counted = [
        part.join(wanted, on="memory_id", how="semi").group_by(_USE).agg(times=pl.len())
        for part in parts(store, "usage_signals", where, columns=_USE)
    ]
    return pl.concat(counted).group_by(_USE).agg(pl.col("times").sum())


def states_of(store: Store, namespace: str, until: str, policy: FeedbackPolicy, texts: Texts) -> pl.DataFrame:
    """Return the ``memory_state`` rows of a namespace at the end of a day; see `apply_state`."""
    by = within(namespace, f"day <= {quote(until)}")
    names = pl.concat(
        [store.read(name, by, columns=["namespace", "memory_id"]) for name in ("usage_signals", "promotions")]
    )
    names = names.unique("memory_id")
    has = in_force(texts(names["memory_id"].to_list()), day_end(until))
    return states(store, names, until, policy, has)


def apply_state(store: Store, days: Sequence[str], policy: FeedbackPolicy, texts: Texts | None = None) -> int:
    """Update ``memory_state`` from the aggregation of these days; return the number of rows.

    Args:
        store: Store of the tables.
        days: Aggregated days (YYYY-MM-DD).
        policy: Feedback policy.
        texts: Gives the texts of memories. Feedback on a text counts while it is the current one.
    """
    of_days = one_of("day", days)
    columns = ["namespace", "memory_id"]
    touched = pl.concat(
        [
            distinct(store, name, of_days, columns=columns)
            for name in ("usage_signals", "promotions", "memory_state")
        ]
    ).unique("memory_id")
    newest = max([*days, *processed_days(store)])
    num_users = users_by(count_first_seen_users(distinct(store, "usage_signals", columns=_USERS)), newest)
    previous = store.get_meta(USER_COUNTS) or {}
    if changed := sorted(name for name, count in num_users.items() if previous.get(name, 0) != count):
        # The weight of a user depends on the number of users, so all memories of the namespace change.
        others = store.scan("memory_state", one_of("namespace", changed), columns=columns)
        touched = pl.concat([touched, others]).unique("memory_id")
    if touched.height:
        rows = _put(store, touched, newest, policy, texts)
    if num_users != previous:
        store.put_meta(USER_COUNTS, num_users)
    return rows.height if touched.height else 0


def follow_texts(store: Store, memories: pl.DataFrame, policy: FeedbackPolicy, texts: Texts) -> None:
    """Update ``memory_state`` after saves that changed the text of memories.

    A new text starts without feedback; a returning text has its earlier feedback at once.

    Args:
        store: Store of the tables.
        memories: namespace and memory_id of the saved ones.
        policy: Feedback policy.
        texts: Gives their texts.
    """
    rated = store.read_by("usage_signals", "memory_id", ids_in(memories), columns=["memory_id"]).unique()
    touched = memories.select("namespace", "memory_id").join(rated, on="memory_id", how="semi")
    if touched.height and (processed := processed_days(store)):
        _put(store, touched.unique("memory_id"), max(processed), policy, texts)


def _put(
    store: Store, memories: pl.DataFrame, until: str, policy: FeedbackPolicy, texts: Texts | None
) -> pl.DataFrame:
    """Write the current ``memory_state`` rows of these memories; delete rows without feedback."""
    has = in_force(texts(ids_in(memories))) if texts else None
    rows = states(store, memories, until, policy, has)
    store.upsert("memory_state", rows)
    for stale_ids in batches(memories.join(rows, on="memory_id", how="anti")["memory_id"].to_list()):
        store.delete("memory_state", one_of("state_id", stale_ids))
    return rows
