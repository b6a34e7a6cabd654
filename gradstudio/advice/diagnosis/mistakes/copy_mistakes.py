"""What is taken for a copy and is none, and copies that lose what they are made of."""

import ast
import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import READ, code_of, is_code
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord

LOADS, MAKES = frozenset({"load_state_dict"}), frozenset({"tensor"})
SECOND_NAMES, LOADING = frozenset({"alias"}), ".load_state_dict"
STAYING = re.compile(r"(^|_)(target|teacher|old|ref|reference|ema|momentum|frozen|copy|backup|best)(_|$)|_old$|_copy$")
"""What a module is called that is to differ from the one that learns."""
STATE = "torch.nn.Module.state_dict"
WRITTEN = "setitem"
WHOLE = ("int", "uint", "bool")


def kept_reference(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A module that is given back its own state, which has changed with it."""
    source, loaded = view.source(item, ("state_dict",)), view.source(item, ("self",))
    if source is None or loaded is None:
        return
    kept, output = view.resolve(source.item, source.output)
    module, (owner, line) = view.resolve(loaded.item, loaded.output), _owner_of_state(view, kept, output)
    if owner is None or view.resolve(owner.item, owner.output) != module:
        return
    users = [*view.followers(kept), *view.followers(source.item, source.output)]
    if any(view.word(user) == WRITTEN for user in users):
        return  # it is changed entry by entry before it is loaded
    name, of = view.name(kept, output if line else None), view.source_name(owner)
    called = view.source_name(loaded)
    if kept == source.item and called != of:
        yield Finding(
            "kept_reference",
            "warning",
            item,
            f"{called} is {of} itself, and no copy of it: whatever changes {of} changes {called}",
            f"A second name is no second module. Make {called} = copy.deepcopy({of}).",
            (item, loaded.item),
        )
        return
    yield Finding(
        "kept_reference",
        "warning",
        kept,
        f"{name} is no copy of the weights of {of}: state_dict() gives the tensors themselves, which training changes",
        f"Loading it later changes nothing. Keep a copy: copy.deepcopy({of}.state_dict()).",
        (kept, item),
        line=line,
    )


def _owner_of_state(view: ProgramView, kept: ItemId, output: int) -> tuple[Source | None, int]:
    """The module whose own state a value is, and the line of it where code gives it; None: it is no such value."""
    node = view.node(kept)
    if node is not None and is_code(node) and output < len(node.names):
        owner, line = _state_in_code(syntax_of(code_of(node)), node.names[output])
        return (view.source(kept, (READ + owner,)) if owner else None), line
    return (view.source(kept, ("self",)) if node is not None and node.operator == STATE else None), 0


def _state_in_code(code: ast.Module, name: str) -> tuple[str, int]:
    """Whose state a name is given in a code, and on which line; "" where it is given something else, or changed."""
    parts = list(ast.walk(code))
    values = dict(pair for one in parts if isinstance(one, ast.Assign) for pair in _assigned(one))
    stores = [one for one in parts if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)]
    entries = [one.value for one in parts if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)]
    if any(isinstance(one, ast.Name) and one.id == name for one in entries):
        return "", 0
    owners = {_owner_in_code(values.get(one)) for one in stores}
    return (owners.pop(), stores[0].lineno) if len(owners) == 1 else ("", 0)


def _assigned(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value, those of ``a, b = c, d`` one by one."""
    for target in statement.targets:
        value = statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield target, value


def _owner_in_code(value: ast.expr | None) -> str:
    """``model`` of ``model.state_dict()``."""
    method = value.func if isinstance(value, ast.Call) and not value.args else None
    if not isinstance(method, ast.Attribute) or method.attr != "state_dict" or not isinstance(method.value, ast.Name):
        return ""
    return method.value.id


def second_name(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A module under a name that says it is to stay as it was, while the other one learns."""
    source, name = view.source(item), view.name(item)
    if source is None or not STAYING.search(name) or not isinstance(lookup(source.item, source.output), ModuleRecord):
        return
    if any(node.operator.endswith(LOADING) for node in written_nodes(view.graph)):
        return  # told where it is loaded
    of = view.source_name(source)
    yield Finding(
        "kept_reference",
        "warning",
        item,
        f"{name} is {of} itself, and no copy of it: whatever changes {of} changes {name}",
        f"A second name is no second module. Make {name} = copy.deepcopy({of}).",
        (item, source.item),
    )


def lost_fractions(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """Numbers with a point, written down for a tensor of whole numbers."""
    node, record = view.node(item), lookup(item, 0)
    if node is None or not isinstance(record, TensorRecord) or not record.summary.dtype.startswith(WHOLE):
        return
    if "dtype" not in node.literals or not _has_fraction(node.literals.get("data", "")):
        return
    yield Finding(
        "rounds_down",
        "warning",
        item,
        f"{view.name(item)} loses what its numbers have behind the point: its dtype is {record.summary.dtype}",
        "torch cuts them off without a word. Give it a dtype of floating point where the numbers are measured, and a "
        "whole one only for classes, counts and places.",
        (item,),
    )


def _has_fraction(text: str) -> bool:
    """Whether a number that is written there is no whole one."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    nodes = list(ast.walk(tree))
    if any(isinstance(node, ast.Call | ast.Name) for node in nodes):
        return False
    return any(isinstance(n, ast.Constant) and isinstance(n.value, float) and not n.value.is_integer() for n in nodes)
