"""The measure of the whole: PyTorch's own operator and module tests, drawn on a canvas, run, exported, compared."""
