"""Calls of groups in a traced run: what is inside a definition runs statement by statement, under ``call/inner``.

The definitions of the program's text stay what they are. In the namespace of a traced run stands, in place of each,
a function that asks whether the statement at work is the call it is meant for; then the inside runs as the program
itself does, with names of its own, else the definition as it is written. `forward` and `__init__` of classes likewise.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from torch import nn

from gradstudio.engine.cursor import Cursor, HeadFailed
from gradstudio.engine.live import Binding, Live
from gradstudio.engine.memory import allocated_bytes
from gradstudio.engine.neutral import neutral
from gradstudio.engine.recorded import note_backward
from gradstudio.engine.rows import Pending
from gradstudio.engine.source import Item, Step, flat, prepare_inside
from gradstudio.engine.wires import Call
from gradstudio.graph.inner import INPUTS, inner_id
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Inside

GROUP, CALL, CALLED = "group:", "python.call", "module"
_PRELUDE = frozenset("torch nn F optim np math load_file Path HERE device print __name__ __file__ __builtins__".split())
_ATTRIBUTE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class FailedInside(Exception):
    """A statement inside a call has failed, and that was told."""


class Names(dict[str, Any]):
    """The names inside a call; what a module keeps is found as ``self.x``."""

    def __missing__(self, name: str) -> Any:
        """What the module keeps under that name."""
        first, *path = name.split(".")
        if not path or first not in self:
            raise KeyError(name)
        value = self[first]
        for word in path:
            value = getattr(value, word)
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


class Hands(NamedTuple):
    """What the runner does for a call: executes a step, takes what is to be told, tells of a head that failed."""

    execute: Callable[[Live, Step], bool]
    enqueue: Callable[[Pending], None]
    fail_head: Callable[[Live, HeadFailed], None]


class Insides:
    """The definitions of one namespace.

    Attributes:
        live: whose namespace it is; `program`: whose definitions they are.
        outer: the call that the statements at work belong to.
    """

    def __init__(self, live: Live, hands: Hands) -> None:
        """Put a function of ours in the place of each definition."""
        self.live, self._hands = live, hands
        self.program = live.loaded.program
        self.outer: Call | None = None
        self._armed: tuple[Step, Call | None] | None = None
        self._items: dict[tuple[str, ItemId, bool], tuple[Item, ...]] = {}
        self._settings: WeakKeyDictionary[nn.Module, dict[str, Any]] = WeakKeyDictionary()
        self._base: dict[str, Any] = {}
        namespace = live.namespace
        for inside in self.program.insides:
            definition = namespace.get(inside.name)
            if inside.is_module and isinstance(definition, type):
                self._enter_class(inside, definition)
            elif callable(definition):
                namespace[inside.name] = self._function(inside, getattr(definition, "__wrapped__", definition))
        known = _PRELUDE | {inside.name for inside in self.program.insides}
        self._base.update((name, value) for name, value in namespace.items() if name in known)

    def run(self, step: Step, call: Call | None) -> None:
        """Execute a statement that calls a definition, or any module.

        Raises:
            FailedInside: a statement inside has failed.
            Exception: whatever else it raises.
        """
        self._armed = step, call
        live = self.live
        if step.statement.backward:
            note_backward(live, step)
        try:
            exec(step.source.code, live.namespace)
        finally:
            self._armed = None

    def within(self, step: Step, call: Call | None, needs: bool) -> Call | None:
        """The call of a statement as part of the call it is inside of."""
        if self.outer is None:
            return call
        if call is None and needs and not step.statement.backward:
            call = Call(step.id, self.live.cursor.turns, ())
        if call is not None:
            call.outer = self.outer
        return call

    # -------------------------------------------------------------- in place of the definitions

    def _function(self, inside: Inside, plain: Callable[..., Any]) -> Callable[..., Any]:
        bind = self._binder(inside.head, plain)

        @wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            armed = self._taken(lambda step: step.statement.operator == GROUP + inside.name)
            if armed is None:
                return plain(*args, **kwargs)
            given = bind(*args, **kwargs)
            with self._entered(inside, armed, given, setup=False) as names:
                self._tell(armed[0], INPUTS, inside.inputs, tuple(given.get(name) for name in inside.inputs))
                return self._result(inside, names)

        return call

    def _enter_class(self, inside: Inside, definition: Any) -> None:
        make, forward = (vars(definition)[name] for name in ("__init__", "forward"))
        definition.__init__ = self._init(inside, definition, getattr(make, "__wrapped__", make))
        definition.forward = self._forward(inside, getattr(forward, "__wrapped__", forward))

    def _init(self, inside: Inside, definition: type, plain: Callable[..., None]) -> Callable[..., None]:
        bind = self._binder(inside.making, plain, "self")

        @wraps(plain)
        def init(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            armed = self._taken(lambda step: step.statement.operator == GROUP + inside.name)
            if armed is None or type(module) is not definition:
                return plain(module, *args, **kwargs)
            given = bind(module, *args, **kwargs)
            nn.Module.__init__(module)
            for name in inside.stores:
                setattr(module, name, given[name])
            with self._entered(inside, armed, given, setup=True):
                self._tell(armed[0], INPUTS, inside.inputs, tuple(given.get(name) for name in inside.inputs))
                self._walk()
            self._settings[module] = {name: given[name] for name in inside.inputs if name in given}
            return None

        return init

    def _forward(self, inside: Inside, plain: Callable[..., Any]) -> Callable[..., Any]:
        bind = self._binder(inside.head, plain, "self")

        @wraps(plain)
        def forward(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            armed = self._taken(lambda step: self._callee(step) is module)
            if armed is None:
                return plain(module, *args, **kwargs)
            given = bind(module, *args, **kwargs)
            with self._entered(inside, armed, given, setup=False) as names:
                self._tell_module(inside, armed[0], module, given)
                return self._result(inside, names)

        return forward

    def _binder(self, parameters: str, plain: Callable[..., Any], *first: str) -> Callable[..., dict[str, Any]]:
        """Gives the names that a call's arguments have inside; what is wrong with them Python says as of the call."""
        head = ", ".join([*first, *([parameters] if parameters else [])])
        names = dict(self.live.namespace)
        exec(f"def bind({head}): return locals()", names)
        bind: Callable[..., dict[str, Any]] = names["bind"]
        bind.__name__, bind.__qualname__ = plain.__name__, plain.__qualname__
        return bind

    def _taken(self, is_meant: Callable[[Step], bool]) -> tuple[Step, Call | None] | None:
        armed = self._armed
        if armed is None or not is_meant(armed[0]):
            return None
        self._armed = None
        return armed

    def _callee(self, step: Step) -> object:
        """The module that a statement calls, where it stands under a name or as an attribute."""
        text = dict(step.statement.inputs).get(CALLED, "")
        if step.statement.operator != CALL or not _ATTRIBUTE.fullmatch(text):
            return None
        first, *path = text.split(".")
        value = self.live.namespace.get(first)
        for word in path:
            value = getattr(value, word, None)
        return value

    # -------------------------------------------------------------- inside

    @contextmanager
    def _entered(
        self, inside: Inside, armed: tuple[Step, Call | None], given: dict[str, Any], *, setup: bool
    ) -> Iterator[Names]:
        """The names and the place of the live state are those inside; behind it they are what they were."""
        live, step = self.live, armed[0]
        before = live.namespace, live.binder, live.cursor, self.outer, live.last_backward, live.backward_parts
        names = Names(self._base)
        names.update(given)
        source = inner_id(step.id, INPUTS)
        binder: dict[str, Binding] = {name: (source, k) for k, name in enumerate(inside.inputs) if name in given}
        cursor = InsideCursor(self._prepared(inside, step, setup), names, live.cursor)
        live.namespace, live.binder, live.cursor, self.outer = names, binder, cursor, armed[1]
        try:
            yield names
        finally:
            cursor.close()
            live.namespace, live.binder, live.cursor, self.outer, live.last_backward, live.backward_parts = before

    def _prepared(self, inside: Inside, step: Step, setup: bool) -> tuple[Item, ...]:
        key = inside.name, step.id, setup
        items = self._items.get(key)
        if items is None:
            statements = inside.setup if setup else inside.body
            items = self._items[key] = prepare_inside(statements, step.id, step.statement.address)
        return items

    def _result(self, inside: Inside, names: Names) -> Any:
        self._walk()
        results = tuple(eval(text, names) for text in inside.results)  # noqa: S307 - the printed text
        return results[0] if len(results) == 1 else results or None

    def _walk(self) -> None:
        """Run every statement inside.

        Raises:
            FailedInside: one of them failed.
        """
        live = self.live
        cursor = live.cursor
        while True:
            try:
                step = cursor.settle()
            except HeadFailed as error:
                self._hands.fail_head(live, error)
                raise FailedInside from error
            finally:
                if cursor.bound:
                    with neutral():
                        live.bind_loop_variables(cursor.turns)
            if step is None:
                return
            if not self._hands.execute(live, step):
                raise FailedInside
            cursor.advance()

    # -------------------------------------------------------------- telling

    def _tell(self, call: Step, item: ItemId, names: tuple[str, ...], outputs: tuple[object, ...]) -> None:
        """Note what stands at the beginning of a call: its inputs, and what its module keeps."""
        live = self.live
        step = call.inside(item, names)
        self._hands.enqueue(
            Pending(step, outputs, live.cursor.turns, 0.0, live.pass_number, time.monotonic(), allocated_bytes())
        )

    def _tell_module(self, inside: Inside, call: Step, module: nn.Module, given: dict[str, Any]) -> None:
        known = {**self._settings.get(module, {}), **given}
        values = tuple(known[name] if name in known else getattr(module, name, None) for name in inside.inputs)
        self._tell(call, INPUTS, inside.inputs, values)
        names = self.live.namespace
        for step in flat(self._prepared(inside, call, setup=True)):
            kept = step.statement.names
            if kept and all("." in name for name in kept):
                self._hands.enqueue(
                    Pending(
                        step, tuple(names[name] for name in kept), self.live.cursor.turns, 0.0,
                        self.live.pass_number, time.monotonic(), allocated_bytes(),
                    )
                )  # fmt: skip
