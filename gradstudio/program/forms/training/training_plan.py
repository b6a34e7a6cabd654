"""Plan of a training script: its class, its set-up, its step, and what of it the command line may change."""

from collections.abc import Iterable
from math import prod

import msgspec

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Graph, ItemId
from gradstudio.operators.model import Face, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_naming import class_name
from gradstudio.program.forms.init_statements import SettingUp
from gradstudio.program.forms.module_plan import Plan
from gradstudio.program.forms.statement_roles import StatementRoles
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.batch_rows import are_rows
from gradstudio.program.forms.training.learning_rate import with_rate
from gradstudio.program.forms.training.static_shapes import Shapes
from gradstudio.program.forms.training.training_step import Step

GLOBALS = frozenset(
    "argparse json math os signal sys Iterable dist DistributedDataParallel save_file safe_open tqdm RANK LOCAL_RANK "
    "PROCESSES CHECKPOINT OPTIMIZERS set_up make_optimizer make_scheduler train_step take_batch save_checkpoint "
    "load_checkpoint below choose_device average is_asked_to_stop show_progress say train positive learning_rate "
    "refuse NoReturn SafetensorError parse_arguments main int float bool str range len print tuple list dict super "
    "divmod min ValueError ImportError".split()
)
"""Names that a training script has beside the canvas's."""
LOCALS = frozenset("model network optimizer scheduler batch loss lr device data".split())
"""What the functions around the canvas's statements call their own."""
LONGEST_NAME = 30
DEFAULT_STEPS, DEFAULT_RATE = 100, "0.001"


class Turns(msgspec.Struct, frozen=True):
    """How the loop that trains counts: its variable in step k is ``start + stride * k``."""

    count: int
    start: int = 0
    stride: int = 1


class TrainingPlan(Plan):
    """All that is decided before a training script is written.

    Attributes:
        step: what one step is made of.
        rate: the learning rate that the canvas says; None when it says none, or several.
        loops: the loop that trains, then one around it; `turns` of each, None when that is not in the text.
        counted: those of them whose variables the step reads.
        rows: the data are rows of a batch.
    """

    def __init__(self, graph: Graph, stem: str) -> None:
        """Decide; raises `NoForm` where a program cannot be trained by a script."""
        graph, self.rate = with_rate(graph, Step(analyse(graph)))
        self.step = Step(analyse(graph))
        super().__init__(graph, stem)
        self.title = class_name(stem[:LONGEST_NAME], (self.references.taken - {self.title}) | GLOBALS)
        self.names |= self._apart()
        self.loops = [loop for loop in (self.step.loop, self.step.epochs) if loop is not None]
        self.turns = [self._turns(loop) for loop in self.loops]
        self.inputs = tuple(value for value in self.roles.inputs if value[0] not in self.loops)
        self.data = tuple(value for value in self.inputs if self._is_tensor(value))
        self._refuse_other_inputs()
        self.rows = are_rows(self.units, self.roles.forward, self.data, self.roles.root)
        read = self._read_in_step()
        self.counted = [loop for loop in self.loops if (loop, 0) in read]
        if (self.counted or self.step.epochs is not None) and None in self.turns:
            loop = self.step.name(self.loops[self.turns.index(None)])
            raise NoForm(
                f"How often '{loop}' turns is not in the text, and a step has to know its place in it. "
                "Loop over range(n) with a number."
            )

    def find_roles(self) -> StatementRoles:
        """The class computes the loss alone, of what the step needs for it."""
        step = self.step
        setting_up = SettingUp(step.units, step.forward)
        if not (setting_up.parameters or setting_up.modules):
            raise NoForm(
                f"There is nothing to train: '{step.name(step.loss[0])}' is computed from no parameter that is made "
                "before the step. Make the parameters or modules before the loop."
            )
        return StatementRoles(
            root=step.loss,
            body=step.body,
            forward=setting_up.forward,
            returned=(step.loss,),
            inputs=setting_up.inputs,
            constants=setting_up.constants,
            construction=setting_up.construction,
            given=setting_up.given,
            parameters=setting_up.parameters,
            modules=setting_up.modules,
            nested=step.units.nested,
            unread=self._unread(setting_up.forward),
        )

    def _unread(self, forward: tuple[ItemId, ...]) -> frozenset[Value]:
        """Values with a name that only what the script leaves out would read."""
        return frozenset(self.unread(forward, [self.step.loss]))

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
                if name in GLOBALS | LOCALS:
                    found[unit, k] = self.references.fresh(f"{name}_")
        return found

    # ---------------------------------------------------------------- what is read

    def _is_tensor(self, value: Value) -> bool:
        operator = self.units.operator(value[0])
        families = [result.family for result in operator.results] if operator is not None else []
        if operator is not None and operator.face is Face.TUPLE and len(self.graph.nodes[value[0]].names) > 1:
            wire = self.graph.wires.get((value[0], f"{operator.parameters[0].name}.{value[1]}"))
            return wire is not None and self.step.objects.is_tensor(wire.source)
        if value[1]:
            return len(families) > value[1] and families[value[1]] is Family.TENSOR
        return self.step.objects.is_tensor(value[0])

    def _refuse_other_inputs(self) -> None:
        for value in self.inputs:
            if value not in self.data:
                raise NoForm(
                    f"'{self.step.name(value[0])}' is made before the steps and is no tensor, so it cannot be moved to "
                    "a device with the data. Make it within the step, from a tensor or a number."
                )

    def _read_in_step(self) -> set[Value]:
        return {value for unit in (*self.roles.forward, *self.step.updates) for value in self.units.reads(unit)}

    @property
    def count(self) -> int | None:
        """How many steps the canvas takes; None when it has no loop, or its text does not tell."""
        counts = [turns.count for turns in self.turns if turns is not None]
        return prod(counts) if counts and len(counts) == len(self.turns) else None

    def _turns(self, loop: ItemId) -> Turns | None:
        block = self.graph.blocks[loop]
        shapes = Shapes(self.units)
        count = block.lengths.get("range", 0)
        paths = [f"range.{k}" for k in range(count)] or ["range"]
        numbers = [n for path in paths if isinstance(n := shapes.number(block.id, path), int)]
        if len(numbers) != len(paths) or len(numbers) > 3 or (len(numbers) == 3 and numbers[2] == 0):
            return None
        turns = range(*numbers)
        return Turns(len(turns), turns.start, turns.step) if len(turns) else None

    @property
    def unused(self) -> bool:
        """Whether some parameter may get no gradient from the loss."""
        seen: set[Value] = set()
        waiting = [self.roles.root]
        may = self.units.may_require_grad
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            for wire in self.graph.incoming.get(value[0], ()):
                source = (wire.source, wire.output)
                if source in may or self.step.objects.is_model(source):
                    waiting += [source, self.analysis.validity.binding(*source)]
        return any(value not in seen for value in self.attributes if self._learns(value))

    def _learns(self, value: Value) -> bool:
        return value in self.units.leaves or value in self.roles.modules


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
