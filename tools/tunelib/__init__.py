"""The parts of the tuner: what may vary, the study, the table."""
