"""The columns of queue disciplines."""
