"""Recipes that put items into blocks, loops and groups, take them out again, and copy definitions."""
