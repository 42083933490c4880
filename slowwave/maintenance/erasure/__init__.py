"""Erasure: irreversible deletion of texts from the journal, the tables and every file of the home.

`erasure.running` has the steps; `erasure.tables` says for every table what is deleted. The journal keeps that
something was erased, when, by whom and why, and none of its text.
"""

from slowwave.maintenance.erasure.model import Erased, ErasureError, Named, Plan

__all__ = ["Erased", "ErasureError", "Named", "Plan"]
