"""What gestures and commands work out from the scene.

Edits that make room, what is dragged together, guides, and what the search suggests.
"""
