"""Which shapes go together: a few lines of torch's own rules, to offer only those fixes that fit."""

from itertools import zip_longest
from math import prod

Shape = tuple[int, ...]
PRODUCTS = frozenset({"matmul", "mm", "bmm", "mv", "dot"})


def broadcast(first: Shape, second: Shape) -> Shape | None:
    """The shape of an elementwise result; None when torch would refuse.

    Compared from the right; sizes are equal or one of them is 1 (PyTorch, "Broadcasting semantics").
    """
    sizes: list[int] = []
    for a, b in zip_longest(reversed(first), reversed(second), fillvalue=1):
        if a != b and 1 not in (a, b):
            return None
        sizes.append(b if a == 1 else a)
    return tuple(reversed(sizes))


def matmul(first: Shape, second: Shape) -> Shape | None:
    """The shape of ``first @ second``; None when torch would refuse (PyTorch, `torch.matmul`)."""
    if not first or not second:
        return None
    left = first if len(first) > 1 else (1, *first)
    right = second if len(second) > 1 else (*second, 1)
    batch = broadcast(left[:-2], right[:-2])
    if left[-1] != right[-2] or batch is None:
        return None
    rows = left[-2:-1] if len(first) > 1 else ()
    columns = right[-1:] if len(second) > 1 else ()
    return (*batch, *rows, *columns)


def combine_shapes(word: str, first: Shape, second: Shape) -> Shape | None:
    """The result's shape of an operator with two tensors, named by its last word; None when they do not fit."""
    if word in PRODUCTS:
        return matmul(first, second)
    if word == "linear":
        return matmul(first, transpose_shape(second))
    return broadcast(first, second)


def transpose_shape(shape: Shape) -> Shape:
    """The last two dimensions exchanged; a vector stays as it is."""
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape


def unsqueeze_shape(shape: Shape, dim: int) -> Shape:
    """A dimension of size 1 put in at `dim`."""
    return (*shape[:dim], 1, *shape[dim:])


def with_one_inferred(sizes: Shape, count: int) -> tuple[Shape, ...]:
    """The ways to write -1 for one of the sizes so that they make `count` elements, the last size first."""
    found = []
    for k in reversed(range(len(sizes))):
        rest = prod(size for j, size in enumerate(sizes) if j != k)
        if rest > 0 and count % rest == 0:
            found.append((*sizes[:k], -1, *sizes[k + 1 :]))
    return tuple(found)


def joining_dims(shapes: tuple[Shape, ...]) -> tuple[int, ...]:
    """The dimensions along which tensors of these shapes can be joined (`torch.cat`)."""
    if not shapes or any(len(shape) != len(shapes[0]) for shape in shapes):
        return ()
    return tuple(
        dim
        for dim in range(len(shapes[0]))
        if all(shape[:dim] + shape[dim + 1 :] == shapes[0][:dim] + shapes[0][dim + 1 :] for shape in shapes)
    )
