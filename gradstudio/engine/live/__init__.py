"""The one live state.

Its names, where the program stands in them, how it begins, whether an edit leaves it valid, and
what is read off it.
"""
