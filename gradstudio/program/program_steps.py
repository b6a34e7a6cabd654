"""Steps: the items of one graph, each node on a line of its own, as a traced run executes them."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.analysis.program_analysis import STATEMENTS_ONLY, Analysis
from gradstudio.graph.model import Block, BodyId, ItemId, Node
from gradstudio.graph.slices import Slices, is_stop, work_through
from gradstudio.graph.text.record_checks import digest_of
from gradstudio.operators.model import Effect, Face, Operator
from gradstudio.program.model import BlockStatement, Statement
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.print_memo import Memo
from gradstudio.program.printing.statement_printer import PrintedBodies, StatementPrinter


class Steps:
    """Prints each node on a line of its own, in the order of the program."""

    def __init__(
        self,
        analysis: Analysis,
        references: References,
        lines: dict[ItemId, int],
        memo: Memo | None,
        device: bool,
        stem: str,
        bodies: PrintedBodies,
    ) -> None:
        """Print the items of the analysed graph; `lines` are those of the script that they stand on."""
        self.analysis, self.graph, self.lines = analysis, analysis.graph, lines
        self.validity, self.repeated = analysis.validity, analysis.gradients.repeated
        self.references, self.memo = references, memo
        self.printer = StatementPrinter(references, device=device, stem=stem, traced=True, bodies=bodies)
        self.tensors: set[str] = set()

    def body(self, body: BodyId) -> tuple[Statement | BlockStatement, ...]:
        """The steps of one body."""
        return self.some(self.graph.bodies[body])

    def some(self, items: Iterable[ItemId]) -> tuple[Statement | BlockStatement, ...]:
        """The steps of some items of one body."""
        return work_through(self.slices(items))

    def slices(self, items: Iterable[ItemId]) -> Slices[tuple[Statement | BlockStatement, ...]]:
        """As `some`; blocks among them are gone through without a stop."""
        steps: list[Statement | BlockStatement] = []
        for number, item in enumerate(items, 1):
            if is_stop(number):
                yield
            if not self.validity.is_live(item):
                continue
            node = self.graph.nodes.get(item)
            if node is None:
                steps.append(self._block(self.graph.blocks[item]))
            elif not node.bypassed or self.references.bound(item):
                steps.append(self._statement(node))
        return tuple(steps)

    def _block(self, block: Block) -> BlockStatement:
        context = variable = iterable = condition = ""
        if block.kind != "group":
            expression, variable = self.printer.head(Line(), block)
            match block.kind:
                case "for":
                    iterable = expression
                case "if":
                    condition = expression
                case _:
                    context = expression
        return BlockStatement(
            block=block.id,
            kind=block.kind,
            line=self.lines.get(block.id, 0),
            body=self.body(BodyId(block.id)),
            context=context,
            variable=variable,
            iterable=iterable,
            condition=condition,
            repeated=block.id in self.repeated,
            drops=(*self._parts(block.id), *((variable,) if block.id in self.references.targets else ())),
            address=self.analysis.addresses[block.id],
        )

    def _statement(self, node: Node) -> Statement:
        """The statement as it was printed for an earlier revision, where only its line may be another, else anew."""
        item = node.id
        line = self.lines.get(node.id, 0)
        repeated = node.id in self.repeated
        operator = self.validity.operators.get(item)
        if operator is not None and operator.face is Face.STORED:
            self.tensors.add(digest_of(node))
        if self.memo is None or item in self.references.from_head or self._is_target(item):
            return self._printed(node, line, repeated)
        key = self.memo.key(item)
        known = self.memo.steps.get(item)
        if known is None or known[0] is not key:
            made = self._printed(node, line, repeated)
        elif known[1].line == line and known[1].repeated == repeated:
            return known[1]
        else:
            made = msgspec.structs.replace(known[1], line=line, repeated=repeated)
        self.memo.steps[item] = key, made
        return made

    def _printed(self, node: Node, line: int, repeated: bool) -> Statement:
        item = node.id
        operator = self.validity.operators.get(item)
        address = self.analysis.addresses[item]
        is_part = item in self.analysis.nested
        names = (address,) if is_part else self.references.bound(item)
        effects = operator.effects if operator is not None and not node.bypassed else ()
        text, result = self._text(node, operator, names, is_part)
        drops = () if self._is_target(item) else self._parts(item)
        wires = [self.graph.wires[item, port] for port in self.validity.ports[item]]
        if not names and result == address:
            drops = (*drops, address)
        element = self.references.taken_apart(item)
        drops = (*drops, element) if element else drops
        return Statement(
            node=item,
            operator=node.operator,
            text=text,
            address=address,
            line=line,
            names=names,
            repeated=repeated,
            is_part=is_part,
            drops=drops,
            backward=Effect.BACKWARD in effects,
            writes=self._writes(node, operator),
            rebinds=bool(names),
            result=result,
            inputs=tuple((port, self.printer.text(item, port)) for port in self.validity.ports[item]),
            sources=tuple((wire.source, wire.output) for wire in wires),
        )

    def _text(self, node: Node, operator: Operator | None, names: tuple[str, ...], is_part: bool) -> tuple[str, str]:
        """The statement's text, and the expression of its value when it binds no name."""
        line = Line()
        address = self.analysis.addresses[node.id]
        if is_part:
            line.write(f"{address} = ")
            self.printer.value(line, node.id)
            return line.text, ""
        if names or operator is None or node.bypassed:
            self.printer.statement(line, node.id)
            return line.text, ""
        if operator.face in STATEMENTS_ONLY:
            self.printer.statement(line, node.id)
            return line.text, self.printer.target(node.id)
        if operator.results:  # nobody reads it, but its value is worth showing
            line.write(f"{address} = ")
            self.printer.value(line, node.id)
            return line.text, address
        self.printer.statement(line, node.id)
        return line.text, self.printer.target(node.id) if operator.writes else ""

    def _parts(self, item: ItemId) -> tuple[str, ...]:
        """Addresses of the parts that nobody reads behind this item."""
        if item not in self.graph.incoming:
            return ()
        found: list[str] = []
        for port in self.validity.ports[item]:
            source = self.graph.wires[item, port].source
            if source in self.analysis.nested:
                found.append(self.analysis.addresses[source])
                if self.printer.is_target(item, port):
                    found += self._parts(source)
        return tuple(found)

    def _is_target(self, item: ItemId) -> bool:
        """Whether a part is what `+=` writes into: its own parts are read once more there, and kept until then."""
        if item not in self.analysis.nested:
            return False
        return any(self.printer.is_target(wire.target, wire.port) for wire in self.graph.wires_from(item))

    def _writes(self, node: Node, operator: Operator | None) -> tuple[str, ...]:
        if operator is None or node.bypassed:
            return ()
        wired = (name for name in operator.writes if (node.id, name) in self.graph.wires)
        return tuple(self.printer.text(node.id, name) for name in wired)
