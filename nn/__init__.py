"""Features, network, inference and learning: the only place that knows torch."""

import os

# Threads of torch that wait for each other sleep. Those that look for work meanwhile, even only a thousand times, take
# the core from the thread that they wait for as soon as there are more threads than cores (tools/bench.py engine).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
