"""Tests that are none: of data that were trained on. And statements that were meant to be calls."""

import ast
import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import CALLED
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code, reason_for_whole
from gradstudio.graph.text.code_text import syntax_of

TEST_NAME = re.compile(r"(^|_)(test|val|valid|validation|holdout)(_|$)", re.IGNORECASE)
CUTTING = frozenset({"no_grad", "inference_mode"})
ACTS = frozenset({"step", "zero_grad", "backward", "eval", "train", "zero_"})
"""What is never meant but as a call."""
WHOLE = (
    "What is drawn means what its text says, and that is not sure where a line can reach every name. Say there which "
    "names are meant, as in {'lr': lr}: what follows is drawn then."
)


def trained_on_test(view: ProgramView, item: ItemId, _word: str, _lookup: Lookup) -> Iterator[Finding]:
    """A call for evaluation with a part of what the same module was trained on whole."""
    place = view.place(item)
    module, given = view.source(item, (CALLED,)), view.source(item, ("inputs.0",))
    if place is None or module is None or given is None or not _is_cut(place.graph, place.item):
        return
    part = view.resolve(given.item, given.output)[0]
    name = view.source_name(given)
    if view.word(part) != "getitem" or not TEST_NAME.search(name):
        return
    whole = view.source(part, ("self", "input", "a"))
    calls = [user for user in view.followers(module.item) if user != item]
    for call in calls:
        other, where = view.source(call, ("inputs.0",)), view.place(call)
        if whole is None or other is None or where is None or _is_cut(where.graph, where.item):
            continue
        if view.resolve(other.item, other.output) == view.resolve(whole.item, whole.output):
            data, model = view.source_name(whole), view.source_name(module)
            yield Finding(
                "leaked_test",
                "warning",
                item,
                f"{name} is a part of {data}, and {model} was trained on all of {data}: this is no test",
                f"What a model has seen it may know by heart. Train on the rest alone: {data} without {name}.",
                (item, part, call),
            )
            return


def uncalled_acts(graph: Graph) -> Iterator[Finding]:
    """Code that names a method and does not call it."""
    for item, node in graph.nodes.items():
        if not is_code(node) or node.muted:
            continue
        for act in _uncalled(code_of(node)):
            yield Finding(
                "not_called",
                "warning",
                item,
                f"`{act}` does nothing: it names the method and does not call it",
                f"Write {act}().",
                (item,),
            )


def whole_programs(graph: Graph) -> Iterator[Finding]:
    """A program that is one card of code because of a line of it: no mistake, and nobody else says why."""
    if len(graph.nodes) == 1:
        (node,) = graph.nodes.values()
        if is_code(node) and (reason := reason_for_whole(code_of(node))):
            yield Finding("whole_code", "info", node.id, reason, WHOLE, (node.id,))


def _uncalled(text: str) -> Iterator[str]:
    for statement in ast.walk(syntax_of(text)):
        named = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(named, ast.Attribute) and named.attr in ACTS:
            yield ast.unparse(named)


def _is_cut(graph: Graph, item: ItemId) -> bool:
    around = (graph.blocks.get(ItemId(body)) for body in graph.ancestors(item) if body != BodyId(ROOT))
    return any(block is not None and block.kind in CUTTING for block in around)
