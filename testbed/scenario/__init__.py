"""From a scenario file to the engine's plan."""
