"""The ports of an item.

Its arguments, inputs and outputs, the wires and dots at them, and where a wire may start or end.
"""
