"""Analysis: what the text of a program says about its items, before anything runs.

Everything is computed once per revision of a graph, each in time linear in its size; an edit that
only turns a literal keeps all of it.
"""

import itertools
from collections import Counter
from functools import cached_property, lru_cache

from gradstudio.graph.analysis.literal_changes import are_fresh, turned_nodes
from gradstudio.graph.analysis.static_gradients import Gradients, body_is_top_level, decisive_literals, losses_first
from gradstudio.graph.analysis.validity import Validity
from gradstudio.graph.edits import (
    AddBlock,
    AddNode,
    Edits,
    MoveItem,
    RemoveBlock,
    ReplaceBlock,
    SetDefinition,
    edits_since,
    is_taken_back,
    touched_items,
)
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import DEFINITION_OUTPUTS, ROOT, BodyId, Graph, ItemId, Node
from gradstudio.graph.names import RESERVED, suggest
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.statements import Binding, inputs_of
from gradstudio.operators.model import Effect, Face, Family, Operator

MAX_NESTED = 40
"""Parts printed inside one another; beyond that a part gets a line of its own."""
STATEMENTS_ONLY = frozenset({Face.AUGMENTED, Face.SET_ITEM, Face.SET_ATTRIBUTE})
BLOCK_EDITS = AddBlock | RemoveBlock | ReplaceBlock
TARGETS = frozenset({Face.ITEM, Face.ATTRIBUTE})
NO_ROOT = "Nothing here requires grad, so there is nothing to run a backward from."


class Analysis:
    """All that is known of one graph at one revision; parts are computed when first asked for.

    Attributes:
        structure: the same object as long as nothing but literals changes that decide no part of this.
            Names that nobody can take for others change the addresses, and it, alone.
    """

    def __init__(self, graph: Graph, inputs: tuple[str, ...] = (), before: "Analysis | None" = None) -> None:
        """Analyse the graph; `inputs` are the names that a definition is given, `before` an older analysis."""
        self.graph = graph
        self.inputs = inputs or inputs_of(graph)
        self.revision = graph.revision
        self.nodes = graph.nodes.copy()
        self.structure = object()
        self._earlier: tuple[Validity, frozenset[ItemId], frozenset[str]] | None = None
        self._flows: tuple[Gradients, frozenset[ItemId], bool] | None = None
        self.before, edits = before, edits_since(graph, before.revision) if before is not None else None
        if before is not None and before.inputs == self.inputs and edits is not None:
            self._take_over(before, edits)

    def _take_over(self, before: "Analysis", edits: Edits) -> None:
        """What was known before some edits, as far as it is true still, or what is true now follows from it."""
        known = before.__dict__
        older, before.before = before.before, None
        if older is not None and older.inputs == self.inputs and is_taken_back(self.graph, older.revision):
            self.__dict__.update({part: older.__dict__[part] for part in _PARTS & older.__dict__.keys()})
            return
        held = before.held(self.graph, edits)
        if "addresses" in held:
            self.structure = before.structure
        for part in held & known.keys():
            self.__dict__[part] = known[part]
        if "validity" in held or "validity" not in known or any(isinstance(edit, SetDefinition) for edit in edits):
            return
        touched = touched_items(edits)
        borne = (before.nodes[item].names for item in touched if item in before.nodes)
        self._earlier = known["validity"], touched, frozenset(itertools.chain.from_iterable(borne))
        if "gradients" in known and not any(isinstance(edit, BLOCK_EDITS) for edit in edits):
            moved = any(isinstance(edit, MoveItem) for edit in edits)
            again = any(isinstance(edit, AddNode) and edit.node.id in before.nodes for edit in edits)
            self._flows = known["gradients"], touched, moved or again

    def held(self, graph: Graph, edits: Edits) -> frozenset[str]:
        """The parts that are true of the graph, or of a copy of it, after some more edits."""
        now = graph.nodes
        turned = turned_nodes(edits, self.nodes, now) if "validity" in self.__dict__ else None
        if turned is None:
            return frozenset()
        same = all(
            self.validity.is_same_with(now[item])
            and decisive_literals(now[item]) == decisive_literals(self.nodes[item])
            for item in turned
        )
        renamed = [item for item in turned if self.nodes[item].names != now[item].names]
        if not same or (renamed and (not self.validity.is_whole or not are_fresh(graph, self.nodes, renamed))):
            return frozenset()
        return _PARTS - {"addresses"} if renamed else _PARTS

    @cached_property
    def validity(self) -> Validity:
        """What is live, muted, incomplete."""
        earlier, self._earlier = self._earlier, None
        return Validity(self.graph, self.inputs, *(earlier or ()))

    @cached_property
    def gradients(self) -> Gradients:
        """What may require grad, and what is repeated."""
        validity, earlier, self._flows = self.validity, self._flows, None
        return Gradients(self.graph, validity, *(earlier or ()))

    @cached_property
    def tensors(self) -> frozenset[ItemId]:
        """Items with an output that may require grad."""
        return frozenset(item for item, _ in self.gradients.may)

    @cached_property
    def uses(self) -> Counter[ItemId]:
        """How many printed wires leave each item, carried ones included."""
        wires = self.graph.wires
        sources: list[ItemId] = []
        for item, ports in self.validity.ports.items():
            if self.validity.is_live(item):
                sources += [wires[item, port].source for port in ports]
                block = self.graph.blocks.get(item)
                for name in block.carried if block is not None else ():
                    ends = (wires.get((item, f"{end}.{name}")) for end in ("first", "next"))
                    sources += [wire.source for wire in ends if wire is not None]
        sources += [wire.source for wire in self.graph.wires_to(DEFINITION_OUTPUTS)]
        return Counter(sources)

    @cached_property
    def nested(self) -> frozenset[ItemId]:
        """Parts that are printed inside their user (semantics §1)."""
        if not index_of(self.graph).nested:
            return frozenset()
        return frozenset(_Folding(self).folded)

    @cached_property
    def addresses(self) -> dict[ItemId, str]:
        """How reports call every item: ``y``, ``h@1``, ``pow_1``, ``for_1``."""
        return _addresses(self.graph, self.inputs)

    @cached_property
    def root(self) -> ItemId | None:
        """The node from which an appended backward would start (semantics §6)."""
        return _root(self)


LOSS = 2
"""The rank of what an appended backward starts from before all others."""
_PARTS = frozenset(name for name, part in vars(Analysis).items() if isinstance(part, cached_property))
_analyses: MemoTable[Analysis] = MemoTable()


def analyse(graph: Graph) -> Analysis:
    """The analysis of the graph as it is now; kept until the next edit."""
    known = _analyses.get(graph)
    if known is None or known.revision != graph.revision:
        known = _analyses[graph] = Analysis(graph, before=known)
    return known


def effects(graph: Graph, item: ItemId) -> frozenset[Effect]:
    """What the statement does beside returning a value; nothing for blocks and unknown operators."""
    operator = analyse(graph).validity.operators.get(item)
    return frozenset(operator.effects) if operator is not None else frozenset()


def repeated(graph: Graph) -> frozenset[ItemId]:
    """The items of the repeated part (semantics §5); a block when something inside is."""
    return frozenset(analyse(graph).gradients.repeated)


def may_require_grad(graph: Graph) -> frozenset[Binding]:
    """Outputs that may require grad, as far as the text tells."""
    return frozenset(analyse(graph).gradients.may)


def incomplete(graph: Graph) -> dict[ItemId, str]:
    """Items that cannot run and why; muted ones are not among them."""
    return dict(analyse(graph).validity.incomplete)


def root(graph: Graph) -> ItemId | None:
    """The node from which an appended backward would start, or None (semantics §6)."""
    return analyse(graph).root


def unready_root(graph: Graph) -> ItemId | None:
    """What an appended backward is meant for, and cannot run yet: the chosen root, else a loss where no other can."""
    analysis = analyse(graph)
    chosen = next((node.id for node in graph.nodes.values() if "root" in node.marks), None)
    if chosen is not None:
        return chosen if chosen in analysis.validity.incomplete else None
    if analysis.root is not None and _rank(analysis, graph.nodes[analysis.root]) == LOSS:
        return None
    nodes = [graph.nodes[item] for item in analysis.validity.incomplete if item in graph.nodes]
    losses = [node.id for node in nodes if _may_be_root(analysis, node) and _rank(analysis, node) == LOSS]
    return losses[-1] if losses else None


def address(graph: Graph, item: ItemId) -> str:
    """How reports call the item."""
    return analyse(graph).addresses[item]


def addresses(graph: Graph) -> dict[ItemId, str]:
    """How reports call every item."""
    return dict(analyse(graph).addresses)


def nested_now(graph: Graph) -> frozenset[ItemId]:
    """Parts that really are printed inside their user."""
    return analyse(graph).nested


class _Folding:
    """Which parts stand directly before their user, in its order of evaluation.

    Each body is read like a program for a stack machine: a user takes from the top of the
    stack, last argument first, those of its parts that may be nested.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self.graph, self.validity = analysis, analysis.graph, analysis.validity
        self.folded: set[ItemId] = set()
        self.heights: dict[ItemId, int] = {}
        stacks: dict[BodyId, list[ItemId]] = {}
        for item in self.graph.order():
            if self.validity.is_live(item):
                stack = stacks.setdefault(self.graph.parents[item], [])
                self._take(item, stack, self.validity.ports[item])
                stack.append(item)
        returned = [wire.port for wire in self.graph.wires_to(DEFINITION_OUTPUTS)]
        self._take(DEFINITION_OUTPUTS, stacks.get(ROOT, []), tuple(sorted(returned, key=int)))

    def _take(self, item: ItemId, stack: list[ItemId], ports: tuple[str, ...]) -> None:
        height = 0
        for port in reversed(ports):
            if not stack:
                break
            source = stack[-1]
            if self.graph.wires[item, port].source == source and self._may_nest(source, item, port):
                stack.pop()
                self.folded.add(source)
                height = max(height, self.heights[source] + 1)
        self.heights[item] = height

    def _may_nest(self, source: ItemId, user: ItemId, port: str) -> bool:
        part = self.graph.nodes.get(source)
        if part is None or not part.nested or part.names or self.analysis.uses[source] != 1:
            return False
        operator = self.validity.operators.get(source)
        taker = self.validity.operators.get(user)
        if operator is None or operator.face in STATEMENTS_ONLY or self.heights[source] >= MAX_NESTED:
            return False
        if taker is not None and taker.face is Face.CHOICE and not self._is_display(user, taker):
            return False  # it might not run there
        if taker is not None and taker.face is Face.CODE:
            return False  # code reads names
        if part.bypassed or (user in self.graph.nodes and self.graph.nodes[user].bypassed):
            return False
        is_target = taker is not None and taker.face is Face.AUGMENTED and port == "a"
        return operator.face in TARGETS if is_target else True

    def _is_display(self, user: ItemId, taker: Operator) -> bool:
        return read_conditional(self.graph.nodes[user].literals.get(taker.parameters[0].name, "")).is_display


def _addresses(graph: Graph, inputs: tuple[str, ...]) -> dict[ItemId, str]:
    taken = {*RESERVED, *graph.definitions, *inputs}
    totals: Counter[str] = Counter()
    bound = {item: _bound(graph, item) for item in graph.order()}
    totals.update(itertools.chain.from_iterable(bound.values()))
    taken.update(totals)
    found: dict[ItemId, str] = {}
    counts: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    for item, names in bound.items():
        for name in names:
            counts[name] += 1
        if names and item in graph.nodes:
            name = names[0]
            found[item] = name if counts[name] == totals[name] else f"{name}@{counts[name]}"
        else:
            word = _word(graph, item)
            numbers[word] += 1
            while f"{word}_{numbers[word]}" in taken:
                numbers[word] += 1
            found[item] = f"{word}_{numbers[word]}"
    return found


def _bound(graph: Graph, item: ItemId) -> tuple[str, ...]:
    node = graph.nodes.get(item)
    if node is not None:
        names = node.names
        return names if "_" not in names else tuple(name for name in names if name != "_")
    block = graph.blocks[item]
    return (block.variable,) if block.kind == "for" and block.variable not in ("", "_") else ()


def _word(graph: Graph, item: ItemId) -> str:
    node = graph.nodes.get(item)
    return graph.blocks[item].kind if node is None else _word_of(node.operator)


@lru_cache(maxsize=10_000)
def _word_of(operator: str) -> str:
    last = operator.removeprefix(GROUP).partition(":")[0].rsplit(".", 1)[-1]
    word = suggest(last).strip("_")
    return word if word.isidentifier() else "node"


def _root(analysis: Analysis) -> ItemId | None:
    graph, validity = analysis.graph, analysis.validity
    gone = validity.gone_of(frozenset(graph.nodes))
    nodes = [graph.nodes[item] for item in graph.order() if item in graph.nodes and item not in gone]
    chosen = next((node.id for node in nodes if "root" in node.marks), None)
    if chosen is not None:
        return chosen
    taken = _taken_further(analysis)
    ends = (node for node in nodes if node.id not in taken and (node.id, 0) in analysis.gradients.may)
    candidates = [node for node in ends if _may_be_root(analysis, node)]
    best = max(enumerate(candidates), key=lambda pair: (_rank(analysis, pair[1]), pair[0]), default=None)
    return best[1].id if best is not None else None


def _may_be_root(analysis: Analysis, node: Node) -> bool:
    """A top-level tensor that may require grad and whose gradient nothing takes further."""
    graph = analysis.graph
    operator = analysis.validity.operators.get(node.id)
    if operator is None or node.id in analysis.nested or not operator.results:
        return False
    if not body_is_top_level(graph, graph.parents[node.id]):
        return False
    return operator.face not in STATEMENTS_ONLY and operator.results[0].family in (Family.TENSOR, Family.UNKNOWN)


def _taken_further(analysis: Analysis) -> set[ItemId]:
    """The items whose gradients other tensors, blocks or the outputs take further; retain_grad does not."""
    nodes, validity = analysis.graph.nodes, analysis.validity
    without = [item for item, operator in validity.operators.items() if not operator.results]
    silent = {item for item in without if Effect.MODE in validity.operators[item].effects}
    further = analysis.tensors - validity.gone_of(analysis.tensors) - silent
    wires = analysis.graph.wires.values()
    return {wire.source for wire in wires if wire.target in further or wire.target not in nodes}


def _rank(analysis: Analysis, node: Node) -> int:
    """Losses first, then what was computed, then leaves."""
    operator = analysis.validity.operators[node.id]
    if operator.face is Face.CALL:
        wire = analysis.graph.wire_into(node.id, operator.parameters[0].name)
        module = analysis.validity.operators.get(wire.source) if wire is not None else None
        is_loss = losses_first(module)
    else:
        is_loss = losses_first(operator)
    return LOSS if is_loss else int(bool(analysis.graph.incoming.get(node.id)))
