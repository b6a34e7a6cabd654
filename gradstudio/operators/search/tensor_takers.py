"""Which operators a tensor is naturally wired into, and which refuse its shape. No Qt.

The shapes are those of torch's own pages, for what has one rule; of the others nothing is said.
"""

from typing import Final

from gradstudio.operators.model import Family, Kind, Operator
from gradstudio.operators.search.fitting_literals import Shape

_TAKING: Final = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.VALUES, Kind.ANY, Kind.TENSOR_OR_NUMBER})
_MAKING: Final = frozenset({"Creation", "Random"})
"""Categories whose numbers may be tensors, and seldom are."""
_DIMENSIONS: Final[dict[str, tuple[int, int]]] = {
    **dict.fromkeys(("dot", "vdot", "outer", "ger"), (1, 1)),
    "diag": (1, 2),
    "t": (0, 2),
    **dict.fromkeys(("mm", "mv", "trace"), (2, 2)),
    "bmm": (3, 3),
    **dict.fromkeys(
        ("conv1d", "Conv1d", "ConvTranspose1d", "conv_transpose1d", "max_pool1d", "MaxPool1d", "AvgPool1d"), (2, 3)
    ),
    **dict.fromkeys(
        ("conv2d", "Conv2d", "ConvTranspose2d", "conv_transpose2d", "max_pool2d", "MaxPool2d", "AvgPool2d"), (3, 4)
    ),
    **dict.fromkeys(
        ("conv3d", "Conv3d", "ConvTranspose3d", "conv_transpose3d", "max_pool3d", "MaxPool3d", "AvgPool3d"), (4, 5)
    ),
    "CrossMapLRN2d": (4, 4),
    "BatchNorm1d": (2, 3),
    "BatchNorm2d": (4, 4),
    "BatchNorm3d": (5, 5),
}
"""How many dimensions the first input has at least and at most."""
_SQUARE: Final = frozenset(
    "det logdet slogdet inv inv_ex inverse "
    "cholesky cholesky_ex eig eigh eigvals eigvalsh matrix_exp matrix_power".split()
)
"""What takes square matrices."""


def takes_tensor(operator: Operator) -> bool:
    """Whether a tensor is what its first input takes by nature: of `linspace` it is a number."""
    if operator.results and operator.results[0].family is Family.MODULE:
        return True
    first = operator.parameters[0].kind if operator.parameters else None
    return first is Kind.TENSOR or (first in _TAKING and operator.category not in _MAKING)


def refuses(operator: Operator, shape: Shape) -> bool:
    """Whether the operator, with its other arguments as they begin, refuses a first input of this shape."""
    if operator.word == "cross":
        return 3 not in (shape if operator.key in ("torch.cross", "torch.Tensor.cross") else shape[-1:])
    if not operator.key.startswith("torch."):
        return False
    if operator.word in _SQUARE:
        return len(shape) < 2 or shape[-1] != shape[-2]
    least, most = _DIMENSIONS.get(operator.word, (0, len(shape)))
    return not least <= len(shape) <= most
