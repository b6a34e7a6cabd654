"""Rewrites a syntax tree into Python that a canvas has statements for, before it is read; syntax in, syntax out."""
