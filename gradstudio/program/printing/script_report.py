"""Report: the end of a script, which prints every named tensor and the leaves' gradients."""

from collections.abc import Container, Iterator
from functools import cached_property

from gradstudio.graph.analysis import module_modes
from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.analysis.static_gradients import body_is_top_level
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.groups.definitions import definition_graph, definition_reason
from gradstudio.graph.model import DEFINITION_OUTPUTS, ROOT, Definition, Graph, ItemId, Node
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.module_calls import is_direct, origin
from gradstudio.graph.slices import Slices, portions, stop_if
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import READ, code_of, is_code
from gradstudio.operators.calls.call_signature import INPUTS, MODULE
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.program.printing.comment_lines import INDENT
from gradstudio.program.printing.line_wrapping import WIDTH, wrap
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.pretty_printer import columns
from gradstudio.program.printing.print_memo import Memo

INFIXES = frozenset({Face.INFIX, Face.PREFIX})
"""Whether statements of these give a tensor, what they read decides."""
Beside = tuple[object, ...]
NOTHING: Beside = ()
MOST_STEPS = 50
"""So many second names and groups are seen through."""


def report_slices(analysis: Analysis, references: References, memo: Memo) -> Slices[str]:
    """The lines of the report; "" when the program binds no tensor. `memo` has what was printed of its statements."""
    reporter = _Reporter(analysis, references, 1)
    calls: list[str] = []
    for portion in portions([*reporter.last.items()]):
        yield from stop_if(reporter.last)
        calls += [line for name, item in portion for line in _printed(reporter, name, item, memo)]
    return "\n".join(["", "", 'if __name__ == "__main__":', *calls, ""]) if calls else ""


def report_calls(
    analysis: Analysis, references: References, hidden: Container[tuple[ItemId, int]] = frozenset(), depth: int = 1
) -> list[str]:
    """The calls of `print` alone, without what is hidden."""
    reporter = _Reporter(analysis, references, depth)
    last = reporter.last.items()
    seen = [(name, item) for name, item in last if (item, references.labels(item).index(name)) not in hidden]
    return [line for name, item in seen for line in reporter.prints(name, item)]


def _printed(reporter: "_Reporter", name: str, item: ItemId, memo: Memo) -> tuple[str, ...]:
    """The lines of a name, as they were where they follow from its statement alone."""
    key, leaf = memo.keys.get(item), (item, 0) in reporter.analysis.gradients.leaves
    known = memo.prints.get(item)
    if known is not None and known[0] is key and known[1] == leaf:
        beside = known[2]
        if beside == NOTHING or beside == reporter.beside(item):
            return known[3]
    lines = tuple(reporter.prints(name, item))
    now = reporter.beside(item)
    if key is not None and now is not None:
        memo.prints[item] = key, leaf, now, lines
    return lines


class _Reporter:
    """What each name means at the end of the program, and whether it has a gradient to print."""

    def __init__(self, analysis: Analysis, references: References, depth: int) -> None:
        self.analysis, self.graph, self.references = analysis, analysis.graph, references
        self.depth = depth
        self.validity = analysis.validity
        self.last: dict[str, ItemId] = {}
        nodes, parents = self.graph.nodes, self.graph.parents
        for item in self.graph.order():
            if item not in nodes or item in references.nested or not self.validity.is_live(item):
                continue
            for name in self._unbound_by(nodes[item]):
                self.last.pop(name, None)
            if parents[item] == ROOT or _surely_runs(self.graph, item):
                for name in references.labels(item):
                    if name != "_":
                        self.last.pop(name, None)
                        self.last[name] = item

    def _unbound_by(self, node: Node) -> Iterator[str]:
        """The names that code takes away (`del`), perhaps: as the script has them."""
        for name in names_of_code(code_of(node)).removes if is_code(node) else ():
            wire = self.graph.wires.get((node.id, READ + name))
            yield name if wire is None else self.references.labels(wire.source)[wire.output]

    def beside(self, item: ItemId) -> Beside | None:
        """On what depends what is printed of a statement, beside its row and arguments; None where that may be all."""
        node, operator = self.graph.nodes[item], self.validity.operators.get(item)
        if operator is None or node.bypassed or len(node.names) != 1 or operator.face is Face.ALIAS:
            return None
        if operator.face in INFIXES:
            return (self._reads_tensor(node),)
        if node.operator == CALL:
            return self._beside_call(node)
        if node.operator.startswith(GROUP):
            return None
        if not any(result.family is Family.MODULE for result in operator.results):
            return NOTHING
        if not operator.constructs or self.graph.incoming.get(item):
            return None  # what it is given may have parameters
        return self._is_held(item), self._loop_names

    def _beside_call(self, call: Node) -> Beside | None:
        """Of a call, what makes its module; None where that is not the node that it calls, or has an inside."""
        if not is_direct(self.graph, call):
            return None
        maker = self.graph.nodes[self.graph.wires[call.id, MODULE].source].operator
        return None if maker.startswith(GROUP) else (maker,)

    def prints(self, name: str, item: ItemId) -> list[str]:
        node = self.graph.nodes[item]
        operator = self.validity.operators.get(item)
        output = self.references.labels(item).index(name)
        text = self.references.bound(item)[output]
        family = self._family(node, text, operator)
        if family is Family.MODULE:
            return self._module_tensors(name, text, node) if self._is_worth_it(node) else []
        if family is not Family.TENSOR:
            return []
        lines = _print(f'"{name} =", {text}', self.depth)
        if self._is_leaf(node, output):
            lines += _print(f'"{name}.grad =", {text}.grad', self.depth)
        return lines

    def _is_worth_it(self, node: Node) -> bool:
        """Whether a module may have parameters that no container prints that has a name as well."""
        maker = origin(self.graph, node)
        if maker is None:
            return True
        return module_modes.has_parameters(self.graph, maker.id) and not self._is_held(maker.id)

    def _is_held(self, module: ItemId) -> bool:
        """Whether a container has it that has a name as well."""
        return any(holder in self._named for holder in module_modes.holders(self.graph, module))

    @cached_property
    def _named(self) -> frozenset[ItemId]:
        return frozenset(self.last.values())

    @cached_property
    def _loop_names(self) -> tuple[str, str, str]:
        """What all loops over parameters and buffers call what they go over."""
        free = self.references.first_free
        return free("name", "key", "path"), free("parameter", "tensor", "value"), free("buffer", "held", "kept")

    def _module_tensors(self, name: str, text: str, node: Node) -> list[str]:
        """Loops over a module's parameters with their gradients, and over its buffers."""
        key, value, buffer = self._loop_names
        inner, label = self.depth + 1, f'"{name}." + {key} + '
        lines = [
            f"{INDENT * self.depth}for {key}, {value} in {text}.named_parameters():",
            *_print(f'{label}" =", {value}.data', inner),
            *_print(f'{label}".grad =", {value}.grad', inner),
        ]
        if self._may_have_buffers(node):
            lines.append(f"{INDENT * self.depth}for {key}, {buffer} in {text}.named_buffers():")
            lines += _print(f'{label}" =", {buffer}', inner)
        return lines

    def _may_have_buffers(self, node: Node) -> bool:
        """Whether something in a module keeps tensors that are not trained."""
        maker = origin(self.graph, node)
        return maker is None or module_modes.has_buffers(self.graph, maker.id)

    def _family(self, node: Node, name: str, operator: Operator | None, depth: int = 0) -> Family:
        """What flows from the node, seen through second names."""
        if operator is None or depth > MOST_STEPS:
            return Family.UNKNOWN
        if node.bypassed or operator.face is Face.ALIAS:
            port = next(iter(self.validity.ports[node.id]), "")
            wire = self.graph.wires.get((node.id, port))
            before = self.graph.nodes.get(wire.source) if wire is not None else None
            if before is None or wire is None:
                return Family.UNKNOWN
            names = self.references.bound(before.id)
            inner = names[wire.output] if wire.output < len(names) else ""
            return self._family(before, inner, self.validity.operators.get(before.id), depth + 1)
        bound = self.references.bound(node.id)
        if operator.varying or (len(operator.results) > 1 and len(bound) == 1):
            return Family.TUPLE
        index = bound.index(name) if name in bound else 0
        if (group := group_of_call(self.graph, node)) is not None:
            return self._given_by(group, node, index, depth + 1)
        family = operator.results[index].family if index < len(operator.results) else Family.UNKNOWN
        if operator.face in INFIXES and family is Family.TENSOR:
            return Family.TENSOR if self._reads_tensor(node) else Family.NUMBER
        return family

    def _given_by(self, group: Definition, call: Node, output: int, depth: int) -> Family:
        """What an output of a group is, for what gives it inside."""
        inner = definition_graph(self.graph, group.name)
        wire = inner.wire_into(DEFINITION_OUTPUTS, str(output))
        if wire is None or depth > MOST_STEPS:
            return Family.UNKNOWN
        if wire.source in inner.nodes:
            analysis = analyse(inner)
            there = _Reporter(analysis, References(analysis), self.depth)
            node = inner.nodes[wire.source]
            operator = there.validity.operators.get(wire.source)
            names = there.references.bound(wire.source)
            return there._family(node, names[wire.output] if wire.output < len(names) else "", operator, depth)
        name = group.inputs[wire.output] if wire.output < len(group.inputs) else ""
        port = f"{INPUTS}.{group.taken.index(name)}" if group.is_module and name in group.taken else name
        outer = self.graph.wire_into(call.id, port)
        source = self.graph.nodes.get(outer.source) if outer is not None else None
        if source is None or outer is None:
            return Family.UNKNOWN
        names = self.references.bound(source.id)
        before = names[outer.output] if outer.output < len(names) else ""
        return self._family(source, before, self.validity.operators.get(source.id), depth)

    def _reads_tensor(self, node: Node) -> bool:
        for port in self.validity.ports[node.id]:
            wire = self.graph.wires[node.id, port]
            operator = self.validity.operators.get(wire.source)
            results = operator.results if operator is not None else ()
            family = results[wire.output].family if wire.output < len(results) else Family.UNKNOWN
            if family is not Family.NUMBER:
                return True
        return False

    def _is_leaf(self, node: Node, output: int) -> bool:
        """Whether the value is a leaf that requires grad, for all the text tells."""
        leaves = self.analysis.gradients.leaves
        return (node.id, output) in leaves or self.validity.binding(node.id, output) in leaves


def group_of_call(graph: Graph, node: Node) -> Definition | None:
    """The definition that a node calls, itself or by way of an object of its class; None when it calls none."""
    maker: Node | None = node
    if node.operator == CALL:
        maker = origin(graph, node)
    if maker is None or not maker.operator.startswith(GROUP):
        return None
    name = maker.operator.removeprefix(GROUP)
    if definition_reason(graph, GROUP + name) is not None:
        return None
    group = graph.definitions[name]
    is_object = maker is not node
    return group if group.is_module == is_object else None


def _surely_runs(graph: Graph, item: ItemId) -> bool:
    """Whether the statement runs at least once: in no condition, and in no loop that may be empty."""
    for body in graph.ancestors(item):
        if body and not body_is_top_level(graph, body) and not _has_turns(graph, ItemId(body)):
            return False
    return True


def _has_turns(graph: Graph, block_id: ItemId) -> bool:
    block = graph.blocks[block_id]
    if block.kind != "for":
        return block.kind != "if"
    count = block.lengths.get("range", 0)
    texts = [block.literals.get(f"range.{k}", "") for k in range(count)] or [block.literals.get("range", "")]
    if any((block.id, path) in graph.wires for path in ("range", *(f"range.{k}" for k in range(count)))):
        return False
    numbers = [int(text) for text in texts if text.isascii() and text.removeprefix("-").isdigit()]
    return len(numbers) == len(texts) and len(numbers) in (1, 2, 3) and len(range(*numbers)) > 0


def _print(inner: str, depth: int) -> list[str]:
    text = f"print({inner})"
    indent = len(INDENT) * depth
    return [" " * indent + text] if indent + columns(text) <= WIDTH else list(wrap(text, indent).lines)
