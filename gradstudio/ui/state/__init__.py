"""The ui/state room."""
