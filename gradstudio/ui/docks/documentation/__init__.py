"""The Documentation dock: torch's own page of an operator."""
