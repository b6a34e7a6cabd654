"""Literals.

What a person types into a port, parsed under limits, checked for the argument, and brought to its
normal Python form; nothing is evaluated.
"""
