"""From torch's annotations and argument names to the kinds of the catalogue, with hints and choices."""

import re

from gradstudio.operators.model import Kind

_TYPES = {
    "Tensor": Kind.TENSOR, "Number": Kind.NUMBER, "number": Kind.NUMBER, "_int": Kind.INT, "int": Kind.INT,
    "SymInt": Kind.INT, "_float": Kind.FLOAT, "float": Kind.FLOAT, "_bool": Kind.BOOL, "bool": Kind.BOOL,
    "_complex": Kind.COMPLEX, "complex": Kind.COMPLEX, "str": Kind.TEXT, "_dtype": Kind.DTYPE, "dtype": Kind.DTYPE,
    "DeviceLikeType": Kind.DEVICE, "device": Kind.DEVICE, "Device": Kind.DEVICE, "_layout": Kind.LAYOUT,
    "memory_format": Kind.MEMORY_FORMAT, "_size": Kind.INTS, "Size": Kind.INTS, "Any": Kind.ANY,
    "MemoryFormat": Kind.MEMORY_FORMAT, "Layout": Kind.LAYOUT, "Generator": Kind.GENERATOR,
    "Scalar": Kind.NUMBER, "ScalarType": Kind.DTYPE, "Module": Kind.MODULE, "Optimizer": Kind.OPTIMIZER,
    "IntLikeType": Kind.INT, "layout": Kind.LAYOUT, "DimOrDims": Kind.INTS, "DType": Kind.DTYPE,
    "LRScheduler": Kind.OBJECT, "PackedSequence": Kind.OBJECT,
}  # fmt: skip

SHAPE_NAMES = frozenset({"size", "shape", "sizes", "normalized_shape", "unflattened_size", "repeats"})

KIND_BY_NAME = {
    "dtype": Kind.DTYPE, "device": Kind.DEVICE, "dim": Kind.INTS, "dims": Kind.INTS, "tensors": Kind.TENSORS,
    "requires_grad": Kind.BOOL, "keepdim": Kind.BOOL, "input": Kind.TENSOR, "target": Kind.TENSOR,
    "weight": Kind.TENSOR, "bias": Kind.TENSOR, "size": Kind.SHAPE, "params": Kind.TENSORS, "ord": Kind.ANY,
    "self": Kind.TENSOR, "other": Kind.TENSOR, "tensor": Kind.TENSOR, "module": Kind.MODULE, "sorted": Kind.BOOL,
    "inplace": Kind.BOOL, "optimizer": Kind.OPTIMIZER, "layout": Kind.LAYOUT, "generator": Kind.GENERATOR,
    "return_inverse": Kind.BOOL, "return_counts": Kind.BOOL, "split_size": Kind.INTS, "sizes": Kind.SHAPE,
    "memory_format": Kind.MEMORY_FORMAT, "mask": Kind.TENSOR,
}  # fmt: skip

DROPPED = frozenset(
    "out names pin_memory size_average _stacklevel _weight _freeze is_grads_batched only_inputs".split()
)
"""Arguments left out: what writes into another tensor or is torch's own.
What follows one of them by position can be given by keyword only."""

OUTDATED = frozenset({"reduce"})
"""Left out too where it is the old flag of a loss, no text."""

CHOICES = {
    "reduction": ("'mean'", "'sum'", "'none'"),
    "padding_mode": ("'zeros'", "'reflect'", "'replicate'", "'circular'"),
    "approximate": ("'none'", "'tanh'"),
    "nonlinearity": ("'tanh'", "'relu'"),
    "indexing": ("'ij'", "'xy'"),
    "rounding_mode": ("'trunc'", "'floor'"),
}

HINTS = {
    "input": "the tensor to work on",
    "self": "the tensor to work on",
    "other": "what to combine it with",
    "dim": "along which dimension; 0 is the first, -1 the last",
    "keepdim": "True keeps the reduced dimension with size 1",
    "dtype": "torch.float32, torch.int64, …; empty: torch chooses",
    "device": "where the result lives: cpu, cuda, cuda:0, mps",
    "requires_grad": "True records gradients for this tensor",
    "size": "the sizes, such as (2, 3)",
    "shape": "the sizes, such as (2, 3); -1 is worked out",
    "reduction": "mean, sum, or none to keep one loss for each element",
    "inplace": "True overwrites the input",
    "target": "what the result should be",
    "weight": "the weight tensor",
    "bias": "the bias tensor; empty for none",
    "eps": "a small number that keeps the division safe",
    "p": "a number",
    "memory_format": "torch.contiguous_format, torch.channels_last, torch.preserve_format",
    "lr": "the learning rate",
    "params": "the tensors to learn: one each, or model.parameters()",
    "momentum": "how much of the last step is kept",
    "weight_decay": "how strongly weights are pulled to zero",
    "retain_graph": "True keeps the graph for another backward",
    "create_graph": "True lets gradients be differentiated again",
    "alpha": "a factor for the second argument",
    "in_features": "size of each input row",
    "out_features": "size of each output row",
    "kernel_size": "size of the window",
    "stride": "how far the window moves",
    "padding": "how much is added at each border",
    "dilation": "the spacing inside the window",
    "groups": "in how many groups channels are split",
    "num_classes": "how many classes; -1 works it out",
    "k": "how many",
    "index": "positions to pick, or the expression between [ and ]",
    "fill_value": "the number to fill with",
    "gradient": "the gradient of this tensor; empty for a loss with one number",
}


def kind_of(name: str, annotation: str) -> tuple[Kind, bool]:
    """The kind of an argument, and whether it may be None."""
    text = annotation.replace("torch.", "").replace("collections.abc.", "").replace("ForwardRef", "")
    text = re.sub(r"Optional\[(.*)\]$", r"\1 | None", text)
    nullable = bool(re.search(r"\bNone\b", text))
    return _kind(name, text), nullable and name not in ("requires_grad", "non_blocking", "alpha")


def _kind(name: str, text: str) -> Kind:
    if name == "dtype":
        return Kind.DTYPE
    if name in SHAPE_NAMES and re.search(r"int|Int|_size|Size|Sequence", text or "int"):
        return Kind.SHAPE
    if not text or text == "Any":
        return KIND_BY_NAME.get(name, Kind.ANY)
    if name == "params":
        return Kind.TENSORS
    if "Literal[" in text:
        return Kind.BOOL if re.search(r"True|False", text) else Kind.TEXT
    return _from_parts(set(re.findall(r"\w+", text)) - {"None", "Union", "Optional"})


def _from_parts(parts: set[str]) -> Kind:
    several = bool(parts & {"Sequence", "list", "List", "tuple", "Tuple", "_size", "Size", "Iterable"})
    kinds = {_TYPES[part] for part in parts if part in _TYPES} or (
        {Kind.INTS} if any("size" in p for p in parts) else set()
    )
    if Kind.TENSOR in kinds:
        return _with_tensor(kinds, several)
    if Kind.INTS in kinds or (several and Kind.INT in kinds):
        return Kind.ANY if Kind.TEXT in kinds else Kind.NUMBERS if Kind.FLOAT in kinds else Kind.INTS
    if any("_size_" in part for part in parts):
        return Kind.INTS
    if any("_ratio_" in part for part in parts):
        return Kind.NUMBERS
    if kinds == {Kind.FLOAT, Kind.INT}:
        return Kind.NUMBER
    if Kind.TEXT in kinds and len(kinds) > 1:
        return Kind.ANY
    if kinds <= {Kind.NUMBER, Kind.FLOAT, Kind.INT, Kind.COMPLEX} and kinds:
        return Kind.NUMBERS if several else Kind.NUMBER if Kind.NUMBER in kinds else _one(kinds)
    return _one(kinds)


def _with_tensor(kinds: set[Kind], several: bool) -> Kind:
    numbers = kinds & {Kind.NUMBER, Kind.FLOAT, Kind.INT, Kind.COMPLEX, Kind.BOOL}
    if several:
        return Kind.ANY if numbers else Kind.TENSORS
    return Kind.TENSOR_OR_NUMBER if numbers else Kind.TENSOR


def _one(kinds: set[Kind]) -> Kind:
    return min(kinds) if len(kinds) == 1 else Kind.ANY
