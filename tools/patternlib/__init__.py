"""Learning what moves weigh: the parts of tools/learn_patterns.py."""
