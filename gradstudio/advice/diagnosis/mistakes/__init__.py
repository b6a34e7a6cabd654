"""Mistakes that torch runs without a word, seen in the program and in the values that are known."""
