"""The node canvas: cards, wires, frames and notes painted in batches, edited by hand."""
