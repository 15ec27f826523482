"""What a scenario file may hold, as records: a JSON Schema for editors, and a list of the keys."""
