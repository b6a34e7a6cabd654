"""What is told of one value.

Figures of its numbers, its picture, its record, and how torch is asked about it without changing
it.
"""
