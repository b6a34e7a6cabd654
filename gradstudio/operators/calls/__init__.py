"""Python calls and operators.

Which row a call means, where its arguments go, what calling a module takes, and which calls
compute the same.
"""
