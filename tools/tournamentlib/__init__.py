"""The parts of the tournament: who meets whom, and the page."""
