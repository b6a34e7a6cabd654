"""How mathematics writes torch's operators: signs between operands, short names of functions, fences. No Qt.

The key is the last word of an operator's path, which ``torch.add``, ``torch.Tensor.add`` and ``operator.add`` share; a
new row is all that a new spelling takes.
"""

from typing import Final, NamedTuple

COMPARE, SUM, PRODUCT, SIGN, POWER, ATOM = range(6)
"""How tightly a formula holds together: a looser one gets brackets within a tighter one."""


class Sign(NamedTuple):
    """What stands between two operands, and how tightly it binds."""

    text: str
    precedence: int


INFIX: Final = {
    "add": Sign(" + ", SUM),
    "sub": Sign(" − ", SUM),
    "mul": Sign(" · ", PRODUCT),
    "multiply": Sign(" · ", PRODUCT),
    "matmul": Sign(" ", PRODUCT),
    "mm": Sign(" ", PRODUCT),
    "mv": Sign(" ", PRODUCT),
    "bmm": Sign(" ", PRODUCT),
    "dot": Sign(" · ", PRODUCT),
    "div": Sign(" / ", PRODUCT),
    "truediv": Sign(" / ", PRODUCT),
    "mod": Sign(" mod ", PRODUCT),
    "eq": Sign(" = ", COMPARE),
    "ne": Sign(" ≠ ", COMPARE),
    "lt": Sign(" < ", COMPARE),
    "le": Sign(" ≤ ", COMPARE),
    "gt": Sign(" > ", COMPARE),
    "ge": Sign(" ≥ ", COMPARE),
    "and_": Sign(" ∧ ", COMPARE),
    "or_": Sign(" ∨ ", COMPARE),
}
IN_PLACE: Final = {"iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "imatmul": "matmul"}
"""``a -= b`` is written a ← a − b."""
WRITTEN_IN_PLACE: Final = {"add_": "add", "sub_": "sub", "mul_": "mul", "div_": "div"}

NAMES: Final = {
    "relu": "ReLU",
    "sigmoid": "σ",
    "gelu": "GELU",
    "silu": "SiLU",
    "elu": "ELU",
    "leaky_relu": "LeakyReLU",
    "log_softmax": "log softmax",
    "logsigmoid": "log σ",
    "mse_loss": "MSE",
    "l1_loss": "MAE",
    "smooth_l1_loss": "Huber",
    "huber_loss": "Huber",
    "cross_entropy": "CE",
    "nll_loss": "NLL",
    "binary_cross_entropy": "BCE",
    "binary_cross_entropy_with_logits": "BCE",
    "kl_div": "KL",
    "layer_norm": "LN",
    "batch_norm": "BN",
    "scaled_dot_product_attention": "Attention",
    "max_pool2d": "maxpool",
    "avg_pool2d": "avgpool",
    "conv1d": "conv",
    "conv2d": "conv",
    "conv3d": "conv",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "detach": "sg",
}
"""Short names of functions; ``sg`` is the usual stop-gradient. Any other function has its own name."""
PASSING: Final = frozenset(
    {"float", "double", "half", "long", "int", "to", "cpu", "cuda", "contiguous", "clone", "item", "requires_grad_"}
)
"""What changes no number: the operand stands for the result."""
TRANSPOSING: Final = frozenset({"T", "mT", "t", "H", "mH", "adjoint"})
SWAPPING: Final = frozenset({"transpose", "swapaxes", "swapdims"})
"""What exchanges two dimensions: of the last two it is the transpose."""
COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
"""A name of one is written with Iverson's brackets: mask = [x > 0]."""
FENCES: Final = {"abs": ("|", "|"), "norm": ("‖", "‖"), "floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}
POWERS: Final = {"square": "2", "reciprocal": "−1"}
BIG: Final = {"sum": "Σ", "prod": "Π"}
