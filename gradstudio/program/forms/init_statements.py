"""Setting up: which statements of the set-up part a class takes into `__init__`, and which stay outside."""

from collections.abc import Iterable
from functools import cached_property

from gradstudio.graph.analysis.operator_traits import traits_of
from gradstudio.graph.model import ROOT, ItemId
from gradstudio.graph.ports.module_calls import origin
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Face, Family
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_units import Units, Value

_PURE = frozenset({Face.LITERAL, Face.TUPLE, Face.INFIX, Face.PREFIX})
_OBJECTS = frozenset({Family.TENSOR, Family.MODULE, Family.OPTIMIZER, Family.TUPLE, Family.UNKNOWN, Family.ARRAY})


class SettingUp:
    """Sorts the set-up around a run of units that becomes `forward`.

    Attributes:
        forward: the run, less what is made before it.
        construction: units of `__init__`; constants: units above the class.
        inputs: arguments of `forward`; given: arguments of `__init__`.
        parameters: leaves that `__init__` makes; modules: its modules.
    """

    def __init__(self, units: Units, run: tuple[ItemId, ...]) -> None:
        """Sort; raises `NoForm` when the random numbers would come in another order."""
        self.units, self.graph = units, units.graph
        self.repeated, self.leaves = units.repeated, units.leaves
        self.set_up = [unit for unit in units.of(ROOT) if unit not in self.repeated]
        self.forward = self._without_hoisted(run)
        self._inside = {item for unit in self.forward for item in units.members(unit)}
        self._reads = self._values_read()
        self.parameters = tuple(v for v in self._reads if self._is_parameter(v))
        self.modules = tuple(v for v in self._reads if v not in self.parameters and self._is_module(v))
        self._init = self._closed({v[0] for v in (*self.parameters, *self.modules)})
        self.construction = self._sorted(self._init)
        self._constants: set[ItemId] = set()
        outside = [v for v in self._init_reads() if not self._take_constant(v)]
        self.given = tuple(outside)
        self.inputs = tuple(v for v in self._reads if v[0] not in self._init and not self._take_constant(v))
        self.constants = self._sorted(self._constants)

    # ---------------------------------------------------------------- what is made before the run

    def _without_hoisted(self, run: tuple[ItemId, ...]) -> tuple[ItemId, ...]:
        """The run without what is made once: constructors, leaves and creation."""
        kept: list[ItemId] = []
        hoisted: set[ItemId] = set()
        for unit in run:
            (hoisted.add if self._is_hoisted(unit, kept) else kept.append)(unit)
        needed = self._closed_over_sources(hoisted, set(run))
        self._check_order(run, needed)
        return tuple(unit for unit in run if unit not in needed)

    def _is_hoisted(self, unit: ItemId, kept: list[ItemId]) -> bool:
        if unit in self.repeated or self.units.scope(unit) != ROOT or unit not in self.graph.nodes:
            return False
        touched = {value for before in kept for value in self.units.reads(before)}
        if self.units.written(unit) & touched or self.units.sources(unit) & {u for u in kept if u in self.repeated}:
            return False
        if any(self.units.written(before) & self.units.reads(unit).keys() for before in kept):
            return False
        if self._is_made_once(unit) or self.units.written(unit):
            return True
        operator = self.units.operator(unit)
        makes_tensor = operator is not None and bool(operator.results) and operator.results[0].family in _OBJECTS
        pure = operator is None or operator.face in (*_PURE, Face.LIST)
        draws_late = self.units.draws(unit) and any(self.units.draws(before) for before in kept)
        return makes_tensor and not pure and not draws_late

    def _is_made_once(self, unit: ItemId) -> bool:
        return (unit, 0) in self.leaves or self._is_module((unit, 0))

    def _closed_over_sources(self, hoisted: set[ItemId], run: set[ItemId]) -> set[ItemId]:
        found, waiting = set(hoisted), list(hoisted)
        while waiting:
            for source in self.units.sources(waiting.pop()) & run:
                if source not in found:
                    found.add(source)
                    waiting.append(source)
        return found

    def _check_order(self, run: tuple[ItemId, ...], hoisted: set[ItemId]) -> None:
        drawing: ItemId | None = None
        for unit in run:
            if not self.units.draws(unit):
                continue
            if unit in hoisted and drawing is not None:
                late = title(self.graph, unit)
                early = title(self.graph, drawing)
                raise NoForm(
                    f"'{late}' draws random numbers after '{early}' has drawn some. A class makes '{late}' first, and "
                    f"so with other numbers than the canvas. Move '{late}' before '{early}' (Earlier), then export."
                )
            if unit not in hoisted:
                drawing = unit

    # ---------------------------------------------------------------- what the class holds

    def _values_read(self) -> dict[Value, None]:
        found = {v: None for unit in self.forward for v in self.units.reads(unit) if v[0] not in self._inside}
        return dict.fromkeys(sorted(found, key=lambda v: (self.units.position[v[0]], v[1])))

    def _is_parameter(self, value: Value) -> bool:
        node = self.graph.nodes.get(value[0])
        return value in self.leaves and value[0] not in self.repeated and node is not None and "input" not in node.marks

    def _is_module(self, value: Value) -> bool:
        node = self.graph.nodes.get(value[0])
        operator = self.units.operator(value[0])
        if node is None or operator is None or value[0] in self.repeated:
            return False
        maker = origin(self.graph, node)
        made = self.units.operator(maker.id) if maker is not None else None
        if made is not None and made.constructs:
            return made.results[0].family is Family.MODULE
        if operator.face is Face.ITEM:
            return any(self._is_module(source) for source in self.units.reads(value[0]))
        return False

    def _closed(self, made: set[ItemId]) -> set[ItemId]:
        """The units of `__init__`: what it makes, what only that needs, and what is done to it before `forward`."""
        found = {u for item in made if (u := self.units.unit(item, ROOT)) is not None}
        while True:
            more = self._containers_parts(found) | self._done_to(found) | self._needed_only_by(found)
            more |= self._between(found)
            if more <= found:
                return found
            found |= more

    def _containers_parts(self, found: set[ItemId]) -> set[ItemId]:
        sources = {s for unit in found for s in self.units.sources(unit) if s in self.set_up}
        return {s for s in sources if self._is_made_once(s)}

    def _done_to(self, found: set[ItemId]) -> set[ItemId]:
        """Statements without names that write into, or switch, what is made here: ``nn.init``, ``eval()``.

        Those behind `forward`, or behind another use of what they change, keep their place outside.
        """
        last = max((self.units.position[u] for u in self.forward), default=len(self.units.position))
        return {
            unit
            for unit in self.set_up
            if unit not in self._inside
            and self.units.position[unit] < last
            and self._binds_nothing(unit)
            and self._is_done_to(unit, found)
            and not self._is_used_before(unit)
        }

    def _is_done_to(self, unit: ItemId, found: set[ItemId]) -> bool:
        """Whether a unit writes into something found, and reads nothing repeated beside."""
        writes = any(value[0] in found for value in self.units.written(unit))
        return writes and all(s in found or s not in self.repeated for s in self.units.sources(unit))

    def _is_used_before(self, unit: ItemId) -> bool:
        """Whether a repeated unit outside `forward` has seen what this one changes as it was."""
        written = self.units.written(unit)
        if written & self.leaves and self._makes_leaves(unit):
            return False
        before = (u for u in self._others if self.units.position[u] < self.units.position[unit])
        return any(written & self.units.reads(other).keys() for other in before)

    def _makes_leaves(self, unit: ItemId) -> bool:
        """Whether a unit is ``requires_grad_()``: a parameter is made where that stands."""
        node = self.graph.nodes.get(unit)
        operator = self.units.operator(unit)
        if node is None or operator is None or not traits_of(operator).sets_requires_grad:
            return False
        return node.literals.get("requires_grad") != "False"

    @cached_property
    def _others(self) -> list[ItemId]:
        """The repeated units outside `forward`."""
        return [u for u in self.units.of(ROOT) if u in self.repeated and u not in self._inside]

    def _binds_nothing(self, unit: ItemId) -> bool:
        node = self.graph.nodes.get(unit)
        return node is None or not node.names

    def _needed_only_by(self, found: set[ItemId]) -> set[ItemId]:
        sources = {s for unit in found for s in self.units.sources(unit) if s in self.set_up}
        return {s for s in sources if self._users(s) <= found}

    def _between(self, found: set[ItemId]) -> set[ItemId]:
        """What is made from the class's own things and needed by others of them."""
        sources = {s for unit in found for s in self.units.sources(unit) if s in self.set_up}
        return {s for s in sources if self._closed_over_sources({s}, set(self.set_up)) & found - {s}}

    def _users(self, unit: ItemId) -> set[ItemId]:
        found = set()
        for item in self.units.members(unit):
            for wire in self.graph.wires_from(item):
                if self.units.validity.is_live(wire.target):
                    user = self.units.unit(wire.target, ROOT)
                    found.update([user] if user is not None and user != unit else [])
        return found

    def _init_reads(self) -> list[Value]:
        found = {v for unit in self._init for v in self.units.reads(unit) if self._unit(v) not in self._init}
        return sorted(found, key=lambda v: (self.units.position[v[0]], v[1]))

    def _unit(self, value: Value) -> ItemId | None:
        return self.units.unit(value[0], ROOT)

    # ---------------------------------------------------------------- numbers

    def _take_constant(self, value: Value) -> bool:
        """Whether a value is a plain number or text that may stand above the class; it is noted when so."""
        unit = self._unit(value)
        if unit is None or not self._is_constant(unit):
            return False
        self._constants |= self._closed_over_sources({unit}, set(self.set_up))
        return True

    def _is_constant(self, unit: ItemId) -> bool:
        node = self.graph.nodes.get(unit)
        operator = self.units.operator(unit)
        if node is None or operator is None or unit in self.repeated or unit in self._init or unit in self._inside:
            return False
        if any(self.units.binding_counts[name] > 1 for name in node.names if name != "_"):
            return False
        faces = {one.face for item in self.units.members(unit) if (one := self.units.operator(item)) is not None}
        return (
            faces <= _PURE and self.units.scope(unit) == ROOT and all(map(self._is_constant, self.units.sources(unit)))
        )

    def _sorted(self, found: Iterable[ItemId]) -> tuple[ItemId, ...]:
        return tuple(sorted(found, key=self.units.position.__getitem__))
