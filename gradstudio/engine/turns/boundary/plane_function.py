"""Which function of two inputs leads to a node: the statements between the data and what the node gives.

Data is what is computed from nothing that is learnt. Where what is learnt first meets a tensor of two columns, or two
tensors of one each, there the function begins; what it gives for a plane of points is computed by the same statements.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import NoBoundary
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Step
from gradstudio.engine.turns.boundary.modules_at_rest import modules_at_rest
from gradstudio.engine.turns.boundary.program_lines import NOWHERE, ProgramLines
from gradstudio.engine.turns.boundary.whole_data import variables_of
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE

TWO = 2
MOST_LEAVES = 64
"""Of a list only so many elements are looked at."""
IN_GROUP = "A boundary is drawn of what the program itself computes: choose the card of the group."
ONE_FOR_ALL = "It is one number for all rows: choose the card of the prediction, or of the model."
EFFECTS = "What leads to it writes in place or is Python that is not drawn; it is not computed twice."
NOTHING = "It gives nothing that has a boundary: choose the card of the prediction, or of the model."
NO_DATA = "It is computed from no data."
NOT_RUN = "It has not run yet."
CALL = "python.call"


@dataclass(frozen=True)
class PlaneFunction:
    """Two inputs, the statements that follow from them, and what comes out.

    Attributes:
        inputs: the name of a tensor of two columns, or those of two tensors of one number a row.
        steps: in the order of the program; `result` the name that the last of them binds.
        modules: what is set to evaluation meanwhile.
        points: the data, `(rows, 2)`; `targets` what the loss compares with, a row each, where there is a loss.
        are_logits: the loss takes the sigmoid itself.
    """

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    result: str
    modules: tuple[nn.Module, ...]
    shapes: tuple[torch.Size, ...]
    points: Tensor
    targets: Tensor | None
    are_logits: bool

    def values(self, namespace: dict[str, Any], points: Tensor) -> Tensor:
        """What it gives for points `(rows, 2)`, under evaluation and without gradients; `(rows, outputs)`.

        Raises:
            NoBoundary: it gives something else than a row for each row.
        """
        names = dict(namespace)
        names.update(zip(self.inputs, self._as_inputs(points), strict=True))
        with modules_at_rest(self.modules), clean_modes():
            for step in self.steps:
                access.execute(step.source.code, names)
        value = names.get(self.result)
        if not isinstance(value, Tensor) or value.is_complex() or not value.ndim or len(value) != len(points):
            raise NoBoundary("It does not give one row for each row that it is given.")
        return value.detach().reshape(len(points), -1)

    def _as_inputs(self, points: Tensor) -> tuple[Tensor, ...]:
        if len(self.inputs) == 1:
            return (points,)
        columns = (points[:, 0], points[:, 1])
        pairs = zip(columns, self.shapes, strict=True)
        return tuple([one.reshape(len(points), *shape[1:]) for one, shape in pairs])


def plane_function(live: Live, lines: ProgramLines, node: ItemId) -> PlaneFunction:
    """The function that leads to what a node gives, or that the module it makes is first called for.

    Raises:
        NoBoundary: there is none; the message is the reason.
    """
    place = lines.place_of(node)
    if place == NOWHERE:
        raise NoBoundary(IN_GROUP)
    step = lines.items[place]
    if not isinstance(step, Step) or not step.statement.names:
        raise NoBoundary(NOTHING)
    made = live.namespace.get(step.statement.names[0])
    if isinstance(made, Tensor) and not made.ndim:
        raise NoBoundary(ONE_FOR_ALL)
    if not isinstance(made, nn.Module):
        return _Search(live, lines, place).function()
    reason = NoBoundary("The program does not call it.")
    for at in range(place + 1, len(lines.items)):
        called = lines.items[at]
        if isinstance(called, Step) and called.statement.operator == CALL and (made_at := dict(lines.reads(at))):
            if made_at.get(step.statement.names[0]) != place:
                continue
            try:
                return _Search(live, lines, at).function()
            except NoBoundary as error:
                reason = error
    raise reason


class _Search:
    """What leads to one statement."""

    def __init__(self, live: Live, lines: ProgramLines, place: int) -> None:
        self._live, self._lines, self._place = live, lines, place
        self._stays = not lines.is_setup(place)
        self._space = dict(live.namespace)
        self._whole: set[int] = set()
        for at, item in enumerate(lines.items):
            if isinstance(item, Head) and (found := variables_of(item, live.namespace)):
                self._space.update(found)
                self._whole.add(at)
        self._computed: set[int] = set()

    def function(self) -> PlaneFunction:
        """All of it; see `plane_function`."""
        inside = self._inside(self._place)
        learns = self._that_learn(inside)
        begins = sorted({pair for at in learns for pair in self._lines.reads(at) if pair[1] not in learns}, key=_place)
        with modules_at_rest(self._modules()), clean_modes():
            inputs = self._inputs([(name, at) for name, at in begins])
            values = [self._space[name] for name in inputs]
            targets, are_logits = self._targets(len(values[0]) if values[0].ndim == TWO or len(inputs) > 1 else 1)
        if len(inputs) == 1:
            points = values[0].reshape(-1, TWO)
        else:
            points = torch.stack([one.reshape(-1) for one in values], 1)
        steps = self._steps(set(inputs), {at for name, at in begins if name in inputs})
        item = self._lines.items[self._place]
        assert isinstance(item, Step)
        shapes = tuple([one.shape for one in values])
        points = points.detach()
        return PlaneFunction(
            inputs, steps, item.statement.names[0], self._modules(), shapes, points, targets, are_logits
        )

    def _inside(self, place: int) -> list[int]:
        """The statements that lead there, but for those of the set-up, in order."""
        found, waiting = {place}, [place]
        while waiting:
            for _, at in self._lines.reads(waiting.pop()):
                if at not in found and not self._is_given(at):
                    found.add(at)
                    waiting.append(at)
        return sorted(found)

    def _is_given(self, at: int) -> bool:
        """Whether what is bound there is taken as it is: by a loop, or by set-up."""
        item = self._lines.items[at]
        if isinstance(item, Head) or not any(True for _ in self._lines.reads(at)):
            return True
        return self._stays and self._lines.is_setup(at)

    def _that_learn(self, inside: list[int]) -> set[int]:
        """Those that compute with what is learnt; all, where nothing is."""
        found: set[int] = set()
        for place in inside:
            for name, at in self._lines.reads(place):
                if at in found or (at not in inside and _is_learnt(self._live.namespace.get(name))):
                    found.add(place)
        return found if self._place in found else set(inside)

    def _inputs(self, begins: list[tuple[str, int]]) -> tuple[str, ...]:
        """The names of what is data of two columns."""
        tensors = [(name, value) for name, at in begins if isinstance(value := self._value(name, at), Tensor)]
        floats = [(name, value) for name, value in tensors if value.is_floating_point() and not value.requires_grad]
        pairs = [(len(value) if value.ndim == TWO else 0, name) for name, value in floats if _is_pair(value)]
        if pairs:
            return (max(pairs, key=lambda pair: pair[0])[1],)
        ones = [(name, value.shape) for name, value in floats if _is_column(value)]
        if len(ones) == TWO and ones[0][1][0] == ones[1][1][0]:
            return (ones[0][0], ones[1][0])
        if not tensors:
            has_run = any(self._space.get(name) is not None for name, _ in begins)
            raise NoBoundary(NO_DATA if has_run else NOT_RUN)
        words = ", ".join(f"{name} {tuple(value.shape)}" for name, value in tensors[:TWO])
        raise NoBoundary(f"A boundary is drawn of functions of two numbers; this one is of {words}.")

    def _value(self, name: str, at: int) -> object:
        """What a name meant where it was bound there, of all rows of the data."""
        item = self._lines.items[at]
        if isinstance(item, Head) or not self._is_of_whole(at):
            if at in self._whole or (self._lines.last.get(name) == at and name in self._live.namespace):
                return self._space.get(name)
            if isinstance(item, Head) or self._lines.is_setup(at):
                raise NoBoundary(f"'{name}' is bound anew behind it: give what follows another name.")
        if at not in self._computed:
            self._computed.add(at)
            for read, binder in self._lines.reads(at):
                self._value(read, binder)
            _refuse_effects(item)
            access.execute(item.source.code, self._space)
        return self._space.get(name)

    def _is_of_whole(self, at: int) -> bool:
        """Whether it is computed from what a loop brings, which all rows stand for."""
        if at in self._whole:
            return True
        return not self._lines.is_setup(at) and any(self._is_of_whole(one) for _, one in self._lines.reads(at))

    def _targets(self, rows: int) -> tuple[Tensor | None, bool]:
        """What the results are compared with, and whether a sigmoid is taken first."""
        reached = {self._place}
        for place in range(self._place + 1, len(self._lines.items)):
            reads = list(self._lines.reads(place))
            if not any(at in reached for _, at in reads):
                continue
            reached.add(place)
            for name, at in reads:
                value = self._value(name, at) if at not in reached and self._is_data(at) else None
                if isinstance(value, Tensor) and value.ndim and len(value) == rows and value.numel() == rows:
                    return value.detach().reshape(rows), self._takes_sigmoid(place)
        return None, False

    def _is_data(self, at: int) -> bool:
        """Whether nothing that is learnt leads there, nor anything that cannot be computed again."""
        item = self._lines.items[at]
        if self._is_given(at):
            return at in self._whole or all(
                self._lines.last.get(name) == at and name in self._live.namespace
                for name in (item.targets if isinstance(item, Head) else item.statement.names)
            )
        if isinstance(item, Head) or item.statement.writes or item.statement.operator == CODE:
            return False
        reads = list(self._lines.reads(at))
        return all(self._is_data(one) and not _is_learnt(self._live.namespace.get(name)) for name, one in reads)

    def _takes_sigmoid(self, place: int) -> bool:
        item = self._lines.items[place]
        assert isinstance(item, Step)
        called = [self._live.namespace.get(name) for name in item.source.operands]
        return "with_logits" in item.statement.text or any(isinstance(one, nn.BCEWithLogitsLoss) for one in called)

    def _steps(self, inputs: set[str], borders: set[int]) -> tuple[Step, ...]:
        """From the inputs on, in order; what else they read is there under its name, or is computed along."""
        found, waiting = {self._place}, [self._place]
        while waiting:
            for name, at in self._lines.reads(waiting.pop()):
                is_there = name in inputs and at in borders
                if is_there or at in found or self._is_given(at) or self._stands(name, at):
                    continue
                found.add(at)
                waiting.append(at)
        steps = [item for at in sorted(found) if isinstance(item := self._lines.items[at], Step)]
        made = {name for step in steps for name in step.statement.names}
        for item in self._lines.items[min(found) : self._place + 1]:
            if isinstance(item, Step) and item.statement.writes and not made.isdisjoint(item.source.operands):
                raise NoBoundary(EFFECTS)
        for step in steps:
            _refuse_effects(step)
        return tuple(steps)

    def _stands(self, name: str, at: int) -> bool:
        """Whether a value that is no function of the inputs is there under its name."""
        is_last = self._lines.last.get(name) == at and name in self._live.namespace
        return is_last and self._is_data(at) and not self._is_of_whole(at)

    def _modules(self) -> tuple[nn.Module, ...]:
        found = dict.fromkeys(value for value in self._live.namespace.values() if isinstance(value, nn.Module))
        return tuple(found)


def _place(pair: tuple[str, int]) -> int:
    return pair[1]


def _refuse_effects(item: Step) -> None:
    """What is computed for a picture must leave everything as it is."""
    if item.statement.writes or item.statement.operator == CODE:
        raise NoBoundary(EFFECTS)


def _is_learnt(value: object) -> bool:
    several = value[:MOST_LEAVES] if isinstance(value, list | tuple) else (value,)
    return any(isinstance(one, nn.Module) or (isinstance(one, Tensor) and one.requires_grad) for one in several)


def _is_pair(value: Tensor) -> bool:
    return value.ndim in (1, TWO) and value.shape[-1] == TWO


def _is_column(value: Tensor) -> bool:
    return value.ndim == 1 or (value.ndim == TWO and value.shape[1] == 1)
