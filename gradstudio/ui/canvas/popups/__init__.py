"""Small widgets over the canvas.

Lists narrowed by typing, the quick search's list, the find bar, hints and quick fixes.
"""
