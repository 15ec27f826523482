"""A fake BfRuntime server that validates what it is sent."""
