"""Nodes of a program as one function in float64: inputs as a silent run finds them, evaluated as often as wanted."""

import copy
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradstudio.engine.errors import CannotTry
from gradstudio.engine.experiment.rerun import Outputs, Rerun, Watcher, attempt, execute
from gradstudio.engine.live.live_state import Binding
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.tensor_summary import dtype_name
from gradstudio.graph.model import ItemId

NOWHERE: Binding = (ItemId(""), 0)
_GRADIENT = re.compile(r"\.grad\b")
SELF = "self"
FLOATS = (torch.float64, torch.complex128)


class Input(NamedTuple):
    """A tensor that goes in.

    Attributes:
        name: as the program calls it; `source` who made it.
        leaf: float64, requires grad; of a complex tensor real and imaginary part in a last dimension.
    """

    name: str
    source: Binding
    leaf: Tensor
    is_complex: bool


class Result(NamedTuple):
    """A tensor that comes out: of which call, and where in its outputs."""

    call: int
    node: ItemId
    output: int
    path: tuple[int, ...]


class _Call(NamedTuple):
    """A statement and what it reads from outside: name -> slot."""

    step: Step
    reads: dict[str, int]


class Capture(Watcher):
    """Takes up the nodes as they run for the first time, with what each reads from outside of them.

    Attributes:
        inputs: the differentiable ones, in the order they are read.
        left_out: of several nodes those that are no part of the function, and why.
    """

    def __init__(self, nodes: frozenset[ItemId], seed: int) -> None:
        """Wait for these nodes; `seed` is set before each evaluation."""
        self.inputs: list[Input] = []
        self.left_out: dict[ItemId, str] = {}
        self._wanted, self._seed, self._several = set(nodes), seed, len(nodes) > 1
        self._calls: list[_Call] = []
        self._slots: list[Any] = []
        self._known: dict[int, tuple[int, int]] = {}  # identity -> (slot, version when it was taken up)
        self._made: dict[str, object] = {}
        self._written: set[int] = set()
        self._results: list[tuple[object, Result]] = []
        self._used: set[int] = set()
        self._held: list[object] = []
        self._outside: dict[str, Any] = {}
        self._buffers: list[tuple[Tensor, Tensor]] = []

    # -------------------------------------------------------------- taking up

    def before(self, run: Rerun, step: Step) -> None:
        """Take up what the statement reads, if it is one of them."""
        if step.id not in self._wanted:
            return
        reason = self._why_not(run, step)
        if reason and not self._several:
            raise CannotTry(f"`{step.statement.address}` {reason}")
        if reason or (self._several and not self._takes_in(run, step)):
            self._leave_out(step, reason or "takes in nothing differentiable: it is an input of the others.")
            return
        reads: dict[str, int] = {}
        for name, value, binding in _read(run, step):
            if name in self._made and self._made[name] is value:
                self._used.add(id(value))
            else:
                reads[name] = self._slot(name, value, binding)
        self._calls.append(_Call(step, reads))

    def after(self, run: Rerun, step: Step, outputs: Outputs) -> None:
        """Take up what it gave."""
        if step.id not in self._wanted:
            return
        self._wanted.discard(step.id)
        self.satisfied = not self._wanted
        if not self._outside:
            known = {*run.binder, SELF}
            self._outside = {name: value for name, value in run.namespace.items() if name not in known}
        if not step.pure:
            for name, value, _ in _read(run, step):
                self._made[name] = value
                self._written.add(id(value))
        for name in step.statement.names:
            self._made[name] = run.namespace[name]
        self._held.append(outputs)
        if self._several and step.pure and not any(isinstance(v, nn.Module) or list(_tensors(v)) for v in outputs):
            self._calls.pop()
            self._leave_out(step, "gives no tensor.")
            self._made = {name: value for name, value in self._made.items() if name not in step.statement.names}
            return
        for output, value in enumerate(outputs):
            self._used.discard(id(value))
            self._results = [earlier for earlier in self._results if earlier[0] is not value]
            for path, _ in _tensors(value):
                self._results.append((value, Result(len(self._calls) - 1, step.id, output, path)))

    def _why_not(self, run: Rerun, step: Step) -> str:
        """Why a statement is no part of any function to check; "" when it may be one."""
        if step.statement.backward:
            return "runs a backward: that is no function to check."
        if run.gradless_block is not None:
            return "stands in a block that switches gradients off: there is none to check."
        optimizes = any(isinstance(run.namespace.get(name), torch.optim.Optimizer) for name in step.source.reads)
        if optimizes or "optim." in step.statement.text or _GRADIENT.search(step.statement.text):
            return "is about gradients that a backward has left: that is no function to check."
        return ""

    def _takes_in(self, run: Rerun, step: Step) -> bool:
        for _, value, _ in _read(run, step):
            if isinstance(value, nn.Module):
                return True
            if any(tensor.is_floating_point() or tensor.is_complex() for _, tensor in _tensors(value)):
                return True
        return False

    def _leave_out(self, step: Step, reason: str) -> None:
        self.left_out[step.id] = f"`{step.statement.address}` {reason}"
        self._wanted.discard(step.id)
        self.satisfied = not self._wanted

    def leave_out_missing(self, reason: str) -> None:
        """The nodes that have not run are no part of it."""
        self.left_out.update(dict.fromkeys(self._wanted, reason))
        self._wanted.clear()

    @property
    def inner(self) -> list[Result]:
        """What other nodes among them take in again."""
        return [result for value, result in self._results if id(value) in self._used]

    @property
    def missing(self) -> frozenset[ItemId]:
        """The nodes that have not run."""
        return frozenset(self._wanted)

    @property
    def results(self) -> list[Result]:
        """What none of the nodes takes in again."""
        return [result for value, result in self._results if id(value) not in self._used]

    # -------------------------------------------------------------- evaluating

    def evaluate(self, results: list[Result]) -> list[Tensor]:
        """The tensors that come out with the inputs as they are now.

        Raises:
            CannotTry: in torch's words, why it fails in float64.
        """
        torch.manual_seed(self._seed)
        for buffer, kept in self._buffers:
            buffer.data.copy_(kept)
        namespace, made, gave = dict(self._outside), dict[int, Any](), list[Outputs]()
        for step, reads in self._calls:
            for name, slot in reads.items():
                if slot not in made:
                    made[slot] = self._fresh(self._slots[slot])
                namespace[name] = made[slot]
            outputs: list[Any] = []
            failed = attempt(lambda step=step, outputs=outputs: outputs.extend(execute(step, namespace)))  # type: ignore[misc]  # defaults bind the turn's own
            if failed:
                raise CannotTry(f"In float64 `{step.statement.address}` fails: {failed}")
            gave.append(tuple(outputs))
        return [_at(gave[result.call][result.output], result.path) for result in results]

    def _slot(self, name: str, value: object, binding: Binding) -> int:
        """Where the value is kept; one object is kept once, unless others wrote into it in between."""
        version = value._version if isinstance(value, Tensor) and not value.is_inference() else 0
        known = self._known.get(id(value))
        if known is not None and (known[1] == version or id(value) in self._written):
            return known[0]
        self._held.append(value)
        self._slots.append(self._taken(name, value, binding))
        self._known[id(value)] = (len(self._slots) - 1, version)
        return len(self._slots) - 1

    def _taken(self, name: str, value: object, binding: Binding) -> Any:
        """The value as it is now, in float64; differentiable tensors become inputs."""
        if isinstance(value, Tensor):
            return self._tensor(name, value, binding)
        if isinstance(value, nn.Module):
            return self._module(name, value, binding)
        if isinstance(value, list | tuple):
            items = [self._taken(f"{name}[{place}]", item, binding) for place, item in enumerate(value)]
            return _like(value, items)
        return value

    def _tensor(self, name: str, tensor: Tensor, binding: Binding) -> Any:
        plain = tensor.layout is torch.strided and not (tensor.is_nested or tensor.is_quantized or tensor.is_meta)
        if not plain or not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor.detach().clone()
        with torch.no_grad():
            wide = tensor.detach().to(torch.complex128 if tensor.is_complex() else torch.float64)
            leaf = (torch.view_as_real(wide.resolve_conj()) if wide.is_complex() else wide).clone(
                memory_format=torch.contiguous_format
            )
        found = Input(name, binding, leaf.requires_grad_(), tensor.is_complex())
        self.inputs.append(found)
        return found

    def _module(self, name: str, module: nn.Module, binding: Binding) -> nn.Module:
        try:
            twin = copy.deepcopy(module).double()
        except (RuntimeError, TypeError) as error:
            raise CannotTry(f"`{name}` cannot be copied in float64: {error}") from error
        for path, parameter in twin.named_parameters():
            if parameter.is_floating_point():
                self.inputs.append(Input(f"{name}.{path}", binding, parameter.requires_grad_(), is_complex=False))
        self._buffers += [(buffer, buffer.detach().clone()) for buffer in twin.buffers()]
        return twin

    def _fresh(self, kept: Any) -> Any:
        """A value that a statement may write into."""
        if isinstance(kept, Input):
            return torch.view_as_complex(kept.leaf.clone()) if kept.is_complex else kept.leaf.clone()
        if isinstance(kept, Tensor):
            return kept.clone()
        return _like(kept, [self._fresh(item) for item in kept]) if isinstance(kept, list | tuple) else kept


def _read(run: Rerun, step: Step) -> list[tuple[str, Any, Binding]]:
    """What a statement reads that the program, or the call it is inside of, has bound: name, value, who bound it."""
    names, binder = run.namespace, run.binder
    known = [name for name in step.source.reads if name in names and (name in binder or name == SELF)]
    return [(name, names[name], binder.get(name, NOWHERE)) for name in known]


def is_wide(tensor: Tensor) -> bool:
    """Whether it is float64 or complex128: fine enough for finite differences."""
    return tensor.dtype in FLOATS


def dtype_text(tensor: Tensor) -> str:
    """``float32``."""
    return dtype_name(tensor.dtype)


def _tensors(value: object, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _tensors(item, (*path, place))


def _at(value: Any, path: tuple[int, ...]) -> Any:
    for place in path:
        value = value[place]
    return value


def _like(value: "list[Any] | tuple[Any, ...]", items: list[Any]) -> Any:
    if hasattr(value, "_fields"):
        return type(value)(*items)
    return items if isinstance(value, list) else tuple(items)
