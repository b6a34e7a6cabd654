"""The context managers of `with` blocks, as Python reaches them."""

_IN_AUTOGRAD = frozenset({"set_detect_anomaly", "detect_anomaly"})


def context_path(kind: str) -> str:
    """The Python path of a `with` block's context manager: ``torch.no_grad``."""
    return f"torch.autograd.{kind}" if kind in _IN_AUTOGRAD else f"torch.{kind}"
