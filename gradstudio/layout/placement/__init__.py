"""Places among cards that stand already.

Free places, room for new cards, alignment, and a layout that keeps what it can.
"""
