"""What an editor offers for an argument: the literals to choose from, and what each of them does. No Qt."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gradstudio.operators.model import Kind, Parameter

DOCUMENT_DEVICE = "device"
DIMENSIONS = frozenset({"dim", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "start_dim", "end_dim", "dimension"})
"""Whole numbers that count the dimensions of the tensor they go with."""


class LiteralChoice(NamedTuple):
    """One choice.

    Attributes:
        shown: what stands in the list.
        text: the literal; "" takes torch's default, so that nothing is printed.
        words: what it does, in a few words.
        group: the heading it stands under.
    """

    shown: str
    text: str
    words: str = ""
    group: str = ""


DTYPES: tuple[LiteralChoice, ...] = (
    LiteralChoice("torch.float32", "torch.float32", "torch's default", "floating point"),
    LiteralChoice("torch.float64", "torch.float64", "double precision", "floating point"),
    LiteralChoice("torch.float16", "torch.float16", "half: 3 digits, up to 65504", "floating point"),
    LiteralChoice("torch.bfloat16", "torch.bfloat16", "2 digits, range of float32", "floating point"),
    LiteralChoice("torch.int64", "torch.int64", "indices and labels", "integer"),
    LiteralChoice("torch.int32", "torch.int32", "±2.1 · 10⁹", "integer"),
    LiteralChoice("torch.int16", "torch.int16", "±32767", "integer"),
    LiteralChoice("torch.int8", "torch.int8", "-128 … 127", "integer"),
    LiteralChoice("torch.uint8", "torch.uint8", "0 … 255", "integer"),
    LiteralChoice("torch.bool", "torch.bool", "True or False", "boolean"),
    LiteralChoice("torch.complex64", "torch.complex64", "two float32", "complex"),
    LiteralChoice("torch.complex128", "torch.complex128", "two float64", "complex"),
)
_LAYOUTS = (
    LiteralChoice("torch.strided", "torch.strided", "every element is stored"),
    LiteralChoice("torch.sparse_coo", "torch.sparse_coo", "positions and values"),
    LiteralChoice("torch.sparse_csr", "torch.sparse_csr", "compressed rows"),
    LiteralChoice("torch.sparse_csc", "torch.sparse_csc", "compressed columns"),
)
_MEMORY_FORMATS = (
    LiteralChoice("torch.contiguous_format", "torch.contiguous_format", "row after row"),
    LiteralChoice("torch.channels_last", "torch.channels_last", "NHWC, for images"),
    LiteralChoice("torch.channels_last_3d", "torch.channels_last_3d", "NDHWC, for volumes"),
    LiteralChoice("torch.preserve_format", "torch.preserve_format", "as the input has it"),
)
_BOOLS = (LiteralChoice("True", "True"), LiteralChoice("False", "False"))

_WORDS: dict[tuple[str, str], str] = {
    ("reduction", "mean"): "one number: the average",
    ("reduction", "sum"): "one number: the sum",
    ("reduction", "none"): "a loss for each element",
    ("reduction", "batchmean"): "the sum, divided by the batch",
    ("mode", "mean"): "the average",
    ("mode", "sum"): "the sum",
    ("mode", "max"): "the largest",
    ("mode", "constant"): "with a fixed value",
    ("mode", "reflect"): "mirrored, without the edge",
    ("mode", "replicate"): "the edge repeated",
    ("mode", "circular"): "from the other end",
    ("mode", "nearest"): "the nearest value",
    ("mode", "nearest-exact"): "the nearest value, as images do",
    ("mode", "linear"): "between 2 values (3-D input)",
    ("mode", "bilinear"): "between 4 values (4-D input)",
    ("mode", "bicubic"): "a smooth curve through 16 values",
    ("mode", "trilinear"): "between 8 values (5-D input)",
    ("mode", "area"): "the average of an area",
    ("mode", "fan_in"): "keeps the size going forward",
    ("mode", "fan_out"): "keeps the size of gradients",
    ("mode", "reduced"): "Q has as many columns as needed",
    ("mode", "complete"): "Q is square",
    ("mode", "r"): "only R",
    ("mode", "min"): "improves by falling",
    ("padding_mode", "zeros"): "with 0",
    ("padding_mode", "border"): "the edge repeated",
    ("padding_mode", "reflection"): "mirrored",
    ("padding_mode", "reflect"): "mirrored, without the edge",
    ("padding_mode", "replicate"): "the edge repeated",
    ("padding_mode", "circular"): "from the other end",
    ("padding", "same"): "as many as keep the size",
    ("padding", "valid"): "none",
    ("rounding_mode", "trunc"): "towards zero",
    ("rounding_mode", "floor"): "down, as // does",
    ("indexing", "ij"): "rows first, as in matrices",
    ("indexing", "xy"): "x first, as in plots",
    ("interpolation", "linear"): "between the two values",
    ("interpolation", "lower"): "the smaller value",
    ("interpolation", "higher"): "the larger value",
    ("interpolation", "nearest"): "the nearer value",
    ("interpolation", "midpoint"): "half way",
    ("UPLO", "L"): "reads the lower triangle",
    ("UPLO", "U"): "reads the upper triangle",
    ("approximate", "none"): "exact, with erf",
    ("approximate", "tanh"): "faster, by tanh",
    ("nonlinearity", "tanh"): "squashes to -1 … 1",
    ("nonlinearity", "relu"): "cuts below 0",
    ("activation", "relu"): "cuts below 0",
    ("activation", "gelu"): "smooth relu",
    ("reduce", "sum"): "adds",
    ("reduce", "prod"): "multiplies",
    ("reduce", "mean"): "the average",
    ("reduce", "amax"): "the largest",
    ("reduce", "amin"): "the smallest",
    ("norm", "backward"): "divides by n in the inverse",
    ("norm", "forward"): "divides by n going forward",
    ("norm", "ortho"): "divides by √n both ways",
    ("ord", "fro"): "root of the sum of squares",
    ("ord", "nuc"): "sum of the singular values",
    ("p", "fro"): "root of the sum of squares",
    ("p", "nuc"): "sum of the singular values",
    ("side", "left"): "before equal values",
    ("side", "right"): "behind equal values",
}


def choices_for(
    parameter: Parameter,
    *,
    required: bool,
    current: str = "",
    devices: Sequence[str] = (),
    document_device: str = "",
    sizes: Sequence[int] | None = None,
) -> tuple[LiteralChoice, ...]:
    """Every choice; empty where there is nothing to choose from.

    Args:
        parameter: the argument.
        required: it has no default.
        current: the literal that stands there now: it is always among the choices.
        devices: those of the engine.
        document_device: what the document's device is now.
        sizes: of the tensor whose dimensions the argument counts, when they are known.
    """
    found = list(_of_kind(parameter, devices, document_device, sizes))
    if not found:
        return ()
    default = parameter.default
    texts = [offer.text for offer in found]
    if parameter.nullable and default != "None" and "None" not in texts:
        found.append(LiteralChoice("None", "None"))
    first = () if required else (LiteralChoice(_short(default or "None"), "", "torch's default"),)
    rows = [*first, *[offer for offer in found if required or offer.text != default]]
    if current and current not in [offer.text for offer in rows]:
        rows.append(LiteralChoice(_short(current), current))
    return tuple(rows)


def is_closed(parameter: Parameter) -> bool:
    """Whether nothing but the offered choices is taken."""
    if parameter.choices:
        return parameter.kind is Kind.TEXT
    return parameter.kind is Kind.BOOL


def _of_kind(
    parameter: Parameter, devices: Sequence[str], document_device: str, sizes: Sequence[int] | None
) -> Iterable[LiteralChoice]:
    if parameter.choices:
        return (LiteralChoice(text.strip("\"'"), text, _words(parameter.name, text)) for text in parameter.choices)
    match parameter.kind:
        case Kind.BOOL:
            return _BOOLS
        case Kind.DTYPE:
            return _SHORT_DTYPES
        case Kind.LAYOUT:
            return _SHORT_LAYOUTS
        case Kind.MEMORY_FORMAT:
            return _SHORT_MEMORY_FORMATS
        case Kind.DEVICE:
            own = (
                (LiteralChoice("document", DOCUMENT_DEVICE, f"as the document: {document_device}"),)
                if parameter.name == "device"
                else ()
            )
            return (*own, *(LiteralChoice(name, f'"{name}"') for name in dict.fromkeys(("cpu", *devices))))
        case Kind.INT | Kind.INTS if sizes and parameter.name in DIMENSIONS:
            return _dimensions(sizes)
        case _:
            return ()


def _dimensions(sizes: Sequence[int]) -> Iterable[LiteralChoice]:
    for k, size in enumerate(sizes):
        last = ", the last" if k == len(sizes) - 1 else ""
        yield LiteralChoice(str(k), str(k), f"size {size}{last}")
    for k, size in enumerate(sizes):
        yield LiteralChoice(
            str(k - len(sizes)), str(k - len(sizes)), f"the same as {k} (size {size})", "counted from the end"
        )


def _words(name: str, choice: str) -> str:
    return _WORDS.get((name, choice.strip("\"'")), "")


def _short(literal: str) -> str:
    """``float32`` for ``torch.float32``, ``mean`` for ``"mean"``."""
    text = literal.removeprefix("torch.")
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text


def _named_shortly(offers: tuple[LiteralChoice, ...]) -> tuple[LiteralChoice, ...]:
    return tuple(offer._replace(shown=_short(offer.shown)) for offer in offers)


_SHORT_DTYPES = _named_shortly(DTYPES)
_SHORT_LAYOUTS = _named_shortly(_LAYOUTS)
_SHORT_MEMORY_FORMATS = _named_shortly(_MEMORY_FORMATS)
