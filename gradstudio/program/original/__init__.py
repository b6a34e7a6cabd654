"""Original: the Python text that a document was read from, kept with it, and written with what was edited."""
