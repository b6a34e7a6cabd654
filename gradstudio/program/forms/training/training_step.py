"""Step: which statements of a program are one step of training, and what each of them is for."""

from collections.abc import Iterable, Iterator, Sequence

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect, Face, Family, Operator
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_roles import pulled_parts
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.late_draws import late_draws, refuse_late
from gradstudio.program.forms.training.object_aliases import Objects
from gradstudio.program.forms.training.rate_schedule import find_schedule, makes_schedule
from gradstudio.program.forms.training.scalar_values import is_one_number

BACKWARD = "torch.Tensor.backward"
OPTIMIZER_STEP = "torch.optim.Optimizer.step"
NO_CHECKPOINT = frozenset({"torch.optim.LBFGS", "torch.optim.SparseAdam"})
"""The first needs a closure, the second keeps plain numbers."""
_PLAIN_BLOCKS = frozenset({"group", "enable_grad", "for"})


class Step:
    """One pass of the repeated part, or one turn of the loop that trains.

    Attributes:
        loop: the loop that trains; None when the program trains for one step only. `epochs` is a loop around it.
        backward: the statement that runs the backward; None when the program has none.
        loss: what it runs back from.
        forward: the units of the body that the loss needs, in program order.
        updates: those that change the parameters, their gradients or their modes, with what only these need;
            none when nothing in the program learns by itself.
        optimizer: the node that makes the optimizer; None when there is none.
        schedule: how its learning rate changes; None when it stays.
        set_up: all that stands before the body or is not repeated.
        late: those of it that draw random numbers after the step has drawn some.
    """

    def __init__(self, analysis: Analysis, apart: frozenset[ItemId] | None = None, *, may_redraw: bool = False) -> None:
        """Look at a program.

        Args:
            analysis: the program's.
            apart: of a training in epochs, whose loops bring the batches: parts with statements of their own.
            may_redraw: `late` ones may draw first, and so other numbers; else they are refused.

        Raises:
            NoForm: it has no loss, nothing to train, or a step that no training script can express.
        """
        self._in_epochs = apart is not None
        self.analysis = analysis
        self.graph = analysis.graph
        self.units = Units(analysis)
        self._touches: dict[tuple[ItemId, BodyId], set[ItemId]] = {}
        self.backward = self._find_backward()
        self.loss = self._find_loss()
        self.units = units = Units(analysis, pulled_parts(analysis, self.loss) | (apart or frozenset()))
        self.objects = Objects(units)
        self.loop, self.epochs = self._find_loops()
        self.body = BodyId(self.loop) if self.loop is not None else ROOT
        self._refuse_a_backward_in_a_block()
        self.set_up = tuple(self._set_up())
        body = [unit for unit in units.of(self.body) if unit not in set(self.set_up) and unit != self.backward]
        self._updating = {unit for unit in body if self._acts(unit)}
        self.forward = self._forward(body)
        begun = self._begun(body) if self.loop is None else ()
        self.set_up = tuple(sorted((*self.set_up, *begun), key=units.position.__getitem__))
        self.updates = self._updates([unit for unit in body if unit not in begun])
        self.optimizer = self._optimizer() if self._trains() else None
        if not self._trains():
            self.updates = ()
        self.dropped = [unit for unit in body if unit not in {*begun, *self.forward, *self.updates}]
        self.schedule = find_schedule(self) if self.optimizer is not None else None
        self.late = late_draws(units, self.forward, self.set_up)
        self._refuse_what_is_lost()
        if not may_redraw:
            refuse_late(units, self.forward, self.late)

    # ---------------------------------------------------------------- what the program is

    def _find_backward(self) -> ItemId | None:
        live = [
            item for item in self.graph.order() if self.units.operator(item) and self.analysis.validity.is_live(item)
        ]
        found = [item for item in live if Effect.BACKWARD in self.operator(item).effects]
        ways = [item for item in found if self.graph.nodes[item].operator != BACKWARD]
        plain = [item for item in found if item not in ways]
        if len(plain) > 1:
            raise NoForm(
                f"{self.call(plain[1])} is a second backward, and a training script has one loss. "
                "Add the losses up, and call backward on the sum."
            )
        if not plain and ways:
            raise NoForm(
                f"{self.call(ways[0])} computes gradients without leaving them in .grad, where several processes "
                "average them. Call backward() on the loss."
            )
        if plain and (plain[0], "gradient") in self.graph.wires:
            raise NoForm(f"{self.call(plain[0])} is given a gradient. A loss is one number: add .sum() or .mean().")
        return plain[0] if plain else None

    def _find_loss(self) -> Value:
        if self.backward is not None:
            wire = self.graph.wires[self.backward, "self"]
            loss = self.analysis.validity.binding(wire.source, wire.output)
        elif self.analysis.root is not None:
            loss = self.analysis.validity.binding(self.analysis.root, 0)
        else:
            raise NoForm(
                "There is nothing to train: no value requires grad. "
                "Add a parameter (requires_grad=True) or a module, and a loss that is computed from it."
            )
        follows_a_loop = bool(self.units.switched) and loss[0] in self.units.repeated
        if loss not in self.units.may_require_grad and not follows_a_loop:
            raise NoForm(
                f"There is nothing to train: '{self.name(loss[0])}' depends on nothing that requires grad. "
                "Set requires_grad=True on what it shall learn, or choose another loss."
            )
        if self.backward is None and not is_one_number(self.units, loss):
            raise NoForm(
                f"There is no loss to train by: no backward is called, and {self.call(loss[0])} may be more than one "
                "number. Compute a loss from it, such as (y**2).mean(), and call backward on that."
            )
        return loss

    def _find_loops(self) -> tuple[ItemId | None, ItemId | None]:
        around = self.graph.ancestors(self.backward if self.backward is not None else self.loss[0])
        blocks = [self.graph.blocks[ItemId(body)] for body in around if body != ROOT]
        loops = [block for block in blocks if block.kind == "for"]
        if len(loops) > 2:
            raise NoForm(
                f"The loop '{title(self.graph, loops[0].id)}' that trains stands in two others. A training script has "
                "epochs and their steps, or steps alone."
            )
        if not loops:
            return None, None
        outer = blocks[blocks.index(loops[0]) + 1 :]
        for block in outer:
            if block.kind not in _PLAIN_BLOCKS:
                raise NoForm(
                    f"The loop that trains stands in '{title(self.graph, block.id)}'. Move that into the loop."
                )
        return loops[0].id, loops[1].id if len(loops) > 1 else None

    def _refuse_a_backward_in_a_block(self) -> None:
        if self.backward is not None and self.units.unit(self.backward, self.body) != self.backward:
            unit = self.units.unit(self.backward, self.body)
            raise NoForm(
                f"The backward stands in '{title(self.graph, unit) if unit else ''}'. "
                "Move it out: a training script calls it by itself."
            )

    def _set_up(self) -> Iterator[ItemId]:
        """The units that are made once, and stand before the step."""
        loop = self.units.unit(self.loop, ROOT) if self.loop is not None else None
        for unit in self.units.of(ROOT):
            if loop is not None:
                if unit == loop:
                    return
                yield unit
            elif not self._is_repeated(unit) and not self._is_filled_later(unit):
                yield unit

    def _is_filled_later(self, unit: ItemId) -> bool:
        """Whether a unit makes an empty list that only the repeated part uses."""
        operator = self.units.operator(unit)
        node = self.graph.nodes.get(unit)
        if operator is None or node is None or operator.face is not Face.LIST or node.literals:
            return False
        users = [w.target for w in self.graph.wires_from(unit) if self.units.validity.is_live(w.target)]
        is_empty = not self.graph.incoming.get(unit)
        return is_empty and bool(users) and all(user in self.units.repeated for user in users)

    def _is_repeated(self, unit: ItemId) -> bool:
        repeated = self.units.repeated
        return any(item in repeated for item in self.units.members(unit) if item in self.graph.nodes)

    # ---------------------------------------------------------------- what a unit is for

    def _acts(self, unit: ItemId) -> bool:
        """Whether a unit changes parameters, gradients, modes or an optimizer."""
        return any(self.objects.acts(item) for item in self.units.members(unit))

    # ---------------------------------------------------------------- the parts of a step

    def _forward(self, body: list[ItemId]) -> tuple[ItemId, ...]:
        heads = self.units.heads if self._in_epochs else ()
        allowed = [unit for unit in body if unit not in self._updating and unit not in heads]
        if self.backward is not None:
            allowed = [u for u in allowed if self.units.position[u] < self.units.position[self.backward]]
            first = self.units.sources(self.backward)
        else:
            unit = self.units.unit(self.loss[0], self.body)
            first = {unit} if unit is not None else set()
        return self.closed(first, allowed, self.body)

    def closed(self, first: Iterable[ItemId], allowed: Sequence[ItemId], body: BodyId) -> tuple[ItemId, ...]:
        """The units needed, with what they need, and with what writes into any of it."""
        candidates = set(allowed)
        found = set[ItemId]()
        waiting = list(first)
        while waiting:
            unit = waiting.pop()
            if unit in found or unit not in candidates:
                continue
            found.add(unit)
            waiting += self.units.sources(unit)
            waiting += [other for other in allowed if self._touched(other, body) & found]
        return tuple(unit for unit in allowed if unit in found)

    def _touched(self, unit: ItemId, body: BodyId) -> set[ItemId]:
        """The units that made what a unit writes into or switches."""
        if (unit, body) not in self._touches:
            found = {self.units.unit(origin[0], body) for origin in self.objects.changed(unit)}
            self._touches[unit, body] = {one for one in found if one is not None}
        return self._touches[unit, body]

    def _begun(self, body: list[ItemId]) -> tuple[ItemId, ...]:
        """What gives the parameters their first values, before anything is computed from them."""
        first = min((self.units.position[unit] for unit in self.forward), default=0)
        before = [unit for unit in body if self.units.position[unit] < first]
        starts = [unit for unit in before if unit in self._updating and not self._only_clears(unit)]
        if not (self._updating and any(map(self.units.draws, self.forward))):  # else each step draws the same
            starts += filter(self.units.seeds, before)
        return self.closed(starts, before, ROOT)

    def _updates(self, body: list[ItemId]) -> tuple[ItemId, ...]:
        """What acts upon the model, with what it needs of the body; of the forward only the loss may be read."""
        rest = [unit for unit in body if unit not in self.forward]
        found = self.closed([unit for unit in rest if unit in self._updating], rest, self.body)
        for unit in found:
            for value in self.units.reads(unit):
                if value[0] in self._members(self.forward) and value != self.loss:
                    raise NoForm(
                        f"{self.call(unit)} changes the model by '{self.name(value[0])}', which is made on the way to "
                        "the loss. A training step sees the loss alone: compute it from that."
                    )
        return found

    def _members(self, units: Iterable[ItemId]) -> set[ItemId]:
        return {item for unit in units for item in self.units.members(unit)}

    # ---------------------------------------------------------------- how it learns

    def _optimizer(self) -> ItemId | None:
        changed = {value[0] for unit in self.updates for value in self.objects.changed(unit)}
        made = [item for item in changed if self.objects.makes(item, Family.OPTIMIZER)]
        found = sorted(made, key=self.units.position.__getitem__)
        if len(found) > 1:
            raise NoForm(
                f"There are two optimizers, '{self.name(found[0])}' and '{self.name(found[1])}'; a training script has "
                "one. Give all parameters to the first."
            )
        for item in found:
            if self.graph.nodes[item].operator in NO_CHECKPOINT:
                raise NoForm(
                    f"What '{self.name(item)}' remembers cannot be kept in a checkpoint of tensors. Take SGD or Adam."
                )
            if item not in self._members(self.set_up):
                raise NoForm(f"'{self.name(item)}' is made anew in each step. Make it before the loop.")
        return found[0] if found else None

    def _trains(self) -> bool:
        """Whether an update changes parameters, and not their gradients alone."""
        for item in self._members(self.updates):
            operator = self.units.operator(item)
            if operator is None:
                continue
            if operator.key == OPTIMIZER_STEP:
                return True
            targets = self.objects.targets(item, operator) if operator.writes else []
            targets = [value for value in targets if not self.objects.is_gradient(value)]
            if any(self.objects.is_model(found) for value in targets for found in self.objects.origins(value)):
                return True
        return False

    @property
    def clears(self) -> bool:
        """Whether each step makes all gradients None, so that none is worth keeping."""
        if self.forgets or not self.updates:
            return True
        for item in self._members(self.updates):
            operator = self.units.operator(item)
            node = self.graph.nodes.get(item)
            clears = operator is not None and node is not None and operator.word == "zero_grad"
            if clears and node is not None and "set_to_none" not in {*node.literals, *self.objects.wired(item)}:
                return True
        return False

    @property
    def forgets(self) -> bool:
        """Whether the program learns one step without setting gradients back, which a second one would need."""
        sets_back = any(map(self.objects.sets_back, self._members(self.updates)))
        return self.loop is None and bool(self.updates) and not sets_back

    # ---------------------------------------------------------------- what cannot be kept

    def _refuse_what_is_lost(self) -> None:
        self._refuse_beside()
        self._refuse_between()
        self._refuse_carried()
        self._refuse_state()
        self._refuse_random()

    def _refuse_beside(self) -> None:
        """What an epoch does beside its steps, and the steps depend on."""
        if self.epochs is None or self.loop is None or self._in_epochs:
            return
        scope = BodyId(self.epochs)
        steps = self.units.unit(self.loop, scope)
        kept = {steps, self.schedule.epoch_end if self.schedule is not None else None}
        beside = [unit for unit in self.units.of(scope) if unit not in kept]
        inside = self._members(beside)
        read = {value[0] for unit in (*self.forward, *self.updates) for value in self.units.reads(unit)}
        for unit in beside:
            matters = bool(read & set(self.units.members(unit))) or self.units.draws(unit)
            changes = any(found[0] not in inside for found in self.objects.changed(unit))
            if matters or (changes and not self.objects.collects(unit)):
                raise NoForm(
                    f"{self.call(unit)} stands in '{self.name(self.epochs)}' beside the loop that trains, which "
                    f"depends on it. Move it into '{self.name(self.loop)}', or before both loops."
                )

    def _refuse_between(self) -> None:
        """What changes the model while the loss is being computed."""
        places = [self.units.position[unit] for unit in self.forward]
        for unit in self.updates:
            is_between = bool(places) and places[0] < self.units.position[unit] < places[-1]
            if is_between and unit in self._updating and not self._only_clears(unit):
                raise NoForm(
                    f"{self.call(unit)} changes the model between statements that the loss needs. "
                    "Move it before the first of them, or behind the loss (Earlier, Later)."
                )

    def _only_clears(self, unit: ItemId) -> bool:
        operators = [op for item in self.units.members(unit) if (op := self.units.operator(item)) is not None]
        acting = [op for op in operators if op.writes or (op.effects and Effect.GRAD not in op.effects)]
        return all(op.word in ("zero_grad", "zero_") for op in acting)

    def _refuse_carried(self) -> None:
        """A value that comes from the turn before lives in no parameter, and so in no checkpoint."""
        if self.loop is None:
            return
        for unit in (*self.forward, *self.updates, *([self.backward] if self.backward else [])):
            for item, output in self.units.reads(unit):
                if item in (self.loop, self.epochs) and output:
                    name = self.graph.blocks[item].carried[output - 1]
                    raise NoForm(
                        f"'{name}' goes from step to step without being a parameter, so a checkpoint does not hold it. "
                        "Change a parameter in place (W -= ...), or take an optimizer that keeps it."
                    )

    def _refuse_state(self) -> None:
        """What the steps write into, and is no parameter; lists that only collect are left out."""
        kept = (*self.forward, *self.updates)
        made = self._members(self.set_up)
        values = {value for unit in kept for value in self.units.reads(unit)}
        read = set[Value]().union(*map(self.objects.origins, values))
        for unit in (*kept, *(self.dropped if self.loop is not None else ())):
            for found in self.objects.changed(unit):
                counts = unit in kept or found in read or not self.objects.collects(unit)
                is_kept = self.objects.is_model(found) or makes_schedule(self, found[0])
                if counts and not is_kept and found[0] in made:
                    raise NoForm(
                        f"Each step changes '{self.name(found[0])}', which is no parameter, so a checkpoint does not "
                        "hold it. Take a module or an optimizer that keeps it, such as SGD with momentum."
                    )

    def _refuse_random(self) -> None:
        """No random numbers of a step must be left out."""
        last = self.units.position[self.backward] if self.backward is not None else len(self.units.position)
        for unit in self.dropped:
            is_before = self.loop is not None or self.units.position[unit] < last
            if is_before and self.units.draws(unit) and not self.objects.only_evaluates(unit):
                raise NoForm(
                    f"{self.call(unit)} draws random numbers in each step, but the loss does not need it. "
                    "Mute it, or move it behind the training."
                )

    # ---------------------------------------------------------------- words

    def operator(self, item: ItemId) -> Operator:
        """The row of a node that has one."""
        return self.analysis.validity.operators[item]

    def name(self, item: ItemId) -> str:
        """How a person calls an item."""
        return title(self.graph, item)

    def call(self, item: ItemId) -> str:
        """How a sentence begins that is about an item."""
        return f"'{self.analysis.addresses[item]}'"
