"""One home: its tables, its journal, its model, its policies, opened when they are first needed."""
