"""What stands around the document: the command palette, keys, preferences, and the person's own themes."""
