"""Common floor of every server of a home: callers and their rights, limits, health.

The faces (:mod:`slowwave.mcp`, :mod:`slowwave.api`, :mod:`slowwave.web`, :mod:`slowwave.adapters`) stand
side by side on it.
"""
