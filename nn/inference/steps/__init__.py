"""A network as a table of steps that kernels go through: float32 on a CPU, without torch."""
