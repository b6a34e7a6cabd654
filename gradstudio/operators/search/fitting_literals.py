"""What a fresh operator begins with, where it is known what it is wired to: sizes of layers, targets of losses. No Qt.

Sizes are those of torch's own pages: the dimension of the input that each layer calls its features or channels.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gradstudio.operators.literals.parser import LiteralError, value_of

Shape = tuple[int, ...]

_LAYERS: Final[dict[str, tuple[str, int]]] = {
    "torch.nn.Linear": ("in_features", -1),
    "torch.nn.RNN": ("input_size", -1),
    "torch.nn.LSTM": ("input_size", -1),
    "torch.nn.GRU": ("input_size", -1),
    "torch.nn.RNNCell": ("input_size", -1),
    "torch.nn.LSTMCell": ("input_size", -1),
    "torch.nn.GRUCell": ("input_size", -1),
    "torch.nn.LayerNorm": ("normalized_shape", -1),
    "torch.nn.RMSNorm": ("normalized_shape", -1),
    "torch.nn.MultiheadAttention": ("embed_dim", -1),
    "torch.nn.TransformerEncoderLayer": ("d_model", -1),
    "torch.nn.TransformerDecoderLayer": ("d_model", -1),
    "torch.nn.Conv1d": ("in_channels", -2),
    "torch.nn.Conv2d": ("in_channels", -3),
    "torch.nn.Conv3d": ("in_channels", -4),
    "torch.nn.ConvTranspose1d": ("in_channels", -2),
    "torch.nn.ConvTranspose2d": ("in_channels", -3),
    "torch.nn.ConvTranspose3d": ("in_channels", -4),
    "torch.nn.BatchNorm1d": ("num_features", 1),
    "torch.nn.BatchNorm2d": ("num_features", 1),
    "torch.nn.BatchNorm3d": ("num_features", 1),
    "torch.nn.InstanceNorm1d": ("num_features", -2),
    "torch.nn.InstanceNorm2d": ("num_features", -3),
    "torch.nn.InstanceNorm3d": ("num_features", -4),
    "torch.nn.GroupNorm": ("num_channels", 1),
}
"""Which argument of a layer is which dimension of its input."""
_CLASSES: Final = frozenset({"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"})
_SHARES: Final = frozenset(
    {"torch.nn.functional.binary_cross_entropy", "torch.nn.functional.binary_cross_entropy_with_logits"}
)
_NUMBERS: Final = frozenset(
    {
        "torch.nn.functional.mse_loss",
        "torch.nn.functional.l1_loss",
        "torch.nn.functional.smooth_l1_loss",
        "torch.nn.functional.huber_loss",
    }
)
_SIZED: Final = frozenset(f"torch.{name}" for name in ("randn", "rand", "randint", "zeros", "ones", "empty", "full"))
"""What makes a tensor of the size that is written in it."""
TARGET: Final = "target"
_LINEAR: Final = "torch.nn.Linear"
MANY_FEATURES: Final = 64
HIDDEN_WIDTH: Final = "32"
"""What a linear layer makes of so many features: few enough to look at, enough to tell handwritten digits apart."""


class Giver(NamedTuple):
    """What usually gives an input its value: an operator's key, what it gives in a few words, and its literals."""

    key: str
    words: str
    literals: dict[str, str]


def creation_shape(key: str, literals: Mapping[str, str]) -> Shape | None:
    """The shape that is written in what makes a tensor, if it is; a size or data of another form is left to torch."""
    if key in _SIZED:
        size = _value(literals.get("size", ""))
        size = (size,) if isinstance(size, int) else size
        if isinstance(size, tuple | list) and all(type(one) is int and one >= 0 for one in size):
            return tuple(size)
        return None
    return _nesting(_value(literals.get("data", ""))) if key == "torch.tensor" else None


def _value(text: str) -> object:
    """What a literal says; None where it is empty, or only torch or Python knows."""
    try:
        return value_of(text) if text else None
    except LiteralError:
        return None


def _nesting(data: object) -> Shape | None:
    """The lengths of nested lists of numbers, from the outside; None where they differ."""
    if isinstance(data, int | float):
        return ()
    if not isinstance(data, tuple | list):
        return None
    inner = {_nesting(one) for one in data}
    if len(inner) > 1 or None in inner:
        return None
    return (len(data), *(next(iter(inner)) or ())) if inner else (0,)


def layer_size(key: str, shape: Shape) -> tuple[str, str] | None:
    """The argument of a layer that follows from the shape it is given, and its literal; None: there is none."""
    found = _LAYERS.get(key)
    if found is None:
        return None
    argument, dimension = found
    is_there = -len(shape) <= dimension < len(shape)
    return (argument, str(shape[dimension])) if is_there else None


def layer_literals(key: str, shape: Shape) -> dict[str, str]:
    """The literals of a layer that follow from the shape it is given; none where nothing does."""
    size = layer_size(key, shape)
    if size is None:
        return {}
    found = dict([size])
    if key == _LINEAR and shape[-1] >= MANY_FEATURES:
        found["out_features"] = HIDDEN_WIDTH
    return found


def target_givers(key: str, path: str, shape: Shape | None) -> tuple[Giver, ...]:
    """What a loss may be compared with, the likeliest first; `shape` is that of its first input, if it is known."""
    if path != TARGET:
        return ()
    size = {"size": _literal(shape)} if shape is not None else {}
    if key in _CLASSES:
        classes = (
            {"high": str(shape[_class_dimension(shape)]), "size": _literal(_without_classes(shape))} if shape else {}
        )
        return (Giver("torch.randint", "class indices", classes),)
    if key in _SHARES:
        return (
            Giver("torch.rand", "shares between 0 and 1", size),
            Giver("torch.randint", "0 or 1", {**size, "high": "2", "dtype": "torch.float32"}),
        )
    return (Giver("torch.randn", "numbers", size),) if key in _NUMBERS else ()


def _class_dimension(shape: Shape) -> int:
    """Which dimension counts the classes: the only one, else the second."""
    return min(1, len(shape) - 1)


def _without_classes(shape: Shape) -> Shape:
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def _literal(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
