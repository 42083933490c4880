"""Usage of a memory as text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.common.pluralize import counted
from slowwave.scoring.days import DAY_S
from slowwave.views.moments import since

if TYPE_CHECKING:
    from slowwave.feedback import MemoryStats


def usage_text(done: MemoryStats, now: datetime) -> list[tuple[str, str]]:
    """Return the usage of a memory as (name, text)."""
    last = since(done.last_used_at, now) or "never"
    rows = [
        (
            "used by answers",
            f"{done.used:,} (cited {done.cited:,}), ignored {done.ignored:,}; last used {last}",
        ),
        ("rated", f"helpful {done.helpful:,}, neutral {done.neutral:,}, unhelpful {done.unhelpful:,}"),
        ("projects", f"success {done.successes:,}, failure {done.failures:,}"),
        (
            "effectiveness",
            f"{done.effectiveness:.3f} from {done.feedback_count:,} data points (0.5 is neutral)",
        ),
        ("strength", _strength(done)),
        ("tier", done.tier),
        ("unprocessed events", f"{done.waiting:,}"),
    ]
    if done.earlier:
        earned = f"{counted(done.earlier, 'rating')}; they count again if its text returns"
        rows.append(("on an earlier revision", earned))
    return rows


def _strength(done: MemoryStats) -> str:
    if done.strength is None or done.stability is None:
        return "no verdict yet"
    return f"{done.strength:.3f}, fading over {done.stability / DAY_S:.1f} days"
