"""Which operators usually give an argument that is no tensor its value. No Qt here."""

from typing import Final

from gradstudio.operators.families import accepts
from gradstudio.operators.model import Family, Kind, Operator, Parameter

_VALUE: Final = "python.literal"
_SIZES: Final = (
    _VALUE, "torch.Tensor.shape", "torch.Tensor.size", "torch.Tensor.size:dim", "python.tuple", "builtins.len",
)  # fmt: skip
_WHOLE: Final = (
    _VALUE, "torch.Tensor.size:dim", "builtins.len", "torch.Tensor.numel", "torch.Tensor.ndim", "builtins.int",
)  # fmt: skip
_REAL: Final = (_VALUE, "torch.Tensor.item", "builtins.float", "builtins.len", "math.sqrt")
_GIVERS: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.SHAPE: _SIZES,
    Kind.INTS: _SIZES,
    Kind.NUMBERS: (_VALUE, "python.tuple", "python.list", "torch.Tensor.tolist"),
    Kind.INT: _WHOLE,
    Kind.FLOAT: _REAL,
    Kind.NUMBER: _REAL,
    Kind.COMPLEX: _REAL,
    Kind.BOOL: (_VALUE, "builtins.bool", "torch.Tensor.requires_grad", "torch.allclose", "torch.equal"),
    Kind.DTYPE: ("torch.Tensor.dtype",),
    Kind.DEVICE: ("torch.Tensor.device",),
    Kind.TEXT: ("python.format",),
}


def usual_givers(parameter: Parameter) -> tuple[str, ...]:
    """Keys of what usually gives such a value, the likeliest first; none where a tensor is meant."""
    return _GIVERS.get(parameter.kind, ())


def can_give(operator: Operator, parameter: Parameter) -> bool:
    """Whether a person would wire a result of the operator into the parameter.

    torch takes a tensor with one element for a number; nobody looks for that where sizes and numbers are meant.
    """
    plain = parameter.kind in _GIVERS
    return any(
        not accepts(parameter, result.family) and not (plain and result.family is Family.TENSOR)
        for result in operator.results
    )
