"""Statements of a text: assignments, effects and blocks, and what loops carry and leave behind."""
