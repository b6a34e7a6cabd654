"""Charts on cards: how each kind is painted."""
