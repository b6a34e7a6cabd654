"""A far end that says hostile things: as the window reads it, and the porter that stands there."""
