"""A Dagster project with one asset of its own and a Slowwave memory beside it."""
