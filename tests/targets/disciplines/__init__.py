"""Queue disciplines on targets in real time."""
