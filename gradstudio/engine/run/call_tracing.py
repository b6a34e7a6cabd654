"""Calls of groups in a traced run: what is inside a definition runs statement by statement, under ``call/inner``.

The definitions of the program's text stay what they are. In the namespace of a traced run stands, in place of each,
a function that asks whether the statement at work is the call it is meant for. Then the call is broken off with what
was given to it, its inside runs as the program itself does, with names of its own, and may be paused anywhere; at its
end the statement is executed once more, and the function gives what was returned. Else the definition runs as it is
written. `forward` and `__init__` of classes likewise.

A definition and its namespace are a ring, which goes only when the garbage collector comes, and that is seldom. What
stands in place of definitions holds no tracer, or each run would hold the tensors of those before it.
"""

import re
import time
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from torch import nn

from gradstudio.engine import access
from gradstudio.engine.access_types import reach
from gradstudio.engine.backward.backward_statement import note_backward
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.errors import AccessRefused
from gradstudio.engine.gradient.wire_edges import Call
from gradstudio.engine.live.call_frames import Entered, Execution
from gradstudio.engine.live.live_state import Binding, Live
from gradstudio.engine.memory.memory_sampler import allocated_bytes
from gradstudio.engine.run.trace_rows import Pending
from gradstudio.engine.script.compiled_steps import Item, Step, flat_steps, prepare_inside
from gradstudio.engine.script.cursor import Cursor
from gradstudio.graph.groups.call_ids import INPUTS, call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Inside, Program

GROUP, CALL, CALLED = "group:", "python.call", "module"
_PRELUDE = frozenset("torch nn F optim np math load_file Path HERE device print __name__ __file__ __builtins__".split())
_ATTRIBUTE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class CallEntered(Exception):
    """A call is about to run what is inside its definition; raised through the statement that calls."""

    def __init__(self, inside: Inside, given: dict[str, Any], module: nn.Module | None, *, setup: bool) -> None:
        """Hold what the inside begins with."""
        super().__init__(inside.name)
        self.inside = inside
        self.given = given
        self.module = module
        self.setup = setup


class Names(dict[str, Any]):
    """The names inside a call; what a module keeps is found as ``self.x``.

    Attributes:
        around: the names of the program, which code in a definition reads as a function does.
        own: names that belong to the call, also while they have no value.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        """These names, and none around them."""
        super().__init__(names)
        self.around: dict[str, Any] = {}
        self.own: frozenset[str] = frozenset()

    def __missing__(self, name: str) -> Any:
        """What the module keeps under that name, or the program has."""
        first, *path = name.split(".")
        if not path or first not in self:
            if name in self.own:
                raise KeyError(name)
            return self.around[name]
        value = self[first]
        for word in path:
            value = getattr(_reached(value, word), word)
        return value


class InsideCursor(Cursor):
    """Walks what is inside a call; loops and blocks around the call are around it, too."""

    def __init__(self, items: tuple[Item, ...], namespace: dict[str, Any], outer: Cursor) -> None:
        """Stand before the first item."""
        super().__init__(items, namespace)
        self._around, self._switched_off = outer.turns, outer.gradless_block

    @property
    def turns(self) -> tuple[int, ...]:
        """The turn of each loop around, outermost first."""
        return (*self._around, *super().turns)

    @property
    def gradless_block(self) -> ItemId | None:
        """The innermost block around that switches gradients off."""
        return super().gradless_block or self._switched_off


def is_call(step: Step) -> bool:
    """Whether a statement calls a module or a definition."""
    operator = step.statement.operator
    return operator == CALL or operator.startswith(GROUP)


class PendingCall(NamedTuple):
    """The statement whose call is to be entered; once that has run (`done`), `answer` is what the call gives.

    Attributes:
        callee: says which module it calls.
    """

    step: Step
    callee: Callable[[], object]
    answer: object = None
    done: bool = False


class Armed:
    """The call that waits to be entered, if one does: all that is known in place of the definitions."""

    def __init__(self) -> None:
        """None waits."""
        self.call: PendingCall | None = None

    def take(self, is_meant: Callable[[PendingCall], bool]) -> PendingCall | None:
        """The call, when this is the one; it waits no longer."""
        call = self.call
        if call is None or not is_meant(call):
            return None
        self.call = None
        return call


class CallTracer:
    """The definitions of one namespace.

    Attributes:
        live: whose namespace it is; `program`: whose definitions they are.
    """

    def __init__(self, live: Live, enqueue: Callable[[Pending], None]) -> None:
        """Put a function of ours in the place of each definition; what is to be told goes to `enqueue`."""
        self.live, self._enqueue = live, enqueue
        self._armed = Armed()
        self._settings: WeakKeyDictionary[nn.Module, dict[str, Any]] = WeakKeyDictionary()
        self.take(live.loaded.program)

    def take(self, program: Program) -> None:
        """The namespace has got the definitions of this program."""
        self.program = program
        self._items: dict[tuple[str, ItemId, bool], tuple[Item, ...]] = {}
        self._own: dict[tuple[str, bool], frozenset[str]] = {}
        namespace = self.live.namespace
        for inside in program.insides:
            definition = namespace.get(inside.name)
            if inside.is_module and isinstance(definition, type):
                self._enter_class(inside, definition)
            elif callable(definition):
                plain = getattr(definition, "__wrapped__", definition)
                self._own[inside.name, False] = _own_names(plain)
                namespace[inside.name] = self._function(inside, plain)
        known = _PRELUDE | {inside.name for inside in program.insides}
        self._base = {name: value for name, value in namespace.items() if name in known}

    def enter(self, execution: Execution) -> bool:
        """Execute a statement that calls; True when it calls a definition, whose inside is to run first.

        Raises:
            Exception: whatever it raises.
        """
        step, live = execution.step, self.live
        self._armed.call = PendingCall(step, lambda: self._callee(step))
        if step.statement.backward:
            note_backward(live, step)
        try:
            access.execute(step.source.code, live.namespace)
        except CallEntered as entering:
            self._begin(execution, entering)
            return True
        finally:
            self._armed.call = None
        return False

    def leave(self) -> Execution:
        """All inside the innermost call has run: execute the statement that calls, with what the call gives.

        Raises:
            Exception: whatever that raises; the call is left all the same.
        """
        live, entered = self.live, self.live.calls[-1]
        try:
            answer = entered.module if entered.setup else self._result(entered.inside)
        finally:
            live.cursor.close()
            live.take(live.calls.pop().around)
        if entered.setup and entered.module is not None:
            given = entered.given
            self._settings[entered.module] = {name: given[name] for name in entered.inside.inputs if name in given}
        names, name = live.namespace, entered.inside.name
        maker = names.get(name)
        if entered.setup:
            names[name] = lambda *_args, **_kwargs: answer
        step = entered.execution.step
        self._armed.call = PendingCall(step, lambda: self._callee(step), answer, done=True)
        try:
            access.execute(step.source.code, names)
        finally:
            self._armed.call = None
            if entered.setup:
                names[name] = maker
        return entered.execution

    def within(self, step: Step, call: Call | None, needs: bool) -> Call | None:
        """The call of a statement as part of the call it is inside of."""
        outer = self.live.calls[-1].execution.call if self.live.calls else None
        if outer is None:
            return call
        if call is None and needs and not step.statement.backward:
            call = Call(step.id, self.live.cursor.turns, ())
        if call is not None:
            call.outer = outer
        return call

    # -------------------------------------------------------------- in place of the definitions

    def _function(self, inside: Inside, plain: Callable[..., Any]) -> Callable[..., Any]:
        bind, waiting = self._binder(inside.head, plain), self._armed

        @wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            armed = waiting.take(lambda call: call.step.statement.operator == GROUP + inside.name)
            if armed is None:
                return plain(*args, **kwargs)
            if armed.done:
                return armed.answer
            raise CallEntered(inside, bind(*args, **kwargs), None, setup=False)

        return call

    def _enter_class(self, inside: Inside, definition: Any) -> None:
        make, forward = (vars(definition)[name] for name in ("__init__", "forward"))
        make, forward = getattr(make, "__wrapped__", make), getattr(forward, "__wrapped__", forward)
        self._own[inside.name, True], self._own[inside.name, False] = _own_names(make), _own_names(forward)
        definition.__init__ = self._init(inside, definition, make)
        definition.forward = self._forward(inside, forward)

    def _init(self, inside: Inside, definition: type, plain: Callable[..., None]) -> Callable[..., None]:
        bind, waiting = self._binder(inside.making, plain, "self"), self._armed

        @wraps(plain)
        def init(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            armed = waiting.take(lambda call: call.step.statement.operator == GROUP + inside.name)
            if armed is None or type(module) is not definition:
                return plain(module, *args, **kwargs)
            given = bind(module, *args, **kwargs)
            nn.Module.__init__(module)
            for name in inside.stores:
                setattr(module, name, given[name])
            raise CallEntered(inside, given, module, setup=True)

        return init

    def _forward(self, inside: Inside, plain: Callable[..., Any]) -> Callable[..., Any]:
        bind, waiting = self._binder(inside.head, plain, "self"), self._armed

        @wraps(plain)
        def forward(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            armed = waiting.take(lambda call: call.callee() is module)
            if armed is None:
                return plain(module, *args, **kwargs)
            if armed.done:
                return armed.answer
            raise CallEntered(inside, bind(module, *args, **kwargs), module, setup=False)

        return forward

    def _binder(self, parameters: str, plain: Callable[..., Any], *first: str) -> Callable[..., dict[str, Any]]:
        """Gives the names that a call's arguments have inside; what is wrong with them Python says as of the call."""
        head = ", ".join([*first, *([parameters] if parameters else [])])
        bind: Callable[..., dict[str, Any]] = access.binder(head, self.live.namespace)
        bind.__name__, bind.__qualname__ = plain.__name__, plain.__qualname__
        return bind

    def _callee(self, step: Step) -> object:
        """The module that a statement calls, where it stands under a name or as an attribute."""
        text = dict(step.statement.inputs).get(CALLED, "")
        if step.statement.operator != CALL or not _ATTRIBUTE.fullmatch(text):
            return None
        first, *path = text.split(".")
        value = self.live.namespace.get(first)
        try:
            for word in path:
                value = getattr(_reached(value, word), word, None)
        except AccessRefused:  # the statement itself says so, when it runs
            return None
        return value

    # -------------------------------------------------------------- inside

    def _begin(self, execution: Execution, entering: CallEntered) -> None:
        """The names and the place of the live state are those inside, until the call is left."""
        live, inside, step = self.live, entering.inside, execution.step
        given, names = entering.given, Names(self._base)
        names.update(given)
        if self.program.codes:
            names.around = live.calls[0].around.namespace if live.calls else live.namespace
            names.own = self._own.get((inside.name, entering.setup), names.own)
        source = call_item_id(step.id, INPUTS)
        binder: dict[str, Binding] = {name: (source, k) for k, name in enumerate(inside.inputs) if name in given}
        cursor = InsideCursor(self._prepared(inside, step, entering.setup), names, live.cursor)
        entry, around = step.inside(INPUTS, inside.inputs), live.standing()
        kept = given if entering.setup else {}
        live.calls.append(Entered(inside, execution, entry, kept, entering.module, entering.setup, around))
        live.groups[step.id] = inside.name
        live.namespace, live.binder, live.cursor = names, binder, cursor
        if entering.module is None or entering.setup:
            self._tell(entry, tuple(given.get(name) for name in inside.inputs))
        else:
            self._tell_module(live.calls[-1], entering.module, given)

    def _prepared(self, inside: Inside, step: Step, setup: bool) -> tuple[Item, ...]:
        key = inside.name, step.id, setup
        items = self._items.get(key)
        if items is None:
            statements = inside.setup if setup else inside.body
            items = self._items[key] = prepare_inside(statements, step.id, step.statement.address)
        return items

    def _result(self, inside: Inside) -> Any:
        names = self.live.namespace
        results = tuple(access.evaluate(access.expression(text), names) for text in inside.results)
        return results[0] if len(results) == 1 else results or None

    # -------------------------------------------------------------- telling

    def _tell(self, step: Step, outputs: tuple[object, ...]) -> None:
        """Note what stands at the beginning of a call: its inputs, and what its module keeps."""
        live = self.live
        self._enqueue(
            Pending(step, outputs, live.cursor.turns, 0.0, live.pass_number, time.monotonic(), allocated_bytes())
        )

    def _tell_module(self, entered: Entered, module: nn.Module, given: dict[str, Any]) -> None:
        inside, names = entered.inside, self.live.namespace
        known = {**self._settings.get(module, {}), **given}
        values = (known[name] if name in known else _kept(module, name) for name in inside.inputs)
        self._tell(entered.entry, tuple(values))
        for step in flat_steps(self._prepared(inside, entered.execution.step, setup=True)):
            kept = step.statement.names
            if kept and all("." in name for name in kept):
                self._tell(step, tuple(names[name] for name in kept))


def _reached(value: Any, word: str) -> Any:
    """The value, if the program may read that attribute of it; one that is trusted may.

    Raises:
        AccessRefused: it may not.
    """
    return value if freedom.now else reach(value, word)


def _own_names(function: Any) -> frozenset[str]:
    """The names that belong to a function of the program's text."""
    code = function.__code__
    return frozenset((*code.co_varnames, *code.co_cellvars))


def _kept(module: nn.Module, name: str) -> object:
    """What a module keeps under a name that a program may read; else None."""
    try:
        return getattr(_reached(module, name), name, None)
    except AccessRefused:
        return None
