"""Leaves that a statement wrote into and does not give, or froze: an optimizer's step, ``W.data -= …``."""

from collections.abc import Iterable
from typing import NamedTuple

from torch import Tensor

from gradstudio.engine.gradient.inplace_writes import Before, storage_of
from gradstudio.engine.gradient.tensor_watch import Leaf, lives_in_storage
from gradstudio.engine.value.value_records import serial_of


class LeafWrite(NamedTuple):
    """A leaf, or a buffer, that was written into, and the serial number of the storage where it lived before."""

    tensor: Tensor
    storage: int


def leaf_writes(leaves: Iterable[Leaf], before: list[Before], outputs: Iterable[object]) -> tuple[LeafWrite, ...]:
    """The leaves that a statement wrote into and that are none of its results, live elsewhere now, or were frozen.

    Args:
        before: every tensor that it could write into, as it was before it.
    """
    written, moved = set[int](), set[int]()
    for tensor, version, storage, requires_grad in before:
        if storage_of(tensor) != storage or tensor.requires_grad != requires_grad:
            moved.add(id(tensor))  # ``W.data = t`` gives a leaf another memory, and counts no version
        elif tensor._version != version:
            written.add(storage)
    if not written and not moved:
        return ()
    given = {id(output) for output in outputs}
    found = list[LeafWrite]()
    for leaf in leaves:
        tensor = leaf.tensor
        if not lives_in_storage(tensor):
            continue
        if id(tensor) in moved or (id(tensor) not in given and storage_of(tensor) in written):
            found.append(LeafWrite(tensor, leaf.storage))
            leaf.storage = serial_of(tensor.untyped_storage())
    return tuple(found)
