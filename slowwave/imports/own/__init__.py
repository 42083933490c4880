"""Export of a namespace's memories with all that belongs to them, and import of it without loss."""
