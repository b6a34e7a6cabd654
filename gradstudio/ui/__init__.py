"""The ui room."""
