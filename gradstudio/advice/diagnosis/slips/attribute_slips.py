"""Attributes that are written and that nothing reads: Python takes any name, and torch looks at its own alone."""

import ast
import difflib
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.slips.code_texts import code_texts
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import makes_module
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord

WRITES = frozenset({"set_attribute", "requires_grad=", "requires_grad"})
OF_TENSORS = "torch.Tensor.requires_grad="
READ = "python.attribute"
REQUIRES = "requires_grad"
NEAREST = 0.85
"""So much of a name has to be that of another one: ``require_grad``, ``requires_gard``."""
RATES = frozenset({"lr", "learning_rate", "momentum", "weight_decay"})
"""What an optimizer keeps in its groups."""
OF_MODULES = frozenset({"parameters", "named_parameters", "state_dict", "train", "eval", "children"})


def near_attribute(name: str) -> str:
    """The attribute of tensors that a name is a slip of; "" where it is none."""
    if name == REQUIRES:
        return ""
    return next(iter(difflib.get_close_matches(name, (REQUIRES,), 1, NEAREST)), "")


def unknown_attribute(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A name that neither torch nor the program reads, where one that torch reads is meant."""
    node, source = view.node(item), view.source(item, ("object", "self"))
    if node is None:
        return
    name = REQUIRES if node.operator == OF_TENSORS else node.literals.get("name", "")
    may_be_meant = name == REQUIRES or name in RATES or near_attribute(name)
    if source is None or not may_be_meant or (name != REQUIRES and name in _names_read(view.graph)):
        return
    whose = view.source_name(source)
    part = view.source(source.item, ("object",)) if whose.startswith(".") else None
    if part is not None:  # model.layer1
        whose = view.source_name(part) + whose
    maker, output = view.resolve(source.item, source.output)
    record = lookup(maker, output)
    if near_attribute(name):
        yield _misspelt(item, f"{whose}.{name}", name)
    elif name == REQUIRES and (isinstance(record, ModuleRecord) or _is_layer(view, maker)):
        yield _of_module(item, whose)
    elif name in RATES and isinstance(record, OptimizerRecord):
        yield _of_optimizer(item, whose, name)


def of_code(graph: Graph) -> Iterator[Finding]:
    """The same in what is kept as code, as far as its text says it."""
    texts = {item: syntax_of(text) for item, text in code_texts(graph).items()}
    named = {item: [one for one in ast.walk(text) if isinstance(one, ast.Attribute)] for item, text in texts.items()}
    modules = {ast.unparse(part.value) for parts in named.values() for part in parts if part.attr in OF_MODULES}
    for item, parts in named.items():
        for part in parts:
            if not isinstance(part.ctx, ast.Store):
                continue
            whose = ast.unparse(part.value)
            if near_attribute(part.attr) and whose != "self" and part.attr not in _names_read(graph):
                yield _misspelt(item, f"{whose}.{part.attr}", part.attr, part.lineno)
            elif part.attr == REQUIRES and whose in modules:
                yield _of_module(item, whose, part.lineno)


def _misspelt(item: ItemId, written: str, name: str, line: int = 0) -> Finding:
    right = near_attribute(name)
    return Finding(
        "unknown_attribute",
        "warning",
        item,
        f"{written} does nothing: torch knows no {name}, the attribute is called {right}",
        f"Python gives an object any name that is written to it, and nothing reads this one. Write .{right}.",
        (item,),
        line=line,
    )


def _of_module(item: ItemId, whose: str, line: int = 0) -> Finding:
    return Finding(
        "unknown_attribute",
        "warning",
        item,
        f"{whose}.{REQUIRES} does nothing: a module has no such attribute, and its parameters stay as they are",
        f"Write {whose}.{REQUIRES}_(False), with an underscore, or set it of each of {whose}.parameters().",
        (item,),
        line=line,
    )


def _of_optimizer(item: ItemId, whose: str, name: str) -> Finding:
    key = "lr" if name == "learning_rate" else name
    return Finding(
        "unknown_attribute",
        "warning",
        item,
        f"{whose}.{name} does nothing: an optimizer goes by what stands in its groups",
        f'Write for group in {whose}.param_groups: group["{key}"] = …, or take a schedule.',
        (item,),
    )


def _is_layer(view: ProgramView, item: ItemId) -> bool:
    place = view.place(item)
    return place is not None and makes_module(operator_of(place.graph, place.item))


def _names_read(graph: Graph) -> frozenset[str]:
    """The attributes that anything in a program reads, but for those that torch has under that name."""
    found = {node.literals.get("name", "") for node in written_nodes(graph) if node.operator == READ}
    for node in written_nodes(graph):
        if is_code(node):
            loaded = (part for part in ast.walk(syntax_of(code_of(node))) if isinstance(part, ast.Attribute))
            found |= {part.attr for part in loaded if isinstance(part.ctx, ast.Load)}
    return frozenset(found)
