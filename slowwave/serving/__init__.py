"""Common layer of all servers of a home: callers, rights, limits, health.

:mod:`slowwave.mcp`, :mod:`slowwave.api`, :mod:`slowwave.web` and :mod:`slowwave.adapters` are built on it.
"""
