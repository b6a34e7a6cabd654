"""Part: some statements of a program, written with names of their own: a method of a class, what stands around it."""

import copy
from collections.abc import Iterable, Iterator, Mapping

from gradstudio.graph.analysis.operator_traits import traits_of
from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, Block, BodyId, ItemId, Node, Wire
from gradstudio.graph.names import RESERVED, bound_names
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Kind, Operator
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.printing.body_printer import Body
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.definition_printer import printed_bodies
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.pretty_printer import columns
from gradstudio.program.printing.statement_printer import StatementPrinter
from gradstudio.program.printing.trailing_comments import with_comment

_MARKERS = ("# region:", "# endregion")


class PartReferences(References):
    """The names under which one part reads and binds values.

    Attributes:
        spelled: what some values are called here: ``self.w``.
        wrapped: statements whose value is made a parameter.
    """

    def __init__(self, analysis: Analysis, nested: frozenset[ItemId]) -> None:
        """The canvas's own names, but that only these parts are printed inside their users."""
        super().__init__(analysis)
        self.nested = nested
        self.spelled: dict[Value, str] = {}
        self.wrapped: frozenset[ItemId] = frozenset()
        addresses = self.addresses.values()
        self._taken = {*bound_names(self.graph), *RESERVED, *self.graph.definitions, *addresses}

    def like(self, spelled: Mapping[Value, str], wrapped: Iterable[ItemId] = ()) -> "PartReferences":
        """The names of another part of the same program; names made up are the same in both."""
        twin = copy.copy(self)
        twin.spelled, twin.wrapped = dict(spelled), frozenset(wrapped)
        twin._read = {}
        twin.validity = copy.copy(self.validity)
        twin.validity.arguments = dict(self.validity.arguments)
        for item in twin.wrapped:
            printed = twin.validity.arguments[item]
            twin.validity.arguments[item] = tuple(a for a in printed if a.parameter.name != "requires_grad")
        return twin

    @property
    def taken(self) -> set[str]:
        """Every name that something in the program has."""
        assert self._taken is not None
        return self._taken

    def read(self, wire: Wire) -> str:
        """The name that the wire's source is read under here."""
        return self.text(self.validity.binding(wire.source, wire.output)) or self._name(wire.source, wire.output)

    def text(self, value: Value) -> str:
        """What a value is called here; "" when it is printed in place."""
        return self.spelled.get(value, "")

    def name(self, value: Value) -> str:
        """What a value is called here, whether or not it is called so on the canvas."""
        block = self.graph.blocks.get(value[0])
        if block is not None and value[1] == 0 and value not in self.spelled:
            return self.variable(block.id)
        return self.text(value) or self._name(*value)

    def bound(self, item: ItemId) -> tuple[str, ...]:
        """The names that a statement binds here."""
        names = super().bound(item)
        if not names and (item, 0) in self.spelled:
            return (self.spelled[item, 0],)
        return tuple(self.spelled.get((item, k), name) for k, name in enumerate(names))

    def variable(self, block: ItemId) -> str:
        """The loop variable."""
        return self.spelled.get((block, 0)) or super().variable(block)


class PartPrinter(StatementPrinter):
    """Prints leaves that belong to a class as its parameters."""

    references: PartReferences

    def statement(self, line: Line, item: ItemId) -> None:
        """A node as a statement.

        Raises:
            NoForm: its code cannot have the names that it needs here.
        """
        if item not in self.references.wrapped:
            try:
                super().statement(line, item)
            except Refused as error:
                where = title(self._graph, item)
                raise NoForm(f"The code '{where}' cannot stand in a class: {error}. Export the script.") from error
            return
        node = self._graph.nodes[item]
        operator = self._validity.operators[item]
        self.imports.add("nn")
        target = ", ".join(self.references.bound(item)) or self.target(item)
        line.write(f"{target} = nn.Parameter(")
        self._leaf(line, node, operator)
        line.write(")")

    def _leaf(self, line: Line, node: Node, operator: Operator) -> None:
        """The tensor itself: a parameter requires grad of its own, so a call that only says so is left out."""
        if traits_of(operator).sets_requires_grad:
            self.expressions.values.value(line, node, operator.parameters[0].name, Kind.ANY)
        else:
            self.expressions.write(line, node, operator)


class PartBody(Body):
    """Writes some items of a graph, and lines of the form's own among them.

    Attributes:
        before: lines above an item; `instead` lines in its place.
        silent: items whose notes stand elsewhere.
        ends: the program's last comment stands here.
    """

    references: PartReferences

    def __init__(self, references: PartReferences, device: bool, stem: str, units: Units) -> None:
        """Nothing is written yet."""
        bodies = printed_bodies(references.graph, stem)
        super().__init__(PartPrinter(references, device=device, stem=stem, bodies=bodies))
        self.before: dict[ItemId, list[str]] = {}
        self.instead: dict[ItemId, list[str]] = {}
        self.silent: set[ItemId] = set()
        self.ends = False
        self._written: set[ItemId] = set()
        self._units = units

    def choose(self, units: Iterable[ItemId], without: Iterable[ItemId] = ()) -> None:
        """Write these units and all in them, but not the others; groups stand around what is written."""
        self._written = {item for unit in units for item in self._units.members(unit)}
        self._written -= {item for unit in without for item in self._units.members(unit)}
        self._written |= self.instead.keys()
        for item in tuple(self._written):
            self._written.update(ItemId(body) for body in self._groups(item))

    def choose_incomplete(self, inside: bool) -> None:
        """Write what cannot run as comments: what stands in a block that is written, or (not `inside`) all else."""
        for item in self.validity.incomplete:
            within = any(ItemId(b) in self._written for b in self.graph.ancestors(item) if self._is_scope(b))
            outermost = not any(self._is_scope(b) for b in self.graph.ancestors(item))
            if within or (not inside and outermost):
                self._written.add(item)
                self._written.update(ItemId(body) for body in self._groups(item))

    def shown(self, body: BodyId) -> Iterator[ItemId]:
        """The items of a body that are written."""
        for item in self.graph.bodies[body]:
            if item in self._written or (item in self.references.nested and self._statement_is_written(item)):
                yield self._alone(item)

    def note(self, item: ItemId) -> str:
        """The comment above an item, if it stands here."""
        return "" if item in self.silent or item in self.instead else super().note(item)

    def tail(self, body: BodyId) -> str:
        """The comment after the last statement of a body; the program's own where `ends` says so."""
        return super().tail(body) if body != ROOT or self.ends else ""

    def item(self, item: ItemId, depth: int) -> bool:
        """Write an item with what comes before it."""
        above = self._comment_begins(depth)
        comment = self.lines[above:]
        del self.lines[above:]
        for text in self.before.get(item, ()):
            self.put(text, depth)
        self.lines += comment
        if item in self.instead:
            for text in self.instead[item]:
                self.put(text, depth)
            return True
        block = self.graph.blocks.get(item)
        if block is not None and item not in self.validity.incomplete:
            self._carry(block, depth)
        return super().item(item, depth)

    def _comment_begins(self, depth: int) -> int:
        """The line where the comment begins that has just been written; how many lines there are when it is none."""
        sign = f"{INDENT * depth}#"
        k = len(self.lines)
        while k and self.lines[k - 1].startswith(sign) and not self.lines[k - 1].startswith(_MARKERS, len(sign) - 1):
            k -= 1
        return k

    def put(self, text: str, depth: int, beside: str = "") -> None:
        """Write one logical line of the form's own, and the comment beside it."""
        indent = len(INDENT) * depth
        fits = indent + columns(text) <= WIDTH or text.startswith("#")
        self.lines.extend(with_comment((INDENT * depth + text,) if fits else wrap(text, indent).lines, beside)[0])

    def _carry(self, block: Block, depth: int) -> None:
        """A carried value must have its own name before the loop."""
        for k, name in enumerate(block.carried, 1):
            wire = self.graph.wires.get((block.id, f"first.{name}"))
            own = self.references.spelled.get((block.id, k), name)
            first = self.references.read(wire) if wire is not None else own
            if first and first != own:
                self.put(f"{own} = {first}", depth)

    def _alone(self, item: ItemId) -> ItemId:
        """What stands for a group that holds nothing but lines of the form's own."""
        block = self.graph.blocks.get(item)
        if block is None or block.kind != "group":
            return item
        inside = [one for one in self.graph.order(BodyId(item)) if one in self._written and not self._is_group(one)]
        return inside[0] if len(inside) == 1 and inside[0] in self.instead else item

    def _statement_is_written(self, item: ItemId) -> bool:
        statement = self._units.statement(item)
        return statement in self._written and statement not in self.instead

    def _groups(self, item: ItemId) -> list[BodyId]:
        return [body for body in self.graph.ancestors(item) if body != ROOT and self._is_group(ItemId(body))]

    def _is_group(self, item: ItemId) -> bool:
        block = self.graph.blocks.get(item)
        return block is not None and block.kind == "group"

    def _is_scope(self, body: BodyId) -> bool:
        return body != ROOT and not self._is_group(ItemId(body))


class LeafBody(PartBody):
    """Writes where leaves are made: a tensor that becomes a parameter later has its own name until then."""

    def __init__(
        self,
        references: PartReferences,
        device: bool,
        stem: str,
        units: Units,
        late: dict[ItemId, Value],
        attributes: dict[Value, str],
    ) -> None:
        """Nothing is written yet.

        Args:
            references: the names of this part.
            device: the script has a line ``device = ...``.
            stem: of the file beside which the stored tensors lie.
            units: the statements of the program.
            late: by the statement that sets ``requires_grad``, the value that is a parameter from there on.
            attributes: what parameters are called here.
        """
        super().__init__(references, device, stem, units)
        self._late = late
        self._attributes = attributes

    def item(self, item: ItemId, depth: int) -> bool:
        """Write an item; what it makes a parameter is the object's from now on."""
        value = self._late.get(item)
        if value is None or item not in self.references.wrapped:
            return super().item(item, depth)
        self.imports.add("nn")
        node = self.graph.nodes.get(item)
        beside = node.beside if node is not None else ""
        self.put(f"{self._attributes[value]} = nn.Parameter({self.references.name(value)})", depth, beside)
        self.references.spelled[value] = self._attributes[value]
        return True
