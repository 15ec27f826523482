"""P4Runtime: the service, its pipeline configuration, roles and streams."""
