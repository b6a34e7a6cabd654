"""The ui/panels room."""
