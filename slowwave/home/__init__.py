"""Home (data directory): its tables, journal, embedding model and policies, opened lazily."""
