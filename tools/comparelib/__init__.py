"""The parts of the comparison of ways to train: the ways, their runs, the table."""
