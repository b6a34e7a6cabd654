"""Write: a graph as a Python script, with the place of every node in it."""

from collections.abc import Sequence

import msgspec

from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.groups.definitions import call_order, definition_graph
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Graph, ItemId, Node
from gradstudio.graph.slices import Slices, stop_if, work_through
from gradstudio.graph.text.allowed_calls import APART
from gradstudio.graph.text.code_records import DEFER_ANNOTATIONS, DEFERRED, STANDARD
from gradstudio.graph.text.literal_text import quote
from gradstudio.graph.text.record_checks import DEVICE_KINDS
from gradstudio.operators.model import Operator
from gradstudio.program.model import Span
from gradstudio.program.printing.body_printer import Body
from gradstudio.program.printing.comment_lines import declares_encoding
from gradstudio.program.printing.definition_printer import definition_lines, printed_bodies
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.print_memo import Memo, memo_of, script_of
from gradstudio.program.printing.script_report import report_slices
from gradstudio.program.printing.statement_printer import PrintedBodies, StatementPrinter

_IMPORTS = (
    (DEFERRED, DEFER_ANNOTATIONS),
    ("math", "import math"),
    ("Path", "from pathlib import Path"),
    ("np", "import numpy as np"),
    ("torch", "import torch"),
    ("F", "import torch.nn.functional as F"),
    *((module, f"import {module}") for module in sorted(APART)),
    ("load_file", "from safetensors.torch import load_file"),
)
IMPORTED = {
    **STANDARD,
    "Path": "pathlib.Path",
    "load_file": "safetensors.torch.load_file",
    DEFERRED: "__future__.annotations",
}
"""By the word that a script is printed with, the path that its import binds it to."""
_PARTS = ("nn", "optim")
"""What is imported from torch by its own name."""
_BELOW = ("", "")
"""Blank lines between the definitions and the statements."""
_STANDARD = frozenset({DEFERRED, "math", "Path"})


class Script(msgspec.Struct, frozen=True):
    """A written program.

    Attributes:
        text: all of it; `code` without the report; `prelude` the imports and the header.
        spans: every node and block that is printed, in the order of the text.
        lines: 1-based line of every item, comments of incomplete ones included.
        device: ``device = ...`` is among the header.
        references: the names its statements read and bind.
        memo: what was printed of its items.
        insides: by definition, its items in the text.
        bodies: of functions in code, as they are printed.
    """

    text: str
    code: str
    prelude: str
    spans: tuple[Span, ...]
    lines: dict[ItemId, int]
    device: bool
    references: References
    memo: Memo
    insides: dict[str, tuple[Span, ...]]
    bodies: PrintedBodies


def write_script(graph: Graph, *, stem: str = "program") -> str:
    """The script that `export` writes; its stored tensors lie in ``<stem>.tensors``."""
    return write(graph, stem=stem).text


def write_code(graph: Graph, *, stem: str = "program") -> tuple[str, tuple[Span, ...]]:
    """The script without its report, and where the items stand in it."""
    script = write(graph, stem=stem)
    return script.code, script.spans


def write(graph: Graph, *, stem: str = "program") -> Script:
    """The whole script with all that is known of its text; the same object until the graph is edited."""
    return work_through(script_slices(graph, stem))


def script_slices(graph: Graph, stem: str) -> Slices[Script]:
    """As `write`, in slices between which nothing but places may change."""
    known = script_of(graph, stem)
    if isinstance(known, Script):
        return known
    analysis = analyse(graph)
    device = needs_device(analysis)
    memo = memo_of(graph, stem, device, graph.header.deferred_annotations)
    yield from stop_if(graph.nodes)
    bodies = printed_bodies(graph, stem)
    memo.print_with(bodies)
    references = memo.begin(analysis)
    yield from stop_if(graph.nodes)
    body = Body(StatementPrinter(references, device=device, stem=stem, bodies=bodies), memo)
    yield from body.write_slices(ROOT, 0)
    yield from stop_if(graph.nodes)
    definitions = definition_lines(graph, device, stem, body.imports)
    before = _before(graph, device, body.imports, definitions.lines)
    if declares_encoding([*before, *body.lines]):
        before = _before(graph, device, {*body.imports, "torch"}, definitions.lines)
    insides = definitions.below(len(before) - len(definitions.lines) - len(_BELOW))
    while before and not before[-1] and not body.lines:
        before.pop()
    prelude = "\n".join(before) + "\n" if before else ""
    code = prelude + "\n".join(body.lines) + "\n" if body.lines else prelude
    report = memo.report
    if report is None:
        report = yield from report_slices(analysis, references, memo)
    yield from stop_if(graph.nodes)
    spans, lines = body.placed_below(len(before))
    script = Script(code + report, code, prelude, spans, lines, device, references, memo, insides, bodies)
    memo.end(graph, script, report)
    return script


def needs_device(analysis: Analysis) -> bool:
    """Whether the script has the line ``device = ...`` (semantics §11)."""
    graph = analysis.graph
    if graph.header.device != "cpu":
        return True
    insides = (analyse(definition_graph(graph, name)) for name in call_order(graph))
    return any(_mentions_device(one) for one in (analysis, *insides))


def _mentions_device(analysis: Analysis) -> bool:
    graph, validity = analysis.graph, analysis.validity
    return any(
        _asks_for_device(graph, graph.nodes[item], operator)
        for item, operator in validity.operators.items()
        if (operator.creates or DOCUMENT_DEVICE in graph.nodes[item].literals.values()) and validity.is_live(item)
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
    parts = [name for name in _PARTS if name in needed]
    if parts:
        others.append(_from_torch(parts))
    return [*standard, *([""] if standard and others else []), *others]


def _from_torch(parts: Sequence[str]) -> str:
    return f"from torch import {', '.join(parts)}"


IMPORT_LINES = frozenset([*(text for _, text in _IMPORTS), *(_from_torch(p) for p in (_PARTS, _PARTS[:1], _PARTS[1:]))])
"""All lines that a script may begin with."""


def _before(graph: Graph, device: bool, needed: set[str], definitions: list[str]) -> list[str]:
    """The parts above the statements, each followed by a blank line (two around definitions)."""
    header = header_lines(graph, device, needed)
    imports = import_lines(needed)
    lines = [*imports, ""] if imports else []
    lines += [*header, ""] if header else []
    if definitions:
        lines += [*([""] if lines else []), *definitions, *_BELOW]
    return lines
