"""Nodes that hold undrawn Python: their code, the names they share with the program, and why they cannot stand so."""

import ast
import builtins
import keyword
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import graphs_of, index_of
from gradstudio.graph.model import Graph, Header, ItemId, Node
from gradstudio.graph.text.code_names import CodeNames, names_of_code, open_line
from gradstudio.graph.text.code_text import renamed_code, syntax_of
from gradstudio.graph.text.literal_text import quote
from gradstudio.late_pattern import late

CODE = "python.code"
"""The key of the operator."""
PRINT = "builtins.print"
FREE_CALL, FREE_METHOD = "python.free_call", "python.free_method"
"""The keys of calls of what code made, which are drawn and may do anything all the same."""
FREE_PATH = "python.free_path"
"""The key of calls of what torch has and the catalogue has not: ``torch.cuda.set_device(0)``."""
FREE = frozenset({CODE, FREE_CALL, FREE_METHOD, FREE_PATH})
"""What may do anything."""
UNDRAWN = frozenset({CODE, FREE_PATH})
"""What makes a document one with Python of its own, which needs a yes."""
FILES = frozenset({"torch.save", "torch.load"})
"""What is drawn and reaches files, which needs a yes as code does."""
PROCESSES = frozenset(
    {
        *("torch.nn.parallel.DistributedDataParallel", "torch.utils.data.DistributedSampler"),
        *("torch.distributed.fsdp.fully_shard", "torch.distributed.device_mesh.init_device_mesh"),
        *(f"torch.distributed.tensor.{word}" for word in ("distribute_tensor", "Shard", "Replicate")),
        *(
            f"torch.distributed.tensor.parallel.{word}"
            for word in ("parallelize_module", "ColwiseParallel", "RowwiseParallel")
        ),
        *(
            f"torch.distributed.{word}"
            for word in (
                "init_process_group destroy_process_group get_rank get_world_size is_initialized get_node_local_rank "
                "new_group all_reduce broadcast reduce all_gather all_gather_into_tensor reduce_scatter_tensor "
                "all_gather_single reduce_scatter_single scatter gather all_to_all_single barrier send recv"
            ).split()
        ),
    }
)
"""What is drawn and reaches other processes, or belongs to what does, which needs a yes as code does."""
MOVES = frozenset(f"torch.Tensor.{word}" for word in "to cpu cuda float double half bfloat16 type".split())
"""Methods of tensors that modules have, too, and what code makes."""
LOADER = "torch.utils.data.DataLoader"
READ = "in."
"""How the port begins that brings a name: ``in.model``."""
STANDARD = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy",
    "math": "math",
}  # fmt: skip
"""What the head of every script may import, under the names that everybody gives it: no port brings it."""
DEFERRED = "annotations"
"""The name that `from __future__ import annotations` binds, which stands first in a script or nowhere."""
FUTURE = "__future__"
DEFER_ANNOTATIONS = f"from {FUTURE} import {DEFERRED}"
PLACE, MEMBERS = "place", '"class"'
"""The argument, and its literal, of code that is no statement: members of the class that a definition is."""
SHOWN_LINES = 8
"""So many lines of a code stand on its card."""
MAX_NAMES = 500
"""Names that one node may bind, or read."""
_GIVEN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__"}
_NOTHING = CodeNames()
_PRINTS = late(r"\b(print|tqdm|trange|warn|warning|info|debug)\(")
_DRAWS = late(r"\b(plt|pyplot|ax|axs|axes|fig|sns)\.[a-z_]+\(|\.(plot|imshow|hist|scatter)\(")


def is_code(node: Node) -> bool:
    """Whether a node holds undrawn Python."""
    return node.operator == CODE


def is_members(node: Node) -> bool:
    """Whether a node holds members of the class that a definition is, which run when they are called."""
    return is_code(node) and node.literals.get(PLACE) == MEMBERS


def is_code_at(graph: Graph, item: ItemId) -> bool:
    """Whether an item of a graph is a node that holds undrawn Python."""
    return item in graph.nodes and is_code(graph.nodes[item])


def holds_code(graph: Graph) -> bool:
    """Whether a document holds undrawn Python anywhere, definitions and what is muted included."""
    return any(not UNDRAWN.isdisjoint(index_of(one).by_operator) for one in graphs_of(graph))


def code_of(node: Node) -> str:
    """The statements of a node; "" when its literal is no text."""
    return _text(node.literals.get("code", ""))


def with_code(node: Node, code: str) -> Node:
    """The node with other statements."""
    return msgspec.structs.replace(node, literals={**node.literals, "code": quote(code)})


def shown_lines(node: Node) -> tuple[str, ...]:
    """The first lines of a node's code, and how many more there are; none of what is no code."""
    if not is_code(node):
        return ()
    lines = code_of(node).strip("\n").expandtabs(4).split("\n")
    more = len(lines) - SHOWN_LINES
    return (*lines[:SHOWN_LINES], f"… {more} more") if more > 1 else tuple(lines)


def may_print(node: Node) -> bool:
    """Whether a node's code looks as if it prints, so that room is kept for it."""
    return is_code(node) and bool(_PRINTS.search(_acting_lines(node.literals.get("code", ""))))


def may_draw(node: Node) -> bool:
    """Whether a node's code looks as if it draws figures, so that room is kept for one."""
    return is_code(node) and bool(_DRAWS.search(_acting_lines(node.literals.get("code", ""))))


def does_something(node: Node) -> bool:
    """Whether a node's code holds statements, and not comments alone."""
    return bool(syntax_of(code_of(node)).body)


def code_names(node: Node) -> CodeNames:
    """The names in a node's code; none when it is no Python."""
    try:
        names = names_of_code(code_of(node))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _NOTHING
    return _of_members(names) if is_members(node) else names


@lru_cache(maxsize=512)
def _of_members(names: CodeNames) -> CodeNames:
    """What members of a class do with the names around it: they read them, when they are called."""
    later = dict.fromkeys((*names.reads, *names.keeps, *names.later))
    return CodeNames(later=tuple(later), rebound=names.rebound, taken=names.taken, is_open=names.is_open)


def names_wanted(node: Node) -> tuple[str, ...]:
    """The names that a node's code reads and that something in the program may bind."""
    return _wanted(code_names(node))


@lru_cache(maxsize=512)
def _wanted(names: CodeNames) -> tuple[str, ...]:
    return tuple(name for name in names.reads if name not in _GIVEN and name not in STANDARD)


def unbound_names(names: CodeNames) -> tuple[str, ...]:
    """What a program reads and binds nowhere, in the order of the alphabet; none where no syntax shows all it binds."""
    if names.stars or names.is_open:
        return ()
    return tuple(sorted({*names.reads, *names.later} - {*names.binds, *names.rebound} - _GIVEN))


def imports_needed(node: Node, header: Header) -> frozenset[str]:
    """What of the usual imports the code reads and does not bind itself, and what its annotations need."""
    names = code_names(node)
    read = {*names.reads, *names.later} - names.surely
    needed = frozenset(name for name in STANDARD if name in read)
    return needed | {DEFERRED} if header.deferred_annotations and _is_annotated(code_of(node)) else needed


@lru_cache(maxsize=512)
def _is_annotated(code: str) -> bool:
    return has_annotations(syntax_of(code).body)


def has_annotations(statements: Iterable[ast.stmt]) -> bool:
    """Whether something in statements says what type it has."""
    parts = (part for one in statements for part in ast.walk(one))
    return any(getattr(part, "annotation", None) or getattr(part, "returns", None) for part in parts)


def code_reason(node: Node, incoming: dict[str, str], bound: tuple[str, ...], *, in_loop: bool = False) -> str | None:
    """Why a node's code cannot stand in the program; None when it can.

    Args:
        node: the node.
        incoming: by name that its code reads, what brings it is called; "" where nothing has named it yet.
        bound: what the results are called.
        in_loop: it stands in a loop.
    """
    code = code_of(node)
    try:
        names = _of_members(names_of_code(code)) if is_members(node) else names_of_code(code)
    except SyntaxError as error:
        return f"line {error.lineno or 1} of its code is no Python: {error.msg.partition(';')[0]}"
    except (ValueError, RecursionError, MemoryError):
        return "its code is no Python"
    if names.is_loose or (names.leaves_turn and not in_loop):
        return "its code leaves a loop or a function that it does not hold"
    if len(names.binds) > MAX_NAMES or len(names.reads) > MAX_NAMES:
        return f"its code binds or reads more than {MAX_NAMES} names"
    if len(bound) != len(names.binds):
        words = ", ".join(names.binds) or "nothing"
        return f"its code binds {words[:200]}"
    if reason := bound_reason(bound):
        return reason
    if stray := next((name for name in incoming if name not in (*names.reads, *names.keeps)), ""):
        return f"its code does not read '{stray[:60]}', and a wire ends there"
    for inner, outer in zip(names.binds, bound, strict=True):
        if incoming.get(inner, "") not in ("", outer):
            return f"'{inner}' is read as '{incoming[inner]}' and bound as '{outer}': both have one name in its code"
    try:
        renamed_code(code, new_names(node, incoming, bound))
    except Refused as error:
        return str(error)
    return None


def bound_reason(names: tuple[str, ...]) -> str | None:
    """Why names cannot be bound by code: its own words may be any that Python takes."""
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name) or len(name) > 1000:
            return f"'{name[:60]}' is not a Python name"
    return "it binds one name twice" if len(set(names)) != len(names) else None


def new_names(node: Node, incoming: dict[str, str], bound: tuple[str, ...]) -> dict[str, str]:
    """What names of the code are called in the program, where that is something else."""
    found = {inner: outer for inner, outer in incoming.items() if outer}
    found.update(zip(code_names(node).binds, bound, strict=False))
    return {inner: outer for inner, outer in found.items() if inner != outer}


@lru_cache(maxsize=512)
def _acting_lines(literal: str) -> str:
    """The lines of a code that do something at once: what is indented in functions and classes waits for a call."""
    lines = (line for line in _text(literal).split("\n") if not line.lstrip().startswith("#"))
    kept, is_inside = list[str](), False
    for line in lines:
        if line[:1].strip():
            is_inside = line.startswith(("def ", "class ", "async def ", "@"))
        if not is_inside:
            kept.append(line)
    return "\n".join(kept)


@lru_cache(maxsize=512)
def _text(literal: str) -> str:
    try:
        value = ast.literal_eval(literal) if literal else ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=64)
def reason_for_whole(code: str) -> str:
    """Why a program that holds this code is one card of it; "" where the code says all names that it reaches for."""
    try:
        line = open_line(code) if names_of_code(code).is_open else ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return f"`{line}` may read or bind any name, so all of the program is one card of code" if line else ""
