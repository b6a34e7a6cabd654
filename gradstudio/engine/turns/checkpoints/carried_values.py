"""What a loop hands from turn to turn beside what learns, as a file keeps it: numbers, texts, tensors, lists of them.

In doubt nothing is kept: a turn that goes on from half of what it needs learns something else without a word.
"""

import functools
import re
import types
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn, optim
from torch.utils.data import DataLoader, Dataset, Sampler

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Step, flat_steps, heads
from gradstudio.engine.script.generator_states import generators_of
from gradstudio.engine.turns.checkpoints.name_flow import NameFlow, names_in_definitions
from gradstudio.engine.turns.checkpoints.object_states import ATOMS, PLAIN, UnknownState
from gradstudio.graph.text.code_records import CODE

_PARTS: Final = (nn.Module, optim.Optimizer, optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
"""What says itself what it has learnt."""
_STILL: Final = (
    *ATOMS, Tensor, np.ndarray, torch.Generator, DataLoader, Dataset, Sampler, types.FunctionType, types.MethodType,
    functools.partial, optim.Optimizer, optim.lr_scheduler.LRScheduler, torch.amp.GradScaler,
)  # fmt: skip
"""What a turn leaves as it was, unless a statement says that it writes into it, or what is kept elsewhere."""
_SIMPLE: Final = (bool, int, float, str, type(None))
_DEEPEST: Final = 8
_MANY: Final = 64
"""More numbers of a list stand in a tensor."""
_LARGEST: Final = 2**63
_NAME: Final = re.compile(r"\w+")
Packed = list[Any]
"""A value as JSON: its kind, and what it holds."""


class LoopNames(NamedTuple):
    """Names of a loop's body: which it binds, writes into and reads."""

    bound: frozenset[str]
    written: frozenset[str]
    read: frozenset[str]

    def all_kept(self, namespace: dict[str, Any]) -> frozenset[str]:
        """Names whose values turns may make others: also of lists and tables that are only read, as far as is known."""
        tables = [name for name in self.read if type(namespace.get(name)) in (list, dict)]
        return self.bound | self.written | frozenset(tables)


def names_of(head: Head, live: Live) -> LoopNames:
    """What the body of a loop does with names, loops within and functions of the program counted."""
    steps, inner = flat_steps(head.body), heads(head.body)
    bound, written, read_by_code = _touched(steps, [head, *inner])
    written |= {name for name in read_by_code if isinstance(live.namespace.get(name), Tensor)}
    read = {name for step in steps for name in step.source.reads}
    read.update(name for one in inner if one.expression is not None for name in one.expression.co_names)
    read.update(names_in_definitions(live.loaded.program.code))
    return LoopNames(frozenset(bound), frozenset(written), frozenset(read))


def _touched(steps: list[Step], blocks: list[Head]) -> tuple[set[str], set[str], set[str]]:
    """Names that are bound, that are written into, and that undrawn Python reads, which may do anything to them."""
    bound = {name for step in steps for name in step.statement.names}
    bound.update(target for one in blocks for target in one.targets)
    written = {found[0] for step in steps for text in step.statement.writes if (found := _NAME.match(text))}
    return bound, written, {name for step in steps if step.statement.operator == CODE for name in step.source.reads}


def touched_behind(head: Head, live: Live) -> frozenset[str]:
    """Names that may mean something else where the program has ended than where it left this loop."""
    steps, blocks = flat_steps(live.loaded.items), heads(live.loaded.items)
    behind = steps[steps.index(flat_steps(head.body)[-1]) + 1 :]
    touched = _touched(behind, blocks[blocks.index(head) + 1 + len(heads(head.body)) :])
    return frozenset().union(*touched, names_in_definitions(live.loaded.program.code) if behind else ())


def pack_values(
    live: Live, outer: Head, inner: Head, tensors: dict[str, Tensor], touched: frozenset[str] = frozenset()
) -> dict[str, Packed]:
    """The values that the turns to come need, by name; tensors of them are put among `tensors`.

    Args:
        live: the run, at the end of a turn of `inner` that has a next one.
        outer: the loop that trains; `inner` is that, or one within.
        tensors: those of what learns, whose memory nothing else may share.
        touched: names that do not mean any more what the turn has left.

    Raises:
        UnknownState: some value cannot be kept, or was not.
    """
    names, namespace = names_of(outer, live), live.namespace
    flow = NameFlow(inner.body, names_in_definitions(live.loaded.program.code))
    owned = {id(one) for value in namespace.values() if isinstance(value, nn.Module) for one in value.modules()}
    packer, found = _Packer(tensors), dict[str, Packed]()
    counted = {head.loader for frame in live.cursor.frames if (head := frame.head) is not None and head.maker}
    wanted = names.all_kept(namespace) - flow.dropped - counted  # those are made anew where it stands
    if lost := wanted & touched:
        raise UnknownState(f"what '{min(lost)}' was in the loop")
    for name in sorted(wanted):
        value = namespace.get(name, packer)
        if value is packer or (is_part(value) and name not in names.bound):
            continue
        try:
            found[name] = packer.pack_whole(value)
        except UnknownState:
            is_only_read = name not in names.bound | names.written
            if name not in flow.bound and not (is_only_read and _is_still(value, owned, _DEEPEST)):
                raise
    for name in sorted(names.read - names.bound - found.keys()):
        if not _is_still(namespace.get(name), owned, _DEEPEST):
            raise UnknownState(type(namespace[name]).__qualname__)
    return found


def unpack_values(live: Live, outer: Head, values: dict[str, Packed], tensors: dict[str, Tensor]) -> None:
    """Give the names the values that they had; what the loop never binds is made so in place."""
    names, namespace = names_of(outer, live), live.namespace
    for name, packed in values.items():
        if name not in names.bound | names.written | names.read:
            continue  # no name of this loop
        value, old = _unpack(packed, tensors), namespace.get(name)
        if name in names.bound or not _fill(old, value):
            namespace[name] = value
    for step in flat_steps(outer.body):
        for name, binding in zip(step.statement.names, step.bindings, strict=True):
            if name in values:
                live.binder.setdefault(name, binding)


def own_generators(live: Live) -> list[torch.Generator]:
    """The generators that a program has made, of its loaders too, each once, in the order of their names."""
    found: dict[int, torch.Generator] = {}
    for name in sorted(live.binder):
        value = live.namespace.get(name)
        if isinstance(value, torch.Generator):
            found.setdefault(id(value), value)
        elif isinstance(value, DataLoader):
            found.update((id(one), one) for one in generators_of(value))
    return list(found.values())


def is_part(value: object) -> bool:
    """Whether a value is what learns, or says how: a leaf, a module, an optimizer, a schedule, a scaler."""
    is_leaf = isinstance(value, Tensor) and value.is_leaf and value.requires_grad
    return is_leaf or isinstance(value, _PARTS)


def _is_still(value: object, owned: set[int], deepest: int) -> bool:
    """Whether a turn that only reads a value leaves it as it was, or it is kept as what learns."""
    if isinstance(value, nn.Module):
        return id(value) in owned
    if isinstance(value, list | tuple | set | frozenset):
        return deepest > 0 and all(_is_still(one, owned, deepest - 1) for one in value)
    if isinstance(value, dict):
        return deepest > 0 and all(_is_still(one, owned, deepest - 1) for one in value.values())
    return isinstance(value, _STILL)


class _Packer:
    """Makes JSON of values, and puts their tensors among others, of a value that cannot be kept none."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors
        self._memory = {one.untyped_storage().data_ptr() for one in tensors.values()}

    def pack_whole(self, value: object) -> Packed:
        """A value as JSON.

        Raises:
            UnknownState: it holds what no file keeps.
        """
        tensors, memory = self._tensors, self._memory
        self._tensors, self._memory = dict(tensors), set(memory)
        try:
            packed = self._pack(value, _DEEPEST)
            tensors.update(self._tensors)
            memory.update(self._memory)
        finally:
            self._tensors, self._memory = tensors, memory
        return packed

    def _pack(self, value: object, deepest: int) -> Packed:
        if type(value) in _SIMPLE:
            return ["plain", value]
        if isinstance(value, Tensor):
            return ["tensor", self._put(value), str(value.device)]
        if type(value) in (list, tuple) and deepest:
            return self._pack_row(value, deepest)  # type: ignore[arg-type] # of one of the two kinds
        if type(value) is dict and deepest:
            pairs: list[Any] = [[self._pack(k, 0), self._pack(one, deepest - 1)] for k, one in value.items()]
            return ["dict", pairs]
        raise UnknownState(type(value).__qualname__)

    def _pack_row(self, row: list[Any] | tuple[Any, ...], deepest: int) -> Packed:
        kind = "list" if type(row) is list else "tuple"
        if kind == "list" and len(row) > _MANY:
            if all(type(one) is float for one in row):
                return ["floats", self._add(torch.tensor(row, dtype=torch.float64))]
            if all(type(one) is int and -_LARGEST <= one < _LARGEST for one in row):
                return ["ints", self._add(torch.tensor(row, dtype=torch.int64))]
        return [kind, [self._pack(one, deepest - 1) for one in row]]

    def _put(self, value: Tensor) -> str:
        """The name under which a tensor stands among the others."""
        if type(value) not in PLAIN or value.layout is not torch.strided or value.is_quantized or value.is_meta:
            raise UnknownState(f"a {value.layout} tensor")
        if value.grad_fn is not None or value.requires_grad:
            raise UnknownState("a tensor with a grad_fn" if value.grad_fn is not None else "a leaf of the loop")
        place = value.untyped_storage().data_ptr()
        if place and place in self._memory:
            raise UnknownState("a tensor that shares its memory with another")
        self._memory.add(place)
        return self._add(value)

    def _add(self, value: Tensor) -> str:
        name = f"value.{len(self._tensors)}"
        self._tensors[name] = value
        return name


def _unpack(packed: Packed, tensors: dict[str, Tensor]) -> Any:
    match packed:
        case ["plain", value]:
            return value
        case ["tensor", str(name), str(device)]:
            return tensors[name].clone().to(device)
        case ["floats" | "ints", str(name)]:
            return tensors[name].tolist()
        case ["list", [*row]]:
            return [_unpack(one, tensors) for one in row]
        case ["tuple", [*row]]:
            return tuple([_unpack(one, tensors) for one in row])
        case ["dict", [*pairs]]:
            return {_unpack(key, tensors): _unpack(one, tensors) for key, one in pairs}
        case _:
            raise ValueError("a value of an unknown kind")


def _fill(old: object, value: object) -> bool:
    """Make an object equal to another, in place; False where it cannot be."""
    if isinstance(old, Tensor) and isinstance(value, Tensor):
        if (old.shape, old.dtype, old.device) != (value.shape, value.dtype, value.device):
            return False
        with torch.no_grad():
            old.copy_(value)
    elif type(old) is list and isinstance(value, list):
        old[:] = value
    elif type(old) is dict and isinstance(value, dict):
        old.clear()
        old.update(value)
    else:
        return False
    return True
