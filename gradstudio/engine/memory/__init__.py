"""Memory.

Sampled while a program runs, attributed to nodes, estimated beforehand, and refused before an
allocation that cannot succeed.
"""
