"""A run without a trace: the whole text as it is exported, executed as one code object.

It costs what the script costs. Two things are woven in: a look at the Stop flag before each
top-level statement and each turn of a loop, and a look at the leaves before each backward, by
which accumulated gradients are told from fresh ones.
"""

import ast
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from types import CodeType

from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.errors import Stopped
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.protocol.messages.events import GradPart
from gradstudio.protocol.messages.progress import Running

CHECK, WATCH = "__gradstudio_check__", "__gradstudio_watch__"
TELL_EVERY_S = 0.5
_HOISTED = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


@lru_cache(maxsize=16)
def compile_untraced(code: str, backward_lines: frozenset[int]) -> tuple[CodeType, CodeType]:
    """(imports and definitions, the rest) of a program's text.

    Raises:
        SyntaxError: the text is no Python; our own bug.
    """
    tree = access.guarded(ast.parse(code, FILENAME))
    hoisted: list[ast.stmt] = [statement for statement in tree.body if isinstance(statement, _HOISTED)]
    rest = [statement for statement in tree.body if not isinstance(statement, _HOISTED)]
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
    watch, pulse = LeafWatch(live), Pulse(tell)

    def check() -> None:
        if stopped():
            raise Stopped
        pulse.beat(sys._getframe(1).f_lineno)

    access.execute(code[0], namespace)
    namespace.update({"load_file": load_file, CHECK: check, WATCH: watch.before_backward})
    try:
        access.execute(code[1], namespace)
    finally:
        del namespace[CHECK], namespace[WATCH]
        watch.conclude()


class Pulse:
    """Tells where a run is, at most every `TELL_EVERY_S`: a single statement may take for ever."""

    def __init__(self, tell: Callable[[Running], None] | None) -> None:
        """Nothing was reached."""
        self._tell, self._turns = tell, dict[int, int]()
        self._told = time.monotonic()

    def beat(self, line: int) -> None:
        """A line is about to run."""
        turn = self._turns[line] = self._turns.get(line, 0) + 1
        now = time.monotonic()
        if self._tell is not None and now - self._told >= TELL_EVERY_S:
            self._told = now
            self._tell(Running(line=line, turn=turn))


class LeafWatch:
    """Counts backwards, and knows which leaves held a gradient when the last one began."""

    def __init__(self, live: Live) -> None:
        """Watch what set-up binds."""
        self._namespace, self._gradients = live.namespace, live.gradients
        self._names = [n for s in live.loaded.steps if not s.statement.repeated for n in s.statement.names]
        self.count = 0
        self.held: set[int] = set()

    def before_backward(self) -> None:
        """A backward is about to run."""
        self.count += 1
        self.held = set()
        for name in self._names:
            for leaf in _leaves(self._namespace.get(name)):
                grad = leaf.grad
                if grad is not None and grad.detach().any():
                    self.held.add(id(leaf))

    def conclude(self) -> None:
        """Tell the gradients what was seen."""
        gradients = self._gradients
        gradients.backwards = self.count
        gradients.last_backward = self.count or None
        for name in self._names:
            for leaf in _leaves(self._namespace.get(name)):
                self._conclude(gradients, leaf)

    def _conclude(self, gradients: Gradients, tensor: Tensor) -> None:
        leaf = gradients.watch(tensor, made_at=0)
        if tensor.grad is not None and self.count:
            earlier = [GradPart(1, self.count - 1)] if id(tensor) in self.held else []
            leaf.parts = [*earlier, GradPart(1, self.count)]


def _leaves(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value] if value.requires_grad and is_leaf(value) else []
    if isinstance(value, nn.Module):
        return [parameter for parameter in value.parameters() if parameter.requires_grad]
    if isinstance(value, list | tuple):
        return [leaf for item in value if isinstance(item, Tensor | nn.Module) for leaf in _leaves(item)]
    return []


def _woven(statements: list[ast.stmt], backward_lines: frozenset[int], every: bool) -> list[ast.stmt]:
    woven: list[ast.stmt] = []
    for place, statement in enumerate(statements):
        if every or place == 0:
            woven.append(_call(CHECK, statement))
        if isinstance(statement, ast.For | ast.With | ast.If):
            statement.body = _woven(statement.body, backward_lines, every=False)
        elif statement.lineno in backward_lines:
            woven.append(_call(WATCH, statement))
        woven.append(statement)
    return woven


def _call(name: str, where: ast.stmt) -> ast.stmt:
    call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))
    return ast.copy_location(call, where)
