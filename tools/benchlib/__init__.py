"""The parts of the benchmarks: how figures are measured and shown, and a file for each command."""
