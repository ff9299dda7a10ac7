"""The solver and the monitor, over the size of the graph."""
