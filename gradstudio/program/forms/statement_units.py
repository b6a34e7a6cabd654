"""Units: the statements and blocks of one scope, each with all that is printed inside it."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from gradstudio.graph.analysis.module_modes import is_training
from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.card_grouping import TRAIN
from gradstudio.graph.model import ROOT, BodyId, ItemId, Node, Wire
from gradstudio.graph.operator_rows import GROUP, row_of
from gradstudio.graph.ports.module_calls import origin
from gradstudio.graph.text.loop_targets import loop_target, targets
from gradstudio.operators.model import Effect, Face, Family, Operator
from gradstudio.program.forms.leaf_loops import SwitchLoops

Value = tuple[ItemId, int]
"""An output: (item, number)."""

_DRAWING_CALLS = ("dropout", "rrelu", "multiheadattention", "transformer")
_RECURRENT = frozenset({"RNN", "LSTM", "GRU"})
_FIXED = ("norm", "prelu", "loss")
"""Modules whose parameters, if any, begin as constants."""


class Units:
    """The live items of a graph as units of a scope: a statement with its parts, or a block with all in it.

    Attributes:
        nested: the parts that are printed inside their users; those pulled out are not among them.
        position: place of every item in program order.
        leaves: values that are leaves which require grad; `may_require_grad` those that may; `switched` leaves that
            a loop over a list makes.
        repeated: the items of the repeated part (semantics §5).
    """

    def __init__(self, analysis: Analysis, pulled: frozenset[ItemId] = frozenset()) -> None:
        """Look at the graph; `pulled` parts get statements of their own."""
        self.analysis, self.graph, self.validity = analysis, analysis.graph, analysis.validity
        self.nested = analysis.nested - pulled
        self.position = {item: k for k, item in enumerate(self.graph.order())}
        switched = SwitchLoops(analysis)
        self.switched = frozenset(switched.leaves)
        self.leaves = self._bindings(analysis.gradients.leaves) | switched.leaves
        self.may_require_grad = self._bindings(analysis.gradients.may) | switched.leaves
        self.repeated = frozenset((analysis.gradients.repeated - switched.drawn) | switched.repeated)
        self._members: dict[BodyId, dict[ItemId, list[ItemId]]] = {}

    def _bindings(self, values: Iterable[Value]) -> frozenset[Value]:
        return frozenset(self.validity.binding(*value) for value in values) | frozenset(values)

    def operator(self, item: ItemId) -> Operator | None:
        """The row of a node; None for blocks and for what is bypassed."""
        node = self.graph.nodes.get(item)
        return self.validity.operators.get(item) if node is not None and not node.bypassed else None

    def scope(self, item: ItemId) -> BodyId:
        """The body around an item, seen through titled groups, which are no blocks of Python."""
        body = self.graph.parents[item]
        while body != ROOT and self.graph.blocks[ItemId(body)].kind == "group":
            body = self.graph.parents[ItemId(body)]
        return body

    def scopes(self, item: ItemId) -> list[BodyId]:
        """The scopes around an item, innermost first."""
        found = [self.scope(item)]
        while found[-1] != ROOT:
            found.append(self.scope(ItemId(found[-1])))
        return found

    def statement(self, item: ItemId) -> ItemId:
        """The statement or block that prints an item."""
        while item in self.nested:
            item = next(wire.target for wire in self.graph.wires_from(item) if self._is_printed(wire))
        return item

    def unit(self, item: ItemId, body: BodyId) -> ItemId | None:
        """The unit of a scope that holds an item; None when it stands outside."""
        item = self.statement(item)
        while (around := self.scope(item)) != body:
            if around == ROOT:
                return None
            item = ItemId(around)
        return item

    def of(self, body: BodyId) -> list[ItemId]:
        """The units of a scope, in program order."""
        return list(self._table(body))

    def members(self, unit: ItemId) -> list[ItemId]:
        """The unit and all that is printed inside it."""
        return self._table(self.scope(unit))[unit]

    def _table(self, body: BodyId) -> dict[ItemId, list[ItemId]]:
        if body not in self._members:
            found: dict[ItemId, list[ItemId]] = {}
            for item in self.graph.order(body):
                block = self.graph.blocks.get(item)
                if not self.validity.is_live(item) or (block is not None and block.kind == "group"):
                    continue
                unit = self.unit(item, body)
                if unit is not None:
                    found.setdefault(unit, []).append(item)
            self._members[body] = dict(sorted(found.items(), key=lambda pair: self.position[pair[0]]))
        return self._members[body]

    def _is_printed(self, wire: Wire) -> bool:
        target = wire.target
        return self.validity.is_live(target) and (
            wire.port in self.validity.ports[target] or wire.port.startswith(("first.", "next."))
        )

    # ---------------------------------------------------------------- what flows

    def wires_into(self, unit: ItemId) -> Iterator[Wire]:
        """The printed wires that come from outside a unit, carried ones included."""
        inside = frozenset(self.members(unit))
        for item in inside:
            for wire in self.graph.incoming.get(item, ()):
                if wire.source not in inside and self._is_printed(wire):
                    yield wire

    def reads(self, unit: ItemId) -> dict[Value, None]:
        """The values that a unit takes from outside, each under the binding whose name stands for it."""
        found = {self.validity.binding(wire.source, wire.output) for wire in self.wires_into(unit)}
        return dict.fromkeys(sorted((v for v in found if v[0] in self.position), key=self._order))

    def sources(self, unit: ItemId) -> set[ItemId]:
        """The units of the same scope that a unit reads, by the wire and by the name that stands for it."""
        body, found = self.scope(unit), set()
        for wire in self.wires_into(unit):
            for item in (wire.source, self.validity.binding(wire.source, wire.output)[0]):
                source = self.unit(item, body) if item in self.position else None
                found.update([source] if source is not None and source != unit else [])
        return found

    def _order(self, value: Value) -> tuple[int, int]:
        return self.position[value[0]], value[1]

    # ---------------------------------------------------------------- what it does

    def effects(self, unit: ItemId) -> set[Effect]:
        """What a unit does beside returning values."""
        operators = (self.operator(item) for item in self.members(unit))
        return {effect for operator in operators if operator is not None for effect in operator.effects}

    def written(self, unit: ItemId) -> set[Value]:
        """The values of outside that a unit writes into, or whose mode it changes."""
        found = set()
        for item in self.members(unit):
            operator = self.operator(item)
            if operator is None:
                continue
            changes = operator.writes or (operator.parameters[:1] and Effect.MODE in operator.effects)
            names = operator.writes if operator.writes else tuple(p.name for p in operator.parameters[:1])
            for name in names if changes or operator.face is Face.SET_ATTRIBUTE else ():
                if (wire := self.graph.wires.get((item, name))) is not None:
                    found.add(self.validity.binding(wire.source, wire.output))
        return found

    def draws(self, unit: ItemId) -> bool:
        """Whether a unit may take random numbers, or set where they come from."""
        return any(self._draws(item) for item in self.members(unit))

    def seeds(self, unit: ItemId) -> bool:
        """Whether a unit sets where random numbers come from."""
        operators = map(self.operator, self.members(unit))
        return any(operator is not None and Effect.SEED in operator.effects for operator in operators)

    def _draws(self, item: ItemId) -> bool:
        node = self.graph.nodes.get(item)
        operator = self.operator(item)
        if node is None or operator is None:
            return False
        if Effect.RANDOM in operator.effects or Effect.SEED in operator.effects:
            return True
        if operator.face is Face.CALL:
            return self._call_draws(node, operator)
        makes_module = operator.constructs and operator.results[0].family is Family.MODULE
        return makes_module and self._begins_random(node)

    def _begins_random(self, node: Node) -> bool:
        word = node.operator.rsplit(".", 1)[-1].lower()
        operator = self.validity.operators[node.id]
        return operator.parameter("device") is not None and not any(part in word for part in _FIXED)

    def _call_draws(self, node: Node, operator: Operator) -> bool:
        wire = self.graph.wires.get((node.id, operator.parameters[0].name))
        return wire is None or self._draws_when_called(wire.source)

    def _draws_when_called(self, item: ItemId) -> bool:
        node = self.graph.nodes.get(item)
        maker = origin(self.graph, node) if node is not None else None
        known = self.operator(maker.id) if maker is not None else None
        if maker is None or known is None or not known.constructs:
            return True
        if known.face is Face.GROUP:
            return any(map(_may_draw, self._inside(known.key.removeprefix(GROUP))))
        if not (self._trains_later or is_training(self.graph, maker.id)):
            return False
        word = known.word
        drops = word in _RECURRENT and maker.literals.get("dropout", "0.0") not in ("0", "0.0")
        if drops or (any(part in word.lower() for part in _DRAWING_CALLS) and not _is_without_dropout(maker, word)):
            return True
        return any(self._draws_when_called(wire.source) for wire in self._children(maker, known))

    def _inside(self, name: str) -> Iterator[Operator | None]:
        """The operators of all that is inside a group, and inside what that calls."""
        definition = self.graph.definitions[name]
        for node in definition.graph.nodes.values():
            known = row_of(self.graph, node)
            yield known
            if known is not None and known.face is Face.GROUP:
                yield from self._inside(known.key.removeprefix(GROUP))

    @cached_property
    def _trains_later(self) -> bool:
        """Whether any module is switched to training, which may be after it was called."""
        return any(node.operator == TRAIN for node in self.graph.nodes.values())

    def _children(self, maker: Node, known: Operator) -> list[Wire]:
        held = {p.name for p in known.parameters if p.kind in ("module", "modules")}
        return [wire for wire in self.graph.wires_to(maker.id) if wire.port.partition(".")[0] in held]

    @cached_property
    def heads(self) -> frozenset[ItemId]:
        """The statements that a loop's head prints: they take its element apart."""
        is_live = self.validity.is_live
        blocks = (block for block in self.graph.blocks.values() if is_live(block.id))
        found = (loop_target(self.graph, block, is_live) for block in blocks)
        return frozenset(part.node for target in found if target is not None for part in targets(target))

    @cached_property
    def binding_counts(self) -> dict[str, int]:
        """How many live statements and loops bind each name."""
        counts: dict[str, int] = {}
        for item in self.position:
            if self.validity.is_live(item):
                for name in self._binds(item):
                    counts[name] = counts.get(name, 0) + 1
        return counts

    def _binds(self, item: ItemId) -> tuple[str, ...]:
        node = self.graph.nodes.get(item)
        if node is not None:
            return node.names
        block = self.graph.blocks[item]
        return (block.variable,) if block.variable else ()


def _may_draw(operator: Operator | None) -> bool:
    """Whether an operator may take random numbers; of one that makes a layer, whether the layer may when called."""
    if operator is None or Effect.SEED in operator.effects:
        return True
    if not operator.constructs:
        return Effect.RANDOM in operator.effects
    word = operator.word.lower()
    return operator.word in _RECURRENT or any(part in word for part in _DRAWING_CALLS)


def _is_without_dropout(maker: Node, word: str) -> bool:
    """Attention drops nothing unless it is told to."""
    return word == "MultiheadAttention" and maker.literals.get("dropout", "0.0") in ("0", "0.0")
