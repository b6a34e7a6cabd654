"""Programs with Python that is not drawn: whether they may run here, and what surrounds them when they do."""
