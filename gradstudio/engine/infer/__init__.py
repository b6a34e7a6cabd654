"""Shapes, dtypes, refusals and memory before a run, inferred by passing over the program with tensors without data."""
