"""Printing a graph as Python.

Values, expressions, statements, definitions and comments, broken into lines as `ruff format`
breaks them.
"""
