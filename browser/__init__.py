"""The engine in a browser: a server for the pages in static/, which knows no more of Go than what it is told."""
