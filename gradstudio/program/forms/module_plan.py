"""Plan: the names that the parts of a module form use, and where the main part makes the module."""

from collections.abc import Iterable
from functools import cached_property

from gradstudio.graph.analysis.operator_traits import traits_of
from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.analysis.static_gradients import losses_first
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.names import names_of
from gradstudio.graph.operator_rows import GROUP
from gradstudio.operators.model import Face, Family
from gradstudio.program.forms.class_naming import UNSAFE, attribute_name, class_name, snake
from gradstudio.program.forms.code_lookups import Lookups
from gradstudio.program.forms.part_printer import PartReferences
from gradstudio.program.forms.statement_roles import StatementRoles, statement_roles
from gradstudio.program.forms.statement_units import Units, Value


class Plan:
    """All that is decided before a class and its main part are written.

    Attributes:
        title: the class's name; `variable` what the main part calls its object.
        attributes: the values that the object holds, and under which names.
        handed: whether the main part makes what the object holds, in the canvas's order, and hands it in.
        site: the unit of the main part before which the object is made.
        lookups: what code of the program reads by its name.
        looked_up: the values of the object that code in the main part reads, or looks up, and what it calls them.
    """

    def __init__(self, graph: Graph, stem: str) -> None:
        """Decide; raises `NoForm` where the program has no class."""
        self.graph, self.stem = graph, stem
        self.analysis: Analysis = analyse(graph)
        self.roles: StatementRoles = self.find_roles()
        self.units = Units(self.analysis, self.analysis.nested - self.roles.nested)
        self.references = PartReferences(self.analysis, self.roles.nested)
        self.variable = self.references.first_free("model", "net", "module", "network")
        self.title = class_name(stem, self.references.taken)
        self.references.taken.add(self.title)
        self._construction = frozenset(self.roles.construction)
        self.lookups = Lookups(self.units, self.roles, self.main)
        self.attributes = self._attributes()
        self.looked_up = self.lookups.looked_up(self.attributes)
        self.names = {**self._unnamed(), **self._returned_name()}
        self.late, self.omitted = self._flags()
        self.wrapped = frozenset(v[0] for v in self.attributes if self._is_wrapped(v)) | self.late.keys()
        self.handed = self._is_out_of_order()
        self.site = self._handed_site() if self.handed else self._site()

    def find_roles(self) -> StatementRoles:
        """The roles of the statements; another form may have its own."""
        return statement_roles(self.graph)

    # ---------------------------------------------------------------- names

    def _attributes(self) -> dict[Value, str]:
        """What `forward` or the main part reads of what `__init__` makes."""
        taken: set[str] = set()
        wanted = dict.fromkeys((*self.roles.parameters, *self.roles.modules))
        for unit in (*self.roles.forward, *self.main, *self._aliases(self.roles.parameters)):
            wanted.update((v, None) for v in self.units.reads(unit) if self._home(v) in self._construction)
        wanted.update(dict.fromkeys(self.lookups.made_once()))
        ordered = sorted(wanted, key=lambda v: (self.units.position[v[0]], v[1]))
        return {value: attribute_name(self._base(value), taken) for value in ordered}

    def _aliases(self, leaves: Iterable[Value]) -> list[ItemId]:
        """Those of these leaves that are another name of a leaf, which is what the object has to hold."""
        found = []
        waiting = [value[0] for value in leaves]
        while waiting:
            unit = waiting.pop()
            operator = self.units.operator(unit)
            if operator is not None and operator.face is Face.ALIAS and unit not in found:
                found.append(unit)
                waiting += [value[0] for value in self.units.reads(unit)]
        return found

    def _base(self, value: Value) -> str:
        binding = self.analysis.validity.name(value)
        return binding or snake(self.analysis.validity.operators[value[0]].word.removeprefix(GROUP))

    def _unnamed(self) -> dict[Value, str]:
        """Names that a method needs itself, under others."""
        found: dict[Value, str] = {}
        others = {name: attribute_name(f"{name}_", self.references.taken) for name in sorted(UNSAFE)}
        for item in self.units.position:
            for k, name in enumerate(names_of(self.graph, item)):
                if name in UNSAFE:
                    found[item, k] = others[name]
        return found

    def _returned_name(self) -> dict[Value, str]:
        value = self.roles.root
        if self.analysis.validity.name(value):
            return {}
        operator = self.analysis.validity.operators.get(value[0])
        is_loss = losses_first(operator) or self.analysis.root != value[0]
        return {value: self.references.fresh("loss" if is_loss else "output")}

    def _home(self, value: Value) -> ItemId | None:
        return self.units.unit(value[0], ROOT)

    # ---------------------------------------------------------------- parameters

    def _flags(self) -> tuple[dict[ItemId, Value], frozenset[ItemId]]:
        """What makes a leaf of a tensor: statements where the parameter is made, and those that say nothing new."""
        late: dict[ItemId, Value] = {}
        omitted: set[ItemId] = set()
        for value in self.attributes:
            flag = self._flag(value)
            if flag is None:
                continue
            start, end = self.units.position[value[0]], self.units.position[flag]
            between = (u for u in self._construction if start < self.units.position[u] < end)
            if any(value in self.units.reads(unit) for unit in between):
                late[flag] = value
            else:
                omitted.add(flag)
        return late, frozenset(omitted)

    def _flag(self, value: Value) -> ItemId | None:
        """The statement of `__init__` that switches a tensor's requires_grad on, when its maker does not."""
        if not self._is_leaf(value) or self._makes_leaf(value[0]):
            return None
        for unit in self.roles.construction:
            operator = self.units.operator(unit)
            switches = operator is not None and (
                traits_of(operator).sets_requires_grad or self.graph.nodes[unit].literals.get("name") == "requires_grad"
            )
            if switches and not self.graph.nodes[unit].names and value in self.units.written(unit):
                return unit
        return None

    def _is_wrapped(self, value: Value) -> bool:
        """Whether a value is a leaf that torch's own constructor does not make a parameter already."""
        if not self._is_leaf(value):
            return False
        if value in self.units.switched:
            others = (unit for unit in self.roles.construction if unit != value[0])
            return not any(value in self.units.reads(unit) for unit in others)
        operator = self.units.operator(value[0])
        if operator is None or traits_of(operator).makes_leaf == "parameter":
            return False
        flag = self._flag(value)
        return flag in self.omitted if flag is not None else self._makes_leaf(value[0])

    def _makes_leaf(self, unit: ItemId) -> bool:
        for item in self.units.members(unit):
            operator = self.units.operator(item)
            if operator is None or (item, 0) not in self.units.leaves:
                continue
            traits = traits_of(operator)
            says = self.graph.nodes[item].literals.get("requires_grad", "False") != "False"
            if (
                traits.makes_leaf == "parameter"
                or (traits.makes_leaf and says)
                or (traits.sets_requires_grad and self._takes_fresh(item, unit))
            ):
                return True
        return False

    def _takes_fresh(self, item: ItemId, unit: ItemId) -> bool:
        """Whether `requires_grad_()` is called on what has no other name."""
        inside = self.units.members(unit)
        return all(wire.source in inside for wire in self.graph.incoming.get(item, ()))

    def _is_leaf(self, value: Value) -> bool:
        return value in self.units.leaves

    # ---------------------------------------------------------------- the main part

    @property
    def call(self) -> ItemId:
        """The unit in whose place the module is called: the last of `forward`."""
        return self.roles.forward[-1]

    @cached_property
    def main(self) -> tuple[ItemId, ...]:
        """The program's own units that stand in the main part, a loop around `forward` among them."""
        gone = {*self.roles.construction, *self.roles.constants, *self.roles.forward}
        return tuple(unit for unit in self.units.of(ROOT) if unit not in gone)

    def _is_out_of_order(self) -> bool:
        """Whether making all at once would draw or read in another order than the canvas."""
        site = self._site()
        end = self.units.position[site]
        first, last = self._first_draw(), self._last_draw()
        position = self.units.position
        for unit in self.main:
            if self.units.draws(unit) and first < position[unit] < last:
                return True
            if position[unit] < end and position[unit] > first and self._touches_given(unit):
                return True
        return any(position[home] >= end for v in self.roles.given if (home := self._home(v)) is not None)

    def _touches_given(self, unit: ItemId) -> bool:
        return any(value in self.roles.given for value in self.units.written(unit))

    def _site(self) -> ItemId:
        first = self._first_draw()
        for unit in self._ordered():
            reads = any(value in self.attributes for value in self.units.reads(unit))
            draws = self.units.draws(unit) and self.units.position[unit] > first
            reads = reads or self.lookups.may_look_up(unit, self.looked_up.values())
            if reads or draws or unit == self.call or self.call in self.units.members(unit):
                return unit
        return self.call

    def _handed_site(self) -> ItemId:
        return next(u for u in self._ordered() if u == self.call or self.call in self.units.members(u))

    def _ordered(self) -> list[ItemId]:
        call = [self.call] if self.roles.body == ROOT else []
        return sorted((*self.main, *call), key=self.units.position.__getitem__)

    def _first_draw(self) -> int:
        drawn = [self.units.position[u] for u in self.roles.construction if self.units.draws(u)]
        return min(drawn, default=len(self.units.position))

    def _last_draw(self) -> int:
        return max((self.units.position[u] for u in self.roles.construction if self.units.draws(u)), default=-1)

    def is_module(self, value: Value) -> bool:
        """Whether a value that the object holds is a module."""
        operator = self.units.operator(value[0])
        return operator is not None and operator.results[:1] != () and operator.results[0].family is Family.MODULE
