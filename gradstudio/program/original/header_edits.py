"""The settings of a program in the text that it was read from: seed, default dtype, device (semantics §11)."""

import ast

from gradstudio.graph.model import Graph
from gradstudio.program.original.new_imports import behind_imports
from gradstudio.program.original.statement_lines import StatementLines
from gradstudio.program.reading.read_text import Read
from gradstudio.program.write import Script, header_lines

_SEED, _DTYPE, _DEVICE, _HERE = "torch.manual_seed(", "torch.set_default_dtype(", "device = ", "HERE = "
_CALLS = {_SEED: "manual_seed", _DTYPE: "set_default_dtype"}


def with_header(typed: StatementLines, read: Read, graph: Graph, script: Script) -> str | None:
    """The text with the settings of a program; None where they are those of what was read of it.

    Args:
        typed: the text.
        read: what was read of it.
        graph: the program, and `script` as it is printed.
        script: see above.
    """
    header = header_lines(graph, True, set())
    wanted = {head: line for head in (_SEED, _DTYPE, _DEVICE) for line in header if line.startswith(head)}
    if "HERE = Path(" in script.prelude:
        wanted[_HERE] = "HERE = Path(__file__).parent"
    lines = list(typed.lines)
    new: list[str] = []
    edits: list[tuple[int, int, list[str]]] = []
    for head in _changed(typed, read, graph, wanted):
        line = wanted.get(head)
        if head == _DEVICE:
            number = typed.at(read.device[0]) if read.device[0] else None
            if number is None and "\ndevice = " not in script.prelude:
                continue
        else:
            number = _call(typed, _CALLS.get(head, ""))
        if number is not None:
            one = typed.statements[number]
            edits.append((one.first, one.last, [typed.indent(number) + line] if line is not None else []))
        elif line is not None:
            new.append(line)
    if new:
        at = behind_imports(typed)
        edits.append((at, at - 1, ["", *new] if at > 1 and typed.lines[at - 2].strip() else new))
    for first, last, put in sorted(edits, reverse=True):
        lines[first - 1 : last] = put
    text = "\n".join(lines)
    return text if edits else None


def _changed(typed: StatementLines, read: Read, graph: Graph, wanted: dict[str, str]) -> list[str]:
    old, new = read.graph.header, graph.header
    pairs = (
        (_SEED, old.seed, new.seed),
        (_DTYPE, old.default_dtype, new.default_dtype),
        (_DEVICE, old.device, new.device),
    )
    found = [head for head, one, other in pairs if one != other]
    if _HERE in wanted and not any("HERE" in line for line in typed.lines):
        found.append(_HERE)
    return found


def _call(typed: StatementLines, name: str) -> int | None:
    """The first statement that calls a function of that name, outside of definitions."""
    for number, one in enumerate(typed.statements):
        match one.node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr == name and not one.within:
                return number
    return None
