"""Ways out of what was found in the text of undrawn Python, where one line of it is to read otherwise."""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding, FindingKind
from gradstudio.advice.diagnosis.slips.attribute_slips import REQUIRES, near_attribute
from gradstudio.advice.failure_case import Offer
from gradstudio.graph.edits import Edits, ReplaceNode
from gradstudio.graph.model import Graph, Node
from gradstudio.graph.text.code_records import code_of, is_code, with_code
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.graph.text.drawn_bodies import bodies_in

OLD = "\0"
"""In what is to be written: the text that it takes the place of."""
Part = ast.expr | ast.stmt


class _Change(NamedTuple):
    """What to write in place of a part of a text.

    Attributes:
        words: the title of the fix.
        is_before: it becomes a line of its own, before the part, which stays.
    """

    words: str
    old: Part
    new: str
    is_before: bool = False


def code_fixes(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Those of a finding that names a line of a node's own text; none where part of that text is drawn."""
    node, maker = graph.nodes.get(finding.node), MAKERS.get(finding.kind)
    if not finding.line or maker is None or node is None or not is_code(node) or bodies_in(node):
        return
    text = code_of(node)
    parts = [part for part in ast.walk(syntax_of(text)) if isinstance(part, Part)]
    for change in maker(finding, parts):
        yield change.words, _recipe(node, _changed(text, change))


def _recipe(node: Node, code: str) -> Callable[[Graph], Edits]:
    edit = ReplaceNode(with_code(node, code))
    return lambda _graph: (edit,)


def _changed(text: str, change: _Change) -> str:
    """The text with a change; columns of a syntax tree count bytes."""
    old, lines = change.old, [line.encode() for line in text.split("\n")]
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    if change.is_before:
        lines.insert(first, lines[first][: old.col_offset] + change.new.encode())
    else:
        behind = lines[last][old.end_col_offset or 0 :]
        new = change.new.replace(OLD, ast.get_source_segment(text, old) or "").encode()
        lines[first : last + 1] = [lines[first][: old.col_offset] + new + behind]
    return b"\n".join(lines).decode()


def _right_attribute(finding: Finding, parts: list[Part]) -> Iterator[_Change]:
    """The name that torch knows; of a module its method."""
    for part in parts:
        target = part.targets[0] if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
        if not isinstance(part, ast.Assign) or not isinstance(target, ast.Attribute) or target.lineno != finding.line:
            continue
        whose, right = ast.unparse(target.value), near_attribute(target.attr)
        if right:
            new = f"{whose}.{right}"
            yield _Change(f"Write {new}", target, new)
        elif target.attr == REQUIRES:
            new = f"{whose}.{REQUIRES}_({ast.unparse(part.value)})"
            yield _Change(f"Write {new}", part, new)


def _container(finding: Finding, parts: list[Part]) -> Iterator[_Change]:
    """The container of torch in place of a plain list or dict of layers."""
    at_line = [part for part in parts if part.lineno == finding.line]
    appends = [
        part.func.value for part in at_line if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    ]
    named = {ast.unparse(part) for part in appends}
    for part in parts:
        if not isinstance(part, ast.Assign) or len(part.targets) != 1:
            continue
        target, value = ast.unparse(part.targets[0]), part.value
        if isinstance(value, ast.List) and target in named and part.lineno < finding.line:
            yield _Change(f"Make {target} an nn.ModuleList", value, f"nn.ModuleList({OLD if value.elts else ''})")
        elif isinstance(value, ast.Dict) and part.lineno == finding.line and all(map(_is_text, value.keys)):
            yield _Change(f"Make {target} an nn.ModuleDict", value, f"nn.ModuleDict({OLD})")


def _is_text(key: ast.expr | None) -> bool:
    """Whether a key is a string, which a ModuleDict asks for."""
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _zero_before(finding: Finding, parts: list[Part]) -> Iterator[_Change]:
    """`zero_grad` of the optimizer that steps in the same loop, before the backward."""
    loops = [part for part in parts if isinstance(part, ast.For | ast.While)]
    around = [loop for loop in loops if loop.lineno < finding.line <= (loop.end_lineno or 0)]
    for part in parts:
        if not isinstance(part, ast.Expr) or part.lineno != finding.line or not around:
            continue
        if any(other is not part and isinstance(other, ast.stmt) and other.lineno == part.lineno for other in parts):
            return  # it shares its line, and nothing fits in between
        called = [one.func for one in ast.walk(around[0]) if isinstance(one, ast.Call)]
        steps = [one for one in called if isinstance(one, ast.Attribute) and one.attr == "step"]
        for owner in dict.fromkeys(ast.unparse(one.value) for one in steps):
            if f"over the steps of {owner}:" in finding.title:
                yield _Change(f"Put {owner}.zero_grad() before the backward", part, f"{owner}.zero_grad()", True)


MAKERS: dict[FindingKind, Callable[[Finding, list[Part]], Iterator[_Change]]] = {
    "unknown_attribute": _right_attribute,
    "left_out": _container,
    "no_zero_grad": _zero_before,
}
"""By the kind of a finding: what its line is to read."""
