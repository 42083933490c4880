"""The memory as it stood at the end of a day, rebuilt from what is kept for ever.

LanceDB's old versions are cleaned up after some days. The journal keeps every act, the decision log and the
quarantine what became of it; so the acts happen once more, in the order in which they were taken, and nothing
is decided again: each note gets the verdict and the decision that it got then. What they leave behind is cut
and embedded as :mod:`lifecycle.reconcile` does it, and searched by the same `Searcher`.

An act counts for the day that it is dated, also where the night took it in after midnight.
"""
