"""What finds chunks by vector and by words: LanceDB's indexes, or a snapshot of a namespace in memory."""
