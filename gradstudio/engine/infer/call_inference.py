"""Shapes inside calls of groups before a run: a walk that goes into them, told under ``call/inner``.

The definition's statements are gone through on stand-ins, with what the call gives to it. What is kept of a module
(``self.fc``) is read under a plain name, so that it is treated as any other value. The names around are not touched.
"""

import ast
import copy
from typing import Any, NamedTuple

import torch
from msgspec.structs import replace
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.infer.attribute_renaming import ATTRIBUTE, Prepared, plain, prepared
from gradstudio.engine.infer.inference_memo import kind_of
from gradstudio.engine.infer.inference_pass import Signature, Walk
from gradstudio.engine.memory.memory_estimate import Needs
from gradstudio.engine.meta.inference_results import UNKNOWN, told
from gradstudio.engine.meta.meta_tensors import stand_in
from gradstudio.engine.run.call_tracing import CALL, GROUP
from gradstudio.engine.script.compiled_steps import Item, Step, flat
from gradstudio.graph.groups.call_ids import INPUTS, inner_id
from gradstudio.program.model import Program
from gradstudio.protocol.messages.inference import PortInference

MAX_WALKED = 3_000
"""Statements inside calls that are gone through in one inference; what was found of equal calls is used again."""
MAX_WITH_NUMBERS = 500
"""After so many, calls that differ only in the numbers that are given are equal."""
MAX_PORTS = 10_000
"""Outputs inside calls that are told in one inference."""
MAX_DEPTH = 20


class Found(NamedTuple):
    """What was found inside a call.

    Attributes:
        ports: what is told, by ids without the call's.
        refused: the words of what is refused whenever it is called; "" where nothing is.
        walked: how many statements that took.
        calls: what was found of the calls in it.
    """

    ports: tuple[PortInference, ...]
    refused: str
    walked: int
    calls: "InsideMemo"


InsideMemo = dict[Signature, Found]


class Given(NamedTuple):
    """One value that a call gives, and what is known of it besides."""

    value: Any
    key: object
    device: str
    guessed: bool


class Called(NamedTuple):
    """A call of a definition that is about to be tried."""

    inside: Prepared
    given: dict[str, Given]
    module: Given | None
    setup: bool


class Budget:
    """What all calls of one inference share."""

    def __init__(self, memo: InsideMemo) -> None:
        """Nothing was walked yet."""
        self.memo = memo
        self.used: InsideMemo = {}
        self.walked = self.told = 0

    @property
    def is_left(self) -> bool:
        """Whether more may be told."""
        return self.walked < MAX_WALKED and self.told < MAX_PORTS


class DeepWalk(Walk):
    """A walk that goes into calls of functions and classes of the program."""

    _budget: Budget
    _insides: dict[str, Prepared]
    _depth = 0

    def enter_calls(self, program: Program, memo: InsideMemo) -> Budget:
        """Say of which definitions; `memo` is what an earlier inference found."""
        self._budget, self._insides = Budget(memo), {}
        for inside in program.insides:
            around = tuple((name, known.key) for name, known in self._insides.items())
            self._insides[inside.name] = known = prepared(inside, around)
            self._keys[inside.name] = ("definition", known.key)
        return self._budget

    def _step(self, step: Step) -> None:
        called = self._called(step) if self._insides and self._budget.is_left and self._depth < MAX_DEPTH else None
        key = self._text_and_reads(step) if called is not None else ()
        super()._step(step)
        if called is not None:
            self._go_into(step, called, key)

    def _called(self, step: Step) -> Called | None:
        """The call that a statement is, when what is called is one of the definitions and what it gives is known."""
        operator = step.statement.operator
        if not (operator == CALL or operator.startswith(GROUP)):
            return None
        call = _call_of(step.statement.text)
        if call is None:
            return None
        if operator.startswith(GROUP):
            inside, module = self._insides.get(operator.removeprefix(GROUP)), None
        else:
            module = self._given(call.func)
            inside = self._insides.get(type(module.value).__name__)
            if inside is not None and not _runs_its_forward(module.value):
                return None
        if inside is None:
            return None
        setup = module is None and inside.of.is_module
        given = self._arguments(call, inside, setup)
        return Called(inside, given, module, setup) if given is not None else None

    def _arguments(self, call: ast.Call, inside: Prepared, setup: bool) -> dict[str, Given] | None:
        if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
            return None
        args = [self._given(arg) for arg in call.args]
        words = {word.arg: self._given(word.value) for word in call.keywords if word.arg is not None}
        try:
            bound = inside.binder(setup, self.prelude)(*args, **words)
        except Exception:  # noqa: BLE001 - what is wrong with a call's arguments the call itself is told of
            return None
        return {
            name: value if isinstance(value, Given) else Given(value, ("value", repr(value)), "cpu", False)
            for name, value in bound.items()
        }

    def _given(self, text: ast.expr) -> Given:
        """A value that stands in a call; UNKNOWN where it is more than names and literals."""
        if isinstance(text, ast.Name) and text.id in self._namespace:
            name = text.id
            key = self._keys.get(name, name)
            return Given(self._namespace[name], key, self._devices.get(name, ""), name in self._guessed)
        names = [node.id for node in ast.walk(text) if isinstance(node, ast.Name)]
        written = ast.unparse(text)
        key = ("text", written, tuple(self._keys.get(name, name) for name in names))
        held = {self._devices.get(name, "") for name in names if name in self._devices}
        device = (held.pop() if len(held) == 1 else "") if names else "cpu"
        return Given(self._value_in(text, written, names), key, device, not self._guessed.isdisjoint(names))

    def _value_in(self, text: ast.expr, written: str, names: list[str]) -> Any:
        if not all(isinstance(node, _SIMPLE) for node in ast.walk(text)):
            return UNKNOWN
        if any(self._namespace.get(name, UNKNOWN) is UNKNOWN for name in names):
            return UNKNOWN
        try:
            return access.evaluate(access.expression(written), dict(self._namespace))
        except Exception:  # noqa: BLE001 - the run will say
            return UNKNOWN

    # -------------------------------------------------------------- inside

    def _go_into(self, step: Step, called: Called, key: Signature) -> None:
        names = step.statement.names
        results = [self._namespace.get(name, UNKNOWN) for name in names]
        module = called.module
        if called.setup and results and isinstance(results[0], nn.Module):
            module = Given(results[0], self._keys.get(names[0]), self._devices.get(names[0], ""), False)
        try:
            found = self._found(called, module, key)
        except Exception:  # noqa: BLE001 - a hint: where it cannot be worked out nothing is told
            return
        outer = self.ports.get((step.id, 0))
        is_accepted = bool(names) and not any(value is UNKNOWN for value in results)
        for port in found.ports:
            node, refusal = inner_id(step.id, port.node), port.refusal
            if refusal and is_accepted:  # torch has just taken the whole call
                told_there = PortInference(node=node, output=port.output, known_after_run=True)
            else:
                told_there = replace(port, node=node)
            self.ports[node, port.output] = told_there
        self._budget.told += 0 if self._depth else len(found.ports)
        if found.refused and not is_accepted and not (outer is not None and outer.refusal):
            self.ports[step.id, 0] = PortInference(node=step.id, refusal=found.refused)

    def _found(self, called: Called, module: Given | None, key: Signature) -> Found:
        budget, seen = self._budget, dict[int, int]()
        if budget.walked > MAX_WITH_NUMBERS:
            without = {name: one._replace(value=stand_in(one.value)) for name, one in called.given.items()}
            called = called._replace(given=without)
        kinds = tuple(
            (name, _kind(one, (key, name)), one.device, one.guessed, seen.setdefault(id(one.value), len(seen)))
            for name, one in called.given.items()
        )
        made_as = (module.key, module.device) if module is not None else None
        signature = (called.inside.key, called.setup, made_as, self._modes(), kinds)
        if (found := budget.used.get(signature)) is not None:
            return found
        if (found := budget.memo.get(signature)) is not None:
            budget.walked += found.walked
            budget.used.update(found.calls)
        else:
            before, known = budget.walked, set(budget.used)
            ports, refused = self._walked(called, module, hash(signature))
            calls = {one: budget.used[one] for one in budget.used if one not in known}
            found = Found(ports, refused, budget.walked - before, calls)
        if budget.is_left:
            budget.used[signature] = found
        return found

    def _modes(self) -> Signature:
        way = self._way
        modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype())
        return (modes, way.run_small, way.fakes, way.autocast)

    def _walked(self, called: Called, module: Given | None, scope: int) -> tuple[tuple[PortInference, ...], str]:
        twin, inside = self._twin(), called.inside
        twin._scope, twin._times = scope, {}
        known = {**called.given}
        twin._take(known)
        if module is not None and not called.setup:
            twin._take(_kept(inside, module))
        items = inside.setup if called.setup else inside.body
        for place, name in enumerate(inside.of.inputs):
            if name in known:
                one = known[name]
                port = told(INPUTS, place, one.value, one.guessed, one.device)
                if port is not None:
                    twin.ports[INPUTS, place] = port
        self._budget.walked += len(flat(items))
        twin.body(items)
        if module is not None:
            for port in _told_of(inside, module):
                twin.ports[port.node, port.output] = port
        refused = (twin.ports.get((one.id, 0)) for one in _always(items))
        return tuple(twin.ports.values()), next((one.refusal for one in refused if one is not None and one.refusal), "")

    def _twin(self) -> "DeepWalk":
        """A walk inside a call: of the names around it knows what the definitions know."""
        twin = copy.copy(self)
        twin.ports, twin.needs, twin._depth = {}, Needs(), self._depth + 1
        twin._namespace, twin._guessed = dict(self.prelude), set()
        twin._keys = {name: self._keys[name] for name in self._insides}
        twin._devices = {"device": self._devices["device"]} if "device" in self.prelude else {}
        return twin

    def _take(self, given: dict[str, Given]) -> None:
        for name, one in given.items():
            self._rebind(name, one.value, ("given", hash(one.key), name))
            self._devices[name] = one.device
            (self._guessed.add if one.guessed else self._guessed.discard)(name)


_SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.Tuple, ast.List, ast.UnaryOp, ast.unaryop, ast.expr_context)


def _runs_its_forward(module: Any) -> bool:
    """Whether a call of a module runs the `forward` of the program's class, with what is given to it.

    The class itself may be that of an earlier inference of the same text.
    """
    forward = getattr(type(module), "forward", None)
    own = getattr(getattr(forward, "__code__", None), "co_filename", "") == FILENAME
    return isinstance(module, nn.Module) and own and not module._forward_pre_hooks and "forward" not in vars(module)


def _kind(one: Given, call: object) -> object:
    """What the statements inside can depend on, of something given; as many calls as can be have the same."""
    value = one.value
    if value is UNKNOWN:
        return "unknown"
    if isinstance(value, Tensor | nn.Module) or value is None or isinstance(value, bool | int | float | str):
        known = kind_of(value, one.key, one.device)
        if known is not None:
            return known
    return (call, one.key)


def _kept(inside: Prepared, module: Given) -> dict[str, Given]:
    """What a module keeps, by the plain names it is read under."""
    return {
        plain(name): Given(_attribute(module, name), (module.key, name), module.device, False)
        for name in inside.attributes
    }


def _attribute(module: Given, name: str) -> Any:
    return getattr(module.value, name.removeprefix(ATTRIBUTE), UNKNOWN)


def _told_of(inside: Prepared, module: Given) -> list[PortInference]:
    """What can be said of what the module keeps."""
    ports = []
    for node, place, name in inside.keeps:
        port = told(node, place, _attribute(module, name), False, module.device)
        if port is not None:
            ports.append(port)
    return ports


def _always(items: tuple[Item, ...]) -> list[Step]:
    """The statements that run whenever the definition is called."""
    found: list[Step] = []
    for item in items:
        if isinstance(item, Step):
            found.append(item)
        elif item.block.kind not in ("for", "if"):
            found += _always(item.body)
    return found


def _call_of(text: str) -> ast.Call | None:
    statement = ast.parse(text).body[0]
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.Call) else None
