"""Exit codes of `narrows`."""

DONE, FAILED, WRONG, STOPPED = 0, 1, 2, 130
"""Done; a run failed or is invalid; the input is wrong; stopped by Ctrl-C or SIGTERM."""
