"""Which rows can write their results into tensors that are given: ``torch.add(x, y, out=z)``."""

import inspect

from gradstudio.operators.model import Face, Family, Operator
from tools.catalogue import signatures

_OWN_NAMES = ("torch.linalg.", "torch.special.", "torch.fft.")
_NOT = frozenset(
    {
        "torch.bernoulli:p",
        "torch.chain_matmul",
        "torch.median",
        "torch.nanmedian",
        "torch.argsort",
        "torch.linalg.matrix_exp",
    }
    | {"torch.std:unbiased", "torch.var:unbiased", "torch.where:indices", "torch.nonzero:as_tuple", "torch.prod"}
)
"""Ways of calling without ``out``, though others of the same path have it."""


def fills(row: Operator) -> bool:
    """Whether a call of the row may have ``out``."""
    plain = row.face is Face.FUNCTION and not row.varying and not row.writes and row.key not in _NOT
    if row.path.startswith("numpy."):
        return plain and "out" in inspect.signature(signatures.resolve(row.path)).parameters
    is_tensors = bool(row.results) and all(result.family is Family.TENSOR for result in row.results)
    return plain and is_tensors and _has_out(row.path)


def _has_out(path: str) -> bool:
    head, _, name = path.rpartition(".")
    if not path.startswith("torch.") or head in ("torch.nn.init", "torch.nn.utils"):
        return False
    target = signatures.resolve(path)
    if inspect.isfunction(target):
        return "out" in inspect.signature(target).parameters
    if path.startswith(_OWN_NAMES):
        return signatures.has_out_schema(path)
    return head == "torch" and any(a.name == "out" for way in signatures.stubs_of(name) for a in way.arguments)
