"""Lookups: what undrawn Python reads by its name of what a class holds or computes, which wires alone do not say.

Code cannot say `self.fc`: where it stands, what it reads has its own name. Its functions look names up when they are
called, and find those of the file alone.
"""

from collections.abc import Iterable

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import FREE, READ, code_names, is_code_at
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.late_names import late_names, names_read_inside
from gradstudio.operators.model import Face
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_roles import StatementRoles
from gradstudio.program.forms.statement_units import Units, Value


class Lookups:
    """What the code of one program looks up."""

    def __init__(self, units: Units, roles: StatementRoles, outside: Iterable[ItemId]) -> None:
        """Look at the code of a program; `outside` are the units of the main part."""
        self._units, self._graph, self._roles = units, units.graph, roles
        self._outside = tuple(outside)
        self._in_definitions = names_read_inside(self._graph)
        self._late_outside = {*self._late(self._outside), *self._in_definitions}

    def made_once(self) -> dict[Value, str]:
        """What `__init__` makes and functions outside of the class look up when they are called, by its names."""
        return self._named(self._roles.construction, self._late_outside)

    def looked_up(self, attributes: Iterable[Value]) -> dict[Value, str]:
        """The values of the object that code in the main part reads, or looks up, and what it calls them.

        Raises:
            NoForm: a function looks up what is no name of the file, or code cannot stand in a method; says what to do.
        """
        self.refuse_stars((*self._roles.construction, *self._roles.forward))
        for (item, k), name in self._named(self._roles.forward, self._late_outside).items():
            if (item, k) not in self._roles.returned:
                raise NoForm(
                    f"A function reads '{name}' when it is called, and '{title(self._graph, item)}' would be a name of "
                    f"forward alone. Hand '{name}' to the function as an argument, or export the script."
                )
        return self.read_by_code(self._outside, attributes, self._in_definitions)

    def read_by_code(
        self, units: Iterable[ItemId], attributes: Iterable[Value], late: Iterable[str] = ()
    ) -> dict[Value, str]:
        """The values of the object that code among some units reads, or looks up, and what it calls them.

        `late` is what something else looks up besides.
        """
        codes = self._codes(units)
        binding, name_of = self._units.validity.binding, self._units.validity.name
        wires = (wire for code in codes for wire in self._graph.wires_to(code) if wire.port.startswith(READ))
        read = {binding(wire.source, wire.output) for wire in wires}
        looked_up = {*self._late(units), *late}
        named = ((value, name_of(value)) for value in attributes)
        return {value: name for value, name in named if name and (value in read or name in looked_up)}

    def may_look_up(self, unit: ItemId, names: Iterable[str]) -> bool:
        """Whether a unit may call a function that looks up one of these names, or makes one that does."""
        wanted = {*names}
        if not wanted.isdisjoint(self._late([unit])):
            return True
        return not wanted.isdisjoint(self._in_definitions) and any(map(self._calls, self._units.members(unit)))

    def refuse_stars(self, units: Iterable[ItemId]) -> None:
        """Refuse imports of all that a module has in units that become statements of a function.

        Raises:
            NoForm: Python takes them outside of functions alone.
        """
        for code in self._codes(units):
            if code_names(self._graph.nodes[code]).stars:
                raise NoForm(
                    f"'{title(self._graph, code)}' imports all names of a module, which no function may. Import by "
                    "name what is used of it, or export the script."
                )

    def _late(self, units: Iterable[ItemId]) -> set[str]:
        """What functions in the code of some units read, or bind, when they are called."""
        return {name for code in self._codes(units) for name in late_names(self._graph, self._graph.nodes[code])}

    def _named(self, units: Iterable[ItemId], names: set[str]) -> dict[Value, str]:
        """What some units bind under such names, the last of each name alone."""
        last: dict[str, Value] = {}
        for unit in units:
            for item in self._units.members(unit):
                node = self._graph.nodes.get(item)
                last.update({name: (item, k) for k, name in enumerate(node.names if node is not None else ())})
        return {value: name for name, value in last.items() if name in names}

    def _calls(self, item: ItemId) -> bool:
        operator = self._units.operator(item)
        return operator is not None and (operator.key in FREE or operator.face in (Face.GROUP, Face.CALL))

    def _codes(self, units: Iterable[ItemId]) -> list[ItemId]:
        return [item for unit in units for item in self._units.members(unit) if is_code_at(self._graph, item)]
