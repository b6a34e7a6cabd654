"""Shapes before a run (SEMANTICS 16): a hint, worked out on stand-ins, never a wrong shape.

Values that the text alone decides and that are tiny are computed for real; everything drawn,
trained or large is a meta tensor. What depends on such a value's numbers is "known after a run".
The live namespace and the generators are never touched.
"""

import ast
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from gradstudio.engine.source import FILENAME, Head, Item, Step, prepare
from gradstudio.engine.standins import stand_in
from gradstudio.engine.summary import dtype_name
from gradstudio.engine.trial import UNKNOWN, Refusal, Trial, Unknown
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.inference import Infer, Inferred, LeafInference, PortInference, TryWire, WireTried

_ACCELERATORS = ("cuda", "mps", "xpu", "meta")
_RUNS_NOTHING = ("no_grad", "enable_grad", "inference_mode")
Signature = tuple[object, ...]


class Inference:
    """Answers `Infer`; remembers what it worked out, so an edit costs only what follows it."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._memo: dict[Signature, Any] = {}

    def infer(self, request: Infer, load_file: Callable[..., object]) -> Inferred:
        """Shape, dtype and device of every output that can be told, refusals, and what only a run tells."""
        generators, dtype = torch.get_rng_state(), torch.get_default_dtype()
        walk = _Walk(request.program, self._memo)
        try:
            walk.begin(load_file)
            walk.body(prepare(request.program))
        finally:
            torch.set_default_dtype(dtype)
            torch.set_rng_state(generators)
        self._memo = walk.used
        return Inferred(revision=request.revision, ports=tuple(walk.ports.values()))

    def try_wire(self, request: TryWire, load_file: Callable[..., object]) -> WireTried:
        """What torch would say at the target if the wire were there; the memo stays that of the program."""
        memo = self._memo
        answer = self.infer(Infer(revision=0, program=request.program), load_file)
        self._memo = memo
        ports = tuple(port for port in answer.ports if port.node == request.target)
        refusal = next((port.refusal for port in ports if port.refusal), "")
        return WireTried(request=request.request, target=request.target, refusal=refusal, outputs=ports)


class _Walk:
    """One pass over a program's statements.

    Attributes:
        ports: what was found, by node and output.
        used: the part of the memo that this program needed.
    """

    def __init__(self, program: Program, memo: dict[Signature, Any]) -> None:
        self.ports: dict[tuple[ItemId, int], PortInference] = {}
        self.used: dict[Signature, Any] = {}
        self._program, self._memo = program, memo
        self._namespace: dict[str, Any] = {}
        self._keys: dict[str, Signature] = {}
        self._autocast = False
        self._quiet = 0
        only_cpu = program.device == "cpu" and not any(word in program.code for word in _ACCELERATORS)
        self._device = "cpu" if only_cpu else ""

    def begin(self, load_file: Callable[..., object]) -> None:
        """Imports and names of the prelude; its default dtype holds until the end, its seed is left out."""
        tree = ast.parse(self._program.prelude, FILENAME)
        body: list[ast.stmt] = [
            s for s in tree.body if not isinstance(s, ast.Expr) or "set_default_dtype" in ast.unparse(s)
        ]
        self._namespace["__file__"] = FILENAME
        exec(compile(ast.Module(body, []), FILENAME, "exec"), self._namespace)
        self._namespace["load_file"] = load_file
        if "device" in self._namespace:
            self._namespace["device"] = torch.device("cpu")

    def body(self, items: tuple[Item, ...]) -> None:
        """Go through statements in order."""
        for item in items:
            if isinstance(item, Step):
                self._step(item)
            elif item.block.kind == "for":
                self._loop(item)
            elif item.block.kind != "if":
                self._block(item)

    # -------------------------------------------------------------- statements

    def _step(self, step: Step) -> None:
        trial = Trial(step, self._namespace, self._autocast)
        if trial.skips:
            return
        key = self._key(step)
        if key in self._memo and trial.repeatable:
            results = self._memo[key]
        else:
            results = trial.results()
        if trial.repeatable:
            self.used[key] = results
        self._bind(step, trial, results, key)
        if not self._quiet:
            self._tell(step, results)

    def _key(self, step: Step) -> Signature:
        reads = tuple(self._keys.get(name, (name,)) for name in step.source.slots)
        modes = (torch.is_grad_enabled(), self._autocast, torch.get_default_dtype())
        # hash-consed by Python: a key holds the keys of its inputs
        return (step.statement.operator, step.source.template, hash(reads), modes)

    def _bind(self, step: Step, trial: Trial, results: Any, key: Signature) -> None:
        for place, name in enumerate(step.statement.names):
            self._namespace[name] = UNKNOWN if isinstance(results, Unknown | Refusal) else results[place]
            self._keys[name] = (key, place)
        for name, value in trial.overwritten(results).items():
            self._namespace[name] = value
            self._keys[name] = (key, name)

    def _tell(self, step: Step, results: Any) -> None:
        match results:
            case Refusal(words=words):
                self.ports[step.id, 0] = PortInference(node=step.id, refusal=words)
            case Unknown():
                for place in range(max(len(step.statement.names), 1)):
                    self.ports[step.id, place] = PortInference(node=step.id, output=place, known_after_run=True)
            case _:
                for place, value in enumerate(results):
                    self._tell_value(step.id, place, value)

    def _tell_value(self, node: ItemId, place: int, value: Any) -> None:
        if isinstance(value, Unknown):
            self.ports[node, place] = PortInference(node=node, output=place, known_after_run=True)
        elif isinstance(value, Tensor) and not value.is_nested:
            guessed = self._autocast and value.is_meta and value.is_floating_point()
            self.ports[node, place] = PortInference(
                node=node,
                output=place,
                dtype="" if guessed else dtype_name(value.dtype),
                shape=tuple(value.shape),
                device=self._device,
                requires_grad=value.requires_grad,
            )
        elif isinstance(value, torch.nn.Module):
            self.ports[node, place] = PortInference(node=node, output=place, leaves=_leaves(value))

    # -------------------------------------------------------------- blocks

    def _block(self, head: Head) -> None:
        outer = self._autocast
        self._autocast = outer or head.block.kind == "autocast"
        with ExitStack() as stack:
            if head.block.kind in _RUNS_NOTHING and head.expression is not None:
                stack.enter_context(eval(head.expression, self._namespace))  # noqa: S307 - the printed text
            self.body(head.body)
        self._autocast = outer

    def _loop(self, head: Head) -> None:
        """The first turn tells; the last one, gone through in silence, says what is the same after the loop."""
        turns = self._ends(head)
        if turns == ():
            return
        before, told = dict(self._namespace), set(self.ports)
        self._turn(head, UNKNOWN if turns is None else turns[0])
        first = dict(self._namespace)
        self._quiet += 1
        self._turn(head, UNKNOWN if turns is None else turns[-1])
        self._quiet -= 1
        last = self._namespace
        touched = [name for name in last if last[name] is not before.get(name, _Missing)]
        if any(
            name in before and not _alike(before[name], first.get(name)) for name in touched if _carried(head, name)
        ):
            self._varies(set(self.ports) - told)
        for name in touched:
            same = turns is not None and _alike(first.get(name), last[name])
            self._namespace[name] = stand_in(last[name]) if same and isinstance(last[name], Tensor) else UNKNOWN
            self._keys[name] = (head.fingerprint, name, self._keys.get(name))

    def _turn(self, head: Head, value: Any) -> None:
        assert head.expression is not None
        over = hash(tuple(self._keys.get(name, (name,)) for name in head.expression.co_names))
        names = [name.strip() for name in head.block.variable.split(",")]
        values = (
            [value] if len(names) == 1 else list(value) if isinstance(value, tuple | list) else [UNKNOWN] * len(names)
        )
        for name, element in zip(names, values, strict=False):
            self._namespace[name] = element
            number = type(element) in (int, float, bool, str)
            self._keys[name] = (head.fingerprint, over, name, element if number else self._quiet)
        self.body(head.body)

    def _ends(self, head: Head) -> tuple[Any, ...] | None:
        """The first and last element that is gone over; () when there is none, None when only a run tells."""
        assert head.expression is not None
        if any(isinstance(self._namespace.get(name), Unknown) for name in head.expression.co_names):
            return None
        try:
            over = eval(head.expression, self._namespace)  # noqa: S307 - the printed text
        except Exception:  # noqa: BLE001 - a program's own code on stand-ins: the run will say
            return None
        if not isinstance(over, range | list | tuple):
            return None
        return (over[0], over[-1]) if len(over) else ()

    def _varies(self, ports: set[tuple[ItemId, int]]) -> None:
        for node, place in ports:
            self.ports[node, place] = PortInference(node=node, output=place, known_after_run=True)


def _leaves(module: torch.nn.Module) -> tuple[LeafInference, ...]:
    """What a module holds; a lazy one does not know its shapes before its first call."""
    named = (*module.named_parameters(), *module.named_buffers())
    buffers = {name for name, _ in module.named_buffers()}
    return tuple(
        LeafInference(name, tuple(tensor.shape), dtype_name(tensor.dtype), tensor.requires_grad, name in buffers)
        for name, tensor in named
        if not is_lazy(tensor)
    )


class _Missing:
    """Stands for a name that was not bound."""


def _carried(head: Head, name: str) -> bool:
    """Whether the body binds the name (what it only reads cannot vary by it)."""
    return any(name in item.statement.names if isinstance(item, Step) else _carried(item, name) for item in head.body)


def _alike(first: Any, last: Any) -> bool:
    if isinstance(first, Tensor) and isinstance(last, Tensor):
        return first.shape == last.shape and first.dtype == last.dtype
    return first is last and not isinstance(first, list)
