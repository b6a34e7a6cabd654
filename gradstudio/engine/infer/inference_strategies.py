"""Ways to try one statement before a run: for real, on meta, on fakes, and on several fillings of small tensors.

A way gives the names as they are afterwards, or the exception that was raised. Nothing here judges,
and nothing touches the stand-ins it is given: what a statement may write into is a twin.
"""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gradstudio.engine.access import execute
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.meta.fake_tensors import fake_mode, fake_of
from gradstudio.engine.meta.meta_tensors import META, OnMeta, meta_of, non_leaf, rebuild
from gradstudio.engine.meta.replayable_iterators import make_replayable, replayable_in
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.view_state import is_leaf

Names = dict[str, Any]
FILLINGS = 4
LARGEST_MEMORY = 1 << 20
"""Bytes that are copied for the sake of a smaller part of them."""


def on_real_values(step: Step, inputs: Names) -> Names | Exception:
    """As the run will do it; what may be written into is a copy."""
    return _tried(step, lambda: _twins(step, inputs, _copy, _same))


def on_meta(step: Step, inputs: Names) -> tuple[Names | Exception, list[torch.device]]:
    """On tensors without data; and the devices that were named on the way."""
    mode = OnMeta()
    return _tried(step, lambda: _twins(step, inputs, _moved, meta_of), META, mode), mode.asked


def on_fakes(step: Step, inputs: Names) -> Names | Exception:
    """On torch's fake tensors; results are meta tensors again."""
    twins: dict[int, Any] = {}
    with fake_mode():
        names = _tried(step, lambda: {name: fake_of(value, twins) for name, value in inputs.items()})
    if isinstance(names, Exception):
        return names
    back = {id(twin): value for twin, value in zip(twins.values(), _held(inputs, twins), strict=True)}
    try:
        return {name: _from_fake(value, back) for name, value in names.items()}
    except TypeError as error:
        return error


def on_ones(inputs: Names, step: Step) -> Names | Exception:
    """On one element for each tensor, of the same dtypes and numbers of dimensions."""
    return _tried(step, lambda: {name: _each(value, _one) for name, value in inputs.items()})


def on_expanded(inputs: Names, step: Step) -> Names | Exception:
    """On tensors of the CPU of the full sizes whose elements are one and the same: they take no memory.

    Only for what is refused for its sizes anyhow: then torch looks at nothing but sizes.
    """
    twins: dict[int, Any] = {}
    return _tried(step, lambda: {name: _hollow(value, twins) for name, value in inputs.items()})


def common_refusal(step: Step, inputs: Names) -> str:
    """Torch's words, when it refuses whatever the unknown numbers are; the known ones stay. "" when it may accept."""
    if not isinstance(_tried(step, partial(_all_filled, inputs, 0)), Exception):
        return ""
    return FillingTrials(step, inputs).refused


class FillingTrials:
    """A statement run on small tensors with the right shapes and made-up numbers, several times.

    Attributes:
        results: names as they are after each filling that torch accepted.
        errors: what it said to the others.
        by_numbers: an operator ran whose shape depends on the numbers.
    """

    def __init__(self, step: Step, inputs: Names) -> None:
        """Try all fillings."""
        self.results: list[Names] = []
        self.errors: list[Exception] = []
        watch = _Watch()
        for number in range(FILLINGS):
            done = _tried(step, partial(_all_filled, inputs, number), watch)
            if isinstance(done, Exception):
                self.errors.append(done)
            else:
                self.results.append(done)
        self.by_numbers = watch.by_numbers

    @property
    def refused(self) -> str:
        """Torch's words, when it says the same to every filling; "" else."""
        words = {str(error) for error in self.errors}
        return words.pop() if len(words) == 1 and not self.results else ""


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types here
    """Notices operators that torch marks as having shapes that depend on numbers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types here
        self.by_numbers = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.by_numbers = self.by_numbers or torch.Tag.dynamic_output_shape in func.tags
        return func(*args, **(kwargs or {}))


def _tried(step: Step, twins: Callable[[], Names], *modes: AbstractContextManager[Any]) -> Names | Exception:
    try:
        names = twins()
        for iterator in replayable_in(names.values()):
            iterator.rewind()
        with ExitStack() as stack:
            for mode in modes:
                stack.enter_context(mode)
            execute(step.source.code, names)
            for name in step.statement.names:
                names[name] = make_replayable(names[name])
    except Exception as error:  # noqa: BLE001 - a program's own code on stand-ins: its error is the answer
        return error
    return names


def _twins(step: Step, inputs: Names, written: Callable[[Any], Any], read: Callable[[Any], Any]) -> Names:
    """Twins of what the statement may write into, one for each object; of the rest what `read` makes of it."""
    made: dict[int, Any] = {}
    names = {}
    for name, value in inputs.items():
        if step.pure:
            names[name] = read(value)
        else:
            if id(value) not in made:
                made[id(value)] = written(value)
            names[name] = made[id(value)]
    return names


def _same(value: Any) -> Any:
    return value


def _copy(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return list(value) if type(value) is list else value
    with clean_modes():
        twin = _with_its_memory(value) if _is_part(value) else value.detach().clone()
    return _with_history_of(value, twin)


def _with_history_of(value: Tensor, twin: Tensor) -> Tensor:
    """The twin, a leaf where the value is one, and with a past where it has one."""
    if not value.requires_grad:
        return twin
    return twin.requires_grad_() if is_leaf(value) else non_leaf(twin)


def _is_part(value: Tensor) -> bool:
    """Whether there is more in its memory, which `as_strided` can reach, than the tensor itself; but not much."""
    if value.layout is not torch.strided or value.is_nested or value.is_quantized or value.is_meta:
        return False
    return value.numel() * value.element_size() < value.untyped_storage().nbytes() <= LARGEST_MEMORY


def _with_its_memory(value: Tensor) -> Tensor:
    memory = value.untyped_storage().clone()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return torch.empty(0, dtype=value.dtype).set_(memory, value.storage_offset(), value.shape, value.stride())


def _moved(value: Any) -> Any:
    twin = meta_of(value)
    if isinstance(value, Tensor) and twin is value:
        with clean_modes():
            twin = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=META)
        return _with_history_of(value, twin)
    return twin


def _each(value: Any, make: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return make(value) if not value.is_nested else value
    return rebuild(value, lambda item: _each(item, make)) if isinstance(value, list | tuple) else value


def _one(tensor: Tensor) -> Tensor:
    return torch.ones((1,) * tensor.dim(), dtype=tensor.dtype)


def _all_filled(inputs: Names, number: int) -> Names:
    twins: dict[int, Any] = {}
    return {name: _filled(value, number, twins) for name, value in inputs.items()}


def _filled(value: Any, number: int, twins: dict[int, Any]) -> Any:
    """The value with made-up numbers: all 0, all 1, all 2, or 0, 1, 2, ... up to 6 and again."""
    if id(value) in twins:
        return twins[id(value)]
    if isinstance(value, nn.Module):
        with clean_modes():
            twin: Any = copy.deepcopy(value).to_empty(device="cpu")
            for tensor in (*twin.parameters(), *twin.buffers()):
                tensor.copy_(_numbers(tensor, number))
    elif isinstance(value, Tensor) and value.is_meta:
        with clean_modes():
            twin = _numbers(value, number)
        if value.requires_grad:
            twin.requires_grad_()
            twin = twin if is_leaf(value) else non_leaf(twin)
    elif isinstance(value, Tensor):
        twin = _copy(value)
    elif isinstance(value, list | tuple):
        return rebuild(value, lambda item: _filled(item, number, twins))
    else:
        return value
    twins[id(value)] = twin
    return twin


def _hollow(value: Any, twins: dict[int, Any]) -> Any:
    if isinstance(value, Tensor):
        with clean_modes():
            return torch.zeros((), dtype=value.dtype).expand(value.shape)
    if isinstance(value, nn.Module) and id(value) not in twins:
        twin = twins[id(value)] = copy.deepcopy(value)
        for part in twin.modules():
            for name, held in list(part._parameters.items()):
                if held is not None:
                    part._parameters[name] = nn.Parameter(_hollow(held, twins), requires_grad=False)
            for name, buffer in list(part._buffers.items()):
                part._buffers[name] = _hollow(buffer, twins) if buffer is not None else None
    if isinstance(value, list | tuple):
        return rebuild(value, lambda item: _hollow(item, twins))
    return twins.get(id(value), value)


def _numbers(tensor: Tensor, number: int) -> Tensor:
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    if number < FILLINGS - 1:
        return made.fill_(number)
    return made.copy_((torch.arange(made.numel()) % 7).view(made.shape))


def _held(inputs: Names, twins: dict[int, Any]) -> list[Any]:
    """The values behind the twins, in the twins' order."""
    found: dict[int, Any] = {}
    _collect(list(inputs.values()), found)
    return [found[key] for key in twins]


def _collect(values: Any, found: dict[int, Any]) -> None:
    for value in values:
        found[id(value)] = value
        if isinstance(value, list | tuple):
            _collect(value, found)
        elif isinstance(value, nn.Module):
            _collect([*value._parameters.values(), *value._buffers.values(), *value._modules.values()], found)


def _from_fake(value: Any, back: dict[int, Any]) -> Any:
    """A meta tensor like the fake; what stood behind a fake that was read comes back itself.

    Raises:
        TypeError: a size is not a number.
    """
    if isinstance(value, Tensor):
        if not all(type(size) is int for size in value.shape):
            raise TypeError("a size that only a run tells")
        with clean_modes():
            twin = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=META)
        return _with_history_of(value, twin)
    if id(value) in back:
        return back[id(value)]
    if isinstance(value, tuple | list):
        return rebuild(value, lambda item: _from_fake(item, back))
    if isinstance(value, nn.Module):
        raise TypeError("a module that was made of fakes")
    return value
