"""Rebuild of tables from the journal, and of the journal's records from the tables."""

from slowwave.maintenance.rebuild.journal import Mended, mend_journal
from slowwave.maintenance.rebuild.running import Rebuilt, rebuild

__all__ = ["Mended", "Rebuilt", "mend_journal", "rebuild"]
