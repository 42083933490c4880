"""Import and export of search logs and feedback.

Two forms are supported: User Behavior Insights, which search applications log, and our own JSON lines
(`docs/how-to/import-and-export-feedback.md`). An import only writes to the journal. The nightly job of those
days processes it.
"""
