"""For people: what use has taught, what evaluation cycles found; counts, pictures, and how they are shown."""
