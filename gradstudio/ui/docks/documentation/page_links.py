"""Where the words of a page lead: to another operator, or to the web. No Qt."""

import functools

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator

_PYTORCH = "https://docs.pytorch.org/docs/stable/"
_PYTHON = "https://docs.python.org/3/library/"
_ON_ONE_PAGE = {"torch.special": "special.html", "torch.nn.init": "nn.init.html"}
"""Modules whose functions stand on one page of the web site."""
_BLOCKS = {
    "torch.autocast": f"{_PYTORCH}amp.html#torch.autocast",
    "torch.inference_mode": f"{_PYTORCH}generated/torch.autograd.grad_mode.inference_mode.html",
    "torch.set_grad_enabled": f"{_PYTORCH}generated/torch.autograd.grad_mode.set_grad_enabled.html",
    "torch.autograd.set_detect_anomaly": f"{_PYTORCH}autograd.html#torch.autograd.set_detect_anomaly",
    "python.for": "https://docs.python.org/3/reference/compound_stmts.html#for",
    "python.if": "https://docs.python.org/3/reference/compound_stmts.html#if",
}


@functools.cache
def _keys() -> dict[str, str]:
    """By Python path: the first operator of it."""
    told: dict[str, str] = {}
    for operator in (*load(), *block_rows.ROWS):
        told.setdefault(operator.path.rstrip("="), operator.key)
    return told


def operator_at(path: str, home: str = "") -> str:
    """The key of the operator that a docstring means by a path; "" when the catalogue has none.

    Args:
        home: the path of the object whose docstring it is: a bare name means its neighbour.
    """
    keys, beside = _keys(), home.rpartition(".")[0]
    places = (path, f"{beside}.{path}", f"torch.{path}", f"torch.Tensor.{path}", f"torch.nn.functional.{path}")
    return next((keys[place] for place in places if place in keys), "")


def web_address(operator: Operator) -> str:
    """The page of an operator on PyTorch's or Python's own site; "" where there is none."""
    path = operator.path.rstrip("=")
    home, _, word = path.rpartition(".")
    if path in _BLOCKS:
        return _BLOCKS[path]
    if path.startswith("operator."):
        return f"{_PYTHON}operator.html#{path}"
    if path.startswith("builtins."):
        return f"{_PYTHON}functions.html#{word}"
    if not path.startswith("torch."):
        return ""
    if home in _ON_ONE_PAGE:
        return f"{_PYTORCH}{_ON_ONE_PAGE[home]}#{path}"
    if home.rpartition(".")[2][:1].isupper() and home != "torch.Tensor":  # a method of a module or an optimizer
        return f"{_PYTORCH}generated/{home}.html#{path}"
    return f"{_PYTORCH}generated/{path}.html"
