"""Work on a whole home: it is looked at, rebuilt, restored, embedded again, and something is erased."""
