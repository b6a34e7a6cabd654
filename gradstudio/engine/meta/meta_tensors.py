"""Statements run on stand-ins: meta tensors, which have shape and dtype but no data.

For weighing a statement before it runs, and for inference. The namespace of the program and the
generators are never touched.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from gradstudio.engine.access import execute
from gradstudio.engine.meta.replayable_iterators import holds_iterator
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.view_state import is_leaf

META = torch.device("meta")
_MOVERS = frozenset({torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu, torch.Tensor.xpu})
_NOT_DATA = (str, torch.device)


class OnMeta(TorchFunctionMode):
    """Whatever device a call names, its result is on the meta device; moves between devices stay there.

    Attributes:
        asked: the devices that were named, in order.
    """

    def __init__(self) -> None:
        """Nothing was asked yet."""
        super().__init__()
        self.asked: list[torch.device] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the call with the meta device in place of the one it names."""
        kwargs = dict(kwargs or {})
        if func in _MOVERS:
            args, kwargs = self._stay(func, args, kwargs)
            func = torch.Tensor.to
        elif kwargs.get("device") is not None:
            self.asked.append(torch.device(kwargs["device"]))
            kwargs["device"] = META
        return func(*args, **kwargs)

    def _stay(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        self.asked += _named_devices(func, args, kwargs)
        tensor, rest = args[0], [a for a in args[1:] if not isinstance(a, _NOT_DATA) and type(a) is not int]
        kept = {key: value for key, value in kwargs.items() if key in ("dtype", "copy", "memory_format", "other")}
        if func is not torch.Tensor.to or not (rest or kept):
            return (tensor, META), {}
        return (tensor, *rest), kept


def _named_devices(func: Any, args: Any, kwargs: Any) -> list[torch.device]:
    """Where a move goes; [] where it only casts."""
    if func is torch.Tensor.cpu:
        return [torch.device("cpu")]
    named = kwargs.get("device", args[1] if len(args) > 1 else None)
    kind = "xpu" if func is torch.Tensor.xpu else "cuda"
    if type(named) is int or (named is None and func is not torch.Tensor.to):
        return [torch.device(kind, named or 0)]
    return [torch.device(named)] if isinstance(named, _NOT_DATA) else []


def meta_of(value: object) -> object:
    """The same value without data: a tensor on meta, tensors in lists too; anything else as it is."""
    if isinstance(value, Tensor):
        return value if value.is_meta else _on_meta(value)
    return rebuild(value, meta_of) if isinstance(value, list | tuple) else value


def rebuild(value: Any, of: Callable[[Any], Any]) -> Any:
    """A list or tuple of the same class with `of` each item; itself when no item is another."""
    items = [of(item) for item in value]
    if all(new is old for new, old in zip(items, value, strict=True)):
        return value
    return value._make(items) if hasattr(value, "_make") else type(value)(items)


def _on_meta(value: Tensor) -> Tensor:
    if not _plain(value):
        return value.to(META)
    with torch.inference_mode(torch.is_inference_mode_enabled() and value.is_inference()):
        twin = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=META)
        if not value.requires_grad:
            return twin
        return twin.requires_grad_() if is_leaf(value) else non_leaf(twin)


def non_leaf(twin: Tensor) -> Tensor:
    """A tensor like this one that an operator has made, so that writing into it is allowed."""
    with torch.enable_grad():
        return twin.requires_grad_().clone()


def storage_address(tensor: Tensor) -> int:
    """What tells storages apart; 0 for a tensor without one."""
    if tensor.layout is not torch.strided or tensor.is_nested:
        return 0
    storage = tensor.untyped_storage()
    return storage._cdata if tensor.is_meta else storage.data_ptr()


def weigh_on_meta(step: Step, namespace: dict[str, Any]) -> list[tuple[int, torch.device]]:
    """Bytes of each new storage a statement would make, and its device; [] when meta cannot say."""
    twins = {name: meta_of(namespace[name]) for name in step.source.reads if name in namespace}
    taken = {twin.untyped_storage()._cdata for twin in twins.values() if isinstance(twin, Tensor) and _plain(twin)}
    if any(map(holds_iterator, twins.values())):  # what is read here would be missing in the run
        return []
    mode = OnMeta()
    try:
        with META, mode:
            execute(step.source.code, twins)
    except Exception:  # noqa: BLE001 - the program's own code on stand-ins: the run itself will say
        return []
    device = _device_of(mode, step, namespace)
    made = [twins[name] for name in step.statement.names if name in twins]
    storages = {t.untyped_storage()._cdata: t.untyped_storage() for t in _tensors(made) if _plain(t)}
    return [(storage.nbytes(), device) for address, storage in storages.items() if address not in taken]


def _device_of(mode: OnMeta, step: Step, namespace: dict[str, Any]) -> torch.device:
    if mode.asked:
        return mode.asked[-1]
    tensors = (namespace.get(name) for name in step.source.reads)
    return next((value.device for value in tensors if isinstance(value, Tensor)), torch.device("cpu"))


def _tensors(values: list[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(_tensors(list(value)))
        elif isinstance(value, torch.nn.Module):
            found.extend((*value.parameters(), *value.buffers()))
    return found


def _plain(tensor: Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_quantized
