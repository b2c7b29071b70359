"""The parts of the tree plotter: reading a dump, choosing nodes, layout, SVG and HTML."""
