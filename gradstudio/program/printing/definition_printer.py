"""Definitions as text: each a function, or a class with `__init__` and `forward` (semantics §15)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.groups.definitions import (
    attributes_of,
    call_order,
    definition_graph,
    members_of,
    result_words,
    setup_of,
    top_of,
)
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    BodyId,
    Definition,
    Graph,
    ItemId,
    Wire,
)
from gradstudio.graph.text.drawn_bodies import bodies_in, is_body
from gradstudio.graph.text.literal_text import spell
from gradstudio.graph.text.statements import SELF
from gradstudio.program.model import Span
from gradstudio.program.printing.body_printer import Body
from gradstudio.program.printing.comment_lines import INDENT, paragraphs
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.statement_printer import PrintedBodies, PrintedBody, StatementPrinter

_bodies: MemoTable[tuple[str, PrintedBody]] = MemoTable()


class PrintedDefinitions(NamedTuple):
    """All definitions as text.

    Attributes:
        spans: by definition, its items; line 1 is the first of `lines`.
    """

    lines: list[str]
    spans: dict[str, tuple[Span, ...]]

    def below(self, count: int) -> dict[str, tuple[Span, ...]]:
        """The places of the items when there are so many lines above."""
        return {name: shift_spans(spans, count) for name, spans in self.spans.items()}


def definition_lines(graph: Graph, device: bool, stem: str, imports: set[str]) -> PrintedDefinitions:
    """The definitions, each behind those it calls itself; what they need is added to the imports."""
    lines: list[str] = []
    spans: dict[str, tuple[Span, ...]] = {}
    for name in call_order(graph):
        one = _Writer(graph, graph.definitions[name], device, stem)
        note = paragraphs(graph.definitions[name].note)
        lines += [*(["", ""] if lines else []), *note, *([""] if note and not note[-1] else [])]  # two, as above it
        above = len(lines)
        lines += one.lines()
        spans[name] = shift_spans(one.spans, above)
        imports |= one.imports
    return PrintedDefinitions(lines, spans)


def printed_bodies(graph: Graph, stem: str) -> PrintedBodies:
    """By name, what stands in code for each definition that is the body of a function there."""
    return {name: _printed_body(graph, name, stem) for name in graph.definitions if is_body(name)}


def _printed_body(graph: Graph, name: str, stem: str) -> PrintedBody:
    """Its lines; as they were while neither it nor what it may call is another one."""
    inner = definition_graph(graph, name)
    known = _bodies.get(inner)
    if known is None or known[0] != stem:
        one = _Writer(graph, graph.definitions[name], True, stem)
        known = _bodies[inner] = stem, PrintedBody(tuple(one.lines()), frozenset(one.imports), tuple(one.spans))
    return known[1]


def shift_spans(spans: Iterable[Span], count: int) -> tuple[Span, ...]:
    """The same places when there are so many lines more above."""
    return tuple(
        Span(span.node, span.line + count, span.column, span.end_line + count, span.end_column) for span in spans
    )


def parameters_of(definition: Definition, inputs: tuple[str, ...]) -> str:
    """Parameters as they are printed, each with the literal that it has when nothing is given."""
    texts = ((name, definition.defaults.get(name)) for name in inputs)
    return ", ".join(name if text is None else f"{name}={spell(text).text}" for name, text in texts)


def one_definition(graph: Graph, name: str, stem: str) -> list[str]:
    """The lines of one definition, to compare two of them."""
    definition = graph.definitions[name]
    return [*paragraphs(definition.note), *_Writer(graph, definition, True, stem).lines()]


def body_lines(graph: Graph, name: str) -> Sequence[str]:
    """The lines of a part of code, as they will stand in it."""
    return _printed_body(graph, name, "").lines


class OwnedReferences(References):
    """The names inside a module: what `__init__` keeps, and a setting that `forward` reads, are the object's."""

    def __init__(self, analysis: Analysis, definition: Definition) -> None:
        """Read them off the analysis of the inside."""
        self.kept, self.setup = attributes_of(definition), frozenset(setup_of(definition))
        self._settings = {k: name for k, name in enumerate(definition.inputs) if name in definition.settings}
        super().__init__(analysis)

    def read(self, wire: Wire) -> str:
        """The name that the wire's source is read under, where the wire ends."""
        if wire.source == DEFINITION_INPUTS and wire.output in self._settings and self._is_late(wire.target):
            return SELF + self._settings[wire.output]
        name = super().read(wire)
        owner = self.validity.binding(wire.source, wire.output)[0]
        is_own = owner in self.kept and name and not name.startswith(SELF)
        return SELF + name if is_own else name

    def bound(self, item: ItemId) -> tuple[str, ...]:
        """The names that a statement binds."""
        names = super().bound(item)
        if item not in self.kept:
            return names
        return tuple(name if name == "_" else SELF + name.removeprefix(SELF) for name in names)

    def read_late(self) -> list[str]:
        """The settings that `forward` reads."""
        wires = self.graph.wires_from(DEFINITION_INPUTS)
        read = {wire.output for wire in wires if wire.output in self._settings and self._is_late(wire.target)}
        return [self._settings[k] for k in sorted(read)]

    def _is_late(self, target: ItemId) -> bool:
        return target == DEFINITION_OUTPUTS or top_of(self.graph, target) not in self.setup


class _Part(Body):
    """Some of the outermost statements of an inside."""

    tops: tuple[ItemId, ...] = ()

    def shown(self, body: BodyId) -> Iterable[ItemId]:
        """Those alone."""
        return self.tops if body == ROOT else super().shown(body)

    def tail(self, body: BodyId) -> str:
        """The comment at the end stands at the end of the last part."""
        return super().tail(body) if body != ROOT or self.tops == () or self._is_last() else ""

    def _is_last(self) -> bool:
        return self.graph.bodies[ROOT][-1:] == self.tops[-1:]


class _Writer:
    """One definition."""

    def __init__(self, graph: Graph, definition: Definition, device: bool, stem: str) -> None:
        self.definition, self.device, self.stem = definition, device, stem
        self.inner = definition_graph(graph, definition.name)
        self.imports: set[str] = set()
        self.spans: list[Span] = []

    def lines(self) -> list[str]:
        """All of it; of the body of a function in code, what stands below its head."""
        if is_body(self.definition.name):
            return self._body(References(analyse(self.inner)), self.inner.bodies[ROOT], 0, [], returns=True)
        return self._module() if self.definition.is_module else self._function()

    def _function(self) -> list[str]:
        definition = self.definition
        references = References(analyse(self.inner))
        head = self._head("", definition.name, definition.inputs)
        return self._body(references, self.inner.bodies[ROOT], 1, head, returns=True)

    def _module(self) -> list[str]:
        definition = self.definition
        references = OwnedReferences(analyse(self.inner), self.definition)
        self.imports.add("nn")
        settings = tuple(name for name in definition.inputs if name in definition.settings)
        first = [f"class {definition.name}(nn.Module):", *self._head(INDENT, "__init__", settings, "self")]
        first += [f"{INDENT * 2}super().__init__()"]
        first += [f"{INDENT * 2}self.{name} = {name}" for name in references.read_late()]
        tops = self.inner.bodies[ROOT]
        made = tuple(item for item in tops if item in references.setup)
        members = members_of(self.inner)
        called = tuple(item for item in tops if item not in references.setup and item not in members)
        lines = self._body(references, made, 2, first, returns=False)
        lines += ["", *self._head(INDENT, "forward", definition.taken, "self")]
        lines = self._body(references, called, 2, lines, returns=True)
        return self._body(references, members, 1, [*lines, ""], returns=False) if members else lines

    def _head(self, indent: str, name: str, inputs: tuple[str, ...], *before: str) -> list[str]:
        parameters = ", ".join([*before, *(self._parameter(one) for one in inputs)])
        return self._wrapped(f"{indent}def {name}({parameters}):", indent)

    def _parameter(self, name: str) -> str:
        text = self.definition.defaults.get(name)
        if text is None:
            return name
        spelled = spell(text)
        self.imports |= spelled.modules
        return f"{name}={spelled.text}"

    def _body(
        self, references: References, tops: tuple[ItemId, ...], depth: int, first: list[str], *, returns: bool
    ) -> list[str]:
        """The lines above, and below them those of some statements."""
        bodies = self._bodies_inside() if tops else {}
        of_code = is_body(self.definition.name)
        printer = StatementPrinter(
            references, device=self.device, stem=self.stem, bodies=bodies, is_main=False, is_body=of_code
        )
        body = _Part(printer)
        body.tops = tops
        holds = body.write(ROOT, depth)
        self.spans += body.placed_below(len(first))[0]
        indent = INDENT * depth
        results = [self._result(body, references, k) for k in range(len(self.definition.outputs))] if returns else []
        self.imports |= body.imports | body.printer.imports
        lines = [*first, *body.lines]
        if results:
            last = self._wrapped(f"{indent}return {', '.join(results)}", indent)
            whole = len(lines) + 1, len(indent), len(lines) + len(last), len(last[-1])
            self.spans += [Span(item, *whole) for item in _parts(references, DEFINITION_OUTPUTS)]
            return [*lines, *last[:-1], f"{last[-1]}{self._named()}"]
        return [*lines, *([] if holds or not returns else [f"{indent}pass"])]

    def _bodies_inside(self) -> PrintedBodies:
        """What stands in the code of this definition for the bodies of functions there."""
        names = {name for node in self.inner.nodes.values() for name in bodies_in(node)}
        return {name: _printed_body(self.inner, name, self.stem) for name in names if name in self.inner.definitions}

    def _named(self) -> str:
        """The comment that says what the outputs are called, where they are not called as what is returned."""
        outputs = self.definition.outputs
        wires = [self.inner.wire_into(DEFINITION_OUTPUTS, str(k)) for k in range(len(outputs))]
        sources = [(wire.source, wire.output) for wire in wires if wire is not None]
        if len(sources) < len(outputs) or result_words(self.inner, sources) == outputs:
            return ""
        return f"  # outputs: {', '.join(outputs)}"

    def _result(self, body: Body, references: References, output: int) -> str:
        wire = self.inner.wire_into(DEFINITION_OUTPUTS, str(output))
        if wire is None or (wire.source in self.inner and not references.validity.is_live(wire.source)):
            return "None"
        return body.printer.text(DEFINITION_OUTPUTS, str(output)) or "None"

    def _wrapped(self, text: str, indent: str) -> list[str]:
        if len(text) <= WIDTH:
            return [text]
        return list(wrap(text.removeprefix(indent), len(indent)).lines)


def _parts(references: References, item: ItemId) -> Iterator[ItemId]:
    """The parts that are printed inside an item, those inside them first."""
    for wire in references.graph.wires_to(item):
        if wire.source in references.nested:
            yield from _parts(references, wire.source)
            yield wire.source
