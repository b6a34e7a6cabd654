"""One forward of a person's module, watched: which call made which node of autograd, and what its value was.

Nothing of it stays: hooks are removed, buffers and states of random numbers are as they were.
"""

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from gradstudio.engine.sketch.graph_walk import origin_of
from gradstudio.protocol.sketch import CallPath

Output = tuple[Node, int]


class ModuleTrace(TorchFunctionMode):
    """What a forward made, while it is in force.

    Attributes:
        values: by node and number of its output: the tensor, and its version when it was made.
        paths: by node the calls of modules it was made in.
        titles: by call the name of its class.
        names: by identity of a tensor; `inputs` are those that were put in.
        constants: (tensor, node that used it): of what holds no edge in the graph, inputs and what was detached.
    """

    def __init__(self, inputs: dict[str, Tensor]) -> None:
        """Watch a forward with these inputs, by name."""
        super().__init__()
        self.values: dict[Output, tuple[Tensor, int]] = {}
        self.paths: dict[Node, CallPath] = {}
        self.titles: dict[CallPath, str] = {}
        self.constants: list[tuple[Tensor, Node]] = []
        self.names = {id(tensor): name for name, tensor in inputs.items()}
        self.inputs = frozenset(self.names)
        self._kept: list[Tensor] = []
        self._path: CallPath = ()
        self._calls: dict[str, int] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call it and see what it made."""
        result = func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():
            self._see(func, (args, kwargs), result)
        return result

    def enter(self, name: str, module: nn.Module) -> None:
        """A module is called."""
        count = self._calls[name] = self._calls.get(name, 0) + 1
        self._path = (*self._path, name if count == 1 else f"{name}#{count}")
        self.titles[self._path] = type(module).__name__

    def leave(self) -> None:
        """The innermost call has ended."""
        self._path = self._path[:-1]

    def _see(self, func: Any, given: Any, result: Any) -> None:
        named = [tensor for tensor in _tensors(given) if not tensor.requires_grad and id(tensor) in self.names]
        new = []
        for tensor in _tensors(result):
            node = origin_of(tensor)
            if node is not None:
                self.values[node, tensor.output_nr] = (tensor, _version(tensor))
                if node not in self.paths:
                    new.append(node)
                    self._claim(node)
            elif id(tensor) not in self.names and not tensor.requires_grad:
                self._name(tensor, func, named)
        if new:
            self.constants += [(tensor, new[0]) for tensor in named]

    def _name(self, tensor: Tensor, func: Any, named: list[Tensor]) -> None:
        """What no gradient goes back through is called after what it is from."""
        if named:
            self.names[id(tensor)] = "from " + self.names[id(named[0])].removeprefix("from ")
        elif getattr(func, "__name__", "") in ("detach", "detach_"):
            self.names[id(tensor)] = "detached"
        else:
            return
        self._kept.append(tensor)

    def _claim(self, node: Node) -> None:
        """It and what was made on the way to it stand in the call that is going on; leaves belong to their users."""
        todo = [node]
        while todo:
            one = todo.pop()
            if one not in self.paths and not hasattr(one, "variable"):
                self.paths[one] = self._path
                todo += [made for made, _ in one.next_functions if made is not None]


def run_watched(model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ModuleTrace]:
    """What the model gives, and how it came to be."""
    trace = ModuleTrace(_named_inputs(args, kwargs))
    with ExitStack() as stack:
        stack.enter_context(same_random_numbers())
        stack.enter_context(torch.enable_grad())
        if not isinstance(model, nn.Module):
            with trace:
                return model(*args, **kwargs), trace
        stack.enter_context(_calls_watched(model, trace))
        buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
        with trace:
            return torch.func.functional_call(model, buffers, args, kwargs), trace


@contextmanager
def _calls_watched(model: nn.Module, trace: ModuleTrace) -> Iterator[None]:
    """Tell the trace of each call of a submodule; the hooks are gone afterwards, whatever happens."""
    handles = []
    try:
        for name, module in model.named_modules():
            if module is model:
                continue

            def before(called: nn.Module, _: Any, name: str = name) -> None:
                trace.enter(name, called)

            def after(*_: Any) -> None:
                trace.leave()

            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after, always_call=True))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def same_random_numbers() -> Iterator[None]:
    """Whoever draws random numbers within, draws none of the person's."""
    state = random.getstate()
    numpy = sys.modules.get("numpy")
    numpy_state = numpy.random.get_state() if numpy is not None else None
    has_cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch gives it no types
    devices = list(range(torch.cuda.device_count())) if has_cuda else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(state)
        if numpy is not None:
            numpy.random.set_state(numpy_state)


def _named_inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Tensor]:
    given = {f"input {number}" if len(args) > 1 else "input": value for number, value in enumerate(args)} | kwargs
    return {
        name if len(tensors) == 1 else f"{name}.{number}": tensor
        for name, value in given.items()
        for tensors in (_tensors(value),)
        for number, tensor in enumerate(tensors)
    }


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _version(tensor: Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # one of inference mode has none
        return 0
