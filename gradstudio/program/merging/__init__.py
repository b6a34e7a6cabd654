"""Merging: an edited text and the graph it was printed from, as the edits between them."""
