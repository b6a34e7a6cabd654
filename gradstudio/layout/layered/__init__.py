"""The layered layout of boxes and edges (Sugiyama).

Columns, their order, coordinates, and the packing of separate parts.
"""
