"""Features, network, inference and learning: the only place that knows torch."""

import os

# How often a thread of torch looks for work before it sleeps. By default it looks so long that eight engines on two
# cores made 5 to 30 evaluations a second each, with calls of 1.6 s; so it is 170, and 0.06 s at worst.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
