"""What flows where: which families a parameter takes, and what a node of an operator binds."""

import keyword
import re
from collections.abc import Mapping

import msgspec

from gradstudio.operators.literals.parser import family_of
from gradstudio.operators.model import LIST_LIKE, Effect, Face, Family, Kind, Operator, Parameter, Result

_NUMBERS = frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.BOOL})
_TEXTS = frozenset({Kind.TEXT, Kind.DTYPE, Kind.DEVICE, Kind.LAYOUT, Kind.MEMORY_FORMAT})

_ELEMENTS = {
    Kind.SHAPE: (Kind.INT, "one size: a whole number"),
    Kind.INDEX: (Kind.INDEX, "one index: a number, a slice such as 1:3, None or ..."),
    Kind.TENSORS: (Kind.TENSOR, "one tensor"),
    Kind.VALUES: (Kind.ANY, "one value"),
    Kind.MODULES: (Kind.MODULE, "one module"),
}

_ACCEPTED: dict[Kind, frozenset[Family]] = {
    Kind.TENSOR: frozenset({Family.TENSOR}),
    Kind.TENSOR_OR_NUMBER: frozenset({Family.TENSOR, Family.NUMBER, Family.ARRAY}),
    Kind.SHAPE: frozenset({Family.TUPLE, Family.NUMBER, Family.TENSOR}),
    Kind.INTS: frozenset({Family.TUPLE, Family.NUMBER, Family.TENSOR}),
    Kind.NUMBERS: frozenset({Family.TUPLE, Family.NUMBER, Family.TENSOR}),
    Kind.GENERATOR: frozenset({Family.OBJECT}),
    Kind.INDEX: frozenset({Family.TENSOR, Family.NUMBER, Family.TEXT, Family.TUPLE, Family.ARRAY}),
    Kind.TENSORS: frozenset({Family.TUPLE, Family.TENSOR, Family.OBJECT}),
    Kind.VALUES: frozenset(Family),
    Kind.MODULES: frozenset({Family.MODULE, Family.TUPLE}),
    Kind.DATA: frozenset({Family.NUMBER, Family.TUPLE, Family.TENSOR, Family.ARRAY}),
    Kind.NAME: frozenset(),
    Kind.MODULE: frozenset({Family.MODULE}),
    Kind.OPTIMIZER: frozenset({Family.OPTIMIZER}),
    Kind.ARRAY: frozenset({Family.ARRAY}),
    Kind.OBJECT: frozenset({Family.OBJECT, Family.MODULE, Family.OPTIMIZER, Family.TUPLE, Family.TENSOR}),
    Kind.ANY: frozenset(Family),
    **dict.fromkeys(_NUMBERS, frozenset({Family.NUMBER, Family.TENSOR})),
    Kind.BOOL: frozenset({Family.NUMBER}),
    **dict.fromkeys(_TEXTS, frozenset({Family.TEXT})),
}

_KIND_WORDS: dict[Kind, str] = {
    Kind.TENSOR: "a tensor",
    Kind.NUMBER: "a number",
    Kind.TENSOR_OR_NUMBER: "a tensor or a number",
    Kind.INT: "a whole number",
    Kind.FLOAT: "a number",
    Kind.COMPLEX: "a number",
    Kind.BOOL: "True or False",
    Kind.TEXT: "a text",
    Kind.DTYPE: "a dtype",
    Kind.DEVICE: "a device",
    Kind.LAYOUT: "a layout",
    Kind.MEMORY_FORMAT: "a memory format",
    Kind.SHAPE: "a shape",
    Kind.INTS: "a whole number or several",
    Kind.NUMBERS: "a number or several",
    Kind.GENERATOR: "a random generator",
    Kind.INDEX: "an index",
    Kind.TENSORS: "tensors",
    Kind.VALUES: "values",
    Kind.MODULES: "modules",
    Kind.DATA: "numbers",
    Kind.NAME: "the name of an attribute, written down",
    Kind.MODULE: "a module",
    Kind.OPTIMIZER: "an optimizer",
    Kind.ARRAY: "a numpy array",
    Kind.OBJECT: "an object",
    Kind.ANY: "anything",
}

_FAMILY_WORDS: dict[Family, str] = {
    Family.TENSOR: "a tensor",
    Family.NUMBER: "a number",
    Family.TEXT: "a text",
    Family.TUPLE: "a tuple or list",
    Family.MODULE: "a module",
    Family.OPTIMIZER: "an optimizer",
    Family.ARRAY: "a numpy array",
    Family.OBJECT: "an object",
    Family.NONE: "None",
    Family.UNKNOWN: "something not known yet",
}


_OF_MODULES = frozenset({"params", "parameters"})
"""Names of arguments that take the parameters of a module."""


def is_list_like(parameter: Parameter) -> bool:
    """Whether the parameter may have a port per element (semantics §2)."""
    return parameter.kind in LIST_LIKE


def element_parameter(parameter: Parameter) -> Parameter:
    """What one element of a list-like parameter takes; the parameter itself when it is not list-like."""
    if parameter.kind not in _ELEMENTS:
        return parameter
    kind, hint = _ELEMENTS[parameter.kind]
    return msgspec.structs.replace(
        parameter, kind=kind, default=None, variadic=False, nullable=False, choices=(), hint=hint, element=True
    )


def takes_parameters(operator: Operator, parameter: Parameter) -> bool:
    """Whether the parameter takes all parameters of a module: ``optim.SGD(model.parameters())``."""
    return (
        parameter.kind is Kind.TENSORS
        and parameter.name in _OF_MODULES
        and operator.key.startswith(("torch.optim.", "torch.nn.utils."))
    )


def kind_words(parameter: Parameter) -> str:
    """What the parameter takes, as it stands in a sentence: "a tensor or a number"."""
    words = _KIND_WORDS[parameter.kind]
    return f"{words} or None" if parameter.nullable else words


def family_words(family: Family) -> str:
    """A family as it stands in a sentence: "a numpy array"."""
    return _FAMILY_WORDS[family]


def accepts(parameter: Parameter, family: Family) -> str:
    """Why a wire of this family may not end in the parameter; "" when it may.

    What torch itself decides when it runs (a tensor with one element as a number) is allowed.
    """
    if family in _ACCEPTED[parameter.kind] or (family is Family.UNKNOWN and parameter.kind is not Kind.NAME):
        return ""
    if family is Family.NONE and parameter.nullable:
        return ""
    way_out = _way_out(parameter, family)
    return f"'{parameter.name}' takes {kind_words(parameter)}; this is {family_words(family)}.{way_out}"


def _way_out(parameter: Parameter, family: Family) -> str:
    takes_tensor = Family.TENSOR in _ACCEPTED[parameter.kind]
    match family:
        case Family.MODULE if takes_tensor and parameter.name in _OF_MODULES:
            return " Wire one of its weights here, or all its parameters() into the list when it is empty."
        case Family.MODULE if takes_tensor:
            return " Call the module first: wire it into a call, and wire the call's result here."
        case Family.OPTIMIZER if takes_tensor:
            return " An optimizer computes no tensor: call its step after a backward."
        case Family.ARRAY if takes_tensor:
            return " Use torch.from_numpy in between."
        case Family.NUMBER if parameter.kind is Kind.TENSOR:
            return " Use torch.tensor in between."
        case Family.TUPLE if takes_tensor:
            return " Take one element of it with x[0], or join tensors with stack or cat."
        case Family.TENSOR if parameter.kind is Kind.ARRAY:
            return " Use .numpy() in between."
        case Family.TENSOR if parameter.kind in _TEXTS:
            return " Read .dtype or .device of the tensor first." if parameter.kind in (Kind.DTYPE, Kind.DEVICE) else ""
        case _:
            return ""


# Names ---------------------------------------------------------------------------------------

_SYMBOL_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "div", "%": "mod", "**": "power", "@": "y",
    "<<": "shifted", ">>": "shifted",
}  # fmt: skip
"""Of infix operators; comparisons and logic give a `mask`."""

_NAMES_OF_WORDS = {
    "x": "tensor zeros ones full empty eye rand randn randint normal zeros_like ones_like full_like empty_like "
    "rand_like randn_like randint_like as_tensor from_numpy new_zeros new_ones new_full new_empty new_tensor",
    "y": "alias call matmul mm bmm mv linear",
    "w": "Parameter",
    "steps": "arange range",
    "points": "linspace logspace",
    "value": "literal item",
    "part": "getitem",
    "data": "stored",
    "cast": "float double half bfloat16 int long bool short char byte",
    "moved": "to cpu cuda",
    "transposed": "transpose permute T mT t swapaxes",
    "fc": "Linear",
    "conv": "Conv1d Conv2d Conv3d",
    "model": "Sequential",
    "relu": "ReLU",
    "norm": "BatchNorm1d BatchNorm2d BatchNorm3d",
    "rnn": "RNN",
    "lstm": "LSTM",
    "gru": "GRU",
    "attention": "MultiheadAttention scaled_dot_product_attention",
    "array": "numpy",
    "values": "tolist",
    "pair": "tuple",
    "items": "list",
    "total": "sum",
    "largest": "max",
    "smallest": "min",
    "magnitude": "abs",
    "all_true": "all",
    "any_true": "any",
    "rounded": "round",
    "power": "pow",
    "z": "complex",
    "probabilities": "softmax",
    "log_probabilities": "log_softmax",
    "mask": "eq ne lt le gt ge",
}
_WORD_NAMES = {word: name for name, words in _NAMES_OF_WORDS.items() for word in words.split()}


def default_names(operator: Operator) -> tuple[str, ...]:
    """The names a fresh node of the operator binds, before they are made unique.

    None for what is written for its effect (`loss.backward()`, `x += 1`, `x.add_(1)`).
    """
    if binds_nothing(operator):
        return ()
    if operator.varying:
        return (_plural(_base_name(operator)),)
    if len(operator.results) > 1:
        return tuple(f"{r.name}_" if keyword.iskeyword(r.name) else r.name for r in operator.results)
    return (_base_name(operator),)


def binds_nothing(operator: Operator) -> bool:
    """Whether a node of the operator is by custom a statement without a name."""
    statement_faces = (Face.AUGMENTED, Face.SET_ITEM, Face.SET_ATTRIBUTE)
    return (
        not operator.results
        or operator.face in statement_faces
        or bool(operator.writes)
        or (Effect.MODE in operator.effects)
    )


def _base_name(operator: Operator) -> str:
    if operator.category == "Losses":
        return "loss" if operator.face is not Face.CONSTRUCTOR else "loss_function"
    if operator.results[0].family is Family.OPTIMIZER:
        return "optimizer"
    if operator.face in (Face.INFIX, Face.PREFIX):
        return _symbol_name(operator)
    word = operator.title if operator.face is Face.GROUP else operator.word
    return _WORD_NAMES.get(word) or _identifier(word)


def _symbol_name(operator: Operator) -> str:
    if operator.category == "Comparison and logic":
        return _SYMBOL_NAMES.get(operator.symbol, "mask")
    return _SYMBOL_NAMES.get(operator.symbol, "y") if operator.face is Face.INFIX else _identifier(operator.word)


def _plural(name: str) -> str:
    return name if name.endswith("s") else f"{name}s"


def _identifier(text: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower() if not text.isupper() else text
    name = re.sub(r"\W+", "_", snake).strip("_") or "y"
    return f"{name}_" if keyword.iskeyword(name) else name


def result_families(operator: Operator, names: tuple[str, ...], literals: Mapping[str, str]) -> tuple[Family, ...]:
    """What flows from each output of a node, as far as the names it binds and its literals tell."""
    if operator.varying or (len(operator.results) > 1 and len(names) == 1):
        return (Family.TUPLE,)
    if operator.face is Face.CODE:
        return (Family.UNKNOWN,) * len(names)
    if operator.face is Face.LITERAL:
        return (family_of(literals.get("value", "")),)
    if operator.face is Face.TUPLE and len(names) > 1:
        return tuple(family_of(literals.get(f"items.{k}", "")) for k in range(len(names)))
    return tuple(result.family for result in operator.results)


def call_results(constructor: Operator | None) -> tuple[Result, ...]:
    """Results of calling the module that a constructor makes; one tensor when it is not known."""
    return constructor.calls if constructor is not None and constructor.constructs else (Result(),)


def operand_family(families: list[Family]) -> Family:
    """What comes of an arithmetic operator on such values."""
    if families and all(family is Family.NUMBER for family in families):
        return Family.NUMBER
    if families[0] is Family.TEXT:
        return Family.TEXT  # "%d" % n, "-" * 20
    if Family.ARRAY in families and Family.TENSOR not in families:
        return Family.ARRAY
    if Family.TUPLE in families and Family.TENSOR not in families:
        return Family.TUPLE
    return Family.TENSOR if Family.UNKNOWN not in families or Family.TENSOR in families else Family.UNKNOWN
