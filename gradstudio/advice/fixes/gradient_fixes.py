"""Ways out of errors about gradients and in-place writes, found by walking up the graph."""

from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.advice.cut_chains import NO_GRADS, made_from
from gradstudio.advice.failure_case import Case, Offer
from gradstudio.advice.failure_sentences import backward_before, carried_graph, is_backward, shared_result
from gradstudio.advice.model import FixKind
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import may_require_grad
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.shared_storage import receiver_wire
from gradstudio.operators.model import Effect, Face, Kind, Operator
from gradstudio.protocol.messages.records import Record, TensorRecord

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
ROOT_PORTS = ("self", "tensors", "outputs", "tensors.0", "outputs.0")
DETACHING = frozenset({"detach", "item", "tolist", "data"})
MAX_OFFERS = 3
GRAD = "torch.Tensor.grad"


def reduce_root(case: Case, kind: FixKind) -> Iterator[Offer]:
    """One number first: sum or mean before the backward."""
    wire = root_wire(case)
    word = kind.text.rsplit(".", 1)[-1]
    if wire is not None:
        yield f"Reduce it to one number first ({word}())", _insert(wire, kind.text)


def ones(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Give the weights: a one for every element."""
    wire = root_wire(case)
    port = {"self": "gradient", "tensors": "grad_tensors", "outputs": "grad_outputs"}
    name = port.get(wire.port.partition(".")[0], "") if wire is not None else ""
    if wire is not None and name == "gradient":
        yield (
            "Give every element the weight 1 (gradient=torch.ones_like(…))",
            lambda graph: recipes.feed(graph, wire.source, wire.output, "torch.ones_like", case.item, name),
        )


def require_leaf(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Set requires_grad on a leaf from which the root was computed without a cut."""
    wire = root_wire(case)
    if wire is None:
        return
    count = 0
    for node in case.above(wire.source):
        if count < MAX_OFFERS and _can_require_grad(case.graph, node, case.lookup):
            step = _set(node.id, "requires_grad", "True")
            if _reaches(case.graph, step, wire):
                count += 1
                yield f"Set requires_grad of {case.name(node.id)} to True", step


def uncut(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Take away the one detach or no_grad that stands between the root and a leaf that requires grad."""
    wire = root_wire(case)
    if wire is None:
        return
    blocks: set[BodyId] = set()
    for node in (case.graph.nodes[item] for item in made_from(case.graph, wire) if item in case.graph.nodes):
        operator = operator_of(case.graph, node.id)
        if operator is not None and operator.cuts and operator.word in DETACHING and not node.bypassed:
            step: Callable[[Graph], Edits] = partial(recipes.set_bypassed, items=(node.id,), bypassed=True)
            if _reaches(case.graph, step, wire):
                yield f"Take {operator.word} away ({case.name(node.id)} passes its input on)", step
        blocks.update(case.graph.ancestors(node.id))
    for body in sorted(blocks - {ROOT}):
        block = case.graph.blocks[ItemId(body)]
        step = partial(recipes.unwrap, block=block.id)
        if block.kind in NO_GRADS and _reaches(case.graph, step, wire):
            yield f"Take the block {block.kind} away", step


def create_graph(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let an earlier backward record itself, where the root was computed from the gradients it gave."""
    wire = root_wire(case)
    if wire is None:
        return
    for node in case.above(wire.source):
        operator = operator_of(case.graph, node.id)
        if operator is None or node.literals.get("create_graph") == "True":
            continue
        if Effect.BACKWARD in operator.effects and operator.results:
            yield "Let the first backward record itself (create_graph=True)", _set(node.id, "create_graph", "True")
        elif operator.key == GRAD and (first := _nearest_backward(case)) is not None:
            yield "Let the first backward record itself (create_graph=True)", _set(first.id, "create_graph", "True")


def retain_graph(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let the backwards before this one keep what they saved."""
    earlier = [node for node in case.before() if is_backward(case.graph, node.id)]
    around = case.graph.ancestors(case.item) if case.node is not None else ()
    loops = any(body != ROOT and case.graph.blocks[ItemId(body)].kind == "for" for body in around)
    chosen = [node.id for node in earlier]
    if case.node is not None and (loops or not chosen):
        chosen.append(case.item)
    steps = [_set(item, "retain_graph", "True") for item in chosen]
    which = "this backward" if chosen == [case.item] else "the first backward"
    if chosen:
        yield f"Let {which} keep what it saved (retain_graph=True)", lambda graph: recipes.combine_steps(graph, *steps)


def detach_shared(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Cut off what two losses are made from for the first one, which is not to train what made it."""
    first = backward_before(case.graph, case.item)
    shared = shared_result(case.graph, first, case.item) if first is not None else None
    if first is None or shared is None:
        return
    inside = {node.id for node in case.above(first)}
    outside = {node.id for node in case.above(case.item)}
    wires = [wire for wire in case.graph.wires_from(shared) if wire.target in inside and wire.target not in outside]
    if len(wires) == 1:
        name = case.name(shared)
        yield f"Detach {name} in the first loss ({name}.detach())", _insert(wires[0], "torch.Tensor.detach")


def detach_carried(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Carry the value alone into the next turn, without the graph that the backward of this turn frees."""
    wire = carried_graph(case.graph, case.item)
    if wire is None:
        return
    record = case.lookup(wire.source, wire.output)
    is_one_of_several = len(case.graph.nodes[wire.source].names) > 1  # of which an LSTM's state is a tuple
    if isinstance(record, TensorRecord) or (record is None and not is_one_of_several):
        name = wire.port.partition(".")[2]
        yield f"Carry {name}.detach() into the next turn", _insert(wire, "torch.Tensor.detach")


def no_grad(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Put the write into a block that records nothing."""
    yield "Wrap the statement in no_grad", partial(recipes.wrap, items=(case.item,), kind="no_grad")


def out_of_place(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """The operator that returns a new tensor, for each write that can be meant."""
    for item in culprits(case):
        node, operator = case.graph.nodes[item], operator_of(case.graph, item)
        if node.literals.get("inplace") == "True":
            yield f"Let {case.name(item)} return a new tensor (inplace=False)", _set(item, "inplace", "")
        elif operator is not None and (words := new_tensor_words(operator)):
            name = written_name(case, item)
            yield f"Use {words} on {name}", partial(recipes.out_of_place, item=item)


def clone(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Write into a copy, for each write that can be meant."""
    for item in culprits(case):
        if receiver_wire(case.graph, item) is not None:
            name = written_name(case, item)
            yield f"Write into a copy of {name} ({name}.clone())", partial(recipes.clone_before_write, item=item)


def clone_base(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Copy what the view is of, so that the write does not reach the leaf."""
    wire = receiver_wire(case.graph, case.item)
    while wire is not None and (operator := operator_of(case.graph, wire.source)) is not None:
        base = next(iter(case.graph.wires_to(wire.source)), None)
        if not operator.view or base is None:
            break
        wire = base
    if wire is not None and wire.target != case.item:
        name = case.source_name(wire)
        yield f"Work on a copy of {name} ({name}.clone())", _insert(wire, "torch.Tensor.clone")


def not_inference(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """no_grad where inference_mode was."""
    seen: set[BodyId] = set()
    for node in case.above(case.item):
        for body in case.graph.ancestors(node.id):
            block = case.graph.blocks.get(ItemId(body))
            if block is None or block.kind != "inference_mode" or body in seen:
                continue
            seen.add(body)
            yield "Use no_grad instead of inference_mode", partial(_block_instead, block=block.id)


def clone_inference(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Copy what was made in inference_mode, outside of it."""
    for wire in case.graph.wires_to(case.item):
        around = case.graph.ancestors(wire.source)
        if any(body and case.graph.blocks[ItemId(body)].kind == "inference_mode" for body in around):
            name = case.source_name(wire)
            yield f"Work on a copy of {name} ({name}.clone())", _insert(wire, "torch.Tensor.clone")


def require_own_leaf(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let the leaf whose .grad is None require one."""
    for wire in _grad_owners(case):
        node = case.graph.nodes.get(wire.source)
        if node is not None and _can_require_grad(case.graph, node, case.lookup):
            yield f"Set requires_grad of {case.name(node.id)} to True", _set(node.id, "requires_grad", "True")


def require_inputs(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let the leaves that a gradient is asked of require one."""
    for wire in case.graph.wires_to(case.item):
        node = case.graph.nodes.get(wire.source)
        asked = wire.port.partition(".")[0] in ("inputs", "self")
        if asked and node is not None and _can_require_grad(case.graph, node, case.lookup):
            yield f"Set requires_grad of {case.name(node.id)} to True", _set(node.id, "requires_grad", "True")


def retain_grad(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Keep the gradient of a value that is no leaf, by a statement before the first backward."""
    first = next((n for n in reversed(list(case.before())) if is_backward(case.graph, n.id)), None)
    for wire in _grad_owners(case):
        node = case.graph.nodes.get(wire.source)
        if first is None or node is None or node.literals.get("requires_grad") == "True":
            continue
        if (wire.source, wire.output) in may_require_grad(case.graph):
            name = case.source_name(wire)
            yield (
                f"Keep the gradient of {name} ({name}.retain_grad())",
                partial(
                    recipes.statement_before,
                    source=wire.source,
                    output=wire.output,
                    key="torch.Tensor.retain_grad",
                    before=first.id,
                ),
            )


def behind_backward(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Move the statement, and the .grad it reads, behind the first backward that follows."""
    items = list(case.graph.order())
    at = items.index(case.item) if case.item in items else len(items)
    later = (case.graph.nodes[item] for item in items[at + 1 :] if item in case.graph.nodes)
    first = next((node for node in later if is_backward(case.graph, node.id)), None)
    if first is not None:
        chosen = [wire.source for wire in case.graph.wires_to(case.item) if _is_grad(case.graph, wire.source)]
        yield "Move it behind the backward", partial(recipes.move_behind, items=(*chosen, case.item), other=first.id)


def step_behind(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Move the optimizer's step that wrote behind the backward that failed."""
    for item in culprits(case):
        wire = case.graph.wire_into(item, "self")
        name = f"{case.source_name(wire)}.step()" if wire is not None else case.name(item)
        yield f"Move {name} behind the backward", partial(recipes.move_behind, items=(item,), other=case.item)


# ------------------------------------------------------------------ who wrote, and into what


def culprits(case: Case) -> tuple[ItemId, ...]:
    """The statements that wrote in place: those the engine found, else all in front that may have."""
    told = [culprit.node for culprit in case.failed.clash.culprits] if case.failed.clash is not None else []
    found = [_writer(case.graph, item) for item in told]
    if not found and _writes(case.graph, case.item):
        found = [case.item]
    if not found:
        found = [node.id for node in case.before() if _writes(case.graph, node.id)]
    return tuple(dict.fromkeys(item for item in reversed(found) if item in case.graph.nodes))[:MAX_OFFERS]


def written_name(case: Case, item: ItemId) -> str:
    """How the tensor that a statement writes into is called."""
    wire = receiver_wire(case.graph, item)
    while wire is not None:
        node = case.graph.nodes.get(wire.source)
        if node is None or node.names or (before := receiver_wire(case.graph, wire.source)) is None:
            return case.source_name(wire)
        wire = before
    return case.name(item)


def root_wire(case: Case) -> Wire | None:
    """What the failing backward starts from."""
    return next((w for port in ROOT_PORTS if (w := case.graph.wire_into(case.item, port)) is not None), None)


def _writes(graph: Graph, item: ItemId) -> bool:
    operator = operator_of(graph, item)
    is_writer = operator is not None and Effect.IN_PLACE in operator.effects and bool(operator.writes)
    return is_writer or graph.nodes[item].literals.get("inplace") == "True" if item in graph.nodes else False


def _writer(graph: Graph, item: ItemId) -> ItemId:
    """The node whose argument says `inplace`, when a module that was called wrote; else the item itself."""
    wire = graph.wire_into(item, "module")
    module = graph.nodes.get(wire.source) if wire is not None else None
    return module.id if module is not None and module.literals.get("inplace") == "True" else item


def new_tensor_words(operator: Operator) -> str:
    """``+ instead of +=``, ``add instead of add_``; "" where there is no such operator."""
    key = recipes.functional_key(operator)
    if not key:
        return ""
    if operator.face is Face.AUGMENTED:
        return f"{operator.symbol.removesuffix('=')} instead of {operator.symbol}"
    return f"{key.partition(':')[0].rsplit('.', 1)[-1]} instead of {operator.word}"


# ------------------------------------------------------------------ helpers


def _nearest_backward(case: Case) -> Node | None:
    return next((node for node in case.before() if is_backward(case.graph, node.id)), None)


def _is_grad(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes.get(item)
    return node is not None and (node.operator == GRAD or node.literals.get("name") == "grad")


def _grad_owners(case: Case) -> Iterator[Wire]:
    """The wires into the .grad nodes that feed the failing one."""
    for wire in case.graph.wires_to(case.item):
        if _is_grad(case.graph, wire.source):
            yield from case.graph.wires_to(wire.source)[:1]


def _can_require_grad(graph: Graph, node: Node, lookup: Callable[[ItemId, int], Record | None]) -> bool:
    """A creation node with a `requires_grad` argument that is not given, and that makes floats as far as is known."""
    operator = operator_of(graph, node.id)
    parameter = operator.parameter("requires_grad") if operator is not None else None
    if operator is None or parameter is None or parameter.kind is not Kind.BOOL or Effect.MODE in operator.effects:
        return False
    if node.literals.get("requires_grad") == "True" or graph.wire_into(node.id, "requires_grad") is not None:
        return False
    record = lookup(node.id, 0)
    return not isinstance(record, TensorRecord) or record.summary.dtype in FLOATS


def _reaches(graph: Graph, step: Callable[[Graph], Edits], wire: Wire) -> bool:
    """Whether the root may require grad after the step, as far as the text tells."""
    draft = graph.copy()
    try:
        apply_all(draft, step(graph))
    except Refused:
        return False
    return (wire.source, wire.output) in may_require_grad(draft)


def _block_instead(graph: Graph, block: ItemId) -> Edits:
    """A no_grad block around the same statements."""
    members = graph.bodies[BodyId(block)]
    return recipes.combine_steps(
        graph, lambda now: recipes.unwrap(now, block), lambda now: recipes.wrap(now, members, "no_grad")
    )


def _insert(wire: Wire, key: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.insert(graph, wire, key)


def _set(item: ItemId, path: str, text: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.set_literal(graph, item, path, text)
