"""The node canvas: cards, wires, frames and notes painted in batches, edited by hand."""

from gradstudio.ui.canvas.view import CanvasView

__all__ = ["CanvasView"]
