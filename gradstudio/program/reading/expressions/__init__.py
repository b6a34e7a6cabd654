"""Expressions of a text become wires, nodes and literals."""
