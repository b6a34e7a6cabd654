"""Compile: a graph as the nested list of steps that the engine executes."""

import msgspec

from gradstudio.graph.analysis import NO_ROOT, STATEMENTS_ONLY, Analysis, analyse
from gradstudio.graph.checks import digest_of
from gradstudio.graph.definitions import in_order
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Node
from gradstudio.operators.model import Effect, Face, Operator
from gradstudio.program.expressions import Printer
from gradstudio.program.model import BlockStatement, Incomplete, Program, Statement
from gradstudio.program.values import Line
from gradstudio.program.write import Script, write


def compile_graph(graph: Graph, *, stem: str = "program") -> Program:
    """The program of a graph; its stored tensors lie in ``<stem>.tensors``."""
    analysis = analyse(graph)
    script = write(graph, stem=stem)
    steps = _Steps(analysis, script, stem)
    soundness = analysis.soundness
    for name in in_order(graph):
        inner = graph.definitions[name].graph.nodes.values()
        steps.tensors.update(digest_of(node) for node in inner if node.operator == STORED)
    return Program(
        script=script.text,
        code=script.code,
        prelude=script.prelude,
        statements=steps.body(ROOT),
        spans=script.spans,
        seed=graph.header.seed,
        device=graph.header.device,
        tensors=tuple(sorted(steps.tensors)),
        incomplete=tuple(
            Incomplete(item, why, script.lines.get(item, 0)) for item, why in soundness.incomplete.items()
        ),
        root=analysis.addresses[analysis.root] if analysis.root is not None else "",
        rootless="" if analysis.root is not None else NO_ROOT,
    )


STORED = "python.stored"


class _Steps:
    """Prints each node on a line of its own, in the order of the program."""

    def __init__(self, analysis: Analysis, script: Script, stem: str) -> None:
        self.analysis, self.graph, self.script = analysis, analysis.graph, script
        self.soundness, self.repeated = analysis.soundness, analysis.gradients.repeated
        self.references, self.memo = script.references, script.memo
        self.printer = Printer(self.references, device=script.device, stem=stem, traced=True)
        self.tensors: set[str] = set()

    def body(self, body: BodyId) -> tuple[Statement | BlockStatement, ...]:
        """The steps of one body."""
        steps: list[Statement | BlockStatement] = []
        for item in self.graph.bodies[body]:
            if not self.soundness.is_live(item):
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
            line=self.script.lines.get(block.id, 0),
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
        item, line, repeated = node.id, self.script.lines.get(node.id, 0), node.id in self.repeated
        key, known = self.memo.key(item), self.memo.steps.get(item)
        operator = self.soundness.operators.get(item)
        if operator is not None and operator.face is Face.STORED:
            self.tensors.add(digest_of(node))
        if item in self.references.from_head:
            return self._printed(node, line, repeated)
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
        operator = self.soundness.operators.get(item)
        address = self.analysis.addresses[item]
        is_part = item in self.analysis.nested
        names = (address,) if is_part else self.references.bound(item)
        effects = operator.effects if operator is not None and not node.bypassed else ()
        text, result = self._text(node, operator, names, is_part)
        drops = self._parts(item)
        wires = [self.graph.wires[item, port] for port in self.soundness.ports[item]]
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
            inputs=tuple((port, self.printer.text(item, port)) for port in self.soundness.ports[item]),
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
        """Addresses of the parts printed inside this item."""
        if item not in self.graph.incoming:
            return ()
        wires = (self.graph.wires[item, port] for port in self.soundness.ports[item])
        return tuple(self.analysis.addresses[wire.source] for wire in wires if wire.source in self.analysis.nested)

    def _writes(self, node: Node, operator: Operator | None) -> tuple[str, ...]:
        if operator is None or node.bypassed:
            return ()
        wired = (name for name in operator.writes if (node.id, name) in self.graph.wires)
        return tuple(self.printer.text(node.id, name) for name in wired)
