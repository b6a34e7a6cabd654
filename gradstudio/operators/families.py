"""What flows where: which families a parameter takes, and what a node of an operator binds."""

import keyword
import re

import msgspec

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


def is_list_like(parameter: Parameter) -> bool:
    """Whether the parameter may have a port per element (SEMANTICS 2)."""
    return parameter.kind in LIST_LIKE


def element_parameter(parameter: Parameter) -> Parameter:
    """What one element of a list-like parameter takes; the parameter itself when it is not list-like."""
    if parameter.kind not in _ELEMENTS:
        return parameter
    kind, hint = _ELEMENTS[parameter.kind]
    return msgspec.structs.replace(
        parameter, kind=kind, default=None, variadic=False, nullable=False, choices=(), hint=hint
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
    if family in _ACCEPTED[parameter.kind] or family is Family.UNKNOWN and parameter.kind is not Kind.NAME:
        return ""
    if family is Family.NONE and parameter.nullable:
        return ""
    return f"'{parameter.name}' takes {kind_words(parameter)}; this is {family_words(family)}.{_way_out(parameter, family)}"


def _way_out(parameter: Parameter, family: Family) -> str:
    takes_tensor = Family.TENSOR in _ACCEPTED[parameter.kind]
    match family:
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
    "+": "total", "-": "difference", "*": "product", "/": "quotient", "//": "quotient", "%": "remainder",
    "**": "power", "@": "product", "&": "both", "|": "either", "^": "differs", "~": "inverted",
    "<<": "shifted", ">>": "shifted", "==": "equal", "!=": "different", "<": "less", "<=": "at_most",
    ">": "greater", ">=": "at_least",
}  # fmt: skip
_WORD_NAMES = {
    "tensor": "x", "zeros": "x", "ones": "x", "full": "x", "empty": "x", "rand": "x", "randn": "x", "randint": "x",
    "zeros_like": "x", "ones_like": "x", "full_like": "x", "empty_like": "x", "rand_like": "x", "randn_like": "x",
    "as_tensor": "x", "from_numpy": "x", "stored": "data", "literal": "value", "alias": "y", "call": "y",
    "Parameter": "w", "matmul": "y", "mm": "y", "bmm": "y", "mv": "y", "linear": "y", "getitem": "part", "item": "value",
    "transpose": "transposed", "permute": "permuted", "T": "transposed", "mT": "transposed", "arange": "steps",
    "linspace": "points", "logspace": "points", "Linear": "fc", "Conv1d": "conv", "Conv2d": "conv", "Conv3d": "conv",
    "Sequential": "model", "Embedding": "embedding", "MultiheadAttention": "attention", "parameters": "parameters",
    "numpy": "array", "tolist": "values", "tuple": "pair", "list": "items", "attribute": "attribute",
    "one_hot": "target", "sum": "total", "max": "largest", "min": "smallest", "abs": "magnitude", "all": "all_true",
    "any": "any_true", "round": "rounded", "float": "cast", "double": "cast", "half": "cast", "bfloat16": "cast",
    "int": "cast", "long": "cast", "bool": "cast", "short": "cast", "char": "cast", "byte": "cast", "to": "moved",
    "cpu": "moved", "cuda": "moved", "pow": "power", "hash": "hashed", "range": "steps", "complex": "z", "softmax": "probabilities", "log_softmax": "log_probabilities", "grad": "grad",
}  # fmt: skip


def default_names(operator: Operator) -> tuple[str, ...]:
    """The names a fresh node of the operator binds, before they are made unique.

    None for what is written for its effect (`loss.backward()`, `x += 1`, `x.add_(1)`).
    """
    if binds_nothing(operator):
        return ()
    if operator.varying:
        return (_plural(_base_name(operator)),)
    if len(operator.results) > 1:
        return tuple(_identifier(result.name) for result in operator.results)
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
        return _SYMBOL_NAMES.get(operator.symbol, "y") if operator.face is Face.INFIX else "y"
    return _WORD_NAMES.get(operator.word) or _identifier(operator.word)


def _plural(name: str) -> str:
    return name if name.endswith("s") else f"{name}s"


def _identifier(text: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower() if not text.isupper() else text
    name = re.sub(r"\W+", "_", snake).strip("_") or "y"
    return f"{name}_" if keyword.iskeyword(name) else name


def call_results(constructor: Operator | None) -> tuple[Result, ...]:
    """Results of calling the module that a constructor makes; one tensor when it is not known."""
    return constructor.calls if constructor is not None and constructor.face is Face.CONSTRUCTOR else (Result(),)
