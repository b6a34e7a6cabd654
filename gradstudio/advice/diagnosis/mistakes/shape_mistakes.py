"""Operators along another dimension than was meant, and divisions that throw away what matters."""

import ast
import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, Stage, layers_of
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import ItemId, Node
from gradstudio.protocol.messages.records import PlainRecord, Record, TensorRecord

SOFTMAXES = frozenset({"softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin"})
REMAINDERS, PLACED = frozenset({"mod", "remainder", "divmod"}), frozenset({"getitem", "setitem"})
FLOORS = frozenset({"floordiv", "floor_divide"})
LEAST_LEFT = 0.1
"""Of the share that bytes are of the largest, what must be left behind a division that rounds down."""
LARGEST_BYTE = 255
DIVISIONS = frozenset({"truediv", "div"})
VIEWS = frozenset({"view", "reshape"})
ROWS = frozenset({"Linear", "linear", "addmm", "Bilinear", "LazyLinear"})
"""What gives a row of scores for each example."""
PRODUCTS = frozenset({"matmul", "mm", "bmm", "einsum"})
UNCHANGING = frozenset("Dropout dropout div truediv mul add sub masked_fill float to contiguous".split())
"""What comes between scores and their softmax."""
TURNED = frozenset({"T", "mT", "t", "transpose", "permute"})
LEAST_PARTED = 3
FARTHEST = 24


def batch_softmax(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A softmax down the columns of scores that stand in rows."""
    node = view.node(item)
    record = lookup(item, 0)
    if node is None:
        return
    maker = node if node.operator != CALL else _maker(view, item)
    source = view.source(item)
    if maker is not None and source is not None and isinstance(record, TensorRecord) and len(record.summary.shape) > 2:
        yield from _weights_of_products(view, item, word, maker, record)
        return
    if maker is None or source is None or not _is_first_of_rows(maker, record):
        return
    stages = (stage for stage in view.stages(source.item, source.output) if stage.word not in UNCHANGING)
    before = next(stages, None)
    is_product = before is not None and before.word in PRODUCTS
    if is_product and (product := _product_behind(view, item)) is not None:
        yield _finding_of_weights(view, item, word, 0, "over the queries", product)
    elif _is_read_by_row(view, item, record, lookup) or (before is not None and _gives_scores(view, before, lookup)):
        yield _batch_finding(view, item, word, (item, source.item))


def batch_softmax_inside(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """The same of a container's last layers."""
    place, record = view.place(item), lookup(item, 0)
    maker = _maker(view, item)
    layers = layers_of(place.graph, maker.id) if place is not None and maker is not None else []
    words = [layer.operator.rpartition(".")[2] for layer in layers]
    if len(layers) > 1 and words[-1] in SOFTMAXES and words[-2] in ROWS and _is_first_of_rows(layers[-1], record):
        yield _batch_finding(view, item, words[-1], (item,))


def single_softmax(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A softmax over one score: it is always 1, whatever the score."""
    record = lookup(item, 0)
    stages = (one for one in view.stages(item, 0) if one.word not in UNCHANGING)
    softmax, before = next(stages, None), next(stages, None)
    if softmax is None or before is None or softmax.word not in SOFTMAXES or before.word not in ROWS:
        return
    dim = _literal_dimension(softmax.node)
    shape = record.summary.shape if isinstance(record, TensorRecord) else ()
    if dim is None or not -len(shape) <= dim < len(shape) or shape[dim] != 1:
        return
    constant = "0" if "log" in softmax.word.lower() else "1"
    yield Finding(
        "batch_softmax",
        "warning",
        item,
        f"{view.applied(softmax.word, item)} runs over a single score: it always gives {constant}",
        "Shares of one are all of it, so nothing can be learnt. For yes or no use sigmoid (better: the score itself "
        "and binary_cross_entropy_with_logits), or give two scores.",
        (item,),
    )


def _weights_of_products(
    view: ProgramView, item: ItemId, word: str, maker: Node, record: TensorRecord
) -> Iterator[Finding]:
    """Weights that a product sums over its last dimension, though another one sums to 1."""
    sizes = len(record.summary.shape)
    dim = _literal_dimension(maker)
    if dim is None or dim % sizes == sizes - 1:
        return
    product = _product_behind(view, item)
    if product is not None:
        over = {0: "over the batch", sizes - 2: "over the queries"}.get(dim % sizes, "over the heads")
        yield _finding_of_weights(view, item, word, dim, over, product)


def mixed_dimensions(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Data from which the mean over one dimension is taken, and divided by the deviation over another."""
    above, below = view.source(item, ("a", "self", "input")), view.source(item, ("b", "other"))
    shifted = view.source(above.item, ("b", "other")) if above is not None and view.word(above.item) == "sub" else None
    if above is None or below is None or shifted is None or view.word(shifted.item) != "mean":
        return
    spread = below.item if view.word(below.item) != "add" else next((s.item for s in view.sources(below.item)), None)
    data = [view.source(one, ("self", "input")) for one in (shifted.item, spread)] if spread is not None else []
    if spread is None or view.word(spread) != "std" or None in data or len({s.item for s in data if s}) > 1:
        return
    nodes = [view.node(one) for one in (shifted.item, spread)]
    first, second = (_literal_dimension(node) if node is not None else None for node in nodes)
    if first is None or second is None or first == second or min(first, second) < 0:
        return
    yield Finding(
        "mixed_dimensions",
        "warning",
        shifted.item,
        f"{view.source_name(shifted)} is the mean over dimension {first} and {view.name(spread)} the deviation over "
        f"dimension {second}",
        "To normalise, both are taken over the same dimension: over the examples (dim=0) where each feature is to have "
        "mean 0 and deviation 1.",
        (shifted.item, spread, item),
    )


def rounds_down(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """``//`` of something that is no whole number, or of which nothing is left."""
    first = view.source(item, ("a", "self", "input"))
    before = lookup(first.item, first.output) if first is not None else None
    after = lookup(item, 0)
    if first is None or before is None:
        return
    of = view.source_name(first)
    if isinstance(before, TensorRecord) and before.requires_grad:
        words = "and its slope is 0 everywhere, so no gradient passes"
    elif isinstance(before, TensorRecord) and before.summary.dtype.startswith("float") and _is_lost(before, after):
        words = f"and what {of} has behind the point is gone"
    elif _largest(before) and _largest(after) == 0 and not _tells_place(view, item, first):
        words = f"and of {of} (at most {_largest(before):g}) nothing but 0 is left"
    elif (
        isinstance(before, TensorRecord)
        and isinstance(after, TensorRecord)
        and _are_bytes_lost(view, item, before, after)
    ):
        words = f"and of {of} (bytes, 0 … {_largest(before):g}) all but the largest become 0"
    else:
        return
    name = view.name(item)
    rounds = "// rounds down" + (f" in {name}" if name != "//" else "")
    yield Finding(
        "rounds_down",
        "warning",
        item,
        f"{rounds}, {words}",
        "The division of whole numbers throws the remainder away. Write / where a share, a mean or a scaled value "
        "is meant; // is for positions and counts.",
        (item, first.item),
    )


def _tells_place(view: ProgramView, item: ItemId, first: Source) -> bool:
    """Whether the remainder is taken, too, or the quotient says where something stands: then 0 is a place."""
    if any(view.word(user) in REMAINDERS for user in view.followers(first.item)):
        return True
    users = list(view.followers(item))
    users += [after for user in users for after in view.followers(user)]
    return any(view.word(user) in PLACED for user in users)


def view_for_transpose(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Sizes that are those of the input in another order: the elements keep theirs."""
    source = view.source(item, ("self", "input"))
    before = lookup(source.item, source.output) if source is not None else None
    after = lookup(item, 0)
    if source is None or not isinstance(before, TensorRecord) or not isinstance(after, TensorRecord):
        return
    old, new = before.summary.shape, after.summary.shape
    if (mixed := _heads_mixed(old, new)) is not None:
        yield _mixed_heads(view, item, word, source, mixed)
        return
    moved = [k for k in range(len(old)) if len(old) == len(new) and old[k] != new[k]]
    if len(moved) < 2 or sorted(old) != sorted(new) or any(1 in (old[k], new[k]) for k in moved):
        return
    name = view.source_name(source)
    order = _order(old, new)
    is_exchange = len(moved) == 2 and not set(old[moved[0] + 1 : moved[1]]) & {old[moved[0]], old[moved[1]]}
    turned = f"{name}.transpose({moved[0]}, {moved[1]})" if is_exchange else f"{name}.permute({order})"
    yield Finding(
        "view_for_transpose",
        "warning",
        item,
        f"{word} to {list(new)} mixes up the elements of {name} {list(old)}: it is no transpose",
        f"{word} reads the elements in the order in which they lie and cuts them anew, so rows of different examples "
        f"come together. To exchange dimensions write {turned}.",
        (item, source.item),
    )


# ------------------------------------------------------------------ helpers


def _heads_mixed(old: tuple[int, ...], new: tuple[int, ...]) -> str | None:
    """How (…, steps, features) becomes (…, heads, steps, …) at once, or the other way; None where it does not."""
    more, less = (new, old) if len(new) > len(old) else (old, new)
    if len(more) != len(less) + 1 or len(less) < LEAST_PARTED or more[: len(less) - 2] != less[:-2]:
        return None
    heads, steps, rest = more[-3:]
    if less[-2] != steps or less[-1] != heads * rest or heads == steps or min(heads, steps, rest) < 2:
        return None
    if more is new:
        return f"view(…, {steps}, {heads}, {rest}).transpose(-3, -2)"
    return f"transpose(-3, -2).reshape(…, {steps}, {heads * rest})"


def _mixed_heads(view: ProgramView, item: ItemId, word: str, source: Source, out: str) -> Finding:
    name = view.source_name(source)
    return Finding(
        "view_for_transpose",
        "warning",
        item,
        f"{word} mixes the steps of {name} with its features: the dimension of the heads must be moved, and it is no "
        "transpose",
        f"{word} reads the elements in the order in which they lie, so a head gets features of other steps. Write "
        f"{name}.{out}.",
        (item, source.item),
    )


def _product_behind(view: ProgramView, item: ItemId) -> ItemId | None:
    """The product that sums values by weights over their last dimension; dropout and the like may stand between."""
    scaled = [user for user in view.followers(item) if view.word(user) in UNCHANGING]
    users = [user for user in view.followers(item) if user not in scaled]
    for user in users or [after for one in scaled for after in view.followers(one)]:
        left = view.source(user, ("self", "input", "a", "mat1", "batch1"))
        weights = view.resolve(left.item, left.output)[0] if left is not None else None
        if view.word(user) in PRODUCTS and weights in (item, *scaled):
            return user
    return None


def _gives_scores(view: ProgramView, stage: Stage, lookup: Lookup) -> bool:
    """Whether it gives a row of scores for each example: a layer, or the product of rows with weights.

    A product of two results compares all of one with all of the other: its columns are as good as its rows.
    """
    if stage.word not in PRODUCTS:
        return stage.word in ROWS
    return any(_is_leaf(view, source, lookup) for source in view.sources(stage.item))


def _is_leaf(view: ProgramView, source: Source, lookup: Lookup) -> bool:
    """Whether it is what learns itself, transposed or not."""
    for _ in range(FARTHEST):
        item, output = view.resolve(source.item, source.output)
        whole = view.source(item) if view.word(item) in TURNED else None
        if whole is None:
            record = lookup(item, output)
            return isinstance(record, TensorRecord) and record.requires_grad and record.is_leaf
        source = whole
    return False


def _finding_of_weights(view: ProgramView, item: ItemId, word: str, dim: int, over: str, product: ItemId) -> Finding:
    return Finding(
        "batch_softmax",
        "warning",
        item,
        f"{view.applied(word, item)} runs over dimension {dim}: {over}, not over the keys",
        "The product behind it sums over the last dimension, so the weights of each query are to sum to 1 "
        "there. Write dim=-1.",
        (item, product),
    )


def _batch_finding(view: ProgramView, item: ItemId, word: str, path: tuple[ItemId, ...]) -> Finding:
    return Finding(
        "batch_softmax",
        "warning",
        item,
        f"{view.applied(word, item)} runs over the batch (dimension 0), not over the classes",
        "So the examples of a batch compete with one another, and the numbers of one example do not sum to 1. "
        "Write dim=1 (or -1) where each row holds the scores of one example.",
        path,
    )


def _maker(view: ProgramView, call: ItemId) -> Node | None:
    source = view.source(call, (CALLED,))
    return view.node(view.resolve(source.item, source.output)[0]) if source is not None else None


def _literal_dimension(node: Node) -> int | None:
    try:
        dim = ast.literal_eval(node.literals.get("dim", "None"))
    except ValueError:
        return None
    return dim if isinstance(dim, int) else None


def _is_first_of_rows(node: Node, record: Record | None) -> bool:
    """Whether it runs down the columns of a table of more than one column and row."""
    if not isinstance(record, TensorRecord) or len(record.summary.shape) != 2 or min(record.summary.shape) < 2:
        return False
    return _literal_dimension(node) in (0, -2)


def _is_read_by_row(view: ProgramView, item: ItemId, record: Record | None, lookup: Lookup) -> bool:
    """Whether one number of each row is read by the number of its class: the rows are examples."""
    rows = record.summary.shape[0] if isinstance(record, TensorRecord) else 0
    for reader in view.followers(item):
        node, word, picked = view.node(reader), view.word(reader), lookup(reader, 0)
        if node is None or not isinstance(picked, TensorRecord):
            continue
        if word == "getitem" and picked.summary.shape == (rows,):
            classes = view.source(reader, ("index.1",))
            if classes is not None and (
                view.source(reader, ("index.0",)) or "range(" in node.literals.get("index.0", "")
            ):
                return True
        elif word == "gather" and picked.summary.shape == (rows, 1) and node.literals.get("dim") in ("1", "-1"):
            return True
    return False


def _largest(record: Record | None) -> float | None:
    """The largest magnitude of whole numbers."""
    if isinstance(record, PlainRecord) and record.what == "number" and type(record.value) is int:
        return abs(record.value)
    if not isinstance(record, TensorRecord) or "int" not in record.summary.dtype or not math.prod(record.summary.shape):
        return None
    low, high = record.summary.minimum, record.summary.maximum
    return max(abs(low), abs(high)) if low is not None and high is not None else None


def _is_lost(before: TensorRecord, after: Record | None) -> bool:
    """Whether nothing but 0 is left of numbers that were others."""
    if not isinstance(after, TensorRecord):
        return False
    return bool(before.summary.rms) and after.summary.rms == 0


def _are_bytes_lost(view: ProgramView, item: ItemId, before: TensorRecord, after: TensorRecord) -> bool:
    """Whether bytes of all sizes, of whatever dtype, were to become shares of 1, and hardly any did not become 0."""
    node = view.node(item)
    is_by_largest = (
        node is not None and _largest(before) == LARGEST_BYTE and node.literals.get("b") == str(LARGEST_BYTE)
    )
    is_scaled = (before.summary.dtype == "uint8" or is_by_largest) and _largest(after) == 1
    largest, mean, left = _largest(before), before.summary.mean, after.summary.mean
    if not is_scaled or largest is None or mean is None or left is None:
        return False
    return left < LEAST_LEFT * mean / largest


def _order(old: tuple[int, ...], new: tuple[int, ...]) -> str:
    left = list(range(len(old)))
    order = []
    for size in new:
        place = next(k for k in left if old[k] == size)
        left.remove(place)
        order.append(str(place))
    return ", ".join(order)
