"""Warehouse: one DuckDB file of small documented tables for charts and SQL.

DuckDB comes with ``slowwave[night]`` and is loaded when a warehouse is built or read.
"""

from slowwave.warehouse.building import Built, build, build_home
from slowwave.warehouse.reading import Described, QueryResult, described, query

FILE = "warehouse.duckdb"  # in the home folder

__all__ = ["FILE", "Built", "Described", "QueryResult", "build", "build_home", "described", "query"]
