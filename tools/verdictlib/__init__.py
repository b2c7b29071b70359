"""The parts of the verdict tool: asking engines how a finished game ends, comparing, reporting."""
