"""Functions of torch that a drawn program does not call as they are: what they leave unchecked reaches any memory."""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import Parameter

from gradstudio.engine.errors import AccessRefused

SPARSE: Final = frozenset(f"torch.sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
"""They trust the indices they are given, unless asked to look."""
INDICES: Final = frozenset({"indices", "crow_indices", "col_indices", "ccol_indices", "row_indices"})
"""Methods that hand out the indices themselves, to be written into."""
NEW: Final = frozenset({"new_empty", "new_full", "new_ones"})
"""Methods that make a tensor of the same layout, as functions do that are given a layout."""
SETS_INDICES: Final = frozenset({"zeros", "zeros_like", "new_zeros", "to_sparse"}) | {
    path.removeprefix("torch.") for path in SPARSE
}
"""What is given a layout and sets the indices that belong to it."""
RESIZES: Final = frozenset({"resize_as_sparse_"})
"""What gives a compressed tensor more indices, and sets none."""
_COMPRESSED: Final = frozenset({torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc})
_WORKERS: Final = 5
"""Which argument of a loader of data says how many processes it starts."""
UNSAFE: Final = frozenset({"torch.segment_reduce"})
"""They trust lengths where they are told so."""


def looked_through(function: Callable[..., Any]) -> Callable[..., Any]:
    """A constructor of sparse tensors that looks at the indices, and keeps copies of them."""

    def construct(*arguments: Any, **named: Any) -> Any:
        arguments = tuple(map(copy_of, arguments))
        named = {name: copy_of(value) for name, value in named.items()}
        if all(map(_has_data, (*arguments, *named.values()))):
            named["check_invariants"] = True
        return function(*arguments, **named)

    return construct


def safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.segment_reduce`, whose segments are looked at: it trusts offsets always, and lengths where it is told to.

    Raises:
        AccessRefused: they lead out of the data.
    """

    def call(data: Any, *arguments: Any, **named: Any) -> Any:
        is_trusted = named.get("unsafe") or named.get("offsets") is not None
        if is_trusted and all(map(_has_data, (data, *named.values()))) and not _lie_within(data, named):
            raise AccessRefused("the segments lead out of the data, and torch would read what lies there")
        return function(data, *arguments, **named)

    return call


def alone(loader: Callable[..., Any]) -> Callable[..., Any]:
    """A loader of data that starts no processes.

    Raises:
        AccessRefused: it is told to.
    """

    def construct(*arguments: Any, **named: Any) -> Any:
        workers = arguments[_WORKERS] if len(arguments) > _WORKERS else named.get("num_workers", 0)
        if type(workers) is not int or workers:
            raise AccessRefused(
                "`num_workers` starts processes, which a program does where you trust it; 0 starts none"
            )
        return loader(*arguments, **named)

    return construct


def with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is given what to write into, which is empty where it could not grow.

    WORKAROUND(torch says that memory of numpy's cannot grow, and leaves the tensor as large as if it had)
    """

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except RuntimeError:
            out = named["out"]
            for one in out if isinstance(out, tuple | list) else (out,):
                if isinstance(one, Tensor) and one.layout is torch.strided and not one.is_meta and not _fits(one):
                    one.resize_(0)
            raise

    return call


def _fits(tensor: Tensor) -> bool:
    """Whether a tensor lies within its memory."""
    if not tensor.numel():
        return True
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    behind = (tensor.storage_offset() + last + 1) * tensor.element_size()
    return behind <= tensor.untyped_storage().nbytes()


def _lie_within(data: Tensor, named: dict[str, Any]) -> bool:
    """Whether segments by length or by offset begin and end in the data."""
    lengths, offsets = named.get("lengths"), named.get("offsets")
    if isinstance(lengths, Tensor) and lengths.numel():
        size = data.size(lengths.dim() - 1)
        return bool((lengths >= 0).all() and (lengths.sum(-1) <= size).all())
    if isinstance(offsets, Tensor) and offsets.numel():
        size = data.size(offsets.dim() - 1)
        return bool((offsets >= 0).all() and (offsets <= size).all() and (offsets.diff() >= 0).all())
    return True


def _has_data(value: Any) -> bool:
    """Whether a value is no tensor, or one that there is something to look at in: no stand-in."""
    return not isinstance(value, Tensor) or (not value.is_meta and type(value) in (Tensor, Parameter))


def copy_of(value: Any) -> Any:
    """A copy of a tensor of whole numbers, which the program cannot write into any more; anything else itself."""
    is_index = isinstance(value, Tensor) and not (value.is_floating_point() or value.is_complex())
    return value.clone() if is_index else value


def with_indices(value: Any) -> Any:
    """A new tensor itself, unless it is a compressed one, of which torch sets the values and no indices.

    Its indices are not looked at, for what lay in memory before can be right by chance.

    Raises:
        AccessRefused: its indices are what lay in memory before.
    """
    if isinstance(value, Tensor) and value.layout in _COMPRESSED and _has_data(value):
        raise AccessRefused("torch sets no indices of a new tensor of this layout; begin with zeros")
    return value


def not_compressed(value: Any) -> Any:
    """The value itself, unless it is a compressed tensor, whose new indices torch would not set.

    Raises:
        AccessRefused: it is one.
    """
    if isinstance(value, Tensor) and value.layout in _COMPRESSED:
        raise AccessRefused("torch sets no indices when it resizes a compressed tensor")
    return value
