"""What only the tables know, in the journal: every change of a row is there before it is in its table.

A record is a change of one table as it was written, without what can be made again: texts are in the acts,
vectors and chunks follow from the texts. So tables that are lost come back row by row, also where settings,
rules or models have changed since, and a night that is run again need not be asked.
"""

from slowwave.change_log.recorder import Recorder, backfill_existing
from slowwave.change_log.replay import replayed

__all__ = ["Recorder", "backfill_existing", "replayed"]
