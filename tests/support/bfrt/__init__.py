"""A fake BfRuntime server that validates the messages it receives."""
