"""The numbers of a tensor in the inspector: a page with its facts, and a table."""
