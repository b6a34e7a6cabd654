"""Switches of a training script: which of ``--lr --amp --accumulate --compile --clip`` it takes, and why not."""

from collections.abc import Iterable

from gradstudio.graph.model import BodyId, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.literal_text import quote
from gradstudio.operators.model import Effect, Family
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.object_aliases import Objects
from gradstudio.program.forms.training.training_step import BACKWARD, OPTIMIZER_STEP

BY_HAND = "the canvas changes its parameters without an optimizer"
SCALED = "the canvas scales its losses itself"
MIXED = "the canvas has an autocast of its own"
ELSEWHERE = "the loss is computed elsewhere than its backward"
APART = "the canvas goes back, steps and sets gradients back in different places"
NEVER_BACK = "the canvas never sets its gradients back"
BETWEEN = "something is learnt between the forward and its backward"
TENSORS = "the canvas has no module, only tensors"
SEVERAL_STEPS = "the canvas steps in more than one place"
SEVERAL_BACKWARDS = "the canvas has more than one backward"
BY_STEP = "'{name}' goes on with each batch"
ON_GRADIENTS = "'{name}' works on the gradients of each batch"
_SCALER, _CLIP = "GradScaler", "clip_grad"
_LONGEST = 24


class Repeated:
    """What is done again and again, and what can be switched in it."""

    def __init__(self, units: Units, objects: Objects, items: Iterable[ItemId]) -> None:
        """Look at these nodes and blocks."""
        self._units, self._objects, self._graph = units, objects, units.graph
        self._items = sorted(items, key=units.position.__getitem__)
        self.backwards = [item for item in self._items if self._has(item, Effect.BACKWARD)]
        self.steps = [item for item in self._items if self._key(item) == OPTIMIZER_STEP]

    def optimizers(self) -> list[Value]:
        """The optimizers that learn here."""
        found = {origin for item in self._items for origin in self._changed(item)}
        made = [value for value in found if self._objects.makes(value[0], Family.OPTIMIZER)]
        return sorted(made, key=lambda value: self._units.position[value[0]])

    def loop_of_step(self) -> ItemId | None:
        """The innermost loop around the one step; None: there is none."""
        around = self._units.scopes(self.steps[0]) if len(self.steps) == 1 else []
        blocks = (self._graph.blocks.get(ItemId(body)) for body in around)
        return next((block.id for block in blocks if block is not None and block.kind == "for"), None)

    def why_not_accumulate(self, forgets: bool = False) -> str:
        """Why several batches cannot make one step; "" where they can. `forgets`: the script sets gradients back."""
        if any(_SCALER in self._key(item) for item in self._items):
            return SCALED
        if len(self.backwards) > 1:
            return SEVERAL_BACKWARDS
        if len(self.steps) != 1:
            return SEVERAL_STEPS if self.steps else BY_HAND
        scope = self._units.scope(self.steps[0])
        clears = [item for item in self._items if self._word(item) == "zero_grad"]
        if not clears and not forgets:
            return NEVER_BACK
        if any(self._units.scope(item) != scope for item in (*self.backwards, *clears)):
            return APART
        for item in self._items:
            if self._is_schedule(item) and self._units.scope(item) == scope:
                return BY_STEP.format(name=self._name(item))
            if self._touches_gradients(item):
                return ON_GRADIENTS.format(name=self._name(item))
        return ""

    def forwards(self) -> tuple[list[frozenset[ItemId]], str]:
        """For each backward the statements from the first that its loss needs to the loss; or why there are none."""
        found: list[frozenset[ItemId]] = []
        for item in self._items:
            block = self._graph.blocks.get(item)
            if block is not None and block.kind == "autocast":
                return [], MIXED
            if _SCALER in self._key(item):
                return [], SCALED
        for backward in self.backwards:
            span = self._span(backward)
            if not span:
                return [], ELSEWHERE
            if any(self._learns(member) for unit in span for member in self._units.members(unit)):
                return [], BETWEEN
            found.append(frozenset(span))
        return found, ""

    def _span(self, backward: ItemId) -> list[ItemId]:
        """The statements of a loss, and what stands among them."""
        if self._key(backward) != BACKWARD:
            return []
        body: BodyId = self._units.scope(backward)
        own = self._units.unit(backward, body)
        units = self._units.of(body)
        before = units[: units.index(own)] if own is not None else []
        needed: set[ItemId] = set()
        waiting = list(self._units.sources(backward))
        while waiting:
            unit = waiting.pop()
            if unit in before and unit not in needed:
                needed.add(unit)
                waiting += self._units.sources(unit)
        places = [k for k, unit in enumerate(units) if unit in needed and unit not in self._units.heads]
        return units[places[0] : places[-1] + 1] if places else []

    def _touches_gradients(self, item: ItemId) -> bool:
        """Whether something reads or changes gradients, beside the backward and the optimizer."""
        if self._word(item) == "zero_grad":
            return not all(self._objects.makes(value[0], Family.OPTIMIZER) for value in self._changed(item))
        return self._objects.reads_gradient(item) or self._objects.sets_back(item) or _CLIP in self._key(item)

    def _changed(self, item: ItemId) -> set[Value]:
        """The objects that a node writes into, clears or switches."""
        operator = self._units.operator(item)
        values = self._objects.targets(item, operator) if operator is not None else []
        return {origin for value in values for origin in self._objects.origins(value)}

    def _learns(self, item: ItemId) -> bool:
        return item in self.steps or item in self.backwards

    def _is_schedule(self, item: ItemId) -> bool:
        return "lr_scheduler" in self._key(item)

    def _has(self, item: ItemId, effect: Effect) -> bool:
        operator = self._units.operator(item)
        return operator is not None and effect in operator.effects

    def _word(self, item: ItemId) -> str:
        operator = self._units.operator(item)
        return operator.word if operator is not None else ""

    def _key(self, item: ItemId) -> str:
        node = self._graph.nodes.get(item)
        return node.operator if node is not None and self._units.operator(item) is not None else ""

    def _name(self, item: ItemId) -> str:
        return title(self._graph, item)[:_LONGEST].replace("%", "")


def refusal_lines(why_not: dict[str, str]) -> list[str]:
    """The table of options that a script does not take; nothing where it takes all."""
    rows = [f"    {quote(option)}: {quote(why)}," for option, why in why_not.items() if why]
    return ["WHY_NOT = {", *rows, "}", '"""Options that this training does not take."""'] if rows else []
