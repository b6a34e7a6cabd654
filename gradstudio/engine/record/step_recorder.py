"""Recording one step: each call of torch or of a layer, each backward, each step of an optimizer, as it runs."""

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from gradstudio.engine.bring.forward_hooks import called_alone, with_hooks
from gradstudio.engine.bring.forward_recorder import (
    Call,
    Line,
    Visit,
    modes_in_force,
    path_of,
    plain_words,
    span_of,
    tensors_in,
)
from gradstudio.engine.bring.layer_constructors import LayerConstructor, constructor_as_noted, is_stock_inside
from gradstudio.engine.gradient.inplace_writes import Before, storage_of
from gradstudio.engine.gradient.leaf_writes import leaf_writes
from gradstudio.engine.record.backward_watch import watched_backward
from gradstudio.engine.record.call_facts import (
    BACKWARD,
    GRAD,
    LIBRARY,
    STEP,
    ZERO_GRAD,
    ModuleCall,
    helper_around,
    is_transforming,
    may_write,
    name_of,
    out_of,
    parts_of,
)
from gradstudio.engine.record.kept_values import KeptValues
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles
from gradstudio.engine.record.step_values import StepValues
from gradstudio.engine.record.transform_watch import watched_transforms
from gradstudio.graph.model import ItemId

MOST_CALLS = 20_000
"""What follows runs as ever and is not recorded."""
_ASKS = frozenset(
    "shape dtype device requires_grad is_leaf grad_fn ndim layout names _version is_cuda itemsize nbytes".split()
)


class StepRecorder(TorchFunctionMode):
    """Notes what runs while it is in force.

    Attributes:
        calls, values: in order, the id of each is its place; and what they gave.
        layers: by identity of a stock layer: it, its path, how it is made, and its id.
        leaves: by id, each tensor that was there before; `kept` what they and the layers were then.
        visits: by number, the calls of modules that are no layers of torch's.
        is_full: there was more than is noted.
    """

    def __init__(self, names: CallerNames) -> None:
        """Nothing is noted yet; what it finds is called by `names`."""
        super().__init__()
        self.calls: list[Call] = []
        self.values = StepValues()
        self.layers: dict[int, tuple[nn.Module, str, LayerConstructor, ItemId]] = {}
        self.leaves: dict[ItemId, Tensor] = {}
        self.kept = KeptValues()
        self.visits: dict[int, ModuleCall] = {}
        self.optimizers: dict[int, torch.optim.Optimizer] = {}
        self.is_full = False
        self._names = names
        self._files = ScriptFiles()
        self._known: set[int] = set()
        self._silent = 0
        self._thread = threading.get_ident()
        self._inside: list[Visit] = []
        self._visits = 0
        self._has_root = False
        self._unit: FrameType | None = None
        self._stepping: torch.optim.Optimizer | None = None
        self._leaves_before: list[Before] = []
        self._silenced: AbstractContextManager[None] = nullcontext()
        self._since = 0.0
        self._paths: dict[int, str] = {}
        self._makers: dict[int, LayerConstructor | None] = {}

    # ------------------------------------------------------------------ calls

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call it, and note what it was given and gave."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if self._silent or (name == "__get__" and func.__self__.__name__ in _ASKS) or is_transforming():
            return func(*args, **kwargs)
        if name == "backward" and func is Tensor.backward:
            with self._silence():
                return self._backward("torch.Tensor.backward", args, kwargs, functools.partial(func, *args, **kwargs))
        if (unit := helper_around(sys._getframe(1), self._files.is_theirs, _CALLED)) is not None:
            return self._within(unit, func, args, kwargs)
        given = tensors_in((args, kwargs))
        self._meet(given)
        if may_write(name, args, kwargs):
            self.values.flush()
        call = self.values.call_of(self._next_id(), given)
        since = time.perf_counter()
        result = func(*args, **kwargs)
        self._note(path_of(func), tuple(args), kwargs, result, given, call, since)
        return result

    def _within(self, unit: FrameType, func: Any, args: Any, kwargs: Any) -> Any:
        """Something that a function of a library does: the first time the call of that function is noted."""
        self.values.flush()  # what it writes into is not known
        since = time.perf_counter()
        result = func(*args, **kwargs)
        if unit is not self._unit:
            self._unit = unit
            if self._add(LIBRARY, (), {"name": name_of(unit)}, None):
                self.values.effect(ItemId(str(len(self.calls) - 1)), since)
        return result

    def _called(self, plain: Callable[..., Any], module: nn.Module, args: Any, kwargs: Any) -> Any:
        if self._is_deaf():
            return plain(module, *args, **kwargs)
        path = self._path_of(module)
        maker = self._maker(module)
        if maker is not None:
            alone = self._silence()(functools.partial(self._layer, plain, module, path, maker))
            return with_hooks(module, args, kwargs, alone)
        self._visits += 1
        word, called = type(module).__name__, path or self._names.modules.get(id(module), "")
        self._inside.append(Visit(self._visits, path, plain_words(f"{called} ({word})" if called else word)))
        number, line = self._visits, self._line()
        try:
            result = plain(module, *args, **kwargs)
        finally:
            self._inside.pop()
        self.visits[number] = ModuleCall(module, path, tuple(args), kwargs, result, line)
        return result

    def _layer(
        self, plain: Callable[..., Any], module: nn.Module, path: str, maker: LayerConstructor, args: Any, kwargs: Any
    ) -> Any:
        """A call of a layer of torch's own, whatever runs inside it."""
        given = tensors_in((args, kwargs))
        self._meet(given)
        if getattr(module, "inplace", False):
            self.values.flush()
        if id(module) not in self.layers:
            node = ItemId(f"layer{len(self.layers)}")
            self.layers[id(module)] = (module, path, maker, node)
            self.kept.keep((*module.parameters(), *module.buffers()))
            self.values.meet(node, module, at_once=any(True for _ in module.buffers()))
        call = self.values.call_of(self._next_id(), given)
        since = time.perf_counter()
        result = called_alone(plain, module, args, kwargs)
        self._note("", tuple(args), kwargs, result, given, call, since, module, path)
        return result

    def _note(
        self,
        path: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        given: Sequence[Tensor],
        call: Any,
        since: float,
        layer: nn.Module | None = None,
        layer_path: str = "",
    ) -> None:
        outputs = tuple(parts_of(result))
        tensors = [output for output in outputs if isinstance(output, Tensor)]
        if not tensors and not path.endswith(("__setitem__", "__set__")):
            return  # a size, a number, a truth: it is written where it is used
        if not self._add(path, args, kwargs, result, layer, layer_path):
            return
        node = ItemId(str(len(self.calls) - 1))
        self._known.update(map(id, tensors))
        self.values.made(node, outputs if tensors else (), given, call, path, since)

    def _add(
        self,
        path: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        layer: nn.Module | None = None,
        layer_path: str = "",
    ) -> bool:
        if len(self.calls) >= MOST_CALLS:
            self.is_full = True
            return False
        inside, around = tuple(self._inside), modes_in_force()
        self.calls.append(Call(path, args, kwargs, result, inside, around, self._line(), False, layer, layer_path))
        return True

    def _meet(self, tensors: Sequence[Tensor]) -> None:
        """Tensors are used; those that nothing recorded has made were there before."""
        for tensor in tensors:
            if id(tensor) in self._known or id(tensor) in self.values.sources:
                continue
            self._known.add(id(tensor))
            node = ItemId(f"leaf{len(self.leaves)}")
            self.leaves[node] = tensor
            self.kept.keep((tensor,))
            self.values.meet(node, tensor)

    # ------------------------------------------------------------------ backwards and optimizers

    def _backward(self, path: str, args: Any, kwargs: Any, run: Callable[[], Any]) -> Any:
        self._meet(tensors_in((args, kwargs)))
        self.kept.look_at_gradients()
        since = time.perf_counter()
        result = watched_backward(self.values, self._next_id(), path, args, kwargs, run)
        outputs = tuple(parts_of(result))
        if self._add(path, tuple(args), kwargs, result):
            self._known.update(id(output) for output in outputs)
            node = ItemId(str(len(self.calls) - 1))
            if outputs:
                self.values.made(node, outputs, (), None, path, since)
            else:
                self.values.effect(node, since)
        return result

    def _use(self, optimizer: torch.optim.Optimizer) -> None:
        """It is about to do something to its leaves."""
        if id(optimizer) not in self.optimizers:
            self.values.show(ItemId(f"optimizer{len(self.optimizers)}"), optimizer)
            self.optimizers[id(optimizer)] = optimizer
            self.kept.look_at(optimizer)
        self.values.flush()
        self._since = time.perf_counter()

    def _cleared(self, optimizer: torch.optim.Optimizer, run: Callable[[], Any]) -> Any:
        self._use(optimizer)
        result = run()
        if self._add(ZERO_GRAD, (optimizer,), {}, None):
            self.values.effect(ItemId(str(len(self.calls) - 1)), self._since)
        self.values.look_at_leaves()
        return result

    def _before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if self._is_deaf():
            return
        self._stepping = optimizer
        self._silenced = self._silence()
        self._silenced.__enter__()
        self._use(optimizer)
        leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
        self._leaves_before = [
            Before(leaf, leaf._version, storage_of(leaf), leaf.requires_grad)
            for leaf in leaves
            if leaf.layout is torch.strided
        ]

    def _after_step(self, optimizer: torch.optim.Optimizer) -> None:
        if self._stepping is not optimizer or threading.get_ident() != self._thread:
            return
        writes = leaf_writes(self.values.gradients.leaves.values(), self._leaves_before, ())
        if self._add(STEP, (optimizer,), {}, None):
            self.values.effect(ItemId(str(len(self.calls) - 1)), self._since, writes)
        self.values.look_at_leaves()
        self._stepping = None
        self._silenced.__exit__(None, None, None)

    def _whole(self, path: str, run: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Something that is one call whatever runs inside: an autograd function of the person's own, a transform."""
        if self._is_deaf():
            return run()
        with self._silence():
            given = tensors_in((args, kwargs))
            self._meet(given)
            self.values.flush()
            call = self.values.call_of(self._next_id(), given)
            since = time.perf_counter()
            result = run()
            self._note(path, args, kwargs, result, given, call, since)
            return result

    # ------------------------------------------------------------------ in force

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Be told of calls of modules, of backwards and of optimizers; all is as it was behind it."""
        recorder, undo = self, list[tuple[Any, str, Any]]()

        def put(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
            plain = getattr(owner, name)
            undo.append((owner, name, plain))
            setattr(owner, name, functools.wraps(plain)(wrap(plain)))

        def module(plain: Any) -> Any:
            return lambda self, *args, **kwargs: recorder._called(plain, self, args, kwargs)

        def autograd(path: str) -> Callable[[Any], Any]:
            def wrap(plain: Any) -> Any:
                def call(*args: Any, **kwargs: Any) -> Any:
                    if recorder._is_deaf():
                        return plain(*args, **kwargs)
                    with recorder._silence():
                        return recorder._backward(path, args, kwargs, lambda: plain(*args, **kwargs))

                return call

            return wrap

        def zero_grad(plain: Any) -> Any:
            def call(self: Any, *args: Any, **kwargs: Any) -> Any:
                if recorder._is_deaf():
                    return plain(self, *args, **kwargs)
                with recorder._silence():
                    return recorder._cleared(self, lambda: plain(self, *args, **kwargs))

            return call

        put(nn.Module, "__call__", module)
        put(torch.autograd, "backward", autograd(BACKWARD))
        put(torch.autograd, "grad", autograd(GRAD))
        put(torch.optim.Optimizer, "zero_grad", zero_grad)
        plain_apply = vars(torch.autograd.Function)["apply"]

        def apply(kind: Any, *args: Any, **kwargs: Any) -> Any:
            run = functools.partial(plain_apply.__func__, kind, *args, **kwargs)
            return recorder._whole(f"{kind.__name__}.apply", run, args, kwargs)

        setattr(torch.autograd.Function, "apply", classmethod(apply))  # noqa: B010 - mypy lets no method be assigned
        hooks = [
            register_optimizer_step_pre_hook(lambda optimizer, *_: self._before_step(optimizer)),
            register_optimizer_step_post_hook(lambda optimizer, *_: self._after_step(optimizer)),
        ]
        try:
            with watched_transforms(self._whole), self:
                yield
        finally:
            for hook in hooks:
                hook.remove()
            setattr(torch.autograd.Function, "apply", plain_apply)  # noqa: B010
            for owner, name, plain in reversed(undo):
                setattr(owner, name, plain)

    @contextmanager
    def _silence(self) -> Iterator[None]:
        """What runs in this is not noted: it is inside of something that is, or our own."""
        self._silent += 1
        try:
            with out_of(self):
                yield
        finally:
            self._silent -= 1

    def _is_deaf(self) -> bool:
        return bool(self._silent) or threading.get_ident() != self._thread or is_transforming()

    # ------------------------------------------------------------------ names and places

    def _next_id(self) -> ItemId:
        return ItemId(str(len(self.calls)))

    def _path_of(self, module: nn.Module) -> str:
        """How the module is called within the outermost one that has a name, or was called first."""
        path = self._paths.get(id(module))
        if path is None:
            name = self._names.modules.get(id(module), "" if self._inside else type(module).__name__.lower())
            if not self._has_root and any(True for _ in module.children()):
                self._has_root, name = True, ""  # the first model's layers need no name before theirs
            for inner, one in module.named_modules():
                self._paths.setdefault(id(one), f"{name}.{inner}".strip("."))
            for inner, tensor in (*module.named_parameters(), *module.named_buffers()):
                self._names.tensors.setdefault(id(tensor), f"{name}.{inner}".strip("."))
            path = self._paths[id(module)]
        return path

    def _maker(self, module: nn.Module) -> LayerConstructor | None:
        if id(module) not in self._makers:
            with self._silence():
                self._makers[id(module)] = constructor_as_noted(module) if is_stock_inside(module) else None
        return self._makers[id(module)]

    def _line(self) -> Line:
        frame: FrameType | None = sys._getframe(2)
        is_theirs = self._files.is_theirs
        while frame is not None and not is_theirs(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return Line()
        one = id(frame) ^ (len(self._inside) << 3) ^ self._visits
        return Line(frame.f_code.co_filename, frame.f_lineno, one, span_of(frame))


_CALLED = StepRecorder._called.__code__
