"""Plan of every kind of training script: its class, its set-up, its optimizer and its schedule."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Graph, ItemId
from gradstudio.operators.model import Face
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_naming import class_name
from gradstudio.program.forms.module_plan import Plan
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.learning_rate import with_rate
from gradstudio.program.forms.training.training_step import Step

LONGEST_NAME = 30
DEFAULT_RATE = "0.001"


class ScriptPlan(Plan):
    """What is decided before a training script is written.

    Attributes:
        step: what one step is made of.
        rate: the learning rate that the canvas says; None when it says none, or several.
        data: what the set-up gives to the steps; `inputs` what the model is given.
        loops: those whose variables are known in a step; `counted` those of them that a step reads.
        rows: the data are rows of a batch.
    """

    own_globals: ClassVar[frozenset[str]]
    own_locals: ClassVar[frozenset[str]]
    data: tuple[Value, ...]
    inputs: tuple[Value, ...]
    loops: list[ItemId]
    counted: list[ItemId]
    rows: bool

    def __init__(self, graph: Graph, stem: str) -> None:
        """Decide; raises `NoForm` where a program cannot be trained by a script."""
        graph, self.rate = with_rate(graph, self.find_step(analyse(graph)))
        self.step = self.find_step(analyse(graph))
        super().__init__(graph, stem)
        self.lookups.refuse_stars(self.units.of(ROOT))
        self.title = class_name(stem[:LONGEST_NAME], (self.references.taken - {self.title}) | self.own_globals)
        self.names |= self._apart()

    @abstractmethod
    def find_step(self, analysis: Analysis) -> Step:
        """What one step is made of."""

    # ---------------------------------------------------------------- the parts

    @property
    def set_up_units(self) -> list[ItemId]:
        """What `set_up` does beside making the model: its data, what is done to the model, all random numbers."""
        step, own = self.step, {*self.roles.construction, *self.roles.constants}
        homes = (self.units.unit(value[0], ROOT) for value in (*self.data, *self.roles.given))
        wanted = [unit for unit in homes if unit is not None]
        end = self.units.position[step.backward if step.backward is not None else self.roles.forward[-1]]
        before = [unit for unit in step.set_up if self.units.position[unit] < end]
        needed = set(step.closed(wanted, before, ROOT)) | (own if self.handed else set())
        for unit in before:
            if self.units.draws(unit) or self._changes_model(unit):
                needed |= set(step.closed([unit], before, ROOT))
        return [unit for unit in step.set_up if unit in needed and (self.handed or unit not in own)]

    def unread(self, units: Iterable[ItemId], wanted: Iterable[Value]) -> dict[Value, str]:
        """Underscores for what some units bind and nothing reads but what a script leaves out."""
        inside = {item for unit in units for item in self.step.units.members(unit)}
        binding = self.step.analysis.validity.binding
        wires = (wire for item in inside for wire in self.graph.incoming.get(item, ()))
        read = {binding(wire.source, wire.output) for wire in wires} | {*wanted}
        nodes = (self.graph.nodes[item] for item in inside if item in self.graph.nodes)
        bound = ((node.id, k) for node in nodes for k in range(len(node.names)))
        return {value: "_" for value in bound if value not in read}

    def _changes_model(self, unit: ItemId) -> bool:
        made = {value[0] for value in self.attributes}
        return any(value[0] in made and value[0] != unit for value in self.step.objects.changed(unit))

    @property
    def optimizer_units(self) -> list[ItemId]:
        """What making the optimizer needs, apart from the model and the learning rate."""
        if self.step.optimizer is None:
            return []
        own = {*self.roles.construction, *self.roles.constants, *([self.rate.value[0]] if self.rate else [])}
        own |= {unit for unit in self.step.set_up if self._changes_model(unit)}
        own |= self.step.schedule.makers if self.step.schedule is not None else set()
        found = list(self.step.closed([self.step.optimizer], _without(self.step.set_up, own), ROOT))
        for unit in found:
            if self.units.position[unit] > self.units.position[self.step.optimizer]:
                raise NoForm(
                    f"'{self.step.name(unit)}' changes the optimizer after it was made, which a training script does "
                    "not keep. Mute it, and give the optimizer all its arguments at once."
                )
            if self.units.draws(unit) or (unit, 0) in self.units.leaves:
                raise NoForm(
                    f"'{self.step.name(unit)}' is given to the optimizer, but the loss does not need it. "
                    "Take it out of the optimizer's parameters."
                )
        return found

    @property
    def scheduler_units(self) -> list[ItemId]:
        """What making the schedule needs, apart from the optimizer."""
        schedule = self.step.schedule
        if schedule is None:
            return []
        own = {*self.roles.construction, *self.roles.constants, *self.optimizer_units}
        own |= {self.step.optimizer} if self.step.optimizer is not None else set()
        return list(self.step.closed([schedule.maker], _without(self.step.set_up, own), ROOT))

    def _apart(self) -> dict[Value, str]:
        """Numbers above the class that are called like something of the script, under other names."""
        found = {}
        for unit in self.roles.constants:
            for k, name in enumerate(self.graph.nodes[unit].names):
                if name in self.own_globals | self.own_locals:
                    found[unit, k] = self.references.fresh(f"{name}_")
        return found


def may_lack_gradients(plan: ScriptPlan) -> bool:
    """Whether some parameter may get no gradient from the loss."""
    seen: set[Value] = set()
    waiting = [plan.step.loss]
    may = plan.units.may_require_grad
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for wire in plan.graph.incoming.get(value[0], ()):
            source = (wire.source, wire.output)
            if source in may or plan.step.objects.is_model(source):
                waiting += [source, plan.analysis.validity.binding(*source)]
    learning = (value for value in plan.attributes if value in plan.units.leaves or value in plan.roles.modules)
    return any(value not in seen for value in learning)


def asks_for_device(units: Units, some: Iterable[ItemId]) -> bool:
    """Whether some units make tensors, or move some, by the document's device."""
    nodes = (units.graph.nodes.get(item) for unit in some for item in units.members(unit))
    return any(node is not None and DOCUMENT_DEVICE in node.literals.values() for node in nodes)


def moves_to_device(units: Units, some: Iterable[ItemId]) -> bool:
    """Whether some units move something to the document's device, which making it there is not."""
    for item in (item for unit in some for item in units.members(unit)):
        operator = units.operator(item)
        node = units.graph.nodes.get(item)
        if node is None or DOCUMENT_DEVICE not in node.literals.values():
            continue
        if operator is None:
            return True
        is_layer = operator.face is Face.CONSTRUCTOR and operator.parameter("device") is not None
        if not operator.creates and not is_layer:
            return True
    return False


def _without(units: Iterable[ItemId], own: set[ItemId]) -> list[ItemId]:
    return [unit for unit in units if unit not in own]
