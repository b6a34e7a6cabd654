"""Paints the scene with Qt: layers, frames, notes, wires, labels, the minimap and exported pictures."""
