"""Erasing for good what a person wants gone: from the journal, the tables and every file of the home.

`upkeep.erasure.running` has the steps; `upkeep.erasure.tables` says for every table what goes. The
journal keeps that something was erased, when, by whom and why, and none of its text.
"""

from slowwave.maintenance.erasure.model import Erased, ErasureError, Named, Plan

__all__ = ["Erased", "ErasureError", "Named", "Plan"]
