"""Places for cards: the layout of a whole graph, of the inside of its blocks, and *Tidy*."""
