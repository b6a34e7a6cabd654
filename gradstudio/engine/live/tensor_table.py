"""Tables of live tensors: two dimensions of one, cut out, as a panel shows them."""

from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import Tensor

from gradstudio.engine.errors import NotBound
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.value.tensor_shards import distributed, held_part, shard_of
from gradstudio.engine.value.tensor_summary import dtype_name, spell_numbers
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.protocol.messages.bounds import excess_words
from gradstudio.protocol.messages.events import Fetched
from gradstudio.protocol.messages.requests import Fetch

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


def fetch(live: Live | None, request: Fetch) -> Fetched:
    """The cut that was asked for, or in words why there is none; call it outside the program's modes."""
    try:
        tensor = _find(live, request)
        return _cut(request, tensor)
    except NotBound as reason:
        return Fetched(request=request.request, node=request.node, error=str(reason))


def resolve(namespace: dict[str, Any], path: str) -> object:
    """The value at a path of attributes and places: ``w``, ``fc.weight``, ``parts.0``.

    Raises:
        NotBound: nothing is there.
    """
    name, *rest = path.split(".")
    if name not in namespace:
        raise NotBound(f"{name} is not bound now.")
    value: object = namespace[name]
    for word in rest:
        try:
            value = value[int(word)] if word.isdigit() else getattr(value, word)  # type: ignore[index]  # else TypeError
        except (AttributeError, IndexError, TypeError, KeyError) as error:
            raise NotBound(f"{path} is not bound now.") from error
    return value


def _find(live: Live | None, request: Fetch) -> Tensor:
    if live is None:
        raise NotBound("Nothing has been run yet.")
    value: object = _recorded(live, request) if request.node else None
    if value is None and request.name.partition(".")[0]:
        value = resolve(live.namespace, request.name)
        if request.grad and isinstance(value, Tensor):
            value = value.grad if is_leaf(value) else None
    if not isinstance(value, Tensor):
        raise NotBound(_why_absent(live, request))
    return value


def _recorded(live: Live, request: Fetch) -> Tensor | None:
    """The value of a node's output, or its gradient, as it was at its own moment.

    Without a root name (``""``, ``".weight"``) only that moment's value will do, not what was written over it.

    Raises:
        NotBound: it was overwritten since.
    """
    known = live.gradients.values.get((request.node, request.output, _path(request)))
    if known is None:
        return None
    if request.grad:
        leaf = live.gradients.leaf_of(known)
        if leaf is not None:
            return leaf.tensor.grad
        if known.grad is not None and known.grad_version is not None and known.grad._version != known.grad_version:
            raise NotBound("That gradient is past: it was overwritten since, and only its preview was kept.")
        return known.grad
    tensor = known.tensor
    overwritten = tensor is not None and known.version is not None and tensor._version != known.version
    if overwritten and not request.name.partition(".")[0]:
        raise NotBound("That moment is past: it was overwritten since, and only its preview was kept.")
    return tensor


def _why_absent(live: Live, request: Fetch) -> str:
    known = live.gradients.values.get((request.node, request.output, _path(request)))
    if request.grad and known is not None and known.summary is not None:
        return "That gradient had to make room; only its preview was kept."
    if request.grad:
        return "Its gradient is not there."
    return "That moment is past: the value is not kept, only its preview is."


def _path(request: Fetch) -> str:
    return request.name.partition(".")[2]


def _cut(request: Fetch, tensor: Tensor) -> Fetched:
    if tensor.is_meta or tensor.is_nested:
        raise NotBound("It has no data.")
    shared = distributed(tensor)
    if request.whole and shared is not None:
        return _cut_of_whole(request, shared)
    plain = held_part(tensor).detach()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    table = plain
    for size, place in zip(plain.shape[:-2], request.index, strict=False):
        table = table[min(max(place, 0), size - 1)]
    while table.dim() > 2:
        table = table[0]
    table = table.reshape(1, -1) if table.dim() < 2 else table
    rows, columns = slice(*request.rows), slice(*request.columns)
    table = table[rows, columns]
    return Fetched(
        request=request.request,
        node=request.node,
        shape=tuple(plain.shape),
        dtype=dtype_name(tensor.dtype),
        values=_cells(table),
    )


def _cut_of_whole(request: Fetch, tensor: "DTensor") -> Fetched:
    """What lies here of a cut of the whole, and where it begins there."""
    shard = shard_of(tensor)
    if shard.is_part and any(word.startswith("Partial") for word in shard.placements):
        raise NotBound("Each rank holds a term; the whole is what torch makes of them: full_tensor().")
    part = held_part(tensor)
    answer = Fetched(request=request.request, node=request.node, shape=shard.whole, dtype=dtype_name(tensor.dtype))
    if not part.numel():
        return answer
    if len(shard.offset) != len(shard.whole):
        raise NotBound("What a rank holds is not one block of the whole: full_tensor() gathers it.")
    index, within = [], True
    lead = zip(shard.offset[:-2], part.shape[:-2], request.index, strict=False)
    for begin, size, place in lead:
        index.append(place - begin)
        within = within and begin <= place < begin + size
    flat = part[tuple(index)] if within else part.new_empty(0, 0)
    while flat.dim() > 2:
        flat = flat[0]
    flat = flat.reshape(1, -1) if flat.dim() < 2 else flat
    begins = (0, 0, *shard.offset)[-2:]
    rows, top = _overlap(request.rows, begins[0], flat.shape[0])
    columns, left = _overlap(request.columns, begins[1], flat.shape[1])
    return msgspec.structs.replace(answer, values=_cells(flat[rows, columns]), at=(top, left))


def _cells(table: Tensor) -> tuple[tuple[Any, ...], ...]:
    """The numbers of two dimensions, row by row.

    Raises:
        NotBound: they are more than are sent at once.
    """
    if words := excess_words(table.numel()):
        raise NotBound(words)
    return tuple(tuple(map(_scalar, row)) for row in table.resolve_conj().tolist())


def _overlap(asked: tuple[int, int], begin: int, size: int) -> tuple[slice, int]:
    """Of what lies from `begin` on what was asked for, and where in what was asked for that begins."""
    first, end = max(asked[0], begin), min(asked[1], begin + size)
    return slice(first - begin, max(end, first) - begin), first - asked[0]


def _scalar(value: object) -> Any:
    return str(value) if isinstance(value, complex) else spell_numbers(value)
