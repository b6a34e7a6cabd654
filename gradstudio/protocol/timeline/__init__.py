"""The timeline of a run: what happened, in order, and what stood where at each moment."""
