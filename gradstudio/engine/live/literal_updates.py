"""Literals that were changed while a run stands in a loop: what they are from the next turn on (semantics §6).

A statement of the loop is simply another one when it runs next. What was made before the loop stays the object that it
is, with all that it has learnt: the new number is put where a person would put it by hand, as
`optimizer.param_groups[0]["lr"] = 0.001` does.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.protocol.messages.events import LiteralChange

OF_OPTIMIZERS: Final = frozenset("lr weight_decay momentum betas eps dampening alpha rho lr_decay lambd".split())
OF_MODULES: Final = frozenset("p eps momentum negative_slope alpha beta label_smoothing margin delta".split())
OF_SCHEDULES: Final = frozenset("gamma step_size T_max eta_min factor patience".split())
"""What may be another number on an object that is there; sizes may not."""
Put = Callable[[], object]


class Numbers(NamedTuple):
    """A literal as an argument of a call, before and now."""

    name: str
    before: Any
    now: Any

    @property
    def words(self) -> str:
        """As the curves say it."""
        return f"{self.name} {self.before!r} → {self.now!r}"


class LiteralChanges:
    """Collects them while two programs are compared; nothing is changed before `apply`."""

    def __init__(self, live: Live) -> None:
        """Of a run that stands in a loop, between the calls of its groups; of others there are none."""
        self._live = live
        self._is_in_loop = not live.calls and any(frame.iterator is not None for frame in live.cursor.frames)
        self._found: list[tuple[LiteralChange, tuple[Put, ...]]] = []

    def allows(self, old: Item, new: Item, in_loop: bool) -> bool:
        """Whether two statements differ in literals that may be others from now on."""
        if not self._is_in_loop or isinstance(old, Head) or isinstance(new, Head) or not _is_same_but(old, new):
            return False
        if in_loop:
            self._add(new, _words(old, new), ())
            return True
        made = self._made_by(old)
        if not isinstance(made, Optimizer | nn.Module | LRScheduler):
            return False
        numbers = [_named(type(made), one) for one in _numbers(old, new)]
        puts = [_put(self._live, made, one) for one in numbers]
        if not puts or None in puts:
            return False
        self._add(new, ", ".join(one.words for one in numbers), tuple([put for put in puts if put is not None]))
        return True

    def __contains__(self, node: object) -> bool:
        """Whether the statement of a node is another, and may be."""
        return any(change.node == node for change, _ in self._found)

    def apply(self) -> tuple[LiteralChange, ...]:
        """Put the new numbers into the objects that are there; what is another now."""
        for _, puts in self._found:
            for put in puts:
                put()
        self._live.changed_by_hand = self._live.changed_by_hand or bool(self._found)
        return tuple([change for change, _ in self._found])

    def _add(self, new: Step, words: str, puts: tuple[Put, ...]) -> None:
        self._found.append((LiteralChange(node=new.id, words=words), puts))

    def _made_by(self, step: Step) -> object:
        names = step.statement.names
        if names and self._live.binder.get(names[0]) == (step.id, 0):
            return self._live.namespace.get(names[0])
        return self._live.kept(step.id, 0) if names and step.id in self._live.setup else None


def _is_same_but(old: Step, new: Step) -> bool:
    """Whether only literals differ: the operator, what is read and what is bound are the same."""
    node, operator, _, names, read = old.fingerprint
    same = (node, operator, names, read) == (*new.fingerprint[:2], *new.fingerprint[3:])
    return same and _masked(old.statement.text) == _masked(new.statement.text)


class _Mask(ast.NodeTransformer):
    """Every literal is one and the same, and arguments that are literals and stand by name are left out."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(0)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_", node.ctx)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return ast.Constant(0) if isinstance(node.operand, ast.Constant) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [one for one in node.keywords if _literal(one.value) is None]
        return self.generic_visit(node)


def _masked(text: str) -> str:
    return ast.dump(_Mask().visit(ast.parse(text)))


def _literal(node: ast.expr) -> tuple[Any] | None:
    """The value of a literal, alone in a tuple; None of anything else."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError):
        return None


def _words(old: Step, new: Step) -> str:
    """What is another in a statement of the loop: each literal, before and now."""
    known, now = (list(_constants(step.statement.text)) for step in (old, new))
    if len(known) == len(now):
        return ", ".join(f"{a} → {b}" for a, b in zip(known, now, strict=True) if a != b)
    return new.statement.text.partition(" = ")[2] or new.statement.text


def _constants(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    signed = {id(node.operand) for node in ast.walk(tree) if isinstance(node, ast.UnaryOp)}
    for node in ast.walk(tree):
        is_number = isinstance(node, ast.Constant) and id(node) not in signed
        if is_number or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)):
            yield ast.unparse(node)


def _numbers(old: Step, new: Step) -> Iterator[Numbers]:
    """The literal arguments of the outermost call that differ; a name that is left out has its default."""
    calls = [_call(step.statement.text) for step in (old, new)]
    if calls[0] is None or calls[1] is None:
        return
    before, now = (_arguments(call) for call in calls if call is not None)
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            yield Numbers(str(name), *(one.get(name, (None,))[0] for one in (before, now)))


def _call(text: str) -> ast.Call | None:
    statement = ast.parse(text).body[0]
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def _arguments(call: ast.Call) -> dict[str | int, tuple[Any]]:
    given: dict[str | int, ast.expr] = dict(enumerate(call.args))
    given.update((one.arg, one.value) for one in call.keywords if one.arg is not None)
    return {name: value for name, node in given.items() if (value := _literal(node)) is not None}


def _put(live: Live, made: object, number: Numbers) -> Put | None:
    """What puts a number into an object; None where it may not be another."""
    if isinstance(number.now, str | list | dict):
        return None
    name, before, now = number
    if isinstance(made, Optimizer) and name in OF_OPTIMIZERS & made.defaults.keys():
        return lambda: _into_groups(live, made, name, before, now)
    allowed = OF_MODULES if isinstance(made, nn.Module) else OF_SCHEDULES
    if isinstance(made, nn.Module | LRScheduler) and name in allowed and getattr(made, name, None) == before:
        return lambda: setattr(made, name, now)
    return None


def _named(kind: type, number: Numbers) -> Numbers:
    """With the name of the parameter instead of its place in the call, and with its default where none is given."""
    parameters = list(inspect.signature(kind).parameters.values())
    name = number.name
    if name.isdecimal():
        name = parameters[int(name)].name if int(name) < len(parameters) else ""
    default = next((one.default for one in parameters if one.name == name), None)
    before, now = (default if one is None else one for one in number[1:])
    return Numbers(name, before, now)


def _into_groups(live: Live, optimizer: Optimizer, name: str, before: Any, now: Any) -> None:
    """In every group that had the old number; a learning rate that a schedule has moved keeps its share of it."""
    optimizer.defaults[name] = now
    plans = [one for one in live.namespace.values() if isinstance(one, LRScheduler) and one.optimizer is optimizer]
    for group in optimizer.param_groups:
        if name != "lr":
            group[name] = now if group.get(name) == before else group.get(name)
        elif group.get("initial_lr", group["lr"]) == before:
            group["lr"] = now if not plans or not before else group["lr"] * now / before
            if "initial_lr" in group:
                group["initial_lr"] = now
    if name == "lr":
        for plan in plans:
            plan.base_lrs = [now if one == before else one for one in plan.base_lrs]
