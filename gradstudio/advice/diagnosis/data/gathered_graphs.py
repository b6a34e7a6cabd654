"""Lists, dicts and attributes that gather tensors with their graphs over the turns of a training."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.remade_models import loops_around
from gradstudio.advice.diagnosis.program_view import ProgramView, leads_to
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.advice.failure_sentences import is_backward
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import FREE
from gradstudio.protocol.messages.records import TensorRecord

GATHERING = {"append": ("object", "inputs.0"), "insert": ("object", "inputs.1"), "extend": ("iterable", "inputs.0")}
"""By the word of what lets a list grow: the ports of what it is given."""
WRITING, INDEX, VALUE = "setitem", ("index.0",), ("value",)
OWNERS = ("self", "a", "module", "object")
"""The ports of what grows, and of what it is a part of."""
PARTS = frozenset({"getitem", "attribute", "setdefault", "get"})
PACKERS = frozenset({"python.tuple", "python.list", "python.dict"})
PACKED = frozenset({"items", "values"})
EMPTYING = frozenset("clear pop popleft remove delitem".split())
COPIES = frozenset({"clone"})
MOST, MOST_NAMED = 8, 3


def gathered_graphs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """What is gathered with its graph in a training, though no backward begins from it."""
    trained = {loop for traced in facts.backwards() for loop in loops_around(view, traced.statement)}
    if not trained:
        return
    told = set[ItemId]()
    for full, graph, item in view.insides():
        if item not in graph.nodes or graph.nodes[item].muted or full not in facts.latest:
            continue
        owner, packers, kept = _gathered(view, facts, full)
        around = trained.intersection(loops_around(view, full))
        if owner is None or not kept or owner.item in told or around <= set(loops_around(view, owner.item)):
            continue
        if _is_let_go(view, owner) or _is_learnt_from(view, owner):
            continue
        told.add(owner.item)
        yield _finding(view, full, owner, packers, kept)


def _gathered(view: ProgramView, facts: RunFacts, item: ItemId) -> tuple[Source | None, list[ItemId], list[Source]]:
    """What grows by an item, in which tuples it gets what, and which of that has a graph."""
    word, packers, kept = view.word(item), list[ItemId](), list[Source]()
    ports: tuple[str, ...] = GATHERING.get(word, ())
    if word == WRITING and view.source(item, INDEX) is not None:  # by a key that is written it keeps the last alone
        ports = VALUE
    given = view.source(item, ports) if ports else None
    owner = _owner(view, item) if given is not None else None
    todo = [given] if given is not None and owner is not None else []
    while todo and len(packers) < MOST:
        source = todo.pop(0)
        node = view.node(source.item)
        if node is not None and node.operator in PACKERS and not source.output:
            packers.append(source.item)
            todo += [one for one in view.sources(source.item) if one.port.partition(".")[0] in PACKED]
        elif _has_graph(view, facts, source):
            kept.append(source)
    return owner, packers, kept


def _owner(view: ProgramView, item: ItemId) -> Source | None:
    """What a value is put into, of a part of a dict or of an object these themselves."""
    owner = view.source(item, OWNERS)
    while owner is not None and view.word(owner.item) in PARTS:
        owner = view.source(owner.item, OWNERS)
    if owner is None:
        return None
    at, output = view.resolve(owner.item, owner.output)
    return owner._replace(item=at, output=output) if _holds_all(view, at) else None


def _holds_all(view: ProgramView, item: ItemId) -> bool:
    """Whether it is a list or a dict: no tensor that is written into, and nothing that may let go by itself."""
    node = view.node(item)
    return node is not None and node.operator not in FREE and not node.operator.startswith("torch.")


def _has_graph(view: ProgramView, facts: RunFacts, source: Source) -> bool:
    at, output = view.resolve(source.item, source.output)
    record = facts.record(at, output) or facts.record(source.item, source.output)
    return isinstance(record, TensorRecord) and not record.is_leaf and view.word(at) not in COPIES


def _is_let_go(view: ProgramView, owner: Source) -> bool:
    """Whether something is taken out again."""
    return any(view.word(user) in EMPTYING for user in view.followers(owner.item, owner.output))


def _is_learnt_from(view: ProgramView, owner: Source) -> bool:
    """Whether a backward begins from what was gathered."""
    users = list(view.followers(owner.item, owner.output))
    graph = view.graph
    return any(
        is_backward(graph, user) or leads_to(view, user, lambda item: _is_backward(view, item)) for user in users
    )


def _is_backward(view: ProgramView, item: ItemId) -> bool:
    return is_backward(view.graph, item) or view.word(item) == "backward"


def _finding(view: ProgramView, item: ItemId, owner: Source, packers: list[ItemId], kept: list[Source]) -> Finding:
    name, what = view.source_name(owner), _listed([view.source_name(one) for one in kept[:MOST_NAMED]])
    first = view.source_name(kept[0])
    return Finding(
        "kept_graph",
        "warning",
        item,
        f"{name} keeps the graph of every turn: it gathers {what}, which require{'s' if len(kept) == 1 else ''} grad",
        "No backward begins from it, so all that it holds is memory that grows with each turn. Gather "
        f"{first}.detach(), or {first}.item() where it is one number.",
        (item, *packers, *(one.item for one in kept), owner.item),
    )


def _listed(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
