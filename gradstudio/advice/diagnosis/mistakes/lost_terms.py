"""Terms of a loss that are plain numbers: they are in its value, and nothing learns of them."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import REDUCING, leads_to_backward
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import PlainRecord, TensorRecord

NUMBERS = frozenset({"item"})
"""What gives the number of a tensor, without its graph."""
ARITHMETIC = frozenset("add sub rsub mul div truediv neg append sum".split())
SUMS = frozenset({"add", "sub"})
STEPPED = frozenset("gt lt ge le argmax round floor ceil sign".split())
"""What is flat nearly everywhere: no slope comes back through it."""
MEASURING = ARITHMETIC | frozenset(
    "tuple float to double type_as mean view reshape flatten pow square abs norm vector_norm squeeze unsqueeze".split()
)
FARTHEST, MOST_BEHIND = 24, 80
CUTS = frozenset({"data", "detach"})
LISTINGS = frozenset({"parameters", "named_parameters"})


def lost_term(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A number of what learns, added to a loss: a number that scales a loss, or stands beside it, may be meant."""
    source = view.source(item)
    record = lookup(source.item, source.output) if source is not None else None
    if source is None or not isinstance(record, TensorRecord) or not record.requires_grad:
        return
    total = _sum_with(view, item, view.resolve(source.item, source.output)[0], lookup)
    if total is None:
        return
    node = view.node(item)
    name = view.name(item if node is not None and node.names else source.item)
    yield Finding(
        "lost_term",
        "warning",
        item,
        f"{word} takes {name} out of the loss: what is added is a plain number, and no gradient comes of it",
        f"{view.name(total)} shows its value, and learns of the other terms alone. Leave .{word}() away where the "
        f"loss is made, and call it only for what is printed.",
        (source.item, item, total),
    )


def flat_term(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """What was rounded, compared or chosen of a prediction, measured and added to a loss."""
    source = view.source(item)
    record = lookup(source.item, source.output) if source is not None else None
    if source is None or not isinstance(record, TensorRecord) or not record.requires_grad:
        return
    total = _flat_sum(view, item, view.resolve(source.item, source.output)[0], lookup)
    if total is None:
        return
    yield Finding(
        "lost_term",
        "warning",
        item,
        f"{view.name(item)} has no slope: the term of the loss that is made of it teaches nothing, only the others do",
        "A threshold or a choice is flat nearly everywhere. Measure the probabilities themselves in the loss, and "
        "round only what is shown.",
        (item, total),
    )


def constant_loss(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A loss that is added to what learns, and is a constant itself: `.data` or detach has cut its weights off."""
    record = lookup(item, 0)
    if not isinstance(record, TensorRecord) or record.requires_grad:
        return
    cut = next((one for one in view.behind(item, MOST_BEHIND) if _cuts_weights(view, one, lookup)), None)
    total = _flat_sum(view, item, None, lookup) if cut is not None else None
    if cut is not None and total is not None:
        yield from _constant_term(view, cut, word, total)


def constant_penalty(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """Weights that are taken off their graph, measured, and added to a loss: a penalty nobody is penalised by."""
    total = _flat_sum(view, item, None, lookup) if _cuts_weights(view, item, lookup) else None
    record = lookup(total, 0) if total is not None else None
    if total is not None and isinstance(record, TensorRecord) and not record.summary.shape:
        yield from _constant_term(view, item, "what is computed of it", total)


def _constant_term(view: ProgramView, cut: ItemId, word: str, total: ItemId) -> Iterator[Finding]:
    source = view.source(cut)
    if source is None:
        return
    act, name, owner = view.word(cut), view.source_name(source), view.source(source.item, ("object",))
    if name.startswith(".") and owner is not None:
        name = f"{view.source_name(owner)}{name}"
    yield Finding(
        "lost_term",
        "warning",
        cut,
        f"{act} takes {name} off the graph, so {word} is a constant in {view.name(total)}: no gradient of it comes to "
        f"{name}",
        f"{name}.{act} are the numbers alone. Compute with {name} itself (inside an inner loop of updates, too: "
        f"{name} - lr * gradient, the gradient made with create_graph=True).",
        (cut, total),
    )


def _cuts_weights(view: ProgramView, item: ItemId, lookup: Lookup) -> bool:
    """Whether it takes a leaf that requires grad off its graph; one of all parameters, too."""
    source = view.source(item) if view.word(item) in CUTS else None
    listed = view.source(source.item, ("over",)) if source is not None and view.node(source.item) is None else None
    if listed is not None and view.word(listed.item) in LISTINGS:
        return True
    record = lookup(source.item, source.output) if source is not None else None
    return isinstance(record, TensorRecord) and record.requires_grad and record.is_leaf


def _flat_sum(view: ProgramView, item: ItemId, whole: ItemId | None, lookup: Lookup) -> ItemId | None:
    """Where what has no slope is added to what learns, of which a backward begins; where it lets through not."""
    todo, seen = [item], {item}
    while todo and len(seen) < FARTHEST:
        for user in view.followers(todo.pop(0)):
            is_carried = view.node(user) is None  # what a loop sums up
            if user in seen or not (is_carried or view.word(user) in MEASURING):
                continue
            seen.add(user)
            if view.word(user) == "append":
                todo += _list_of(view, user)
                continue
            record = lookup(user, 0)
            if is_carried or not isinstance(record, TensorRecord) or not record.requires_grad:
                todo.append(user)
            elif view.word(user) in SUMS and leads_to_backward(view, user, REDUCING):
                return None if whole in _terms(view, user) else user
    return None


def _terms(view: ProgramView, total: ItemId) -> set[ItemId]:
    """What a sum is made of, that of which one is detached among it: a straight-through estimator has the value."""
    todo, found = [total], set[ItemId]()
    while todo and len(found) < FARTHEST:
        for source in view.sources(todo.pop()):
            at, _ = view.resolve(source.item, source.output)
            if at not in found:
                found.add(at)
                if view.word(at) in SUMS | {"detach"}:
                    todo.append(at)
    return found


def _sum_with(view: ProgramView, item: ItemId, whole: ItemId, lookup: Lookup) -> ItemId | None:
    """Where the number is added to a tensor that learns, from which a backward begins; of that very tensor not."""
    todo, seen = [item], {item}
    while todo and len(seen) < FARTHEST:
        here = todo.pop(0)
        for user in view.followers(here):
            if user in seen or view.word(user) not in ARITHMETIC:
                continue
            seen.add(user)
            if view.word(user) == "append":  # what a list is made of is summed behind it
                todo += _list_of(view, user)
                continue
            record = lookup(user, 0)
            if isinstance(record, PlainRecord):
                todo.append(user)
            elif isinstance(record, TensorRecord) and record.requires_grad and view.word(user) in SUMS:
                terms = {view.resolve(one.item, one.output)[0] for one in view.sources(user)}
                if whole not in terms and leads_to_backward(view, user, REDUCING):
                    return user
    return None


def _list_of(view: ProgramView, append: ItemId) -> list[ItemId]:
    """The list that something is appended to."""
    listed = view.source(append, ("self",))
    return [listed.item] if listed is not None else []
