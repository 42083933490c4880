"""Change log of the tables: every change of a row is in the journal before its table.

A record is a change of one table, without what can be recomputed: texts are in the events, vectors and
chunks follow from the texts. So lost tables are restored row by row, even if settings, rules or models have
changed since, and no nightly job runs again.
"""

from typing import TYPE_CHECKING

from slowwave.change_log.recorder import Recorder, backfill_existing
from slowwave.scoring.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from slowwave.change_log.replay import replayed

__getattr__ = lazy_exports(__name__, {"replay": "replayed"})

__all__ = ["Recorder", "backfill_existing", "replayed"]
