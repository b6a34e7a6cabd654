"""Lines of a training that a canvas keeps as code: as *Add training* writes them, and as exports find them again.

An early stop hands two numbers on from turn to turn and leaves the loop by them; a model is compiled in place, so
that it keeps its name and the names of its parameters.
"""

import ast
from collections.abc import Iterator

import msgspec

from gradstudio.graph.edits import Edits, RemoveNode, RemoveWire, ReplaceBlock, apply_all
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm

INDENT = "    "
_BEGUN = {"items.0": 'float("inf")', "items.1": "0"}
_WAITED = '"0 if v0 < v1 else v2 + 1"'
_LEAVES = (
    "'{name}' leaves a loop in a way that a training script cannot keep. End it as *Add training with…* does: "
    "waited = 0 if loss_test < best else waited + 1, best = min(best, loss_test.item()), if waited >= 5: break."
)


class EarlyStop(msgspec.Struct, frozen=True):
    """A training that ends when a figure got no better for some turns.

    Attributes:
        judged: what the figure is called; `best` and `waited` what the two numbers are called.
        patience: so many turns in a row without a better one are the last.
    """

    judged: str
    best: str
    waited: str
    patience: int


class CodeSwitches(msgspec.Struct, frozen=True):
    """What of a program's code a training script says by its options.

    Attributes:
        stop: how it ends early; None when it does not.
        compiles: what a model is compiled with, as the text of arguments; None when none is compiled.
    """

    stop: EarlyStop | None = None
    compiles: str | None = None

    @property
    def features(self) -> set[str]:
        """What the texts of a script ask of them."""
        found = {"patient"} if self.stop is not None else set()
        return found | ({"compiled"} if self.compiles is not None else set())

    @property
    def values(self) -> dict[str, str]:
        """What stands for each ``<name>`` in the texts of a script."""
        compiled = self.compiles or ""
        found = {"compile": compiled, "compile_more": f", {compiled}" if compiled else ""}
        return found | (msgspec.structs.asdict(self.stop) | {"patience": str(self.stop.patience)} if self.stop else {})


NO_SWITCHES = CodeSwitches()
"""Of a program without such code."""


def stop_lines(stop: EarlyStop) -> Iterator[str]:
    """The end of a turn that may be the last."""
    best, waited, judged = stop.best, stop.waited, stop.judged
    yield f"{waited} = 0 if {judged} < {best} else {waited} + 1"
    yield f"{best} = min({best}, {judged}.item())"
    yield f"if {waited} >= {stop.patience}:"
    yield f"{INDENT}break"


def begin_lines(stop: EarlyStop) -> Iterator[str]:
    """What stands before the loop: nothing was measured yet."""
    yield f'{stop.best}, {stop.waited} = float("inf"), 0'


def without_code_switches(graph: Graph) -> tuple[Graph, CodeSwitches]:
    """The graph without such code, and what it said.

    Raises:
        NoForm: other code leaves a loop.
    """
    twin, stop = _without_stop(graph)
    for node in twin.nodes.values():
        if is_code(node) and _leaves_a_loop(syntax_of(code_of(node))):
            raise NoForm(_LEAVES.format(name=title(twin, node.id)))
    found = {node.id: text for node in twin.nodes.values() if (text := _compiled_with(twin, node)) is not None}
    if len(set(found.values())) > 1:
        raise NoForm("Models are compiled in different ways. A training script compiles them in one.")
    if found:
        twin = twin if stop is not None else twin.copy()
        apply_all(twin, _removal(twin, list(found)))
    return twin, CodeSwitches(stop, next(iter(found.values()), None))


def early_stop_in(graph: Graph) -> EarlyStop | None:
    """How a program ends its training early; None when it does not, or not as *Add training* writes it."""
    found = (_stop_at(graph, node) for node in graph.nodes.values() if is_code(node))
    return next((one[0] for one in found if one is not None), None)


def _without_stop(graph: Graph) -> tuple[Graph, EarlyStop | None]:
    for node in graph.nodes.values():
        found = _stop_at(graph, node)
        if found is not None:
            stop, loop, items = found
            twin = graph.copy()
            apply_all(twin, _removal(twin, items))
            apply_all(twin, (ReplaceBlock(msgspec.structs.replace(twin.blocks[loop], carried=())),))
            return twin, stop
    return graph, None


def _removal(graph: Graph, items: list[ItemId]) -> Edits:
    wires = dict.fromkeys(wire for item in items for wire in (*graph.wires_to(item), *graph.wires_from(item)))
    return (*(RemoveWire(wire) for wire in wires), *(RemoveNode(item) for item in items))


def _stop_at(graph: Graph, node: Node) -> tuple[EarlyStop, ItemId, list[ItemId]] | None:
    """The early stop that ends with a node of code: what it is, its loop, and all that belongs to nothing else."""
    match syntax_of(code_of(node)).body if is_code(node) else []:
        case [
            ast.If(
                test=ast.Compare(
                    left=ast.Name(id=waited), ops=[ast.GtE()], comparators=[ast.Constant(value=int(most))]
                ),
                body=[ast.Break()],
                orelse=[],
            )
        ] if most > 0:
            loop = graph.blocks.get(ItemId(graph.parents[node.id]))
        case _:
            return None
    if loop is None or loop.kind != "for" or graph.bodies[BodyId(loop.id)][-1] != node.id or len(loop.carried) != 2:
        return None
    best = next((name for name in loop.carried if name != waited), "")
    counted, least = graph.wires.get((loop.id, f"next.{waited}")), graph.wires.get((loop.id, f"next.{best}"))
    begun = graph.wires.get((loop.id, f"first.{best}"))
    if counted is None or least is None or begun is None or graph.nodes[begun.source].literals != _BEGUN:
        return None
    items = [node.id, counted.source, least.source, begun.source]
    places = {name: (loop.id, loop.carried.index(name) + 1) for name in loop.carried}
    judged = graph.wires.get((counted.source, "values.0"))
    given = graph.wires.get((least.source, "args.1"))
    if judged is None or given is None or judged.source not in graph.nodes:
        return None
    items.append(given.source)
    is_usual = (
        graph.nodes[begun.source].names == (best, waited)
        and graph.nodes[counted.source].literals.get("template") == _WAITED
        and graph.nodes[least.source].operator == "builtins.min"
        and graph.nodes[given.source].operator == "torch.Tensor.item"
        and _ends(graph, given.source) == [(judged.source, judged.output)]
        and _ends(graph, counted.source)[1:] == [places[best], places[waited]]
        and _ends(graph, least.source) == [places[best], (given.source, 0)]
        and len(names := graph.nodes[judged.source].names) > judged.output
        and not _read_elsewhere(graph, items, loop.id)
    )
    return (EarlyStop(names[judged.output], best, waited, most), loop.id, items) if is_usual else None


def _ends(graph: Graph, item: ItemId) -> list[tuple[ItemId, int]]:
    """What a node is given, in the order of its ports."""
    wires: list[Wire] = sorted(graph.wires_to(item), key=lambda wire: wire.port)
    return [(wire.source, wire.output) for wire in wires]


def _read_elsewhere(graph: Graph, items: list[ItemId], loop: ItemId) -> bool:
    """Whether something else reads what an early stop computes."""
    own = {*items, loop}
    carried = (wire for wire in graph.wires_from(loop) if wire.output)
    return any(wire.target not in own for wire in (*carried, *(w for item in items for w in graph.wires_from(item))))


def _leaves_a_loop(statement: ast.AST) -> bool:
    """Whether code holds a `break` or a `continue` of a loop around it."""
    for inner in ast.iter_child_nodes(statement):
        if isinstance(inner, ast.Break | ast.Continue):
            return True
        if not isinstance(inner, ast.For | ast.While | ast.expr) and _leaves_a_loop(inner):
            return True
    return False


def _compiled_with(graph: Graph, node: Node) -> str | None:
    """The arguments by which a node of code compiles a model in place; None where it does something else."""
    if not is_code(node) or graph.parents[node.id] != ROOT:
        return None
    match syntax_of(code_of(node)).body:
        case [
            ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="compile"), args=[], keywords=keywords))
        ] if all(word.arg and isinstance(word.value, ast.Constant) for word in keywords):
            return ", ".join(f"{word.arg}={_text(word.value)}" for word in keywords)
    return None


def _text(value: ast.expr) -> str:
    """A constant as the scripts write it."""
    text = ast.unparse(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text else text
