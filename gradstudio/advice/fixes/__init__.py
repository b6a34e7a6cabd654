"""Fixes as edits: the makers of each kind, by the subject of the error."""
