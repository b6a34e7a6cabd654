"""Models that are less than they look: linear upon linear, one layer several times, parameters that are none."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.module_modes import has_parameters
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

LINEAR, PARAMETER = frozenset({"Linear"}), frozenset({"Parameter"})
REPEATING, HOLDERS = frozenset({"mul"}), frozenset({"ModuleList", "Sequential"})
DROPPING = frozenset({"Dropout"})
LIST = "python.list"
COMPUTING = frozenset("mul div truediv add sub rsub neg sqrt exp view reshape transpose T permute unsqueeze".split())
MEASURES = frozenset("size shape print".split())
SEQUENCES = frozenset("TransformerEncoderLayer TransformerEncoder MultiheadAttention LSTM GRU RNN".split())
STEPS = 8


def linear_of_linear(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A linear layer that is called with what another one gives, and nothing between them."""
    first = _linear_before(view, item)
    if first is None or path_of(first)[:-1] != path_of(item)[:-1] or _linear_before(view, first) is not None:
        return
    users = {user for user in view.followers(first) if view.word(user) not in MEASURES | DROPPING}
    given = view.source(first, ("inputs.0",))
    widths = [lookup(*view.resolve(given.item, given.output)) if given is not None else None]
    widths += [lookup(first, 0), lookup(item, 0)]
    sizes = [one.summary.shape[-1] for one in widths if isinstance(one, TensorRecord) and one.summary.shape]
    middle = lookup(first, 0)
    learns = isinstance(middle, TensorRecord) and middle.requires_grad
    if len(users) > 1 or len(sizes) < len(widths) or sizes[1] < min(sizes[0], sizes[2]) or not learns:
        return
    makers = [view.source(one, (CALLED,)) for one in (first, item)]
    names = [view.source_name(one) for one in makers if one is not None]
    yield Finding(
        "linear_upon_linear",
        "warning",
        item,
        f"{' and '.join(names)} follow one another without an activation between: together they are one {word}",
        "A product of matrices is a matrix, so the second one adds nothing that can be learnt. Put a ReLU between "
        "them.",
        (item, first),
    )


def _linear_before(view: ProgramView, call: ItemId) -> ItemId | None:
    """The call of a linear layer whose result this one is given, perhaps through a dropout."""
    node = view.node(call)
    if node is None or node.operator != CALL or view.word(call) not in LINEAR | DROPPING:
        return None
    source = view.source(call, ("inputs.0",))
    at = view.resolve(source.item, source.output)[0] if source is not None else None
    if at is None or view.word(at) in DROPPING:
        return _linear_before(view, at) if at is not None else None
    before = view.node(at)
    return at if before is not None and before.operator == CALL and view.word(at) in LINEAR else None


def one_layer_repeated(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A list of one layer, times a number."""
    place = view.place(item)
    if place is None or place.graph.nodes[place.item].operator != LIST:
        return
    layers = [one.item for one in view.sources(item)]
    layer = next((one for one in layers if has_parameters(place.graph, ItemId(path_of(one)[-1]))), None)
    for product in (one for one in view.followers(item) if _repeats(view, one, item)):
        holder = next((user for user in view.followers(product) if view.word(user) in HOLDERS), None)
        if holder is None or layer is None:
            continue
        name = view.name(layer)
        yield Finding(
            "shared_layer",
            "warning",
            product,
            f"{name} is in {view.name(holder)} several times: the same weights, not copies",
            f"[{name}] * n holds one layer n times: every place shares its weights, and their gradients add up. Make "
            f"one for each place: [… for _ in range(n)], or copy.deepcopy({name}).",
            (product, layer, holder),
        )


def _repeats(view: ProgramView, product: ItemId, layers: ItemId) -> bool:
    """Whether it is a list times a number."""
    node, source = view.node(product), view.source(product, ("a", "b"))
    is_left_out = node is None or node.bypassed or node.muted
    return view.word(product) in REPEATING and not is_left_out and source is not None and source.item == layers


def computed_parameter(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A parameter that goes into a computation at once: what is kept under a name is what came out."""
    node = view.node(item)
    if node is None or any(name != "_" for name in node.names):
        return
    users = list(view.followers(item))
    named = next((user for user in users if (one := view.node(user)) is not None and any(one.names)), None)
    if named is None or len(set(users)) > 1 or view.word(named) not in COMPUTING:
        return
    name, word = view.name(named), view.word(named)
    yield Finding(
        "computed_parameter",
        "warning",
        named,
        f"{name} is no parameter: {word} behind nn.Parameter(…) gives an ordinary tensor, which parameters() does "
        "not list",
        "No optimizer gets it, and all turns share the graph of that computation, which the first backward frees. "
        "Compute first and make the parameter last: nn.Parameter(torch.randn(…) * 0.02).",
        (named, item),
    )


def added_along_the_batch(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """One row for each example, where the layers behind take the examples first and rows are for steps of time."""
    given = [(one, lookup(*view.resolve(one.item, one.output))) for one in view.sources(item)]
    known = [(one, record.summary.shape) for one, record in given if isinstance(record, TensorRecord)]
    if len(known) != 2 or any(len(shape) != 3 for _, shape in known):
        return
    (data, whole), (rows, each) = sorted(known, key=lambda one: one[1][1], reverse=True)
    if each != (whole[0], 1, whole[2]) or whole[0] < 2 or whole[1] < 2:
        return
    cut, _ = view.resolve(rows.item, rows.output)
    if view.word(cut) != "getitem" or view.source(cut, ("index.0.stop", "index.stop")) is None:
        return
    reader = _sequence_layer(view, item)
    if reader is None:
        return
    yield Finding(
        "added_along_the_batch",
        "warning",
        item,
        f"{view.source_name(rows)} is added along the batch, not along the time: {view.source_name(data)} is "
        "(batch, time, features)",
        f"{view.word(reader)} has batch_first=True, so dimension 1 is the time. Take as many rows as there are steps, "
        "x.size(1), of a table of shape (1, time, features).",
        (item, cut, reader),
    )


def _sequence_layer(view: ProgramView, item: ItemId) -> ItemId | None:
    """The next layer that goes along sequences, where it takes the batch first."""
    todo, seen = [item], {item}
    while todo and len(seen) < STEPS:
        for user in view.followers(todo.pop(0)):
            if user in seen:
                continue
            seen.add(user)
            if view.word(user) not in SEQUENCES:
                todo.append(user)
                continue
            maker = view.source(user, (CALLED,))
            made = view.resolve(maker.item, maker.output)[0] if maker is not None else user
            layer = view.source(made, ("encoder_layer",))
            made = view.resolve(layer.item, layer.output)[0] if layer is not None else made
            node = view.node(made)
            return user if node is not None and node.literals.get("batch_first") == "True" else None
    return None
