"""A run without a trace: the whole text as it is exported, executed as one code object.

It costs what the script costs. Two things are woven in: a look at the Stop flag before each
top-level statement and each turn of a loop, and a look at the leaves before and behind each
backward, by which accumulated gradients are told from fresh ones.
"""

import ast
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from operator import attrgetter, is_
from types import CodeType

import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.errors import Stopped
from gradstudio.engine.live.initial_state import give_stored
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.turns.gradient_catch_up import catch_up
from gradstudio.engine.turns.quick_loop import woven_call
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.lazy_modules import parameters_of
from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.tensor_shards import distributed
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.program.model import Program
from gradstudio.protocol.messages.progress import Running

CHECK = "__gradstudio_check__"
BEFORE, BEHIND = "__gradstudio_before__", "__gradstudio_behind__"
TELL_EVERY_S = 0.5
STEADY = 16
"""So many backwards of a statement in a row have to find the same leaves without a `.grad`."""
_is_none, _grad_of = partial(is_, None), attrgetter("tensor.grad")
_BLOCKS = (ast.For, ast.While, ast.With, ast.If)
_HOISTED = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def compile_untraced(program: Program, backward_lines: frozenset[int]) -> tuple[CodeType, CodeType]:
    """(imports and definitions, the rest) of a program's text; of code of a person's own none is moved.

    Raises:
        SyntaxError: the text is no Python; our own bug, unless it holds code of a person's own.
    """
    hoisted_to = program.prelude.count("\n") if program.codes else None
    return _compiled(program.code, backward_lines, hoisted_to, freedom.now)


@lru_cache(maxsize=16)
def _compiled(
    code: str, backward_lines: frozenset[int], hoisted_to: int | None, is_free: bool
) -> tuple[CodeType, CodeType]:
    tree = access.guarded(ast.parse(code, FILENAME))
    hoisted: list[ast.stmt] = []
    rest: list[ast.stmt] = []
    for statement in tree.body:
        is_above = hoisted_to is None or (statement.end_lineno or statement.lineno) <= hoisted_to
        (hoisted if is_above and isinstance(statement, _HOISTED) else rest).append(statement)
    body = _woven(rest, backward_lines, every=True)
    parts = (ast.Module(hoisted, []), ast.Module(body, []))
    first, second = (access.compiled(part) for part in parts)
    return first, second


def run_untraced(
    live: Live,
    code: tuple[CodeType, CodeType],
    stopped: Callable[[], bool],
    load_file: object,
    tell: Callable[[Running], None] | None = None,
) -> None:
    """Execute a program's text in the fresh namespace of `live`; `tell` hears now and then where it is.

    Raises:
        Stopped: the person asked to stop.
        Exception: whatever the program raises.
    """
    namespace = live.namespace
    watch, pulse = LeafWatch(live), Pulse(stopped, tell)
    access.execute(code[0], namespace)
    woven = {CHECK: pulse.check, BEFORE: watch.before_backward, BEHIND: watch.after_backward}
    give_stored(namespace, load_file)
    namespace.update(woven)
    over = threading.Event()
    if Here.rank is not None:  # it may wait for another rank: where, is told from beside it
        threading.Thread(target=pulse.tell_long, args=(over,), daemon=True).start()
    try:
        access.execute(code[1], namespace)
    finally:
        over.set()
        for name in woven:
            del namespace[name]
        watch.conclude()


class Pulse:
    """Asks whether to stop, and tells where a run is, at most every `TELL_EVERY_S`: a statement may take for ever."""

    def __init__(self, stopped: Callable[[], bool], tell: Callable[[Running], None] | None) -> None:
        """Nothing was reached."""
        self._stopped, self._tell, self._turns = stopped, tell, dict[int, int]()
        self._told = time.monotonic()
        self._place = (0, self._told)

    def tell_long(self, over: threading.Event) -> None:
        """Tell once of each line that is at work for `TELL_EVERY_S`, until the run is over; from another thread."""
        told = self._place
        while not over.wait(TELL_EVERY_S):
            line, since_s = place = self._place
            seconds = time.monotonic() - since_s
            if self._tell is not None and place != told and seconds >= TELL_EVERY_S:
                told = place
                self._tell(Running(line=line, turn=self._turns.get(line, 0), seconds=seconds))

    def check(self, line: int) -> None:
        """A line is about to run.

        Raises:
            Stopped: the person asked to stop.
        """
        if self._stopped():
            raise Stopped
        turn = self._turns[line] = self._turns.get(line, 0) + 1
        now = time.monotonic()
        self._place = (line, now)
        if self._tell is not None and now - self._told >= TELL_EVERY_S:
            self._told = now
            self._tell(Running(line=line, turn=turn))


class LeafWatch:
    """Looks at the `.grad` of what is bound, before and behind each backward.

    Where a statement has found the same leaves without a `.grad` many times, those that find them so are only counted.
    """

    def __init__(self, live: Live) -> None:
        """No backward has run."""
        self._namespace, self._gradients = live.namespace, live.gradients
        self._names = tuple(dict.fromkeys(name for s in live.loaded.steps for name in s.statement.names))
        self._runs = self._skips = False
        self._steady: dict[int, int] = {}
        self._skipped = 0
        self._may_skip = not live.loaded.program.codes
        self._holders: list[tuple[str, object]] = []

    def before_backward(self, line: int) -> None:
        """A backward is about to run."""
        self._runs, found_none = True, self._finds_none()
        before = self._steady.get(line, 0)
        if found_none and before >= STEADY:
            self._skips = True
            return
        self._catch_up()
        self._look()
        self._steady[line] = before + 1 if found_none and self._may_skip else 0

    def after_backward(self) -> None:
        """A backward has run."""
        if self._skips:
            self._skipped += 1
            self._skips = False
        else:
            self._gradients.backward_ran({}, counts=True)
        self._runs = False

    def conclude(self) -> None:
        """Nothing runs any more; a backward that has not come to its end counts when something was left by it."""
        self._catch_up()
        if self._runs and self._skips:
            for leaf in self._gradients.leaves.values():
                leaf.parts, leaf.seen = [], None  # as the backward found them
        if self._runs:
            self._gradients.backward_ran({}, counts=self._gradients.has_news())
        self._look()

    def _finds_none(self) -> bool:
        """Whether what held leaves when they were looked at holds them still, and none has a `.grad`."""
        get = self._namespace.get
        for name, holder in self._holders:
            if get(name) is not holder:
                return False
        return all(map(_is_none, map(_grad_of, self._gradients.leaves.values())))

    def _catch_up(self) -> None:
        """The backwards that were only counted have run."""
        if self._skipped:
            catch_up(self._gradients, self._skipped)
            self._skipped = 0

    def _look(self) -> None:
        """See what statements did to the leaves that are bound now; nobody else is watched."""
        held = [(name, self._namespace.get(name)) for name in self._names]
        found = [(name, value, some) for name, value in held if (some := _leaves(value))]
        self._holders = [(name, value) for name, value, _ in found]
        leaves = {identity(leaf): leaf for *_, each in found for leaf in each}
        self._gradients.watch_only(leaves)
        self._gradients.observe()


def _leaves(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value] if is_leaf(value) and (value.requires_grad or value.grad is not None) else []
    if isinstance(value, nn.Module):
        return [leaf for _, leaf in parameters_of(value) if leaf.requires_grad or leaf.grad is not None]
    if isinstance(value, torch.optim.Optimizer):  # FSDP2 takes them out of their module between forward and backward
        return [leaf for group in value.param_groups for leaf in group["params"] if distributed(leaf) is not None]
    if isinstance(value, list | tuple):
        return [leaf for item in value if isinstance(item, Tensor | nn.Module) for leaf in _leaves(item)]
    return []


def _woven(statements: list[ast.stmt], backward_lines: frozenset[int], every: bool) -> list[ast.stmt]:
    woven: list[ast.stmt] = []
    for place, statement in enumerate(statements):
        if (every or place == 0) and not _stands_first(statement):
            woven.append(woven_call(CHECK, statement, statement.lineno))
        if isinstance(statement, _BLOCKS):
            statement.body = _woven(statement.body, backward_lines, every=False)
        is_backward = statement.lineno in backward_lines and not isinstance(statement, _BLOCKS)
        if is_backward:
            woven.append(woven_call(BEFORE, statement, statement.lineno))
        woven.append(statement)
        if is_backward:
            woven.append(woven_call(BEHIND, statement))
    return woven


def _stands_first(statement: ast.stmt) -> bool:
    """Whether nothing may be put before it: what the text says of itself, and what says how it is to be read."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
