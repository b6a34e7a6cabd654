"""GradStudio: draw a PyTorch computation, run it, and watch values and gradients flow."""

__version__ = "0.1.0"
