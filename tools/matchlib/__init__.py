"""The parts of the match tool: processes, referee, openings, games on disk, statistics, report."""
