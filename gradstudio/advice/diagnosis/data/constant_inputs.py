"""Models that are given one number throughout, in every turn of their training: nothing can be learnt from that."""

import ast
import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.shape_mistakes import FLOORS
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.advice.diagnosis.slips.code_texts import code_texts
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.number_format import format_number

MADE_ALIKE = frozenset("zeros ones full empty zeros_like ones_like full_like empty_like tensor literal".split())
"""What gives one number throughout because the text says so."""
GIVEN = ("inputs.0",)
FEWEST, MOST_BEHIND = 2, 12


def constant_inputs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Models with weights that are trained, and whose data are one number throughout in each call."""
    modules: dict[ItemId, list[tuple[ItemId, Source]]] = {}
    for item in facts.latest if facts.held else ():
        node, module, given = view.node(item), view.source(item, (CALLED,)), view.source(item, GIVEN)
        if node is not None and node.operator == CALL and module is not None and given is not None:
            made = view.resolve(module.item, module.output)[0]
            modules.setdefault(made, []).append((item, given))
    told = set[tuple[ItemId, int]]()
    for made, calls in sorted(modules.items(), key=lambda one: len(path_of(one[1][0][0]))):
        data = view.resolve(calls[0][1].item, calls[0][1].output)
        if data in told or not facts.is_held(made):
            continue  # a layer inside of a model that is told of
        numbers = {_number(view, facts, given) for _, given in calls}
        number = next(iter(numbers))
        if len(numbers) == 1 and number is not None:
            told.add(data)
            yield _finding(view, made, *calls[0], number)


def _number(view: ProgramView, facts: RunFacts, given: Source) -> float | None:
    """The one number that data are in all turns; None where they are not, and where that is written so."""
    at, output = view.resolve(given.item, given.output)
    newest = facts.record(at, output)
    if not isinstance(newest, TensorRecord) or not _is_one_number(newest):
        return None
    if any(view.word(one) in MADE_ALIKE | FLOORS for one in (at, *view.behind(at, MOST_BEHIND))):
        return None
    rows = [row for row in facts.rows if row.node == at and output < len(row.outputs)]
    records = [row.outputs[output] for row in rows]
    tensors = [one for one in records if isinstance(one, TensorRecord)]
    if len(tensors) < len(records) or not tensors or not all(map(_is_one_number, tensors)):
        return None
    found = {one.summary.minimum for one in tensors}
    storages = {one.storage for one in tensors}
    is_written = any(state.storage in storages for row in facts.rows for state in row.writes)
    number = next(iter(found))
    return float(number) if len(found) == 1 and number is not None and not is_written else None


def _is_one_number(record: TensorRecord) -> bool:
    summary = record.summary
    is_many = math.prod(summary.shape) >= FEWEST
    is_data = summary.dtype.startswith("float") and not record.requires_grad and is_many
    is_finite = not (summary.nan or summary.posinf or summary.neginf)
    return is_data and is_finite and summary.minimum is not None and summary.minimum == summary.maximum


def _finding(view: ProgramView, made: ItemId, call: ItemId, given: Source, number: float) -> Finding:
    name = view.name(*view.resolve(given.item, given.output))
    said = format_number(number)
    division = _division(view.graph)
    why = "What is multiplied by 0 gets a gradient of 0: only biases learn." if not number else ""
    why = why or "Examples that are all alike cannot be told apart."
    where = f"{division} divides by //, which rounds down: of bytes below the divisor nothing but 0 is left. Write /."
    return Finding(
        "constant_inputs",
        "warning",
        call,
        f"{view.name(made)} is given nothing but {said}: {name} is {said} throughout, in every turn",
        f"{why} {where if division and not number else f'Look at how {name} is made, and print it.'}",
        (call, given.item),
    )


def _division(graph: Graph) -> str:
    """The function in which something is divided by ``//`` and a number above 1, which its values are not known of."""
    for name, definition in graph.definitions.items():
        nodes = definition.graph.nodes.values()
        if any(_is_floor(node.operator) and _is_large(node.literals.get("b", "")) for node in nodes):
            return name
    for text in code_texts(graph).values():
        for made in (one for one in ast.walk(syntax_of(text)) if isinstance(one, ast.FunctionDef)):
            if any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.FloorDiv) for one in ast.walk(made)):
                return f"{made.name}()"
    return ""


def _is_floor(key: str) -> bool:
    row = load().get(key)
    return row is not None and row.word.rstrip("_") in FLOORS


def _is_large(text: str) -> bool:
    return text.replace(".", "", 1).isdigit() and float(text) > 1
