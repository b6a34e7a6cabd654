"""Data that are not what they are taken for: drawn alike in each turn, wrapped around 0, or padding that is counted."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import makes_optimizer
from gradstudio.advice.diagnosis.program_view import ProgramView, is_call
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED, makes_module
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Node
from gradstudio.graph.operator_rows import GROUP, row_of
from gradstudio.protocol.messages.records import TensorRecord

SEEDS, PADDED = frozenset({"manual_seed"}), frozenset({"pad_sequence"})
WRAPPING = frozenset({"sub", "add"})
STEP = "torch.optim.Optimizer.step"
DRAWING = frozenset(
    "rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like dropout "
    "Dropout sample rsample".split()
)
REARRANGING = frozenset("getitem view reshape flatten contiguous transpose permute T long to".split())
MOST_USERS = 24
LEAST_ERROR = 0.5
"""Where bytes wrap around, their mean is off by 256 times the share of those that did."""


def seed_each_turn(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A seed that is the same in each turn of a training: what is drawn behind it is, too."""
    place, node = view.place(item), view.node(item)
    if place is None or node is None or place.graph.wires_to(place.item):
        return
    graph = place.graph
    loops = [ItemId(body) for body in graph.ancestors(place.item) if body != ROOT]
    loop = next((one for one in loops if graph.blocks[one].kind in ("for", "while")), None)
    if loop is None:
        return
    inside = [one for one in graph.nodes if BodyId(loop) in graph.ancestors(one)]
    prefix = item.removesuffix(place.item)
    drawing = next((one for one in inside if _draws(view, ItemId(prefix + one))), None)
    trains = any(graph.nodes[one].operator == STEP for one in inside)
    if drawing is None or not trains or any(_begins_anew(graph, one) for one in inside):
        return  # a trial makes its model anew: it is to begin from the same numbers
    drawn, around = ItemId(prefix + drawing), ItemId(prefix + loop)
    yield Finding(
        "seed_each_turn",
        "warning",
        item,
        f"manual_seed stands inside {view.name(around)}, so every turn draws the same numbers: {view.name(drawn)} is "
        "always the same",
        "A seed begins the sequence of random numbers anew. Call it once, at the top of the program, before the loop.",
        (item, drawn),
    )


def _draws(view: ProgramView, item: ItemId) -> bool:
    """Whether it draws random numbers: itself, or as a model with a dropout in it that is trained."""
    if view.word(item) in DRAWING:
        return True
    return is_call(view, item) and any(stage.word in DRAWING for stage in view.stages(item, 0))


def _begins_anew(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes[item]
    if node.operator.startswith(GROUP) or makes_optimizer(node.operator):
        return True
    return node.operator != CALL and makes_module(row_of(graph, node))


def wraps_around(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Sums and differences of bytes that show by their values that they went beyond 0 or 255."""
    result = lookup(item, 0)
    if not isinstance(result, TensorRecord) or result.summary.dtype != "uint8" or result.summary.mean is None:
        return
    node, given = view.node(item), {one.port: one for one in view.sources(item)}
    first, second = (_mean(node, given, view, lookup, ports) for ports in (("a", "self", "input"), ("b", "other")))
    if first is None or second is None:
        return
    exact = first + second if word == "add" else first - second
    if abs(result.summary.mean - exact) < LEAST_ERROR:
        return
    example = "3 - 5 gives 254" if word != "add" else "200 + 100 gives 44"
    yield Finding(
        "wraps_around",
        "warning",
        item,
        f"{view.applied(word, item)} computes with uint8, which wraps around: {example}",
        "Bytes hold 0 … 255, and torch goes on at the other end without a word. Convert to float (or int) before "
        "the arithmetic, not behind it.",
        (item,),
    )


def _mean(
    node: Node | None, given: dict[str, Source], view: ProgramView, lookup: Lookup, ports: tuple[str, ...]
) -> float | None:
    """The mean of an operand: that of a sum is the sum of the means, whatever is broadcast."""
    source = next((given[port] for port in ports if port in given), None)
    record = lookup(*view.resolve(source.item, source.output)) if source is not None else None
    if isinstance(record, TensorRecord):
        return record.summary.mean
    text = next((node.literals[port] for port in ports if port in node.literals), "") if node is not None else ""
    return float(text) if source is None and text.isdigit() else None


def counted_padding(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Class numbers that were padded, in a loss that is not told which number is the padding."""
    source = view.source(item, ("inputs.1", "target"))
    settings = given_settings(view, item)
    if source is None or settings & {"ignore_index", "weight", "reduction"}:
        return
    at, output = view.resolve(source.item, source.output)
    while (node := view.node(at)) is not None and view.word(at) in REARRANGING:
        before = view.source(at, ("self", "input", "a"))
        if before is None or any(one.port in ("index", "index.0", "index.1") for one in view.sources(at)):
            return
        at, output = view.resolve(before.item, before.output)
    if node is None:
        return
    is_padded = view.word(at) in PADDED
    value = _setting(view, at, "padding_value", "0") if is_padded else _padding_of_embedding(view, at, output)
    record = lookup(*view.resolve(source.item, source.output))
    if not value.isdigit() or not (is_padded or _may_hold(record, int(value))):
        return
    yield Finding(
        "counted_padding",
        "warning",
        item,
        f"{word} counts the padding of {view.name(at)} as if it were class {value}: ignore_index={value} is missing",
        "Short sequences are filled up, and the model is rewarded for predicting the filling. Give the loss "
        f"ignore_index={value} where class {value} means nothing else.",
        (item, at),
    )


def given_settings(view: ProgramView, item: ItemId) -> set[str]:
    """The arguments that an item was given by name: of the call of a module those of what constructs it."""
    node, called = view.node(item), view.source(item, (CALLED,))
    if node is not None and node.operator == CALL and called is not None:
        item, _ = view.resolve(called.item, called.output)
        node = view.node(item)
    return ({*node.literals} if node is not None else set()) | {one.port for one in view.sources(item)}


def _setting(view: ProgramView, item: ItemId, port: str, default: str) -> str:
    """A whole number that an item is given, written at it or at a constant; "" where it is computed."""
    named, node = view.source(item, (port,)), view.node(item)
    if named is not None:
        constant = view.node(view.resolve(named.item, named.output)[0])
        return constant.literals.get("value", "").removesuffix(".0") if constant is not None else ""
    return node.literals.get(port, default).removesuffix(".0") if node is not None else ""


def _padding_of_embedding(view: ProgramView, item: ItemId, output: int) -> str:
    """Which number an embedding that is given the same tensor takes for padding."""
    todo, seen = list(view.followers(item, output)), {item}
    while todo and len(seen) < MOST_USERS:
        user = todo.pop(0)
        maker = view.maker(user)
        if maker is not None and view.word(user) == "Embedding":
            return _setting(view, maker, "padding_idx", "")
        if user not in seen and view.word(user) in REARRANGING:
            seen.add(user)
            todo += view.followers(user)
    return ""


def _may_hold(record: object, number: int) -> bool:
    """Whether a number lies between the least and the largest of a tensor."""
    if not isinstance(record, TensorRecord):
        return False
    low, high = record.summary.minimum, record.summary.maximum
    return low is not None and high is not None and low <= number <= high
