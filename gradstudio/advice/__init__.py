"""Explanations and fixes: pure rows of data and functions over records. No Qt, no torch."""
