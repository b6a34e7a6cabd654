"""Shapes inside calls of groups before a run: a walk that goes into them, told under ``call/inner``.

The definition's statements are gone through on stand-ins, with what the call gives to it. What is kept of a module
(``self.fc``) is read under a plain name, so that it is treated as any other value. The names around are not touched.
"""

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.access_types import reach
from gradstudio.engine.errors import AccessRefused
from gradstudio.engine.infer.attribute_renaming import (
    ATTRIBUTE,
    RenamedDefinition,
    rename_attributes,
    renamed_attribute,
)
from gradstudio.engine.infer.inference_memo import Signature, kind_of
from gradstudio.engine.infer.inference_pass import InferencePass
from gradstudio.engine.infer.name_table import NameTable
from gradstudio.engine.infer.statement_inference import Way
from gradstudio.engine.meta.inference_results import UNKNOWN, port_inference
from gradstudio.engine.meta.meta_tensors import meta_of
from gradstudio.engine.run.call_tracing import CALL, GROUP
from gradstudio.engine.script.compiled_steps import Item, Step, flat_steps
from gradstudio.graph.groups.call_ids import INPUTS, call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.inference import PortInference

MAX_WALKED = 3_000
"""Statements inside calls that are gone through in one inference; what was found of equal calls is used again."""
MAX_WITH_NUMBERS = 500
"""After so many, calls that differ only in the numbers that are given are equal."""
MAX_PORTS = 10_000
"""Outputs inside calls that are told in one inference."""
MAX_DEPTH = 20


class CallResult(NamedTuple):
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


InsideMemo = dict[Signature, CallResult]


class CallArgument(NamedTuple):
    """One value that a call gives, and what is known of it besides."""

    value: Any
    key: object
    device: str
    guessed: bool


Heard = Callable[[ItemId, int], object]
"""Is told of a statement, or the head of a block, and of its line, before it is tried."""


class CallAttempt(NamedTuple):
    """A call of a definition that is about to be tried."""

    inside: RenamedDefinition
    given: dict[str, CallArgument]
    module: CallArgument | None
    setup: bool


class Budget:
    """What all calls of one inference share.

    Attributes:
        memo: what an earlier inference found; `used` what this one needed or found.
        walked: how many statements inside calls were gone through.
        told: how many outputs inside calls were told.
    """

    def __init__(self, memo: InsideMemo) -> None:
        """Nothing was walked yet."""
        self.memo = memo
        self.used: InsideMemo = {}
        self.walked = 0
        self.told = 0

    @property
    def is_left(self) -> bool:
        """Whether more may be told."""
        return self.walked < MAX_WALKED and self.told < MAX_PORTS


class CallInference:
    """Goes into calls of functions and classes of one program.

    Attributes:
        keys: what each definition is made of, by its name.
    """

    def __init__(self, program: Program, memo: InsideMemo, heard: Heard = lambda _node, _line: None) -> None:
        """Prepare the definitions; `memo` is what an earlier inference found, `heard` is told of each statement."""
        self._heard = heard
        self.keys: dict[str, object] = {}
        self._insides: dict[str, RenamedDefinition] = {}
        self._budget = Budget(memo)
        for inside in program.insides:
            around = tuple((name, earlier.key) for name, earlier in self._insides.items())
            self._insides[inside.name] = known = rename_attributes(inside, around)
            self.keys[inside.name] = ("definition", known.key)

    @property
    def used(self) -> InsideMemo:
        """What was found of calls, for the next inference."""
        return self._budget.used

    def hear(self, node: ItemId, line: int) -> None:
        """A statement, or the head of a block, is about to be tried."""
        self._heard(node, line)

    def statement(self, walk: InferencePass, step: Step) -> None:
        """Go through a statement of a pass, and into the call that it may be."""
        may_enter = self._insides and self._budget.is_left and walk.depth < MAX_DEPTH
        called = self._called(walk, step) if may_enter else None
        if called is None:
            walk.statement(step)
            return
        key = walk.text_and_reads(step)  # before it runs: it may bind a name that it reads
        walk.statement(step)
        self._go_into(walk, step, called, key)

    def _called(self, walk: InferencePass, step: Step) -> CallAttempt | None:
        """The call that a statement is, when what is called is one of the definitions and what it gives is known."""
        operator = step.statement.operator
        if not (operator == CALL or operator.startswith(GROUP)):
            return None
        call = _call_of(step.statement.text)
        if call is None:
            return None
        if operator.startswith(GROUP):
            inside = self._insides.get(operator.removeprefix(GROUP))
            module = None
        else:
            module = _given(walk.names, call.func)
            inside = self._insides.get(type(module.value).__name__)
            if inside is not None and not _runs_its_forward(module.value):
                return None
        if inside is None:
            return None
        setup = module is None and inside.of.is_module
        given = self._arguments(walk, call, inside, setup)
        return CallAttempt(inside, given, module, setup) if given is not None else None

    def _arguments(
        self, walk: InferencePass, call: ast.Call, inside: RenamedDefinition, setup: bool
    ) -> dict[str, CallArgument] | None:
        if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
            return None
        args = [_given(walk.names, arg) for arg in call.args]
        words = {word.arg: _given(walk.names, word.value) for word in call.keywords if word.arg is not None}
        try:
            bound = inside.binder(setup, walk.prelude)(*args, **words)
        except Exception:  # noqa: BLE001 - what is wrong with a call's arguments the call itself is told of
            return None
        return {
            name: value
            if isinstance(value, CallArgument)
            else CallArgument(value, ("value", repr(value)), "cpu", False)
            for name, value in bound.items()
        }

    def _go_into(self, walk: InferencePass, step: Step, called: CallAttempt, key: Signature) -> None:
        names = step.statement.names
        table = walk.names
        results = [table.values.get(name, UNKNOWN) for name in names]
        module = called.module
        if called.setup and results and isinstance(results[0], nn.Module):
            module = CallArgument(results[0], table.keys.get(names[0]), table.devices.get(names[0], ""), False)
        try:
            found = self._found(walk, called, module, key)
        except Exception:  # noqa: BLE001 - a hint: where it cannot be worked out nothing is told
            return
        outer = walk.ports.get((step.id, 0))
        is_accepted = bool(names) and not any(value is UNKNOWN for value in results)
        for port in found.ports:
            node = call_item_id(step.id, port.node)
            if port.refusal and is_accepted:  # torch has just taken the whole call
                told_there = PortInference(node=node, output=port.output, known_after_run=True)
            else:
                told_there = replace(port, node=node)
            walk.ports[node, port.output] = told_there
        if walk.depth == 0:  # what is inside calls in calls is told with the outermost
            self._budget.told += len(found.ports)
        if found.refused and not is_accepted and not (outer is not None and outer.refusal):
            walk.ports[step.id, 0] = PortInference(node=step.id, refusal=found.refused)

    def _found(
        self, walk: InferencePass, called: CallAttempt, module: CallArgument | None, key: Signature
    ) -> CallResult:
        budget = self._budget
        seen: dict[int, int] = {}
        if budget.walked > MAX_WITH_NUMBERS:
            without = {name: one._replace(value=meta_of(one.value)) for name, one in called.given.items()}
            called = called._replace(given=without)
        kinds = tuple(
            (name, _kind(one, (key, name)), one.device, one.guessed, seen.setdefault(id(one.value), len(seen)))
            for name, one in called.given.items()
        )
        made_as = (module.key, module.device) if module is not None else None
        signature = (called.inside.key, called.setup, made_as, _modes(walk.way), kinds)
        if (found := budget.used.get(signature)) is not None:
            return found
        if (found := budget.memo.get(signature)) is not None:
            budget.walked += found.walked
            budget.used.update(found.calls)
        else:
            before = budget.walked
            known = set(budget.used)
            ports, refused = self._walked(walk, called, module, hash(signature))
            calls = {one: budget.used[one] for one in budget.used if one not in known}
            found = CallResult(ports, refused, budget.walked - before, calls)
        if budget.is_left:
            budget.used[signature] = found
        return found

    def _walked(
        self, walk: InferencePass, called: CallAttempt, module: CallArgument | None, scope: int
    ) -> tuple[tuple[PortInference, ...], str]:
        inside = called.inside
        twin = walk.inside_call(scope)
        known = called.given
        _give(twin.names, known)
        if module is not None and not called.setup:
            _give(twin.names, _kept(inside, module))
        items = inside.setup if called.setup else inside.body
        for place, name in enumerate(inside.of.inputs):
            if name in known:
                one = known[name]
                port = port_inference(INPUTS, place, one.value, one.guessed, one.device)
                if port is not None:
                    twin.ports[INPUTS, place] = port
        self._budget.walked += len(flat_steps(items))
        twin.body(items)
        if module is not None:
            for port in _told_of(inside, module):
                twin.ports[port.node, port.output] = port
        refused = (twin.ports.get((one.id, 0)) for one in _always(items))
        return tuple(twin.ports.values()), next((one.refusal for one in refused if one is not None and one.refusal), "")


_SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.Tuple, ast.List, ast.UnaryOp, ast.unaryop, ast.expr_context)


def _given(table: NameTable, text: ast.expr) -> CallArgument:
    """A value that stands in a call; UNKNOWN where it is more than names and literals."""
    if isinstance(text, ast.Name) and text.id in table.values:
        return _held(table, text.id)
    names = [node.id for node in ast.walk(text) if isinstance(node, ast.Name)]
    written = ast.unparse(text)
    key = ("text", written, tuple(table.key_of(name) for name in names))
    devices = {table.devices[name] for name in names if name in table.devices}
    if not names:
        device = "cpu"
    else:
        device = devices.pop() if len(devices) == 1 else ""
    return CallArgument(_value_in(table, text, written, names), key, device, not table.guessed.isdisjoint(names))


def _held(table: NameTable, name: str) -> CallArgument:
    """What a name holds."""
    return CallArgument(table.values[name], table.key_of(name), table.devices.get(name, ""), name in table.guessed)


def _value_in(table: NameTable, text: ast.expr, written: str, names: list[str]) -> Any:
    if not all(isinstance(node, _SIMPLE) for node in ast.walk(text)):
        return UNKNOWN
    if any(table.values.get(name, UNKNOWN) is UNKNOWN for name in names):
        return UNKNOWN
    try:
        return access.evaluate(access.expression(written), dict(table.values))
    except Exception:  # noqa: BLE001 - the run will say
        return UNKNOWN


def _modes(way: Way) -> Signature:
    """What the statements of a call depend on beside what it is given."""
    modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype())
    return (modes, way.run_small, way.fakes, way.autocast)


def _give(names: NameTable, given: dict[str, CallArgument]) -> None:
    for name, one in given.items():
        names.bind(name, one.value, ("given", hash(one.key), name))
        names.note(name, one.device, one.guessed)


def _runs_its_forward(module: Any) -> bool:
    """Whether a call of a module runs the `forward` of the program's class, with what is given to it.

    The class itself may be that of an earlier inference of the same text.
    """
    forward = vars(type(module)).get("forward")
    own = isinstance(forward, FunctionType) and forward.__code__.co_filename == FILENAME
    return isinstance(module, nn.Module) and own and not module._forward_pre_hooks and "forward" not in vars(module)


def _kind(one: CallArgument, call: object) -> object:
    """What the statements inside can depend on, of something given; as many calls as can be have the same."""
    value = one.value
    if value is UNKNOWN:
        return "unknown"
    if isinstance(value, Tensor | nn.Module) or value is None or isinstance(value, bool | int | float | str):
        known = kind_of(value, one.key, one.device)
        if known is not None:
            return known
    return (call, one.key)


def _kept(inside: RenamedDefinition, module: CallArgument) -> dict[str, CallArgument]:
    """What a module keeps, by the plain names it is read under."""
    return {
        renamed_attribute(name): CallArgument(_attribute(module, name), (module.key, name), module.device, False)
        for name in inside.attributes
    }


def _attribute(module: CallArgument, name: str) -> Any:
    """What a module keeps there, if a program may read it; UNKNOWN while it is not initialised."""
    word = name.removeprefix(ATTRIBUTE)
    try:
        value = getattr(reach(module.value, word), word)
    except (AccessRefused, AttributeError):
        return UNKNOWN
    return UNKNOWN if isinstance(value, Tensor) and is_lazy(value) else value


def _told_of(inside: RenamedDefinition, module: CallArgument) -> list[PortInference]:
    """What can be said of what the module keeps."""
    ports = []
    for node, place, name in inside.keeps:
        port = port_inference(node, place, _attribute(module, name), False, module.device)
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
