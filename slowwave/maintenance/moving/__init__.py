"""Moving a home: its tables and its journal to other places, and back."""
