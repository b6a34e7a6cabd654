"""Write: a graph as a Python script, with the place of every node in it."""

from bisect import bisect_right
from collections.abc import Iterable

import msgspec

from gradstudio.graph.analysis import Analysis, analyse
from gradstudio.graph.arguments import GROUP
from gradstudio.graph.checks import DEVICE_KINDS
from gradstudio.graph.definitions import definition_reason
from gradstudio.graph.loop_targets import targets
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Block, BodyId, Graph, ItemId, Node
from gradstudio.graph.names import title
from gradstudio.graph.notes import note_of
from gradstudio.graph.spelling import NotALiteral, quote
from gradstudio.operators.model import Operator
from gradstudio.program.beside import with_comment
from gradstudio.program.comments import INDENT, declares_encoding, paragraphs, region, remark
from gradstudio.program.documents import columns
from gradstudio.program.expressions import Printer
from gradstudio.program.memo import Key, Memo, Piece, memo_of
from gradstudio.program.model import Span
from gradstudio.program.references import References
from gradstudio.program.report import report_lines
from gradstudio.program.values import Line
from gradstudio.program.wrap import WIDTH, wrap

_IMPORTS = (
    ("math", "import math"),
    ("Path", "from pathlib import Path"),
    ("np", "import numpy as np"),
    ("torch", "import torch"),
    ("F", "import torch.nn.functional as F"),
    ("load_file", "from safetensors.torch import load_file"),
)
_STANDARD = frozenset({"math", "Path"})


class Script(msgspec.Struct, frozen=True):
    """A written program.

    Attributes:
        text: all of it; `code` without the report; `prelude` the imports and the header.
        spans: every node and block that is printed, in the order of the text.
        lines: 1-based line of every item, comments of incomplete ones included.
        device: ``device = ...`` is among the header.
        references: the names its statements read and bind.
        memo: what was printed of its items.
    """

    text: str
    code: str
    prelude: str
    spans: tuple[Span, ...]
    lines: dict[ItemId, int]
    device: bool
    references: References
    memo: Memo


def write_script(graph: Graph, *, stem: str = "program") -> str:
    """The script that `export` writes; its stored tensors lie in ``<stem>.tensors``."""
    return write(graph, stem=stem).text


def write_code(graph: Graph, *, stem: str = "program") -> tuple[str, tuple[Span, ...]]:
    """The script without its report, and where the items stand in it."""
    script = write(graph, stem=stem)
    return script.code, script.spans


def write(graph: Graph, *, stem: str = "program") -> Script:
    """The whole script with all that is known of its text."""
    analysis = analyse(graph)
    device = needs_device(analysis)
    memo = memo_of(graph, stem, device)
    references = memo.begin(analysis)
    body = Body(references, device, stem, memo)
    body.write(ROOT, 0)
    definitions = definition_lines(graph, device, stem, body.imports)
    before = _before(graph, device, body.imports, definitions)
    if declares_encoding([*before, *body.lines]):
        before = _before(graph, device, {*body.imports, "torch"}, definitions)
    while before and not before[-1] and not body.lines:
        before.pop()
    prelude = "\n".join(before) + "\n" if before else ""
    code = prelude + "\n".join(body.lines) + "\n" if body.lines else prelude
    if memo.report is None:
        memo.report = report_lines(analysis, references)
    text = code + memo.report
    spans, lines = body.placed_below(len(before))
    return Script(text, code, prelude, spans, lines, device, references, memo)


def needs_device(analysis: Analysis) -> bool:
    """Whether the script has the line ``device = ...`` (SEMANTICS 11)."""
    graph, soundness = analysis.graph, analysis.soundness
    if graph.header.device != "cpu":
        return True
    return any(
        _asks_for_device(graph, graph.nodes[item], operator)
        for item, operator in soundness.operators.items()
        if (operator.creates or DOCUMENT_DEVICE in graph.nodes[item].literals.values()) and soundness.is_live(item)
    )


def _asks_for_device(graph: Graph, node: Node, operator: Operator) -> bool:
    """Whether a port that does not create uses the document's device, or one that creates is empty."""
    for parameter in operator.parameters:
        if parameter.kind in DEVICE_KINDS:
            literal = node.literals.get(parameter.name)
            if operator.creates and parameter.name == "device":
                if not literal and (node.id, "device") not in graph.wires:
                    return True
            elif _is_given_device(node, parameter.name):
                return True
    return False


def _is_given_device(node: Node, name: str) -> bool:
    """Whether the argument, or one of the values it is made of, is the document's device."""
    return any(text == DOCUMENT_DEVICE and path.partition(".")[0] == name for path, text in node.literals.items())


class Body:
    """Writes the statements of one graph; lines are counted from 1 at its first."""

    def __init__(self, references: References, device: bool, stem: str, memo: Memo | None = None) -> None:
        self.references, self.graph, self.memo = references, references.graph, memo
        self.soundness = references.soundness
        self.printer = self.make_printer(references, device, stem)
        self.imports: set[str] = set()
        self.lines: list[str] = []
        self.pieces: list[tuple[int, Piece]] = []
        self.line_of: dict[ItemId, int] = {}
        self._in_heads: set[ItemId] = set()

    def make_printer(self, references: References, device: bool, stem: str) -> Printer:
        """What prints the nodes."""
        return Printer(references, device=device, stem=stem)

    def placed_below(self, count: int) -> tuple[tuple[Span, ...], dict[ItemId, int]]:
        """Where the items stand, and on which lines, when there are so many lines above."""
        spans = tuple([span for top, piece in self.pieces for span in piece.spans(top + count)])
        lines = {item: line + count for item, line in self.line_of.items()}
        lines.update([(span.node, span.line) for span in spans])
        return spans, lines

    def write(self, body: BodyId, depth: int) -> bool:
        """Write the statements of a body; whether there was one that is more than a comment."""
        indent = INDENT * depth
        first_line, holds, notes = len(self.lines), False, ""
        for item in self.shown(body):
            owner = self.graph.nodes.get(item) or self.graph.blocks[item]
            if item in self.soundness.muted:
                continue
            if item in self._in_heads:
                continue
            note = self.note(item)
            notes = f"{notes}\n{note}" if notes and note else notes or note
            if item in self.references.nested:
                continue
            if owner.blank_before and len(self.lines) > first_line and self.lines[-1]:
                self.lines.append("")
            self.lines.extend(indent + line if line else "" for line in paragraphs(notes))
            notes, last_line = "", len(self.lines)
            holds = self.item(item, depth) or holds
            if len(self.lines) == last_line and last_line > first_line and not self.lines[-1]:
                self.lines.pop()
        tail = self.tail(body)
        above = [""] if tail.startswith("\n") and len(self.lines) > first_line and paragraphs(tail) else []
        self.lines.extend(indent + line if line else "" for line in [*above, *paragraphs(tail.rstrip("\n"))])
        return holds

    def shown(self, body: BodyId) -> Iterable[ItemId]:
        """The items of a body that are written; a form leaves some out."""
        return self.graph.bodies[body]

    def note(self, item: ItemId) -> str:
        """The comment above an item: above a loop also those of what its head takes apart; all those of a part."""
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        notes = [note_of(owner) if item in self.references.nested else owner.note]
        target = self.references.targets.get(item)
        notes += [note_of(self.graph.nodes[part.node]) for part in targets(target)] if target is not None else []
        return "\n".join(filter(None, notes))

    def tail(self, body: BodyId) -> str:
        """The comment after the last statement of a body."""
        return self.graph.tails.get(body, "")

    def item(self, item: ItemId, depth: int) -> bool:
        """Write one item; whether it is more than a comment."""
        if item in self.soundness.incomplete:
            self._incomplete(item, depth)
            return False
        block = self.graph.blocks.get(item)
        if block is None:
            return self._statement(item, depth)
        if block.kind == "group":
            return self._group(block, depth)
        line = Line()
        self.printer.head(line, block)
        self._in_heads.update(item for item, start, end in line.marks if item in self.references.from_head)
        self._put(self._piece(line, depth, None, block.beside))
        if not self.write(BodyId(item), depth + 1):
            self.lines.append(INDENT * (depth + 1) + "pass")
        return True

    def _group(self, block: Block, depth: int) -> bool:
        indent = INDENT * depth
        opening = indent + region(block.title)
        self.lines.extend(indent + line for line in paragraphs(remark(block.beside)[2:]))
        self._put(Piece(None, depth, (opening,), ((block.id, 0, len(indent), 0, len(opening)),), frozenset()))
        holds = self.write(BodyId(block.id), depth)
        self.lines.append(indent + "# endregion")
        return holds

    def _statement(self, item: ItemId, depth: int) -> bool:
        node = self.graph.nodes[item]
        if node.bypassed and not self.references.bound(item):
            self.line_of[item] = len(self.lines) + 1
            return False
        self._put(self._printed(item, depth))
        return True

    def _printed(self, item: ItemId, depth: int) -> Piece:
        """The statement as it was printed for an earlier revision, else anew."""
        key = self.memo.key(item) if self.memo is not None else None
        known = self.memo.pieces.get(item) if self.memo is not None else None
        if known is not None and known.key is key and known.depth == depth:
            return known
        line = Line()
        self.printer.statement(line, item)
        piece = self._piece(line, depth, key, self.graph.nodes[item].beside)
        if self.memo is not None:
            self.memo.pieces[item] = piece
        return piece

    def _piece(self, line: Line, depth: int, key: Key | None, beside: str) -> Piece:
        """What the printer has just written on a line, broken where that is too long, with the comment beside it."""
        text, indent = line.text, len(INDENT) * depth
        imports = frozenset(self.printer.imports)
        self.printer.imports.clear()
        if indent + columns(text) <= WIDTH:
            lines, above = with_comment((INDENT * depth + text,), beside)
            marks = tuple((item, above, indent + start, above, indent + end) for item, start, end in line.marks)
            return Piece(key, depth, lines, marks, imports)
        wrapped = wrap(text, indent)
        lines, above = with_comment(wrapped.lines, beside)
        starts = [piece[0] for piece in wrapped.pieces]
        places = []
        for item, start, end in line.marks:
            offset, _, row, column = wrapped.pieces[bisect_right(starts, start) - 1]
            last, _, end_row, end_column = wrapped.pieces[bisect_right(starts, end - 1) - 1]
            places.append((item, above + row, column + start - offset, above + end_row, end_column + end - last))
        return Piece(key, depth, lines, tuple(places), imports)

    def _put(self, piece: Piece) -> None:
        self.pieces.append((len(self.lines) + 1, piece))
        self.lines.extend(piece.lines)
        self.imports |= piece.imports

    def _incomplete(self, item: ItemId, depth: int) -> None:
        indent = INDENT * depth
        self.line_of[item] = len(self.lines) + 1
        self.lines.append(indent + remark(f"{self._guess(item)}  # {self.soundness.incomplete[item]}"))
        if item in self.graph.blocks:
            for inner in self.graph.bodies[BodyId(item)]:
                if inner in self.soundness.incomplete:
                    self._incomplete(inner, depth)

    def _guess(self, item: ItemId) -> str:
        """The statement as far as it can be said."""
        node = self.graph.nodes.get(item)
        line = Line()
        try:
            if node is None:
                self.printer.head(line, self.graph.blocks[item])
            elif item in self.soundness.operators and not node.bypassed:
                self.printer.statement(line, item)
            else:
                names = ", ".join(node.names)
                return f"{names} = {node.operator}(...)" if names else f"{node.operator}(...)"
        except (NotALiteral, RecursionError):
            return title(self.graph, item)
        finally:
            self.imports |= self.printer.imports
            self.printer.imports.clear()
        return line.text


def header_lines(graph: Graph, device: bool, imports: set[str]) -> list[str]:
    """The lines of the header; what they need is added to the imports."""
    header, lines = graph.header, []
    if header.seed is not None:
        lines.append(f"torch.manual_seed({int(header.seed)})")
    if header.default_dtype.startswith("torch.") and header.default_dtype[6:].isidentifier():
        lines.append(f"torch.set_default_dtype({header.default_dtype})")
    if device and header.device == "auto":
        lines.append('device = torch.device("cuda" if torch.cuda.is_available() else "cpu")')
    elif device:
        lines.append(f"device = torch.device({quote(header.device)})")
    if lines:
        imports.add("torch")
    if "Path" in imports:
        lines.append("HERE = Path(__file__).parent")
    return lines


def import_lines(needed: set[str]) -> list[str]:
    """The import statements for what is needed."""
    standard = [text for key, text in _IMPORTS if key in needed and key in _STANDARD]
    others = [text for key, text in _IMPORTS if key in needed and key not in _STANDARD]
    parts = [name for name in ("nn", "optim") if name in needed]
    if parts:
        others.append(f"from torch import {', '.join(parts)}")
    return [*standard, *([""] if standard and others else []), *others]


def _before(graph: Graph, device: bool, needed: set[str], definitions: list[str]) -> list[str]:
    """The parts above the statements, each followed by a blank line (two around definitions)."""
    header = header_lines(graph, device, needed)
    imports = import_lines(needed)
    lines = [*imports, ""] if imports else []
    lines += [*header, ""] if header else []
    if definitions:
        lines += [*([""] if lines else []), *definitions, "", ""]
    return lines


def definition_lines(graph: Graph, device: bool, stem: str, imports: set[str]) -> list[str]:
    """The definitions that live nodes call, each after those it calls itself."""
    lines: list[str] = []
    for name in _called(graph):
        definition = graph.definitions[name]
        references = References(Analysis(definition.graph, definition.inputs))
        body = Body(references, device, stem)
        holds = body.write(ROOT, 1)
        imports |= body.imports
        results = [_returned(references, definition.graph, k) for k in range(len(definition.outputs))]
        if results:
            body.lines.append(f"{INDENT}return {', '.join(results)}")
        elif not holds:
            body.lines.append(f"{INDENT}pass")
        lines += [*(["", ""] if lines else []), f"def {name}({', '.join(definition.inputs)}):", *body.lines]
    return lines


def _called(graph: Graph) -> list[str]:
    found: dict[str, None] = {}

    def visit(inner: Graph) -> None:
        for node in inner.nodes.values():
            name = node.operator.removeprefix(GROUP)
            is_group = node.operator.startswith(GROUP) and name not in found
            if is_group and definition_reason(graph, node.operator) is None:
                visit(graph.definitions[name].graph)
                found[name] = None

    visit(graph)
    return list(found)


def _returned(references: References, graph: Graph, output: int) -> str:
    wire = next((w for w in graph.incoming.get(_OUTPUTS, {}) if w.port == str(output)), None)
    return (references.read(wire) if wire is not None else "") or "None"


_OUTPUTS = ItemId("@outputs")
