"""The picture of a graph in numbers: what lies on the canvas, where, and how large, without Qt."""
