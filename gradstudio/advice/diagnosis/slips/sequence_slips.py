"""Models of sequences that can copy what they are to predict: targets that are not shifted, attention to the future."""

from array import array
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.slips.mask_slips import BETWEEN, PRODUCTS
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record, TensorRecord

TABLES = frozenset({"Embedding", "embedding"})
RECURRENT = frozenset({"RNN", "LSTM", "GRU"})
HEADS = frozenset({"MultiheadAttention", "scaled_dot_product_attention"})
BLOCKS = frozenset({"TransformerEncoder", "TransformerEncoderLayer"})
SOFTMAXES = frozenset({"softmax", "Softmax"})
ATTENDING = HEADS | BLOCKS | SOFTMAXES
PICKING = frozenset("getitem select index_select gather mean amax max sum argmax masked_fill where bernoulli".split())
"""Behind these no position of a sequence is its own any more."""
REARRANGING = frozenset("view reshape flatten contiguous long to clone".split())
MASKS = ("attn_mask", "mask", "src_mask", "is_causal", "inputs.5")
SECOND_MASKS = ("inputs.1",)
"""What a whole block is given behind its input."""
SCORES, TARGETS = ("inputs.0", "input"), ("inputs.1", "target")
BESIDE = frozenset({"module", "target", "mask", "attn_mask"})
MOST_STEPS = 120


def copied_input(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A loss of each position of a sequence, whose model sees what it is to predict there."""
    scores, target = view.source(item, SCORES), view.source(item, TARGETS)
    if scores is None or target is None:
        return
    wanted, behind = _rearranged(view, target), _position_by_position(view, scores)
    if not {view.word(one) for one in behind} & (ATTENDING | RECURRENT):
        return
    for table in (one for one in behind if view.word(one) in TABLES):
        given = view.source(table, ("inputs.0", "input", "indices"))
        shift = _shift(view, _rearranged(view, given), wanted, lookup) if given is not None else None
        if shift == 0:
            yield _not_shifted(view, item, word, target)
            return
        attending = (one for one in behind if view.word(one) in ATTENDING and table in _tables_behind(view, one))
        attention = next((one for one in attending if _sees_everything(view, one, lookup)), None)
        if shift == 1 and attention is not None:
            yield _sees_future(view, item, attention)
            return


def _position_by_position(view: ProgramView, scores: Source) -> list[ItemId]:
    """What scores come of, each position of a sequence for itself, as far as the tables of tokens."""
    todo, found = [view.resolve(scores.item, scores.output)], list[ItemId]()
    while todo and len(found) < MOST_STEPS:
        at, output = todo.pop(0)
        if at in found or view.word(at) in PICKING or (view.word(at) in RECURRENT and output > 0):
            continue
        found.append(at)
        if view.word(at) not in TABLES:
            given = (source for source in view.sources(at) if source.port not in BESIDE)
            todo += [view.resolve(source.item, source.output) for source in given]
    return found


def _rearranged(view: ProgramView, source: Source) -> tuple[ItemId, int]:
    """What computed numbers, before they were laid out otherwise."""
    at, output = view.resolve(source.item, source.output)
    for _ in range(len(REARRANGING)):
        before = view.source(at, ("self", "input", "a")) if view.word(at) in REARRANGING else None
        if before is None:
            break
        at, output = view.resolve(before.item, before.output)
    return at, output


def _shift(view: ProgramView, tokens: tuple[ItemId, int], wanted: tuple[ItemId, int], lookup: Lookup) -> int | None:
    """By how many positions targets are ahead of what the model gets, 0 or 1; None where that is not known."""
    if tokens == wanted:
        return 0 if _has_positions(lookup(*tokens)) else None
    if _slice(view, tokens[0], ":-1") and _slice(view, tokens[0], ":-1") == _slice(view, wanted[0], "1:"):
        return 1
    first, second = _numbers(lookup(*tokens)), _numbers(lookup(*wanted))
    length = len(first[0]) if first else 0
    flat = [number for row in second for number in row]
    if length < 3 or len(flat) != len(first) * length or len(set(flat)) < 3:
        return None
    rows = [flat[at : at + length] for at in range(0, len(flat), length)]
    if rows == first:
        return 0
    return 1 if all(a[1:] == b[:-1] for a, b in zip(first, rows, strict=True)) else None


def _has_positions(record: Record | None) -> bool:
    return isinstance(record, TensorRecord) and bool(record.summary.shape) and record.summary.shape[-1] > 1


def _slice(view: ProgramView, item: ItemId, text: str) -> tuple[ItemId, int] | None:
    """What a slice is a part of, where it is this one of its last dimension."""
    node, whole = view.node(item), view.source(item, ("a", "self", "input"))
    if node is None or whole is None or view.word(item) != "getitem":
        return None
    last = [value for port, value in sorted(node.literals.items()) if port.startswith("index")][-1:]
    return view.resolve(whole.item, whole.output) if last == [text] else None


def _numbers(record: Record | None) -> list[list[float]]:
    """The rows of a matrix, or of a vector, where all of it was kept; [] else."""
    summary = record.summary if isinstance(record, TensorRecord) else None
    kept = summary.preview if summary is not None else None
    if summary is None or kept is None or not kept.whole or len(summary.shape) not in (1, 2):
        return []
    numbers = array("f", kept.data).tolist()
    return [numbers[at : at + kept.columns] for at in range(0, len(numbers), kept.columns)]


def _sees_everything(view: ProgramView, item: ItemId, lookup: Lookup) -> bool:
    """Whether it is an attention of a sequence to itself that is given no mask."""
    word, node = view.word(item), view.node(item)
    if word not in ATTENDING or node is None:
        return False
    given = {source.port for source in view.sources(item)} | set(node.literals)
    if word in SOFTMAXES:
        return _is_open_softmax(view, item, lookup)
    if given.intersection(MASKS) or (word in BLOCKS and given.intersection(SECOND_MASKS)):
        return False
    return word in BLOCKS or _attends_to_itself(view, item)


def _attends_to_itself(view: ProgramView, item: ItemId) -> bool:
    """Whether queries and keys are of one sequence."""
    sides = [view.source(item, ports) for ports in (("inputs.0", "query"), ("inputs.1", "key"))]
    if sides[0] is None or sides[1] is None:
        return False
    behind = [_tables_behind(view, view.resolve(side.item, side.output)[0]) for side in sides if side is not None]
    return bool(behind[0]) and behind[0] == behind[1]


def _tables_behind(view: ProgramView, item: ItemId) -> set[ItemId]:
    return {one for one in (item, *view.behind(item, MOST_STEPS)) if view.word(one) in TABLES}


def _is_open_softmax(view: ProgramView, item: ItemId, lookup: Lookup) -> bool:
    """Whether it makes square weights straight of a product, and what they weigh is not masked afterwards."""
    record = lookup(item, 0)
    shape = record.summary.shape if isinstance(record, TensorRecord) else ()
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return False
    at: ItemId | None = item
    for _ in range(MOST_STEPS):
        source = view.source(at, ("inputs.0", "input", "self", "a")) if at is not None else None
        at = view.resolve(source.item, source.output)[0] if source is not None else None
        if at is None or view.word(at) not in BETWEEN | {"mul"}:
            break
    users = [user for user in view.followers(item) if view.word(user) not in BETWEEN]
    return at is not None and view.word(at) in PRODUCTS and all(view.word(user) in PRODUCTS for user in users)


def _not_shifted(view: ProgramView, item: ItemId, word: str, target: Source) -> Finding:
    name = view.source_name(target)
    return Finding(
        "no_shift",
        "warning",
        item,
        f"{word} compares each position with the token that the model was given there: the targets are not shifted",
        "A model of language is to predict the next token; what it is to say here it only has to copy, so the loss "
        f"comes near 0 and nothing is learnt. Give the model tokens[:, :-1], and take tokens[:, 1:] as {name}.",
        (item, target.item),
    )


def _sees_future(view: ProgramView, item: ItemId, attention: ItemId) -> Finding:
    return Finding(
        "sees_future",
        "warning",
        attention,
        f"{view.where(attention)} has no causal mask: every position sees the next token, which it is to predict",
        "The loss falls by copying from the future, and where text is to be made there is none. Leave out what lies "
        "ahead: torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1) as the mask of an attention layer, "
        "masked_fill(…, float('-inf')) in front of a softmax, or is_causal=True.",
        (attention, item),
    )
