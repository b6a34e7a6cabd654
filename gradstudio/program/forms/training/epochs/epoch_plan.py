"""Plan of a script that trains in epochs: its class, its loss, its measures and what the command line may change."""

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.init_statements import SettingUp
from gradstudio.program.forms.statement_roles import StatementRoles, roles_around
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.epochs.epoch_step import Epoch
from gradstudio.program.forms.training.loop_turns import turns_of
from gradstudio.program.forms.training.script_plan import ScriptPlan
from gradstudio.program.forms.training.training_step import Step

GLOBALS = frozenset(
    "argparse json math os signal sys time NamedTuple Path dist SafetensorError safe_open load_file save_file "
    "DistributedDataParallel DataLoader DistributedSampler RandomSampler Subset SummaryWriter RANK LOCAL_RANK "
    "PROCESSES HERE set_up make_optimizer make_scheduler compute_loss measure share_out to_device train_epoch "
    "evaluate average EarlyStop Run make_run train parse_arguments main save_checkpoint load_checkpoint put_back below "
    "read_about seed_of Log spelled listen is_asked_to_stop say positive choose_device refuse NoReturn float bool "
    "int str range len print tuple list dict super object max isinstance round KeyError ValueError OSError "
    "RuntimeError TypeError ImportError AssertionError NotImplementedError".split()
)
"""Names that such a script has beside the canvas's."""
LOCALS = frozenset("model network optimizer scheduler device lr batch".split())
"""What the functions around the canvas's statements call their own."""


class EpochPlan(ScriptPlan):
    """All that is decided before such a script is written.

    Attributes:
        returned: what the model gives: the prediction, and what else the loss reads of it.
        loss_inputs: what the loss reads beside that: values of the batch.
        epoch: what an epoch does; `epochs` how many the canvas has.
    """

    own_globals, own_locals = GLOBALS, LOCALS

    def __init__(self, graph: Graph, stem: str) -> None:
        """Decide; raises `NoForm` where a program does not train in epochs."""
        super().__init__(graph, stem)
        epochs = self.step.epochs
        assert epochs is not None
        turns = turns_of(self.units, epochs)
        if turns is None or turns.start or turns.stride != 1:
            raise NoForm(f"How many epochs '{self.step.name(epochs)}' has is not in the text.")
        read = {value for unit in (*self.step.forward, *self.step.updates) for value in self.step.units.reads(unit)}
        if (epochs, 0) in read:
            raise NoForm("A step reads which epoch it is.")
        self.epochs, self.loops, self.counted = turns.count, [], []
        self.inputs, self.rows = self.roles.inputs, True
        loaders = [self.epoch.loader, *([found.loader] if (found := self.epoch.evaluation) is not None else [])]
        self.data = tuple(dict.fromkeys(loaders))

    def find_step(self, analysis: Analysis) -> Step:
        """What one step is made of."""
        self.epoch = Epoch(analysis)
        return self.epoch.step

    def find_roles(self) -> StatementRoles:
        """The class computes the prediction of what a batch brings for it."""
        step = self.step
        made = SettingUp(step.units, step.forward)
        if not (made.parameters or made.modules):
            raise NoForm(f"There is nothing to train: '{step.name(step.loss[0])}' is computed from no parameter.")
        if not self.epoch.switches_all(made.modules):
            raise NoForm("Not all modules are switched between training and evaluation.")
        known = {*self.epoch.batch, *made.parameters, *made.modules}
        other = [value for value in made.inputs if value not in known]
        if other:
            raise NoForm(f"'{step.name(other[0][0])}' is no part of a batch.")
        self.returned, self.loss_inputs = self._handed_on(made)
        return roles_around(
            made,
            root=self.epoch.prediction,
            body=step.body,
            forward=tuple(unit for unit in made.forward if unit in self.epoch.model_units),
            returned=self.returned,
            inputs=tuple(value for value in made.inputs if value in self._read_by_model()),
            unread=frozenset(self.unread(step.forward, [step.loss])),
        )

    def _read_by_model(self) -> set[Value]:
        return {value for unit in self.epoch.model_units for value in self.step.units.reads(unit)}

    def _handed_on(self, made: SettingUp) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """What the loss reads of the model's values, the prediction first; and of the batch."""
        step = self.step
        if not self.epoch.loss_units:
            return (step.loss,), ()
        read = {value: None for unit in self.epoch.loss_units for value in step.units.reads(unit)}
        inside = {item for unit in self.epoch.model_units for item in step.units.members(unit)}
        others = [value for value in read if value[0] in inside and value != self.epoch.prediction]
        return (self.epoch.prediction, *others), tuple(value for value in made.inputs if value in read)
