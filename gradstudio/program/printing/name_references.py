"""References: the Python name under which each output is read, and the names each statement binds."""

from collections.abc import Iterator

from gradstudio.graph.analysis.program_analysis import STATEMENTS_ONLY, Analysis
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.names import RESERVED, bound_names, fresh_name_from
from gradstudio.graph.text.loop_targets import Target, loop_target, targets
from gradstudio.graph.text.statements import SELF
from gradstudio.graph.text.while_heads import condition_node


class References:
    """Names of one program; "" stands for a part that is printed where it is used.

    They are the same as long as the analysis's `structure` is.

    Attributes:
        targets: of loops without a variable of their own, what their heads bind.
        from_head: the statements that are printed there, parts of such targets.
        conditions: of loops that one ends, the code that is printed as their head.
        in_heads: all statements that need no line, since a head says them.
    """

    def __init__(self, analysis: Analysis) -> None:
        """Read them off the analysis."""
        self.graph, self.structure = analysis.graph, analysis.structure
        self.validity, self.nested, self.addresses = analysis.validity, analysis.nested, analysis.addresses
        self.targets = dict(self._targets())
        self.from_head = {part.node: part for whole in self.targets.values() for part in targets(whole)}
        self.conditions = dict(self._conditions())
        self.in_heads = {*self.from_head, *self.conditions.values()}
        self._read: dict[tuple[ItemId, int], str] = {}
        self._extra: dict[tuple[ItemId, int], str] = {}
        self._taken: set[str] | None = None
        self._numbers: dict[str, int] = {}

    @property
    def has_extra(self) -> bool:
        """Whether something has been given a name that nothing else has: which, the whole program decides."""
        return bool(self._extra)

    def read(self, wire: Wire) -> str:
        """The name that the wire's source is read under; "" when it is printed in place."""
        key = (wire.source, wire.output)
        name = self._read.get(key)
        if name is None:
            name = self._read[key] = self._name(*key)
        return name

    def _name(self, source: ItemId, output: int) -> str:
        if source in self.nested:
            return ""  # also a write: `x.mul_(2).add_(1)`
        binding = self.validity.binding(source, output)
        name = self.validity.name(binding)
        if name:
            return name
        if binding != (source, output) and binding[0] not in self.nested:
            return self._unnamed(*binding)
        operator = self.validity.operators.get(source)
        if operator is not None and operator.face in STATEMENTS_ONLY:
            return ""  # `x[0] += 1` binds nothing: its target is printed again
        return self._unnamed(source, output)

    def bound(self, item: ItemId) -> tuple[str, ...]:
        """The names that a statement of the script binds."""
        node = self.graph.nodes[item]
        if node.names:
            if "_" not in node.names:
                return node.names
            read = {wire.output for wire in self.graph.wires_from(item) if self.validity.is_live(wire.target)}
            return tuple(
                self._unnamed(item, k) if name == "_" and k in read else name for k, name in enumerate(node.names)
            )
        return (self._unnamed(item, 0),) if self._binds_address(item) else ()

    def labels(self, item: ItemId) -> tuple[str, ...]:
        """How the canvas calls what `bound` names; "_" for what a loop's head takes apart in turn."""
        names = References.bound(self, item)
        if item not in self.from_head:
            return names
        parts = self.from_head[item].parts
        return tuple(name if part is None else "_" for name, part in zip(names, parts, strict=True))

    def taken_apart(self, item: ItemId) -> str:
        """The name under which a traced run holds what a statement in a loop's head takes apart; "" for others."""
        target = self.from_head.get(item)
        if target is None:
            return ""
        source, output = target.source
        return self.variable(source) if source in self.graph.blocks else self.bound(source)[output]

    def variable(self, block: ItemId) -> str:
        """The loop variable."""
        name = self.graph.blocks[block].variable
        if name and name != "_":
            return name
        return self._unnamed(block, 0) if any(w.output == 0 for w in self.graph.wires_from(block)) else "_"

    def _targets(self) -> Iterator[tuple[ItemId, Target]]:
        for block in self.graph.blocks.values():
            found = loop_target(self.graph, block, self.validity.is_live) if self.validity.is_live(block.id) else None
            if found is not None:
                yield block.id, found

    def _conditions(self) -> Iterator[tuple[ItemId, ItemId]]:
        for block in self.graph.blocks.values():
            found = condition_node(self.graph, block, self.validity.is_live)
            if found is not None and self.validity.is_live(block.id):
                yield block.id, found

    def fresh(self, base: str) -> str:
        """A name that nothing else in the program has."""
        name, self._numbers[base] = fresh_name_from(self._known(), base, self._numbers.get(base, 1))
        return name

    def _known(self) -> set[str]:
        if self._taken is None:
            addresses = self.addresses.values()
            self._taken = {*bound_names(self.graph), *RESERVED, *self.graph.definitions, *addresses}
        return self._taken

    def first_free(self, *bases: str) -> str:
        """The first of some names that nothing else in the program has; the first with a number when all are taken."""
        base = next((base for base in bases if base not in self._known()), bases[0])
        return self.fresh(base)

    def _binds_address(self, item: ItemId) -> bool:
        operator = self.validity.operators.get(item)
        if operator is None or operator.face in STATEMENTS_ONLY or not operator.results:
            return False
        if item in self.nested or not self.graph.outgoing.get(item):
            return False
        return any(self.read(wire).removeprefix(SELF) == self.addresses[item] for wire in self.graph.wires_from(item))

    def _unnamed(self, item: ItemId, output: int) -> str:
        node = self.graph.nodes.get(item)
        if node is None or not node.names:
            return self.addresses[item]
        if (item, output) not in self._extra:
            operator = self.validity.operators.get(item)
            results = operator.results if operator is not None else ()
            self._extra[item, output] = self.fresh(results[output].name if output < len(results) else "unused")
        return self._extra[item, output]
