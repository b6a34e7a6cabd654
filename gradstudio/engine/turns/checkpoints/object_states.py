"""What objects are made of at a moment, kept so that the same objects can be made so again, in place.

Whatever can be reached from some objects is kept: the memory of tensors, what they are views of, `.grad`, containers,
attributes of modules, optimizers and schedulers, generators. An object whose state cannot be read (an iterator of
unknown kind, a tensor that a backward graph holds) makes the whole impossible: in doubt there is no state.
"""

import enum
import functools
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

PLAIN: Final = (torch.Tensor, nn.Parameter, nn.parameter.Buffer)
"""Kinds of tensors whose memory is all there is to them."""
ATOMS: Final = (
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, type,
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size, types.ModuleType, types.CodeType,
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.GenericAlias,
    types.MappingProxyType, property, weakref.ReferenceType, np.generic, np.dtype, enum.Enum, torch.finfo, torch.iinfo,
)  # fmt: skip
"""What never changes."""
_HEAP_TYPE: Final = 1 << 9
"""`Py_TPFLAGS_HEAPTYPE`: a class that Python text made."""
_BARE: Final = (object, dict, list, tuple, set, OrderedDict, defaultdict, deque)
PutBack = Callable[[], object]


class UnknownState(Exception):
    """There is an object whose state cannot be kept; says of what kind."""


class TooLarge(Exception):
    """The states of all objects are more bytes than may be kept."""


class ObjectStates:
    """The states of all objects that can be reached from some.

    Attributes:
        bytes_kept: of copies that no other states hold.
    """

    def __init__(
        self, roots: Iterable[object], before: "ObjectStates | None" = None, limit_bytes: int | None = None
    ) -> None:
        """Read them off.

        Args:
            roots: where to begin.
            before: other states; memory that is the same there is not copied again.
            limit_bytes: so much may be copied.

        Raises:
            UnknownState: some state cannot be kept.
            TooLarge: there is more to copy than the limit; what would pass it is not copied.
        """
        self.bytes_kept, self._limit_bytes = 0, limit_bytes
        self._before = before._copies if before is not None else {}
        self._copies: dict[int, tuple[torch.UntypedStorage, Tensor]] = {}
        self._put_back: list[PutBack] = []
        self._generators: list[PutBack] = []
        self._seen: dict[int, object] = {}  # held, so that no id is given twice
        waiting = list(roots)
        while waiting:
            one = waiting.pop()
            if isinstance(one, ATOMS) or id(one) in self._seen:
                continue
            self._seen[id(one)] = one
            waiting.extend(self._read(one))
        self._before = {}

    def restore(self) -> None:
        """Make every object what it was."""
        for put_back in self._put_back:
            put_back()
        for storage, copy in self._copies.values():
            _write(storage, copy)
        self.restore_generators()

    def restore_generators(self) -> None:
        """Let the generators among them draw the same once more."""
        for put_back in self._generators:
            put_back()

    def _read(self, one: object) -> Iterable[object]:
        """Note how an object is put back; the objects that it holds."""
        if isinstance(one, Tensor):
            return self._read_tensor(one)
        if isinstance(one, np.ndarray):
            return self._read_array(one)
        if isinstance(one, torch.Generator):
            self._generators.append(functools.partial(one.set_state, one.get_state()))
            return ()
        if isinstance(one, types.FunctionType):
            cells = [cell.cell_contents for cell in one.__closure__ or () if cell != types.CellType()]
            return (*cells, one.__defaults__, one.__kwdefaults__)
        if isinstance(one, types.MethodType):
            return (one.__self__, one.__func__)
        if isinstance(one, functools.partial):
            return (one.func, one.args, one.keywords)
        if isinstance(one, types.GeneratorType) and one.gi_frame is None:
            return ()  # it has given all it had, and nothing changes that
        return self._read_python_object(one)

    def _read_python_object(self, one: object) -> Iterable[object]:
        held: list[object] = []
        for base in type(one).__mro__:
            if not base.__flags__ & _HEAP_TYPE and base not in _BARE and base is not nn.Module:
                raise UnknownState(type(one).__qualname__)
            slots = base.__dict__.get("__slots__", ())
            if slots and any(name not in ("__dict__", "__weakref__") for name in slots):
                raise UnknownState(type(one).__qualname__)
        if isinstance(one, dict):
            held += self._keep(one, dict(one))
        elif isinstance(one, list):
            self._put_back.append(functools.partial(one.__setitem__, slice(None), list(one)))
            held += one
        elif isinstance(one, set | deque):
            self._put_back.append(functools.partial(_fill, one, tuple(one)))
            held += one
        elif isinstance(one, tuple | frozenset):
            held += one
        attributes = getattr(one, "__dict__", None)
        return [*held, *self._keep(attributes, dict(attributes))] if attributes else held

    def _keep(self, table: dict[Any, Any], content: dict[Any, Any]) -> Iterable[object]:
        self._put_back.append(functools.partial(_fill_table, table, content))
        return (*content.keys(), *content.values())

    def _read_tensor(self, one: Tensor) -> Iterable[object]:
        if type(one) not in PLAIN or one.layout is not torch.strided or one.is_quantized:
            raise UnknownState(f"a {one.layout} tensor" if type(one) in PLAIN else type(one).__qualname__)
        if one.grad_fn is not None:
            raise UnknownState("a tensor with a grad_fn")
        if one.is_meta:
            return ()
        storage = one.untyped_storage()
        if storage.data_ptr() not in self._copies:
            self._copy(storage)
        grad, needs = one.grad, one.requires_grad
        self._put_back.append(functools.partial(_put_tensor_back, one, one.detach(), grad, needs))
        return (grad, one.__dict__) if one.__dict__ else (grad,)

    def _copy(self, storage: torch.UntypedStorage) -> None:
        known = self._before.get(storage.data_ptr())
        if known is None:
            self._refuse_beyond(storage.nbytes())
        now = _as_bytes(storage)
        if known is None or known[1].numel() != now.numel() or not torch.equal(known[1], now):
            self._refuse_beyond(now.numel())
            copy = now.clone()
            self.bytes_kept += copy.numel()
        else:
            copy = known[1]
        self._copies[storage.data_ptr()] = storage, copy

    def _refuse_beyond(self, further_bytes: int) -> None:
        if self._limit_bytes is not None and self.bytes_kept + further_bytes > self._limit_bytes:
            raise TooLarge

    def _read_array(self, one: np.ndarray[Any, Any]) -> Iterable[object]:
        if one.dtype.hasobject:
            raise UnknownState("an array of objects")
        if one.flags.writeable:
            self._refuse_beyond(one.nbytes)
            copy = one.copy()
            self.bytes_kept += copy.nbytes
            self._put_back.append(functools.partial(np.copyto, one, copy))
        return ()


def _as_bytes(storage: torch.UntypedStorage) -> Tensor:
    """The memory of a storage on the CPU, not copied where it is there."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).cpu()


def _write(storage: torch.UntypedStorage, copy: Tensor) -> None:
    if storage.nbytes() != copy.numel():
        storage.resize_(copy.numel())
    torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).copy_(copy)


def _put_tensor_back(one: Tensor, alias: Tensor, grad: Tensor | None, requires_grad: bool) -> None:
    """Make a tensor look at the memory that it looked at, with the `.grad` that it had."""
    where = (alias.data_ptr(), alias.shape, alias.stride(), alias.dtype, alias.device)
    if where != (one.data_ptr(), one.shape, one.stride(), one.dtype, one.device):
        one.data = alias
    if one.requires_grad != requires_grad:
        one.requires_grad_(requires_grad)
    if one.grad is not grad:
        one.grad = grad


def _fill_table(table: dict[Any, Any], content: dict[Any, Any]) -> None:
    if table.keys() == content.keys() and all(table[key] is value for key, value in content.items()):
        return
    table.clear()
    table.update(content)


def _fill(one: set[Any] | deque[Any], content: tuple[Any, ...]) -> None:
    one.clear()
    (one.update if isinstance(one, set) else one.extend)(content)
