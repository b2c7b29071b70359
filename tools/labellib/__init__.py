"""The parts of tools/label.py and tools/draw_games.py: teachers, what they have said so far, games that are drawn."""
