"""Masks of attention that are the wrong way round, or that come too late."""

import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CHANCES
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record, TensorRecord, TupleRecord

ATTENTION = frozenset(
    "MultiheadAttention TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer "
    "Transformer".split()
)
FILLS = frozenset({"masked_fill"})
PADDINGS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask")
ORDERS = ("attn_mask", "mask", "src_mask", "tgt_mask")
INVERTING = frozenset("bitwise_not invert logical_not".split())
CONVERTING = frozenset("bool to type getitem".split())
PRODUCTS = frozenset("matmul bmm einsum mm".split())
MASKING = frozenset("masked_fill where add sub".split())
BETWEEN = frozenset("dropout Dropout div truediv float to".split())
SHAPING = frozenset("unsqueeze squeeze view reshape expand repeat transpose".split())
ZERO_TESTS, FAR = frozenset({"eq", "ne", "gt"}), 10
INTEGERS = frozenset({"int64", "int32"})
ZEROS = frozenset({"0", "0.0", "0.", "False"})
HELD = frozenset({"Buffer", "register_buffer"})
MINUS_INFINITY = re.compile(r"-.*inf|-\d+e\d|-\d{4,}", re.IGNORECASE)


def turned_mask(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A mask of an attention layer that is True where something is to be seen: True leaves out."""
    for port, is_turned in [(port, _marks_tokens) for port in PADDINGS] + [(port, _marks_past) for port in ORDERS]:
        source = view.source(item, (port,))
        at = view.resolve(source.item, source.output)[0] if source is not None else None
        if source is None or at is None or not is_turned(view, at, lookup):
            continue
        name = view.source_name(source)
        seen = "the tokens that are to be seen" if port in PADDINGS else "the past, and leaves the future to be seen"
        mirrored = "the comparison the other way round (ids == padding)"
        out = mirrored if port in PADDINGS else "torch.triu(…, diagonal=1)"
        yield Finding(
            "turned_mask",
            "error" if _is_spoilt(lookup(item, 0)) else "warning",
            item,
            f"{port} of {word} is the wrong way round: True means left out, and {name} is True for {seen}",
            f"Where a whole row is left out the softmax is 0/0, NaN. Write {out}, or ~{name}.",
            (item, at),
        )


def _marks_tokens(view: ProgramView, mask: ItemId, _lookup: Lookup) -> bool:
    """Whether it is True where something is not the padding."""
    word, inverts = view.word(mask), False
    while word in INVERTING | CONVERTING:
        inverts ^= word in INVERTING
        source = view.source(mask, ("self", "input", "a"))
        if source is None:
            return False
        mask = view.resolve(source.item, source.output)[0]
        word = view.word(mask)
    return word == ("eq" if inverts else "ne")


def _marks_past(view: ProgramView, mask: ItemId, lookup: Lookup) -> bool:
    """Whether it is a lower triangle of truths."""
    record = lookup(mask, 0)
    if not isinstance(record, TensorRecord) or record.summary.dtype != "bool":
        return False
    while view.word(mask) in CONVERTING:
        source = view.source(mask, ("self", "input", "a"))
        if source is None:
            return False
        mask = view.resolve(source.item, source.output)[0]
    return view.word(mask) == "tril"


def turned_fill(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Scores in front of a softmax of which a triangle is left out that is to be seen: the past."""
    source = _mask_of_scores(view, item, word)
    if source is None:
        return
    triangle = _triangle(view, view.resolve(source.item, source.output)[0], is_inverted=word == "where")
    if triangle != "tril":
        return
    yield Finding(
        "turned_mask",
        "warning",
        item,
        f"The causal mask is the wrong way round: {view.applied(word, item)} leaves out the past, and every position "
        "sees the future",
        "What is to be predicted lies ahead, and is seen. Keep the lower triangle, and leave out the rest: "
        "scores.masked_fill(torch.tril(torch.ones(n, n)) == 0, float('-inf')).",
        (item, source.item),
    )


def hidden_tokens(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Scores in front of a softmax of which the tokens are left out, and what is 0 among them, the padding, is kept."""
    source = _mask_of_scores(view, item, word)
    ids = _shown_padding(view, source, lookup, is_inverted=word == "where") if source is not None else None
    if ids is None:
        return
    name = view.source_name(ids)
    yield Finding(
        "turned_mask",
        "warning",
        item,
        f"The padding mask is the wrong way round: {view.applied(word, item)} leaves out the tokens, and keeps where "
        f"{name} is 0",
        f"Attention is to see the tokens. Leave out the padding: scores.masked_fill({name} == 0, float('-inf')).",
        (item, ids.item),
    )


def _mask_of_scores(view: ProgramView, item: ItemId, word: str) -> Source | None:
    """By what is chosen where minus infinity is filled in, or in a `where` is not; None where no softmax follows."""
    port, away = ("condition", "other") if word == "where" else ("mask", "value")
    node, source = view.node(item), view.source(item, (port,))
    if node is None or source is None or not MINUS_INFINITY.search(node.literals.get(away, "").replace(" ", "")):
        return None
    users = (user for user in view.followers(item) if view.word(user) not in BETWEEN)
    return source if any(view.word(user) in CHANCES for user in users) else None


def _shown_padding(view: ProgramView, source: Source, lookup: Lookup, *, is_inverted: bool) -> Source | None:
    """The numbers of tokens of which a mask is true where they are not 0; None where it is another mask."""
    for _ in range(FAR):
        at = view.resolve(source.item, source.output)[0]
        word, node, before = view.word(at), view.node(at), view.source(at, ("self", "input", "a"))
        record = lookup(before.item, before.output) if before is not None else None
        if node is None or before is None or not isinstance(record, TensorRecord):
            return None
        is_to_zero = word in ZERO_TESTS and bool(ZEROS & set(node.literals.values()))
        highest = record.summary.maximum
        if is_to_zero and record.summary.dtype in INTEGERS and view.word(before.item) not in ZERO_TESTS:
            is_ids = highest is not None and highest > 1  # of zeros and ones nobody knows what a one means
            return before if is_ids and (word == "eq") == is_inverted else None
        if word in INVERTING or (is_to_zero and word == "eq"):
            is_inverted = not is_inverted
        elif not is_to_zero and word not in CONVERTING | SHAPING:
            return None
        source = before
    return None


def _triangle(view: ProgramView, mask: ItemId, *, is_inverted: bool) -> str:
    """Where a mask is true: "tril", the past; "triu", the future; "" of any other."""
    for _ in range(len(CONVERTING) * 2):
        word, node = view.word(mask), view.node(mask)
        if word in ("tril", "triu") or node is None:
            break
        inverts = word in INVERTING or (word == "eq" and ZEROS & set(node.literals.values()))
        inverts = inverts or (word in ("sub", "rsub") and "1" in node.literals.values())
        is_kept = word in CONVERTING | HELD or (word in ("ne", "gt", "eq") and {*node.literals.values()})
        source = view.source(mask, ("self", "input", "a", "b", "data", "tensor"))
        if source is None or not (inverts or is_kept):
            return ""
        is_inverted ^= bool(inverts)
        mask = view.resolve(source.item, source.output)[0]
    if view.word(mask) not in ("tril", "triu"):
        return ""
    return "tril" if (view.word(mask) == "tril") != is_inverted else "triu"


def _is_spoilt(record: Record | None) -> bool:
    if isinstance(record, TupleRecord):
        return any(map(_is_spoilt, record.items))
    return isinstance(record, TensorRecord) and bool(record.summary.nan)


def masked_behind_softmax(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """Weights of attention that are set to 0 behind their softmax: what is left no longer sums to 1."""
    node, source = view.node(item), view.source(item, ("self", "input"))
    if node is None or source is None or node.literals.get("value") not in ZEROS:
        return
    weights = _behind(view, source.item, source.output)
    if weights is None or view.word(weights) not in CHANCES:
        return
    given = view.source(weights, ("inputs.0", "self", "input"))
    scores = _behind(view, given.item, given.output) if given is not None else None
    record = lookup(item, 0)
    if scores is None or view.word(scores) in MASKING or not isinstance(record, TensorRecord):
        return  # rows without any key are 0 on purpose
    users = [user for user in view.followers(item) if view.word(user) not in BETWEEN] or [
        after for user in view.followers(item) for after in view.followers(user)
    ]
    if not users or not all(view.word(user) in PRODUCTS for user in users):
        return
    yield Finding(
        "masked_behind_softmax",
        "warning",
        item,
        f"{view.applied('masked_fill', item)} masks behind the softmax: the weights that are left no longer sum to 1",
        "What is masked took part in the softmax and keeps its share of the sum. Mask the scores in front of it: "
        "scores.masked_fill(mask == 0, float('-inf')).softmax(-1).",
        (item, weights),
    )


def _behind(view: ProgramView, item: ItemId, output: int) -> ItemId | None:
    """What made a value, beside scalings."""
    at, _ = view.resolve(item, output)
    for _ in range(len(BETWEEN)):
        if view.word(at) not in BETWEEN | {"mul"}:
            return at
        source = view.source(at, ("inputs.0", "self", "input", "a"))
        if source is None:
            return at
        at, _ = view.resolve(source.item, source.output)
    return None
