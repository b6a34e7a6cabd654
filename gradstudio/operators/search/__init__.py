"""Finding an operator.

By what a person types, by filters, by what usually comes next, and by what usually gives a value.
"""
