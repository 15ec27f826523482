"""Narrows from Python: what `import narrows` gives, on the same road as the `narrows` command."""
