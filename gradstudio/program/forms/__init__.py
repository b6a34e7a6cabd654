"""Forms: a program as the kinds of Python file that people keep."""
