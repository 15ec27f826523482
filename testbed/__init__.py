"""From a scenario to a run directory: the schema, the targets, the runs, the command."""
