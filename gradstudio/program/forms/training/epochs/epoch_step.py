"""Epoch: a training over epochs of batches as the tutorials write it, with what each does beside its steps."""

from collections.abc import Iterable, Iterator

import msgspec

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.card_grouping import EVAL, TRAIN
from gradstudio.graph.model import BodyId, ItemId
from gradstudio.operators.model import Face, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.return_values import prediction_of
from gradstudio.program.forms.statement_roles import pulled_parts
from gradstudio.program.forms.statement_units import Value
from gradstudio.program.forms.training.added_training import ONE_MODE
from gradstudio.program.forms.training.scalar_values import is_one_number
from gradstudio.program.forms.training.static_shapes import literal
from gradstudio.program.forms.training.training_step import OPTIMIZER_STEP, Step

ZERO_GRAD = "torch.optim.Optimizer.zero_grad"
CLIP = "torch.nn.utils.clip_grad_norm_"
PARAMETERS = "torch.nn.Module.parameters"
LOADER = "torch.utils.data.DataLoader"
_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})


class Evaluation(msgspec.Struct, frozen=True):
    """What an epoch measures of data that nobody learns from.

    Attributes:
        loader: gives the batches; `batch` what is taken of each.
        units: what is computed of a batch.
        measures: the numbers among that, by name.
        weighted: those that count as often as a batch has rows; `adds_up`: each is a sum over the rows of its batch
            then, which the canvas itself divides by all rows.
    """

    loader: Value
    batch: tuple[Value, ...]
    body: BodyId
    units: tuple[ItemId, ...]
    measures: dict[str, Value]
    weighted: frozenset[str] = frozenset()
    adds_up: bool = False


class Epoch:
    """What an epoch of such a training does.

    Attributes:
        step: what it does with a batch.
        loader: what gives the batches; `batch` what is taken of each.
        prediction: what the model gives; the loss, where it is computed of more than one value of the model.
        model_units: the units that the prediction needs; `loss_units` the others of `forward`.
        clip: what the norm of all gradients is clipped to; "" when it is not.
        trains: the model is switched to training before each epoch; `evaluates` to evaluation behind its steps.
        evaluation: what each epoch measures; None when nothing.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Look at a program.

        Raises:
            NoForm: it trains in another way.
        """
        self.step = step = _step(analysis)
        if step.loop is None or step.epochs is None or step.optimizer is None:
            raise NoForm("There are no epochs of batches that an optimizer learns from.")
        self.graph, self.units, self.objects, self.forward = step.graph, step.units, step.objects, step.forward
        self.loader, self.batch = self._batches(step.loop)
        self.prediction = prediction_of(step.units, step.forward, step.loss)
        self.model_units = self.forward
        if self.prediction != step.loss:
            unit = step.units.unit(self.prediction[0], step.body)
            self.model_units = step.closed([unit] if unit is not None else [], step.forward, step.body)
        self.loss_units = tuple(unit for unit in self.forward if unit not in self.model_units)
        self.clip = ""
        self._sort_updates()
        self.trains = self.evaluates = False
        self._switched: set[Value] = set()
        self.evaluation: Evaluation | None = None
        self._sort_epoch(step.epochs, step.loop)

    def _members(self, units: Iterable[ItemId]) -> set[ItemId]:
        return {item for unit in units for item in self.units.members(unit)}

    # ---------------------------------------------------------------- a step

    def _batches(self, loop: ItemId) -> tuple[Value, tuple[Value, ...]]:
        """The loader that a loop goes over, and what its head binds.

        Raises:
            NoForm: it goes over something else.
        """
        wire = self.graph.wires.get((loop, "over"))
        operator = self.units.operator(wire.source) if wire is not None else None
        first = next(iter(self.units.of(BodyId(loop))), None)
        if wire is None or operator is None or operator.key != LOADER or first is None:
            raise NoForm(f"'{self.step.name(loop)}' goes over no loader.")
        if first not in self.units.heads or wire.source not in self._members(self.step.set_up):
            raise NoForm(f"'{self.step.name(loop)}' does not take its batches apart.")
        names = self.graph.nodes[first].names
        return (wire.source, wire.output), tuple((first, k) for k in range(len(names)))

    def _sort_updates(self) -> None:
        """Whether a step is zero_grad, backward, perhaps clip, step, and perhaps the schedule, in that order.

        Raises:
            NoForm: it is another.
        """
        assert self.step.backward is not None
        order = {ZERO_GRAD: 0, CLIP: 2, OPTIMIZER_STEP: 3, "": 4}
        found = [(self.units.position[self.step.backward], 1)]
        schedule = self.step.schedule
        for unit in self.step.updates:
            key = self.step.operator(unit).key if unit in self.graph.nodes else "?"
            changed = {value[0] for value in self.objects.changed(unit)}
            stepped = schedule is not None and schedule.maker in changed
            key = "" if stepped and key != OPTIMIZER_STEP else key
            if key not in order or (key == ZERO_GRAD and self.graph.nodes[unit].literals):
                raise NoForm(f"{self.step.call(unit)} is no usual part of a step.")
            if key == CLIP:
                self.clip = self._clipped_to(unit)
            found.append((self.units.position[unit], order[key]))
        kinds = [kind for _, kind in sorted(found)]
        if kinds[-1] == 0:
            kinds = [0, *kinds[:-1]]  # set back behind the step
        if kinds != sorted(set(kinds)) or not {0, 3} <= set(kinds):
            raise NoForm("A step is not zero_grad, backward and step.")
        if schedule is not None and schedule.by_loss:
            raise NoForm("The schedule is told the loss.")

    def _clipped_to(self, unit: ItemId) -> str:
        """The norm that all gradients are clipped to."""
        wire = self.graph.wires.get((unit, "parameters"))
        source = self.graph.nodes.get(wire.source) if wire is not None else None
        given = self.graph.nodes[unit].literals
        number = literal(given.get("max_norm", ""))
        if source is None or source.operator != PARAMETERS or given.keys() != {"max_norm"} or source.literals:
            raise NoForm(f"{self.step.call(unit)} clips in another way.")
        if not isinstance(number, int | float) or number <= 0:
            raise NoForm(f"{self.step.call(unit)} clips to no number.")
        return given["max_norm"]

    # ---------------------------------------------------------------- beside the steps

    def _sort_epoch(self, epochs: ItemId, loop: ItemId) -> None:
        """What an epoch does before and behind its steps.

        Raises:
            NoForm: something that a script of epochs has no place for.
        """
        scope = BodyId(epochs)
        place = self.units.position[loop]
        last = self.step.schedule.epoch_end if self.step.schedule is not None else None
        for unit in self.units.of(scope):
            is_before = self.units.position[unit] < place
            node = self.graph.nodes.get(unit)
            if unit in (loop, last):
                continue
            if node is not None and node.operator in (TRAIN, EVAL):
                self._switched |= self.objects.changed(unit)
            if node is not None and node.operator == TRAIN and is_before and not node.literals:
                self.trains = True
            elif node is not None and node.operator == EVAL and not is_before and self.evaluation is None:
                self.evaluates = True
            elif node is None and not is_before and self.evaluation is None:
                self.evaluation = self._evaluation(unit)
            elif self.units.draws(unit) or (self.objects.changed(unit) and not self.objects.collects(unit)):
                raise NoForm(f"{self.step.call(unit)} stands beside the steps.")
            elif is_before and self._members([unit]) & {v[0] for one in self.forward for v in self.units.reads(one)}:
                raise NoForm(f"{self.step.call(unit)} is made anew in each epoch.")

    def _evaluation(self, unit: ItemId) -> Evaluation:
        """A block without gradients, with a loop over a loader."""
        inside = self.units.of(BodyId(unit))
        if self.graph.blocks[unit].kind not in _WITHOUT_GRADIENTS or len(inside) != 1 or inside[0] in self.graph.nodes:
            raise NoForm(f"'{self.step.name(unit)}' is no loop over data without gradients.")
        loop = inside[0]
        loader, batch = self._batches(loop)
        scope = BodyId(loop)
        units = tuple(one for one in self.units.of(scope) if one not in self.units.heads)
        acting = [one for one in units if self.objects.changed(one) or one in self.graph.blocks]
        carried = self.graph.blocks[loop].carried
        sums = [found for one in range(1, len(carried) + 1) if (found := self._sum(loop, one, batch)) is not None]
        if acting or len(sums) < len(carried):
            raise NoForm(f"'{self.step.name(loop)}' does more than measure.")
        if sums:
            kept = tuple(one for one in units if one not in {item for item, _, _ in sums})
            measures = {self._figure(item): value for item, value, _ in sums}
            weighted = frozenset(self._figure(item) for item, _, is_weighted in sums if is_weighted)
            return Evaluation(loader, batch, scope, kept, measures, weighted, adds_up=True)
        return Evaluation(loader, batch, scope, units, dict(self._measures(units)))

    def _sum(self, loop: ItemId, output: int, batch: tuple[Value, ...]) -> tuple[ItemId, Value, bool] | None:
        """What a carried name adds up: the statement, what it adds, and whether that times the rows of the batch."""
        name = self.graph.blocks[loop].carried[output - 1]
        wire = self.graph.wires.get((loop, f"next.{name}"))
        parts = _operands(self.step, wire.source, "+") if wire is not None else None
        if wire is None or parts is None or parts[0] != (loop, output):
            return None
        product = _operands(self.step, parts[1][0], "*")
        if product is None or not self.graph.nodes[parts[1][0]].nested:
            return wire.source, parts[1], False
        rows = self.graph.wires_to(product[1][0])
        is_rows = _counts_rows(self.step, product[1]) and [(w.source, w.output) for w in rows] == [batch[0]]
        return (wire.source, product[0], True) if is_rows else None

    def _figure(self, item: ItemId) -> str:
        """What a sum is called when it is divided by all rows; else its own name."""
        for wire in self.graph.wires_from(item):
            operator, node = self.units.operator(wire.target), self.graph.nodes.get(wire.target)
            is_divided = operator is not None and operator.symbol == "/" and wire.port == operator.parameters[0].name
            if is_divided and node is not None and len(node.names) == 1:
                return node.names[0]
        return self.graph.nodes[item].names[0]

    def _measures(self, units: tuple[ItemId, ...]) -> Iterator[tuple[str, Value]]:
        for unit in units:
            node = self.graph.nodes[unit]
            operator = self.units.operator(unit)
            is_tensor = operator is not None and operator.results and operator.results[0].family is Family.TENSOR
            if len(node.names) == 1 and is_tensor and is_one_number(self.units, (unit, 0)):
                yield node.names[0], (unit, 0)

    def switches_all(self, modules: Iterable[Value]) -> bool:
        """Whether of some modules all that have two modes are switched."""
        if not (self.trains or self.evaluates):
            return True
        words = {value: self.step.operator(value[0]).word for value in modules}
        modal = {value for value, word in words.items() if word not in ONE_MODE and not word.endswith("Loss")}
        return modal <= self._switched


def _step(analysis: Analysis) -> Step:
    """The step, in which the prediction has a line of its own."""
    step = Step(analysis, frozenset())
    prediction = prediction_of(step.units, step.forward, step.loss)
    apart = pulled_parts(analysis, prediction) - pulled_parts(analysis, step.loss)
    apart |= _measured_in_place(step) & analysis.nested
    return Step(analysis, apart) if apart else step


def _measured_in_place(step: Step) -> set[ItemId]:
    """What is added up without gradients and has no name: ``correct = correct + (...).sum()``."""
    graph, found = step.graph, set[ItemId]()
    for block in graph.blocks.values():
        around = [graph.blocks.get(ItemId(body)) for body in graph.ancestors(block.id)]
        if not any(one is not None and one.kind in _WITHOUT_GRADIENTS for one in around):
            continue
        for name in block.carried:
            wire = graph.wires.get((block.id, f"next.{name}"))
            parts = _operands(step, wire.source, "+") if wire is not None else None
            if parts is not None:
                product = _operands(step, parts[1][0], "*")
                found.add((product if product is not None and _counts_rows(step, product[1]) else parts[1:])[0][0])
    return found


def _counts_rows(step: Step, value: Value) -> bool:
    operator = step.units.operator(value[0])
    return operator is not None and operator.word == "len"


def _operands(step: Step, item: ItemId, symbol: str) -> tuple[Value, Value] | None:
    """Both sides of an operator, where they are wired."""
    operator = step.units.operator(item)
    if operator is None or operator.face is not Face.INFIX or operator.symbol != symbol:
        return None
    wires = [step.graph.wires.get((item, parameter.name)) for parameter in operator.parameters[:2]]
    left, right = ((wire.source, wire.output) if wire is not None else None for wire in wires)
    return (left, right) if left is not None and right is not None else None
