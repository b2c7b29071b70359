"""Evaluating positions: planes in, policy and value out."""
