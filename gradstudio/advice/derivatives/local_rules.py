"""The local rule of an operator: ∂out/∂in as a formula, the gradient that leaves, and where PyTorch says so.

The source is PyTorch's own table, ``tools/autograd/derivatives.yaml`` (packed in torchgen), entry by name; rules that
it has no entry for follow by composition. Pure data: the tables are read when the first rule is asked for.
"""

import ast
import math
import operator as python_operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from gradstudio.advice.derivatives.rule_rows import Part, TableRow
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Kind, Operator

YAML = "derivatives.yaml"
BY_COMPOSITION = "by composition"
NAME = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*")


MODULE_FUNCTIONS = {
    "GELU": "gelu",
    "SiLU": "silu",
    "ReLU": "relu",
    "ReLU6": "relu6",
    "ELU": "elu",
    "SELU": "selu",
    "CELU": "celu",
    "PReLU": "prelu",
    "LeakyReLU": "leaky_relu",
    "GLU": "glu",
    "LogSigmoid": "logsigmoid",
    "LogSoftmax": "log_softmax",
    "RMSNorm": "rms_norm",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "KLDivLoss": "kl_div",
    "CrossEntropyLoss": "cross_entropy",
    "HuberLoss": "huber_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "Conv1d": "conv1d",
    "Conv2d": "conv2d",
    "Conv3d": "conv3d",
    "MaxPool1d": "max_pool1d",
    "MaxPool2d": "max_pool2d",
    "AvgPool1d": "avg_pool1d",
    "AvgPool2d": "avg_pool2d",
}
"""torch.nn classes by the function they apply, where its name is not the class's in small letters."""


class InputRule(NamedTuple):
    """How the result depends on one input.

    Attributes:
        parameter: its name in the catalogue.
        formula: "∂y/∂other = input".
        vjp: what leaves, given ``grad`` that arrives: "grad_other = grad · input, summed over broadcast dimensions".
        right: the right side of `formula`.
        python: `right` for one element, over the names `value_names` gives; "" when it is not elementwise.
    """

    parameter: str
    formula: str
    vjp: str
    right: str
    python: str


class LocalRule(NamedTuple):
    """The rule of an operator.

    Attributes:
        forward: "y = input · other".
        source: "derivatives.yaml: mul.Tensor", or "by composition".
        entry: the entry of derivatives.yaml; "" when there is none.
        names: parameter by the letter it has in `InputRule.python` (a: the first, …).
    """

    forward: str
    inputs: tuple[InputRule, ...]
    source: str
    entry: str
    names: dict[str, str]

    def input(self, parameter: str) -> InputRule | None:
        """The rule of one input by the name of its parameter or port ("tensors.1" is of "tensors")."""
        name = parameter.partition(".")[0]
        return next((rule for rule in self.inputs if rule.parameter == name), None)


def rule_of(operator: Operator) -> LocalRule | None:
    """The local rule of an operator of the catalogue, in the names of its parameters; None when none is known."""
    row = table().get(operator.key)
    return None if row is None else _spelt(row, tuple(parameter.name for parameter in operator.parameters))


def rule_of_autograd(autograd: str) -> LocalRule | None:
    """The rule of an autograd node by its class ("MulBackward0": that of torch.mul); None when none is known."""
    word = word_of_autograd(autograd)
    keys = (f"torch.{word}", f"torch.Tensor.{word}", f"torch.nn.functional.{word}")
    return next((rule for key in keys if key in load() and (rule := rule_of(load()[key])) is not None), None)


def word_of_autograd(autograd: str) -> str:
    """The operator's word in torch: ``LinalgVectorNormBackward0`` -> ``linalg_vector_norm``; "" for other nodes."""
    name, behind, _ = autograd.partition("Backward")
    if not behind:
        return ""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name).lstrip("_")


def key_of_module(class_name: str) -> str:
    """The function that a module's call applies: ``torch.nn.functional.linear`` of "Linear"; "" when it is none."""
    bare = re.sub(r"(?<=Norm)[123]d$", "", class_name)
    name = MODULE_FUNCTIONS.get(bare) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
    key = f"torch.nn.functional.{name}"
    return key if key in table() else ""


@cache
def table() -> dict[str, TableRow]:
    """Every row by each of its catalogue keys (some of them are of operators the catalogue does not have)."""
    from gradstudio.advice.derivatives import elementwise, products, reductions, shape_operators

    rows = (*elementwise.ROWS, *reductions.ROWS, *products.ROWS, *shape_operators.ROWS)
    found = {key: row for row in rows for word in row.keys.split() for key in _keys(word)}
    return {key: row for key, row in found.items() if not _counts_reductions(key)}


def value_at(python: str, values: Mapping[str, float]) -> float | None:
    """The number an elementwise rule gives for these operands; None when one is not known or it has no value."""
    try:
        return _number(ast.parse(python, mode="eval").body, values)
    except (KeyError, ArithmeticError, ValueError, TypeError):
        return None


def fill_in(rule: InputRule, values: Mapping[str, str]) -> str:
    """The right side with numbers in the place of names ("2 · 3"); values: text by parameter, and of ``y``."""
    return fill_text(rule.right, values)


def fill_text(formula: str, values: Mapping[str, str]) -> str:
    """Any formula with numbers in the place of names: "grad · b" is "16 · 3"."""

    def text(found: re.Match[str]) -> str:
        value = values.get(found[0])
        if value is None:
            return found[0]
        return f"({value})" if value.startswith(("-", "−")) and formula != found[0] else value

    return NAME.sub(text, formula)


def names_in(formula: str) -> frozenset[str]:
    """The names that a formula speaks of, functions among them."""
    return frozenset(NAME.findall(formula))


# ------------------------------------------------------------------ inner workings


def _counts_reductions(key: str) -> bool:
    """Whether the row is the inner form of a loss (`torch.kl_div`), whose reduction is a number."""
    operator = load().get(key)
    reduction = operator.parameter("reduction") if operator is not None else None
    return reduction is not None and reduction.kind is Kind.INT


def _keys(word: str) -> Iterator[str]:
    if "." in word:
        yield word
        return
    yield from (f"torch.{word}", f"torch.Tensor.{word}", f"torch.Tensor.{word}_", f"torch.nn.functional.{word}")


def _spelt(row: TableRow, parameters: tuple[str, ...]) -> LocalRule:
    names = dict(zip("abcd", parameters, strict=False))
    source = f"{YAML}: {row.source}" if row.source else BY_COMPOSITION
    inputs = tuple(_input(part, names) for part in row.parts if _name(part.parameter, names) in parameters)
    return LocalRule(_named(row.forward, names), inputs, source, row.source, names)


def _input(part: Part, names: dict[str, str]) -> InputRule:
    parameter, right = _name(part.parameter, names), _named(part.formula, names)
    formula = right if right.startswith("∂") else f"∂y/∂{parameter} = {right}"
    return InputRule(parameter, formula, f"grad_{parameter} = {_named(part.vjp, names)}", right, part.python)


def _name(marked: str, names: dict[str, str]) -> str:
    return names.get(marked[1:], marked[1:])


def _named(text: str, names: dict[str, str]) -> str:
    """The text with the operator's own names; a name of more than a letter is set off from an index behind it."""
    return re.sub(r"\$([A-Za-z_]+)", lambda found: names.get(found[1], found[1]), text)


FUNCTIONS: dict[str, Callable[..., float]] = {
    **{
        name: getattr(math, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf")
    },
    "floor": math.floor,
    "trunc": math.trunc,
    "abs": abs,
    "sign": lambda x: math.copysign(1.0, x) if x else 0.0,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0,
    "where": lambda condition, yes, no: yes if condition else no,
}
"""What may be called in `InputRule.python`, for plain numbers."""

_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: python_operator.add,
    ast.Sub: python_operator.sub,
    ast.Mult: python_operator.mul,
    ast.Div: python_operator.truediv,
    ast.Pow: python_operator.pow,
    ast.USub: python_operator.neg,
    ast.Lt: python_operator.lt,
    ast.Gt: python_operator.gt,
    ast.LtE: python_operator.le,
    ast.GtE: python_operator.ge,
    ast.Eq: python_operator.eq,
}


def _number(node: ast.expr, values: Mapping[str, float]) -> float:
    """The value of an expression of the tables; nothing but arithmetic is understood.

    Raises:
        KeyError: a name or a function is not known.
    """
    match node:
        case ast.Constant(value=float() | int() as value):
            return value
        case ast.Name(id="pi"):
            return math.pi
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_number(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_number(left, values), _number(right, values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _OPERATORS[type(op)](_number(left, values), _number(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_number(argument, values) for argument in arguments))
        case _:
            raise KeyError(ast.dump(node))
