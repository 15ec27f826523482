"""Exit codes of `narrows`."""

DONE, FAILED, WRONG = 0, 1, 2
"""Done; a run failed or is invalid; the input is wrong."""
