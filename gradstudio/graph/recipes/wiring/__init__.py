"""Recipes for wires.

Connecting, rewiring, muting, their dots, lists with a port per element, and nodes put into or
taken out of a wire.
"""
