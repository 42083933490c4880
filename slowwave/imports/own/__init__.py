"""Export and lossless import of a namespace's memories."""
