"""Where a run takes place: a package per target."""
