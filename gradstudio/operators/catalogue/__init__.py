"""The catalogue of operators.

Its rows read from data, the block rows beside them, the `out=` variants, and what is said of each
in words.
"""
