"""Programs that a user runs by hand."""
