"""Functions of torch that trust what they are given and reach any memory with it: here it is looked at before.

They are replaced where torch's own modules find them, so that a layer is guarded as the function is. What autograd
keeps for its backward is looked at once more when that begins: numpy and `.data` write into it unnoticed.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, Final

import torch
from torch import Tensor

from gradstudio.engine.errors import AccessRefused

Check = Callable[..., str]
"""From the arguments of a function to what would lead out of memory; "" when nothing does."""
Saved = Callable[..., Iterable[tuple[Tensor, int, str]]]
"""From a result and the arguments to the whole numbers that the backward goes by, where they must lie below."""
_LARGEST_WINDOW: Final = 2**31
_CLASSES: Final[dict[str, type]] = {"torch.Tensor": Tensor, "torch.nn.Module": torch.nn.Module}
_RECURRENT: Final = ("torch", "torch._VF")
"""Where the functions of recurrent layers are found: by programs, and by the layers."""
_RANKS: Final = "torch.distributed.distributed_c10d"


def stand() -> None:
    """Put the guards before the functions, once in a process."""
    for path, check in _BEFORE.items():
        _replace(path, partial(_looked_before, check))
    for path, saved in _AT_BACKWARD.items():
        _replace(path, partial(_looked_at_backward, saved))

    if _RANKS in sys.modules:  # torch has it, or was built without
        _replace(f"{_RANKS}._canonicalize_group_rank", _looked_at_rank)


def _replace(path: str, guarded: Callable[[Any], Any]) -> None:
    place, _, name = path.rpartition(".")
    owner: Any = _CLASSES.get(place) or sys.modules[place]
    setattr(owner, name, guarded(getattr(owner, name)))


def _looked_before(check: Check, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        if _have_data(*arguments, *named.values()) and (reason := _said(check, arguments, named)):
            raise AccessRefused(f"{function.__name__} would reach memory that is not its own: {reason}")
        return function(*arguments, **named)

    return call


def _said(check: Check, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What a check says; nothing where the arguments are not what it knows, which torch refuses in its own words."""
    try:
        return check(*arguments, **named)
    except (TypeError, AttributeError, IndexError, RuntimeError, ValueError):
        return ""


def _looked_at_backward(saved: Saved, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        first = result[0] if isinstance(result, tuple) else result
        if isinstance(first, Tensor) and first.requires_grad and _have_data(first, *arguments):
            _watch(first, function.__name__, tuple(saved(result, *arguments, **named)))
        return result

    return call


def _looked_at_rank(function: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse a rank that a group has not, wherever one is named: `dst` and `src` of what ranks do together.

    WORKAROUND(gloo looks for it behind the end of its list of connections: it ends the process, or waits for half an
    hour for who never comes).
    """

    @wraps(function)
    def call(group: Any, *ranks: Any, **named: Any) -> Any:
        rank = function(group, *ranks, **named)
        size = group.size() if isinstance(group, torch.distributed.ProcessGroup) else 0
        if size and isinstance(rank, int) and not 0 <= rank < size:
            those = f"{size} processes, ranks 0 to {size - 1}" if size > 1 else "one process, rank 0"
            raise AccessRefused(f"There is no rank {rank} in this group: it has {those}. Give dst or src one of these.")
        return rank

    return call


def _watch(result: Tensor, name: str, kept: tuple[tuple[Tensor, int, str], ...]) -> None:
    """Refuse the backward of this result when what it goes by has been written over with what leads out."""
    watched = tuple((numbers.detach(), numbers._version, below, what) for numbers, below, what in kept)

    def look(_: Any) -> None:
        for numbers, version, below, what in watched:
            if numbers._version == version and not _lie_below(numbers, below):  # else torch says so itself
                raise AccessRefused(f"the backward of {name} would reach memory that is not its own: {what}")

    if result.grad_fn is not None and watched:
        result.grad_fn.register_prehook(look)


def _have_data(*values: Any) -> bool:
    """Whether there is something to look at: no stand-ins, and no mode in which there are."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    return not torch._C._len_torch_dispatch_stack() and not any(value.is_meta for value in tensors)


def _lie_below(numbers: Tensor, below: int, least: int = 0) -> bool:
    return not numbers.numel() or (int(numbers.min()) >= least and int(numbers.max()) < below)


def _ctc_loss(log_probs: Tensor, targets: Tensor, *_: Any, **__: Any) -> str:
    return "" if _lie_below(targets, log_probs.size(-1)) else "a target is none of the classes"


def _lu_unpack(LU_data: Tensor, LU_pivots: Tensor, *_: Any, **__: Any) -> str:  # noqa: N803 - torch's names
    rows = (*LU_data.shape[:-2], min(LU_data.shape[-2:]))
    return "" if tuple(LU_pivots.shape) == rows else "there is not one pivot for each row"


def _ldl_solve(LD: Tensor, pivots: Tensor, *_: Any, **__: Any) -> str:  # noqa: N803 - torch's names
    """A block of two rows has two equal negative pivots (LAPACK's `sytrf`)."""
    for row in pivots.reshape(-1, pivots.size(-1)).tolist() if pivots.numel() else ():
        place = 0
        while place < len(row):
            if row[place] < 0 and row[place : place + 2] != [row[place]] * 2:
                return "a negative pivot stands alone"
            place += 1 if row[place] > 0 else 2
    return ""


def _native_batch_norm(input: Tensor, *given: Any, **named: Any) -> str:
    channels = input.size(1)
    tensors = [one for one in (*given, *named.values()) if isinstance(one, Tensor)]
    return "" if all(one.numel() == channels for one in tensors) else "one of weights and statistics is too short"


def _window(input: Tensor, *sizes: Any, **named: Any) -> str:
    numbers = [part for one in (*sizes, *named.values()) for part in (one if isinstance(one, tuple | list) else (one,))]
    whole = [one for one in numbers if isinstance(one, int)]
    return "" if all(abs(one) < _LARGEST_WINDOW for one in whole) else "its window is larger than any input"


def _packed_rnn(data: Tensor, batch_sizes: Any, *_: Any, **__: Any) -> str:
    is_packed = isinstance(batch_sizes, Tensor) and batch_sizes.dtype is torch.int64
    return "there are no batch sizes" if is_packed and not batch_sizes.numel() else ""


def _pad_packed_sequence(sequence: Any, *_: Any, **__: Any) -> str:
    sizes = sequence.batch_sizes
    return "" if _lie_below(sizes, sequence.data.size(0) + 1, least=1) else "a batch size is none"


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> str:
    is_fused = dim in (0, v.dim() - 1)
    is_whole = v.numel() > 0 and g.numel() == v.size(dim)
    return "there is not one length for each row of weights" if is_fused and not is_whole else ""


def _spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, *_: Any, **__: Any) -> str:
    return "" if all(size >= 0 for size in shape) else "a size is negative"


def _sparse_resize(tensor: Tensor, size: Any, *_: Any, **__: Any) -> str:
    return "" if all(length >= 0 for length in size) else "a size is negative"


def _resize(tensor: Tensor, *size: Any, **_: Any) -> str:
    """WORKAROUND(torch says that memory of numpy's cannot grow, and leaves the tensor as large as if it had)."""
    first = size[0].shape if isinstance(size[0], Tensor) else size[0]
    wanted = torch.Size(size if isinstance(first, int) else first).numel()
    storage = tensor.untyped_storage()
    behind = (tensor.storage_offset() + wanted) * tensor.element_size()
    return "it cannot grow" if behind > storage.nbytes() and not storage.resizable() else ""


def _embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, *_: Any, **__: Any) -> str:
    is_without = weight.requires_grad and indices.numel() and not offsets.numel()
    return "no bag begins anywhere" if is_without else ""


def _registered(_: torch.nn.Module, name: str, *__: Any, **___: Any) -> str:
    """Numpy and torch look for names of theirs in what a module holds, too: ``__array_interface__`` is an address."""
    return f"'{name[:60]}' is a name that others look for" if name.startswith("__") else ""


def _fused(lists: int, params: list[Tensor], *kept: list[Tensor], **_: Any) -> str:
    """What a fused step of an optimizer reads and writes: as many numbers as the parameter has, in each list."""
    for beside in (params, *kept[:lists]):
        for parameter, numbers in zip(params, beside, strict=False):
            if numbers.numel() != parameter.numel() or not _has_room(numbers):
                return "what is kept beside a parameter is not as large as it is"
    return ""


def _has_room(tensor: Tensor) -> bool:
    """Whether its numbers lie one behind the other: none stands for many."""
    behind = (tensor.storage_offset() + tensor.numel()) * tensor.element_size()
    return behind <= tensor.untyped_storage().nbytes()


def _lstm(data: Tensor, sizes: Any, *given: Any, **named: Any) -> str:
    if isinstance(sizes, Tensor):  # of a packed sequence
        hidden, params, has_biases, layers, _dropout, _train, bidirectional = given
        return _packed_rnn(data, sizes) or _lstm_weights(data, hidden, params, has_biases, layers, bidirectional)
    params, has_biases, layers, _dropout, _train, bidirectional, _batch_first = given
    return _lstm_weights(data, sizes, params, has_biases, layers, bidirectional)


def _lstm_weights(data: Tensor, states: Any, params: Any, has_biases: bool, layers: int, bidirectional: bool) -> str:
    """The library below goes by the sizes of the states, and reads as much of the weights as these would need."""
    output = states[0].size(-1)
    hidden = states[1].size(-1)
    directions = 2 if bidirectional else 1
    shapes: list[tuple[int, ...]] = []
    for layer in range(min(layers, len(params))):
        fed = output * directions if layer else data.size(-1)
        biases = [(4 * hidden,)] * 2 if has_biases else []
        projections = [(output, hidden)] if output != hidden else []
        shapes += [(4 * hidden, fed), (4 * hidden, output), *biases, *projections] * directions
    fits = shapes == [tuple(one.shape) for one in params]
    return "" if fits else "weights and biases are not those of its sizes"


def _heads(at: int, *arguments: Any, **_: Any) -> str:
    return "" if arguments[at] > 0 else "there are no heads"


_BEFORE: Final[dict[str, Check]] = {
    "torch.ctc_loss": _ctc_loss,
    "torch._C._nn.col2im": _window,
    "torch._C._nn.im2col": _window,
    "torch.lu_unpack": _lu_unpack,
    "torch.linalg.ldl_solve": _ldl_solve,
    "torch.native_batch_norm": _native_batch_norm,
    "torch.max_pool1d": _window,
    "torch.max_pool1d_with_indices": _window,
    **{f"{place}.{name}": _packed_rnn for place in _RECURRENT for name in ("gru", "rnn_tanh", "rnn_relu")},
    **{f"{place}.lstm": _lstm for place in _RECURRENT},
    **{f"torch.nn.Module.{name}": _registered for name in ("add_module", "register_buffer", "register_parameter")},
    "torch._fused_adam_": partial(_fused, 4),
    "torch._fused_adamw_": partial(_fused, 4),
    "torch._fused_sgd_": partial(_fused, 2),
    "torch._fused_adagrad_": partial(_fused, 2),
    "torch._native_multi_head_attention": partial(_heads, 4),
    "torch._transformer_encoder_layer_fwd": partial(_heads, 2),
    "torch.nn.utils.rnn.pad_packed_sequence": _pad_packed_sequence,
    "torch._weight_norm": _weight_norm,
    "torch.nn.utils.weight_norm._weight_norm": _weight_norm,
    "torch.sparse.spdiags": _spdiags,
    "torch.Tensor.sparse_resize_": _sparse_resize,
    "torch.Tensor.sparse_resize_and_clear_": _sparse_resize,
    "torch.Tensor.resize_": _resize,
    "torch.Tensor.resize_as_": _resize,
    "torch.embedding_bag": _embedding_bag,
}
"""Where torch's own modules find them."""


def _of_pool(dimensions: int) -> Saved:
    def saved(result: Any, input: Tensor, *_: Any, **__: Any) -> Iterable[tuple[Tensor, int, str]]:
        yield result[1], input.shape[-dimensions:].numel(), "an index is none of its input"

    return saved


def _of_embedding(
    result: Tensor, weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, *_: Any
) -> Iterable[tuple[Tensor, int, str]]:
    if scale_grad_by_freq:
        yield indices, weight.size(0), "an index is no row of the weights"


def _of_embedding_bag(
    result: Any, weight: Tensor, indices: Tensor, offsets: Tensor, *_: Any, **__: Any
) -> Iterable[tuple[Tensor, int, str]]:
    yield indices, weight.size(0), "an index is no row of the weights"
    yield offsets, indices.numel() + 1, "a bag begins behind the indices"
    yield result[1], result[0].size(0), "an index is in no bag"


def _of_ctc_loss(
    result: Any, log_probs: Tensor, targets: Tensor, *_: Any, **__: Any
) -> Iterable[tuple[Tensor, int, str]]:
    yield targets, log_probs.size(-1), "a target is none of the classes"


def _of_segment_reduce(
    result: Any, data: Tensor, reduce: str, *, lengths: Any = None, offsets: Any = None, **_: Any
) -> Iterable[tuple[Tensor, int, str]]:
    for numbers in (lengths, offsets):
        if isinstance(numbers, Tensor):
            yield numbers, data.size(numbers.dim() - 1) + 1, "a segment leads out of the data"


_AT_BACKWARD: Final[dict[str, Saved]] = {
    "torch.embedding": _of_embedding,
    "torch.embedding_bag": _of_embedding_bag,
    "torch.ctc_loss": _of_ctc_loss,
    "torch.segment_reduce": _of_segment_reduce,
    "torch.max_pool1d_with_indices": _of_pool(1),
    "torch.adaptive_max_pool1d": _of_pool(1),
    **{f"torch._C._nn.max_pool{n}d_with_indices": _of_pool(n) for n in (2, 3)},
    **{f"torch._C._nn.adaptive_max_pool{n}d": _of_pool(n) for n in (2, 3)},
}
