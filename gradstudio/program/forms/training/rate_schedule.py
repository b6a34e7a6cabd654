"""Schedule: how a program changes its learning rate from step to step, or from epoch to epoch."""

from collections.abc import Iterable
from typing import Protocol

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.operators.model import Face, Operator
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.object_aliases import Objects

CATEGORY = "Learning rate schedules"
_MILESTONES, _PLATEAU, _CYCLE = "MultiStepLR", "ReduceLROnPlateau", "OneCycleLR"
_SAME_NUMBER = frozenset("item detach clone float".split())


class Step(Protocol):
    """What a schedule asks of the step that it belongs to."""

    analysis: Analysis
    graph: Graph
    units: Units
    objects: Objects
    loss: Value
    loop: ItemId | None
    epochs: ItemId | None
    set_up: tuple[ItemId, ...]
    updates: tuple[ItemId, ...]

    def name(self, item: ItemId) -> str:
        """How a person calls an item."""

    def operator(self, item: ItemId) -> Operator:
        """The operator of a node."""

    def call(self, unit: ItemId) -> str:
        """How a person calls a statement."""


class Schedule:
    """The one schedule that a program steps.

    Attributes:
        maker: the node that constructs it.
        makers: all schedules that the program constructs: the parts of it too.
        epoch_end: the unit that steps it after the steps of an epoch; None when each step does.
        by_loss: the units of a step that tell it the loss.
    """

    def __init__(self, step: Step, maker: ItemId, epoch_end: ItemId | None) -> None:
        """Look at a schedule.

        Raises:
            NoForm: a training script could not keep it.
        """
        self._step, self.maker, self.epoch_end = step, maker, epoch_end
        self.makers = {item for item in step.graph.nodes if makes_schedule(step, item)}
        self.word = step.operator(maker).word
        inside = {item for unit in step.set_up for item in step.units.members(unit)}
        if maker not in inside:
            raise NoForm(f"'{step.name(maker)}' is made anew in each step. Make it before the loop.")
        for item in self.makers - {maker}:
            if step.operator(item).word == _MILESTONES:
                raise NoForm(
                    f"A checkpoint cannot keep '{step.name(item)}' within another schedule. Take StepLR or another."
                )
        self.by_loss = {unit for unit in step.updates if self._is_told_the_loss(unit)}

    @property
    def features(self) -> set[str]:
        """What the texts of a script ask of it."""
        found = {
            "schedule": True,
            "by_epoch": self.epoch_end is not None,
            "milestones": self.word == _MILESTONES,
            "cycle": self.word == _CYCLE,
        }
        return {name for name, holds in found.items() if holds}

    def _is_told_the_loss(self, unit: ItemId) -> bool:
        step = self._step
        operator = step.units.operator(unit)
        wire = step.graph.wires.get((unit, "metrics"))
        if operator is None or operator.category != CATEGORY or wire is None:
            return False
        value: Value = step.analysis.validity.binding(wire.source, wire.output)
        while value != step.loss:
            between = step.units.operator(value[0])
            before = next(iter(step.graph.incoming.get(value[0], ())), None)
            if between is None or before is None or between.word not in _SAME_NUMBER:
                raise NoForm(
                    f"{step.call(unit)} looks at '{step.name(value[0])}', and a training script knows the loss alone. "
                    "Give it the loss."
                )
            value = step.analysis.validity.binding(before.source, before.output)
        return True


def makes_schedule(step: Step, item: ItemId) -> bool:
    """Whether a node constructs a schedule."""
    operator = step.units.operator(item)
    return operator is not None and operator.category == CATEGORY and operator.face is Face.CONSTRUCTOR


def find_schedule(step: Step) -> Schedule | None:
    """The schedule that the steps or the epochs of a program step; None when there is none.

    Raises:
        NoForm: there are several, or a training script could not keep it.
    """
    epoch_end = _epoch_end(step)
    units = [*step.updates, *([epoch_end] if epoch_end is not None else [])]
    found = sorted(_stepped(step, units), key=step.units.position.__getitem__)
    if len(found) > 1:
        raise NoForm(
            f"There are two schedules, '{step.name(found[0])}' and '{step.name(found[1])}'; a training script has one. "
            "Put both into a ChainedScheduler or a SequentialLR."
        )
    return Schedule(step, found[0], epoch_end) if found else None


def _stepped(step: Step, units: Iterable[ItemId]) -> set[ItemId]:
    return {value[0] for unit in units for value in step.objects.changed(unit) if makes_schedule(step, value[0])}


def _epoch_end(step: Step) -> ItemId | None:
    """The unit behind the inner loop that does nothing but step a schedule by its own count."""
    if step.epochs is None or step.loop is None:
        return None
    scope = BodyId(step.epochs)
    loop = step.units.unit(step.loop, scope)
    for unit in step.units.of(scope):
        operator = step.units.operator(unit)
        is_behind = loop is not None and step.units.position[unit] > step.units.position[loop]
        if is_behind and operator is not None and operator.category == CATEGORY and operator.word == "step":
            wired = {wire.port for wire in step.graph.incoming.get(unit, ())}
            if wired == {operator.parameters[0].name} and _stepped(step, [unit]):
                return unit
    return None
