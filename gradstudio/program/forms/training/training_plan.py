"""Plan of a training script of steps: its class, its data, and what of it the command line may change."""

from math import prod

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.model import Face, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.init_statements import SettingUp
from gradstudio.program.forms.statement_roles import StatementRoles, roles_around
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.batch_rows import are_rows
from gradstudio.program.forms.training.loop_turns import turns_of
from gradstudio.program.forms.training.script_plan import ScriptPlan
from gradstudio.program.forms.training.training_step import Step

GLOBALS = frozenset(
    "argparse json math os signal sys Iterable dist DistributedDataParallel save_file safe_open tqdm RANK LOCAL_RANK "
    "PROCESSES CHECKPOINT OPTIMIZERS set_up make_optimizer make_scheduler train_step take_batch save_checkpoint "
    "load_checkpoint below choose_device average is_asked_to_stop show_progress say train positive learning_rate "
    "refuse NoReturn SafetensorError parse_arguments main int float bool str range len print tuple list dict super "
    "divmod min ValueError ImportError Accumulated clip_before_steps learning Refused WHY_NOT not_negative".split()
)
"""Names that a training script has beside the canvas's."""
LOCALS = frozenset("model network optimizer scheduler batch loss lr device data".split())
"""What the functions around the canvas's statements call their own."""
DEFAULT_STEPS = 100


class TrainingPlan(ScriptPlan):
    """All that is decided before a training script is written.

    Attributes:
        loops: the loop that trains, then one around it; `turns` of each, None when that is not in the text.
    """

    own_globals, own_locals = GLOBALS, LOCALS

    def __init__(self, graph: Graph, stem: str) -> None:
        """Decide; raises `NoForm` where a program cannot be trained by a script."""
        super().__init__(graph, stem)
        self.loops = [loop for loop in (self.step.loop, self.step.epochs) if loop is not None]
        self.turns = [turns_of(self.units, loop) for loop in self.loops]
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

    def find_step(self, analysis: Analysis) -> Step:
        """What one step is made of."""
        return Step(analysis)

    def find_roles(self) -> StatementRoles:
        """The class computes the loss alone, of what the step needs for it."""
        step = self.step
        setting_up = SettingUp(step.units, step.forward)
        if not (setting_up.parameters or setting_up.modules):
            raise NoForm(
                f"There is nothing to train: '{step.name(step.loss[0])}' is computed from no parameter that is made "
                "before the step. Make the parameters or modules before the loop."
            )
        return roles_around(
            setting_up,
            root=step.loss,
            body=step.body,
            forward=setting_up.forward,
            returned=(step.loss,),
            inputs=setting_up.inputs,
            unread=self._unread(setting_up.forward),
        )

    def _unread(self, forward: tuple[ItemId, ...]) -> frozenset[Value]:
        """Values with a name that only what the script leaves out would read."""
        return frozenset(self.unread(forward, [self.step.loss]))

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
