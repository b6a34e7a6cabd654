"""Groups: their definitions, the inside of one as a graph of its own, and the ids of what is inside their calls."""
