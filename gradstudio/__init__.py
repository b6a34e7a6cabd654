"""GradStudio: draw a PyTorch computation, run it, and watch values and gradients flow.

In a script or notebook of your own: ``gradstudio.draw(loss)`` or ``gradstudio.draw(model, x)``,
``with gradstudio.record("step.gsg"):``, ``gradstudio.show(model, x)``.
"""

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["__version__", "draw", "record", "show"]  # all but the version by __getattr__; types in __init__.pyi


def __getattr__(name: str) -> object:
    """Load what a script asks for when it asks: `import gradstudio` itself stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("gradstudio.scripting"), name)
