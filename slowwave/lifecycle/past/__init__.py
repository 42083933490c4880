"""Memories as of a past day, rebuilt from the journal and the decision log.

LanceDB's old versions are cleaned up after some days. The journal keeps every event, and decision log and
quarantine keep the outcomes. So the events apply once more in their order, and nothing is decided again:
each note gets its recorded verdict and decision. The result is cut and embedded as in
:mod:`lifecycle.reconcile`, and searched by the same `Searcher`.

An event counts for the day of its date, even if the nightly job ingested it after midnight.
"""
