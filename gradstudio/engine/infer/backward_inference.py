"""What torch says to a backward before a run: to its roots alone, and to what ran and was written before it.

The roots' shapes and whether they require grad are known of stand-ins, so torch itself is asked on twins
of them. Two backwards over one graph, and values overwritten after they were saved, need the graph: the
statements are run once more on meta tensors, in order, where anything at all that is not certain ends it.
"""

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import torch

from gradstudio.engine import access
from gradstudio.engine.infer.inference_strategies import Names, on_meta
from gradstudio.engine.meta.meta_tensors import META, OnMeta, meta_of
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, has_open_power
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import FREE
from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.operators.model import Effect

OF_ROOTS = re.compile(
    r"grad can be implicitly created only|element \d+ of tensors does not require grad|Mismatch in (?:shape|dtype)"
    r"|One of the differentiated Tensors does not require grad"
)
"""What is said of the roots and the gradients given for them, whatever graph lies behind."""
OF_FREED = re.compile(r"Trying to backward through the graph a second time")
OF_GRAPHS = re.compile(
    rf"{OF_FREED.pattern}|variables needed for gradient computation has been modified by an inplace operation"
)
_COUNTS_LOST = "written how often is not known"
_META_TYPE = re.compile(r"\[Meta(\w+?)Type\b")
MAX_STEPS = 300
"""Statements that are run once more; a longer program is left to the run."""
MAX_REMEMBERED = 16
TURNS = 2
_MODES = ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")
_SILENT = frozenset({Effect.PRINT, Effect.SEED})
_remembered: "OrderedDict[tuple[object, ...], tuple[ItemId, str] | None]" = OrderedDict()


def refused_roots(step: Step, inputs: Names) -> str:
    """Torch's words when this backward cannot begin from its roots; "" when it can, or only a run tells."""
    if any(name not in inputs for name in step.source.operands):
        return ""
    if any(t.layout is not torch.strided or t.is_nested for value in inputs.values() for t in tensors_in(value)):
        return ""
    done, _ = on_meta(step, inputs)
    words = str(done) if isinstance(done, Exception) else ""
    return words if OF_ROOTS.search(words) else ""


def refused_graph(items: tuple[Item, ...], prelude: Names) -> tuple[ItemId, str] | None:
    """The first backward that torch refuses for what an earlier statement did to its graph, and its words.

    Args:
        prelude: the names that are bound before the first statement.
    """
    steps = flat_steps(items)
    if any(step.statement.operator in FREE for step in steps):
        return None  # it may do what is not seen here
    if len(steps) > MAX_STEPS or not _may_clash(items, steps):
        return None
    key = (torch.get_default_dtype(), *_texts(items))
    if key not in _remembered:
        _remembered[key] = _replayed(items, dict(prelude))
        while len(_remembered) > MAX_REMEMBERED:
            _remembered.popitem(last=False)
    _remembered.move_to_end(key)
    return _remembered[key]


def _may_clash(items: tuple[Item, ...], steps: list[Step]) -> bool:
    """Two backwards, one in a loop, or one after a write in place: nothing else can be wrong with a graph."""
    backwards = [place for place, step in enumerate(steps) if step.statement.backward]
    if not backwards:
        return False
    looped = any(isinstance(item, Head) and item.has_backward for item in items)
    writes = (place for place, step in enumerate(steps) if step.statement.writes or "inplace=True" in _text(step))
    return looped or len(backwards) > 1 or next(writes, backwards[-1]) < backwards[-1]


def _text(step: Step) -> str:
    return step.statement.text


def _texts(items: Iterable[Item]) -> list[object]:
    """What a replay depends on, one entry a statement; where a block begins and ends is among it."""
    found: list[object] = []
    for item in items:
        if isinstance(item, Step):
            found.append((item.id, _text(item)))
        else:
            block = item.block
            found += [(item.id, block.kind, block.context, block.iterable, block.condition, block.variable)]
            found += [*_texts(item.body), None]
    return found


class _Open(Exception):
    """Only a run tells what happens here."""


class _Clash(Exception):
    """A backward was refused for its graph."""

    def __init__(self, node: ItemId, words: str) -> None:
        super().__init__(words)
        self.node, self.words = node, words


def _replayed(items: tuple[Item, ...], names: Names) -> tuple[ItemId, str] | None:
    modes: list[AbstractContextManager[Any]] = [torch.enable_grad(), META, OnMeta(), warnings.catch_warnings()]
    load_file = names.get("load_file")
    if callable(load_file):
        names["load_file"] = lambda *given: meta_of(load_file(*given))
    try:
        with ExitStack() as stack:
            for mode in modes:
                stack.enter_context(mode)
            warnings.simplefilter("ignore")
            _body(items, names)
    except _Clash as clash:
        return clash.node, _META_TYPE.sub(r"[torch.\1Tensor", clash.words)
    except _Open:
        return None
    return None


def _body(items: tuple[Item, ...], names: Names) -> None:
    for item in items:
        if isinstance(item, Step):
            _step(item, names)
        elif item.block.kind in _MODES:
            with _sure(lambda head=item: access.evaluate(head.expression, names)):  # type: ignore[misc]  # mypy infers no lambda with a default
                _body(item.body, names)
        elif item.block.kind == "for":
            for value in _turns(item, names):
                names.update(value)
                _body(item.body, names)
        else:
            raise _Open


def _step(step: Step, names: Names) -> None:
    operator = catalogue.load().get(step.statement.operator)
    if operator is not None and not _SILENT.isdisjoint(operator.effects):
        return
    if has_open_power(step.statement.text):
        raise _Open
    try:
        access.execute(step.source.code, names)
    except Exception as error:
        if not step.statement.names and _stepped(step, names):
            return
        told = OF_FREED if _COUNTS_LOST in names else OF_GRAPHS  # how often was written is told by torch
        if step.statement.backward and told.search(str(error)):
            raise _Clash(step.id, str(error)) from error
        raise _Open from error
    for name in step.statement.drops:
        names.pop(name, None)


def _stepped(step: Step, names: Names) -> bool:
    """An optimizer that reads numbers cannot step on meta: all it does to a graph is to write into what it updates."""
    held = [names[name] for name in step.source.operands if isinstance(names.get(name), torch.optim.Optimizer)]
    with torch.no_grad():
        for parameter in (p for optimizer in held for group in optimizer.param_groups for p in group["params"]):
            if parameter.grad is not None:
                parameter.add_(0)
    if held:
        names[_COUNTS_LOST] = True
    return bool(held)


def _turns(head: Head, names: Names) -> list[Names]:
    """What the loop's names are in its first turns, where the text says what is gone over."""
    over = _sure(lambda: access.evaluate(head.expression, names))  # type: ignore[arg-type]  # a loop has an expression
    if not isinstance(over, range | list | tuple):
        raise _Open
    if len(head.targets) == 1:
        return [{head.targets[0]: value} for value in over[:TURNS]]
    first: list[Any] = list(over[:TURNS])
    turns: list[Names] = _sure(lambda: [dict(zip(head.targets, tuple(value), strict=True)) for value in first])
    return turns


def _sure(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        raise _Open from error
