"""The preferences dialog: its rows, their controls, and the page of keys."""
