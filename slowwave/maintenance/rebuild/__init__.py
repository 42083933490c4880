"""Making tables again from the journal, and the journal's records again from the tables."""

from slowwave.maintenance.rebuild.journal import Mended, mend_journal
from slowwave.maintenance.rebuild.running import Rebuilt, rebuild

__all__ = ["Mended", "Rebuilt", "mend_journal", "rebuild"]
