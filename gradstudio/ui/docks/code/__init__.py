"""The Code dock: the Python of the canvas, typed into, merged with the graph, completed and marked."""
