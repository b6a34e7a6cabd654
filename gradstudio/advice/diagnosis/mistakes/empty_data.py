"""Data of no rows: a loop that was to train and has no turn, a model that gets nothing; torch says no word of it."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loop_mistakes import ENUMERATE, LOADER, trains
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Node
from gradstudio.protocol.messages.records import PlainRecord, TensorRecord

DATASET = "torch.utils.data.TensorDataset"
HANDS_ON = {ENUMERATE: ("iterable",), LOADER: ("dataset",), DATASET: ("tensors.0",), "builtins.zip": ("iterables.0",)}
"""By operator, the port of what it has as many elements of."""
CONDITIONAL = frozenset({"if", "else", "while"})
FARTHEST = 20


def empty_data(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Loops that train and had no turn; and data of no rows that a model was called with."""
    yield from _loops(view, facts)
    yield from _inputs(view, facts)


def _loops(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    graph = view.graph
    if "for" not in {block.kind for block in graph.blocks.values()}:
        return
    ran = {body for item in facts.latest if outermost(item) in graph for body in graph.ancestors(outermost(item))}
    told = set[ItemId]()
    for item in graph.order():
        block = graph.blocks.get(item)
        if block is None or block.kind != "for" or block.muted or BodyId(item) in ran or not trains(graph, block):
            continue
        around = {ItemId(body) for body in graph.ancestors(item) if body != ROOT}
        if around & told or _is_conditional(graph, item):
            continue
        why = _why_no_turn(view, facts, block)
        if why is None:
            continue
        told.add(item)
        words, source = why
        yield Finding(
            "no_turns",
            "warning",
            item,
            f"The loop has no turn, so nothing in it is trained: {words}",
            "Nothing inside it runs, and Python says no word of it. Look at the numbers, the slice or the file that "
            "its data come from.",
            (item, source) if source is not None else (item,),
        )


def _why_no_turn(view: ProgramView, facts: RunFacts, block: Block) -> tuple[str, ItemId | None] | None:
    """Why a loop has none, and the item that is the cause; None where that is not known."""
    if "range" in block.lengths:
        numbers = [_number(view, facts, block, f"range.{k}") for k in range(block.lengths["range"])]
    else:
        numbers = [_number(view, facts, block, "range")]
    known = [number for number in numbers if number is not None]
    if known and len(known) == len(numbers) and not (len(known) == 3 and not known[2]):
        return (f"range({', '.join(map(str, known))}) is empty", None) if not range(*known) else None
    wire = view.graph.wire_into(block.id, "over")
    return _why_no_rows(view, facts, Source("over", wire.source, wire.output)) if wire is not None else None


def _why_no_rows(view: ProgramView, facts: RunFacts, source: Source) -> tuple[str, ItemId] | None:
    """Why what a loop goes over, or a part of a batch, has no element."""
    for _ in range(FARTHEST):
        item, output = view.resolve(source.item, source.output)
        shape = _shape(facts, item, output)
        if shape is not None:
            return (f"{view.name(item)} has 0 rows", item) if shape[:1] == (0,) else None
        node = view.graph.nodes.get(item)
        nearer = view.source(item, HANDS_ON.get(node.operator, ())) if node is not None else None
        if node is None or nearer is None:
            return None
        if node.operator == LOADER and node.literals.get("drop_last") == "True":
            size = _number(view, facts, node, "batch_size")
            rows = _rows(view, facts, nearer)
            if size is not None and rows is not None and 0 < rows < size:
                return f"{view.name(item)} gives whole batches of {size} only (drop_last), of {rows} rows", item
        source = nearer
    return None


def _inputs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Of calls of a model in the program's own text, at what first had no rows."""
    graph = view.graph
    told = set[ItemId]()
    for call in graph.nodes.values():
        if call.operator != CALL or call.id not in facts.latest or _is_conditional(graph, call.id):
            continue
        model, given = view.source(call.id, (CALLED,)), view.source(call.id, ("inputs.0",))
        if model is None or given is None or not facts.is_module(view.resolve(model.item, model.output)[0]):
            continue
        item = _first_without_rows(view, facts, given)
        if item is None or item in told or _is_choice(view, item):
            continue
        told.add(item)
        name, called = view.name(item), view.source_name(model)
        yield Finding(
            "no_rows",
            "warning",
            item,
            f"{name} has 0 rows: {called} computes with nothing",
            "Every layer gives 0 rows of 0 rows. A mean of them is NaN, a sum is 0, and no weight learns anything. "
            f"Look at the sizes, the slice or the file that {name} comes from.",
            (item, call.id),
        )


def _first_without_rows(view: ProgramView, facts: RunFacts, source: Source) -> ItemId | None:
    """Where rows were lost on the way to a value that has none; None where it has some."""
    found: ItemId | None = None
    nearer: Source | None = source
    for _ in range(FARTHEST):
        if nearer is None:
            break
        item, output = view.resolve(nearer.item, nearer.output)
        shape = _shape(facts, item, output)
        if shape is None or shape[:1] != (0,) or item not in view.graph.nodes:
            break
        found, nearer = item, view.source(item)
    return found


def _is_choice(view: ProgramView, item: ItemId) -> bool:
    """Whether numbers of the run choose the rows, so that none may be right: ``x[mask]``, inside an `if` or a turn."""
    graph = view.graph
    is_inside = any(graph.blocks[ItemId(body)].kind == "for" for body in graph.ancestors(item) if body != ROOT)
    chosen = any(source.port.startswith(("index", "mask", "condition")) for source in view.sources(item))
    return is_inside or chosen or _is_conditional(graph, item)


def _is_conditional(graph: Graph, item: ItemId) -> bool:
    bodies = (graph.blocks[ItemId(body)] for body in graph.ancestors(item) if body != ROOT)
    return any(block.kind in CONDITIONAL for block in bodies)


def _rows(view: ProgramView, facts: RunFacts, dataset: Source) -> int | None:
    """How many rows a data set has; None where that is not known."""
    item, output = view.resolve(dataset.item, dataset.output)
    tensors = view.source(item, HANDS_ON[DATASET])
    if tensors is not None:
        item, output = view.resolve(tensors.item, tensors.output)
    shape = _shape(facts, item, output)
    return shape[0] if shape else None


def _shape(facts: RunFacts, item: ItemId, output: int) -> tuple[int, ...] | None:
    record = facts.record(item, output)
    return tuple(record.summary.shape) if isinstance(record, TensorRecord) else None


def _number(view: ProgramView, facts: RunFacts, owner: Node | Block, path: str) -> int | None:
    """A whole number that is written, or that came by a wire."""
    wire = view.graph.wire_into(owner.id, path)
    if wire is None:
        text = owner.literals.get(path, "")
        return int(text) if text.removeprefix("-").isdecimal() else None
    record = facts.record(*view.resolve(wire.source, wire.output))
    if not isinstance(record, PlainRecord) or not isinstance(record.value, int) or isinstance(record.value, bool):
        return None
    return record.value
