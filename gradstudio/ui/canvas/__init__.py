"""The ui/canvas room."""
