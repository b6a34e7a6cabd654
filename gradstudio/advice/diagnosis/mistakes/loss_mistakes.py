"""Losses that are given something else than they want, in numbers or in shape."""

from collections.abc import Callable, Iterator, Sequence

from gradstudio.advice.diagnosis.finding import Finding, FindingKind
from gradstudio.advice.diagnosis.program_view import ProgramView, Stage
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Record, TensorRecord

ELEMENTWISE = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss MSELoss L1Loss SmoothL1Loss HuberLoss".split())
DIFFERENCES = frozenset({"sub"})
EQUALITIES = frozenset({"eq", "ne"})
PRODUCTS = frozenset({"mul"})
COMPARISONS = ELEMENTWISE | DIFFERENCES | EQUALITIES | PRODUCTS
REDUCING = frozenset("add sub rsub neg mean sum mul div truediv".split())
"""What leads from the terms of a loss to the loss."""
ADDENDS, UNITS = frozenset({"a", "b", "self", "input", "other"}), frozenset({"Linear", "Embedding", "linear"})
FARTHEST = 24
MEANT = frozenset("unsqueeze getitem expand expand_as view reshape sum mean amax amin max min".split())
"""What makes a dimension of size 1 on purpose, to let two tensors broadcast."""
REDUCTIONS = frozenset("sum mean amax amin max min".split())
CASTS = frozenset("float double int long to".split())
CROSS, NLL = frozenset({"cross_entropy", "CrossEntropyLoss"}), frozenset({"nll_loss", "NLLLoss"})
DIVERGENCES = frozenset({"kl_div", "KLDivLoss"})
RECTIFIERS = frozenset({"relu", "ReLU", "relu6", "ReLU6"})
"""What leaves nothing below 0."""
SHUFFLES = frozenset({"randperm"})
CHOICES = frozenset({"getitem", "index_select", "take"})
CHOSEN = ("index.0", "index", "indices")
LOGITS = frozenset({"binary_cross_entropy_with_logits", "BCEWithLogitsLoss"})
CHANCES = frozenset({"softmax", "Softmax"})
LOGARITHMS = frozenset({"log_softmax", "LogSoftmax"})
"""Their exponential is a softmax."""
SIGMOIDS = frozenset({"sigmoid", "Sigmoid"})
SCORES = frozenset({"Linear", "linear", "relu", "ReLU", "matmul", "mm", "addmm", "Conv2d"})
UNCHANGING = frozenset(
    "squeeze unsqueeze view reshape flatten Flatten Dropout dropout contiguous float to double clone transpose "
    "permute T getitem Identity".split()
)
"""What leaves numbers what they are: probabilities stay probabilities."""
FIRST, SECOND = ("inputs.0", "input", "a", "self"), ("inputs.1", "target", "b", "other")


def broadcasts(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """A column and a vector of one length: every element meets every other."""
    given = {source.port: source for source in view.sources(item)}
    sources = [next((given[port] for port in ports if port in given), None) for ports in (FIRST, SECOND)]
    first, second = [lookup(source.item, source.output) if source is not None else None for source in sources]
    if sources[0] is None or sources[1] is None:
        return
    if not isinstance(first, TensorRecord) or not isinstance(second, TensorRecord):
        return
    shapes = [first.summary.shape, second.summary.shape]
    if not _column_and_vector(*shapes):
        return
    if word in DIFFERENCES | PRODUCTS and first.requires_grad == second.requires_grad:
        return  # a difference of two tensors of one kind is as a rule meant: all pairs
    if word in PRODUCTS and (first.is_leaf == second.is_leaf or not leads_to_backward(view, item, REDUCING)):
        return
    is_score = word in EQUALITIES and _is_score(view, item, [sources[0], sources[1]], lookup)
    column = sources[0] if len(shapes[0]) > len(shapes[1]) else sources[1]
    if word not in ELEMENTWISE and not is_score and _is_meant(view, column, lookup):
        return
    turned = sources[0] if second.requires_grad and not first.requires_grad else sources[1]
    many = max(map(max, shapes))
    yield Finding(
        "broadcasts",
        "warning",
        item,
        f"{list(shapes[0])} and {list(shapes[1])} broadcast to {[many, many]} in {view.name(item)}",
        f"A column and a vector of {many} elements do not meet element by element: each of one meets each of the "
        "other, so what is reduced later is the mean or sum of another table. torch does it without an error; "
        "both sides in one shape is what is nearly always meant.",
        (item, turned.item),
    )


def column_added(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """What a layer of one unit gives, a column, added to a vector of one number for each example."""
    sources = [source for source in view.sources(item) if source.port in ADDENDS]
    records = [lookup(source.item, source.output) for source in sources]
    shapes = [record.summary.shape for record in records if isinstance(record, TensorRecord)]
    if len(sources) != 2 or len(shapes) != 2 or not _column_and_vector(*shapes):
        return
    column = sources[0] if len(shapes[0]) == 2 else sources[1]
    stage = next(view.stages(column.item, column.output), None)
    if stage is None or stage.word not in UNITS or not leads_to_backward(view, item):
        return
    many, name = max(map(max, shapes)), view.source_name(column)
    yield Finding(
        "broadcasts",
        "warning",
        item,
        f"{list(shapes[0])} and {list(shapes[1])} broadcast to {[many, many]} in {view.name(item)}",
        f"{name} is a column, one row for each example, and the other side a vector: each of one meets each of the "
        f"other. Take the column's only number: {name}.squeeze(1).",
        (item, column.item),
    )


def twice_softmax(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Probabilities where scores are wanted: the softmax that cross_entropy contains is the second one."""
    return _of_giver(
        view,
        item,
        CHANCES,
        "twice_softmax",
        lambda called: f"{word} gets probabilities ({called}), and takes their softmax once more",
        f"{word} contains log_softmax: it wants the scores as the last layer gives them. Of probabilities the loss "
        "stays large and its gradient small, and training is slow, without an error. Give it the scores; take the "
        "softmax only where probabilities are shown.",
    )


def twice_sigmoid(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Probabilities where scores are wanted: the loss contains a sigmoid."""
    return _of_giver(
        view,
        item,
        SIGMOIDS,
        "twice_sigmoid",
        lambda called: f"{word} gets the results of a sigmoid ({called}), and takes their sigmoid once more",
        f"{word} contains the sigmoid: it wants scores. Of a sigmoid's results it sees nothing below 0.5, so the loss "
        "cannot come near 0. Give it the scores, or use binary_cross_entropy, which wants probabilities.",
    )


def cut_scores(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Scores that went through a relu: a class can not be told to be unlikely."""
    who = (
        "every example of the negative class" if word in LOGITS else "a class whose score is below 0 for every example"
    )
    return _of_giver(
        view,
        item,
        RECTIFIERS,
        "cut_scores",
        lambda called: f"{word} gets scores that a relu has cut at 0 ({called})",
        f"{word} wants scores of any sign. A relu behind the last layer leaves none below 0, and {who} gets no "
        "gradient any more where it does. Take the relu behind the last layer away.",
    )


def shuffled_apart(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Predictions of examples in one random order against targets in another."""
    sources = [view.source(item, ports) for ports in (FIRST, SECOND)]
    orders = [order_of(view, source) if source is not None else None for source in sources]
    first, second = orders
    if first is None or second is None or first == second or sources[1] is None:
        return
    yield Finding(
        "shuffled_apart",
        "warning",
        item,
        f"{word} compares examples in two random orders: randperm is drawn twice, for the inputs and for the targets",
        "Each call of randperm gives another order, so no example meets its own target, and nothing can be learnt. "
        "Draw one order and take both by it: order = torch.randperm(n), x[order], y[order].",
        tuple(dict.fromkeys((item, second, first))),
    )


def order_of(view: ProgramView, source: Source) -> ItemId | None:
    """The randperm by which the rows behind a value were chosen last."""
    for stage in view.stages(source.item, source.output):
        if stage.word not in CHOICES:
            continue
        chosen = view.source(stage.item, CHOSEN)
        maker = view.resolve(chosen.item, chosen.output)[0] if chosen is not None else None
        if maker is not None and view.word(maker) in SHUFFLES:
            return maker
    return None


def is_choice(view: ProgramView, stage: Stage) -> bool:
    """Whether a step takes rows in an order that is given: a slice keeps theirs."""
    return stage.word in CHOICES and view.source(stage.item, CHOSEN) is not None


def no_logarithm(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Scores or probabilities where logarithms of probabilities are wanted."""
    stage, source = _giver(view, item)
    if stage is None or source is None or stage.word not in SCORES | CHANCES:
        return
    yield Finding(
        "no_logarithm",
        "warning",
        item,
        f"{word} wants logarithms of probabilities, and {_called(view, stage, source)} gives none",
        _without_logarithm(word),
        _path(item, source, stage),
    )


def _without_logarithm(word: str) -> str:
    if word in DIVERGENCES:
        return (
            f"{word} subtracts its input from the target's logarithm: of probabilities it is no divergence, and may "
            "be below 0. Give it log_softmax of the scores; the target stays a probability."
        )
    return (
        f"{word} only picks the element of the right class and turns its sign. Put log_softmax in front of it, or "
        "use cross_entropy, which contains both."
    )


def gives_chances(view: ProgramView, item: ItemId, output: int) -> bool:
    """Whether a value is the probabilities of a softmax, by a function or in a layer."""
    stage = computing_stage(view, item, output)
    return stage is not None and stage.word in CHANCES


def computing_stage(view: ProgramView, item: ItemId, output: int) -> Stage | None:
    """The last step that made the numbers what they are; ``exp`` of a log_softmax is a softmax."""
    stages = (stage for stage in view.stages(item, output) if stage.word not in UNCHANGING)
    last = next(stages, None)
    if last is None or last.word != "exp":
        return last
    before = next(stages, None)
    return last._replace(word="softmax") if before is not None and before.word in LOGARITHMS else last


def leads_to_backward(view: ProgramView, item: ItemId, words: frozenset[str] = frozenset()) -> bool:
    """Whether a backward begins from what is made of a value within the next steps; with `words`, by these alone."""
    todo, seen = [item], {item}
    while todo and len(seen) < FARTHEST:
        for user in view.followers(todo.pop(0)):
            if view.word(user) == "backward":
                return True
            if user not in seen and (not words or view.word(user) in words):
                seen.add(user)
                todo.append(user)
    return False


# ------------------------------------------------------------------ helpers


def _of_giver(
    view: ProgramView,
    item: ItemId,
    words: frozenset[str],
    kind: FindingKind,
    title: Callable[[str], str],
    advice: str,
) -> Iterator[Finding]:
    """A finding where what a loss is given comes of one of these operators; the title says how that is called."""
    stage, source = _giver(view, item)
    if stage is not None and source is not None and stage.word in words:
        yield Finding(kind, "warning", item, title(_called(view, stage, source)), advice, _path(item, source, stage))


def _giver(view: ProgramView, loss: ItemId) -> tuple[Stage | None, Source | None]:
    """What computed the numbers that a loss is given, and what is wired into it."""
    source = view.source(loss, FIRST)
    if source is None:
        return None, None
    return computing_stage(view, source.item, source.output), source


def _called(view: ProgramView, stage: Stage, source: Source) -> str:
    """The value as a person calls it; with the layer that made it where that is another's inside."""
    name = view.source_name(source)
    if stage.item == source.item and stage.node.operator.rpartition(".")[2] != "Softmax":
        return name
    return f"{name}, by {stage.word}" if stage.word.lower() not in name.lower() else name


def _path(item: ItemId, source: Source, stage: Stage) -> tuple[ItemId, ...]:
    return tuple(dict.fromkeys((item, source.item, stage.item)))


def _column_and_vector(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    column, vector = sorted((one, other), key=len, reverse=True)
    return len(column) == 2 and len(vector) == 1 and column == (vector[0], 1) and vector[0] > 1


def _is_score(view: ProgramView, item: ItemId, sources: Sequence[Source], lookup: Lookup) -> bool:
    """Whether answers are compared with what is no answer, and all hits are counted as one number."""
    answers = [any(_is_answer(stage, lookup) for stage in view.stages(one.item, one.output)) for one in sources]
    users = list(view.followers(item))
    while casts := [user for user in users if view.word(user) in CASTS]:
        users = [user for user in users if user not in casts] + [one for cast in casts for one in view.followers(cast)]
    return sum(answers) == 1 and any(_reduces_all(view, user) for user in users)


def _is_answer(stage: Stage, lookup: Lookup) -> bool:
    record = lookup(stage.item, 0)
    return stage.word == "argmax" or (isinstance(record, TensorRecord) and record.requires_grad)


def _reduces_all(view: ProgramView, item: ItemId) -> bool:
    node = view.node(item)
    is_whole = node is not None and "dim" not in node.literals and view.source(item, ("dim",)) is None
    return is_whole and view.word(item) in {"mean", "sum"}


def _is_meant(view: ProgramView, column: Source, lookup: Lookup) -> bool:
    """Whether a column was made to be one; what only picks rows, or an element of a tuple, made nothing of it."""
    for _ in range(FARTHEST):
        item, output = view.resolve(column.item, column.output)
        node, word = view.node(item), view.word(item)
        if node is not None and word in REDUCTIONS:  # without keepdim it leaves no dimension of size 1
            return node.literals.get("keepdim") == "True"
        whole = view.source(item, ("a", "self", "input")) if word in CHOICES else None
        if whole is None:
            return word in MEANT
        shapes = [_shape_of(lookup(*one)) for one in ((whole.item, whole.output), (item, output))]
        if None not in shapes and len({shape[1:] for shape in shapes if shape is not None}) > 1:
            return word in MEANT
        column = whole
    return False


def _shape_of(record: Record | None) -> tuple[int, ...] | None:
    return record.summary.shape if isinstance(record, TensorRecord) else None
