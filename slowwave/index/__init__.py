"""The read model: what searches and saves keep in memory of the tables, always as new as they are."""
