"""One snippet run in every way there is: by Python itself, by the engine, and as the script that is exported."""

import ast
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec
import torch

from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.text.notes import note_of
from gradstudio.program.compile import compile_graph
from gradstudio.program.module_names import module_names
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from gradstudio.protocol.messages.requests import Trust
from gradstudio.protocol.runner import Outcome, run_program

MOST_VALUES = 1_000_000
_PASSING = (
    "storage",
    "leaves",
    "size_bytes",
    "grad",
    "grad_state",
    "grad_reason",
    "grad_cause",
    "preview",
    "contiguous",
    "words",
)
_LOST = object()


class Run(msgspec.Struct):
    """What a run left: each variable as plain data (a gradient with it), what was printed, and how Python ended."""

    variables: dict[str, Any]
    printed: str
    exit_code: str = ""


def by_python(text: str, path: str, seed: int | None = None, *, as_main: bool = False) -> Run:
    """Execute the text as Python does, with the generators seeded as the engine had them.

    Args:
        text: what is executed.
        path: what it is told to be its file.
        seed: of torch's generators.
        as_main: it is the main module, as a file is that Python is given, and may end itself.
    """
    before = torch.get_default_dtype()
    torch.manual_seed(0 if seed is None else seed)
    module = ModuleType("__main__")
    namespace: dict[str, Any] = module.__dict__ if as_main else {}
    namespace.update({"__name__": "__main__", "__file__": path})
    allowed = torch.backends.__allow_nonbracketed_mutation()  # where torch's own test helpers forbid it
    main = _main_module(module, path) if as_main else contextlib.nullcontext()
    with main, allowed, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("ignore")
        exit_code = ""
        try:
            exec(compile(text, path, "exec"), namespace)
        except SystemExit as end:
            if not as_main:
                raise
            exit_code = str(end.code or "")
        finally:
            torch.set_default_dtype(before)
        names = (bound_names(text) & namespace.keys() - {"_"}) | set(_bound_as_it_ran(text, namespace))
        values = {name: namespace[name] for name in sorted(names) if not _is_called(namespace[name])}
        return Run({name: plain(value) for name, value in values.items()}, printed.getvalue(), exit_code)


@contextlib.contextmanager
def _main_module(module: ModuleType, path: str) -> Iterator[None]:
    """What runs within is the main module of the process, in the folder of its file."""
    before = sys.modules["__main__"], sys.argv, os.getcwd()
    sys.modules["__main__"], sys.argv = module, [path]
    os.chdir(os.path.dirname(path))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, folder = before
        os.chdir(folder)


def by_engine(
    engine: EngineProcess, graph: Graph, document: str, *, trust: Trust | None = None, trace: bool = False
) -> tuple[Run, Outcome]:
    """Run the graph from nothing on an engine."""
    program = compile_graph(graph)
    outcome = run_program(engine, graph, program, document=document, max_values=MOST_VALUES, trust=trust, trace=trace)
    told = (*outcome.report.defined, *outcome.report.entries)
    found = {entry.name: _plain_record(entry.outputs[0]) for entry in told if entry.outputs}
    return Run(found, "\n".join(one.text for one in outcome.printed)), outcome


def plain(value: object) -> Any:
    """A value as plain data, with the gradients that its leaves hold."""
    return _with_gradients(_plain_record(record_of(value, MOST_VALUES)), value)


def differences(expected: Run, found: Run) -> list[str]:
    """Where two runs disagree, variable by variable; `device` is a setting of the document."""
    wrong = []
    for name, value in expected.variables.items():
        if name == "device":
            continue
        mine = found.variables.get(name, _LOST)
        if mine is _LOST:
            wrong.append(f"{name} is missing")
        elif repr(mine) != repr(value):
            wrong.append(f"{name}: {_first_difference(value, mine)}")
    return wrong


def likeness(graph: Graph) -> Any:
    """The graph as plain data without ids and places: equal for two graphs that are one program.

    A comment for which there is no room beside its statement comes back as one above it.
    """
    numbers = {item: ItemId(f"i{k}") for k, item in enumerate(graph.order())}
    items = []
    for item in graph.order():
        one = graph.nodes.get(item) or graph.blocks[item]
        data = msgspec.to_builtins(msgspec.structs.replace(one, id=numbers[item], note=note_of(one), beside=""))
        body = graph.parents[item]
        wires = sorted((port, numbers[w.source], w.output) for (to, port), w in graph.wires.items() if to == item)
        items.append((ROOT if body == ROOT else numbers[ItemId(body)], data, wires))
    tails = {body and numbers[ItemId(body)]: text for body, text in graph.tails.items()}
    return [msgspec.structs.astuple(graph.header), items, tails]


def refused_line(path: Path) -> tuple[int, str]:
    """The line of a refused snippet that is marked, and the words that its reason must hold."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        _, mark, words = line.partition("# refused: ")
        if mark:
            return number, words.strip()
    raise AssertionError(f"{path.name} marks no line with `# refused: words`")


def bound_names(text: str) -> set[str]:
    """Every name that the text binds itself."""
    tree = ast.walk(ast.parse(text))
    return {node.id for node in tree if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _bound_as_it_ran(text: str, namespace: dict[str, Any]) -> Iterator[str]:
    """What the program has bound by `exec`, `globals()` and the like, which no syntax shows."""
    for name in namespace.keys() - module_names(text):
        if not name.startswith("__") and not isinstance(namespace[name], ModuleType):
            yield name


def _is_called(value: object) -> bool:
    """Whether it is a function or a class under a second name, which a program goes by and does not hold."""
    return isinstance(value, type | FunctionType | BuiltinFunctionType)


def _plain_record(record: Record) -> Any:
    data = msgspec.to_builtins(record)
    gradients = dict(_gradients(record))
    return [_without(data), gradients] if gradients else [_without(data), {}]


def _gradients(record: Record, path: str = "") -> Iterator[tuple[str, Any]]:
    """Gradients of leaves in a record, by where they are in it."""
    match record:
        case TensorRecord(grad=Summary() as grad, is_leaf=True) if record.requires_grad:
            yield path, [grad.dtype, list(grad.shape), grad.value]
        case _:
            parts = getattr(record, "parameters", None) or dict(enumerate(getattr(record, "items", ()) or ()))
            for key, part in parts.items():
                yield from _gradients(part, f"{path}.{key}")


def _with_gradients(data: Any, value: object) -> Any:
    return [data[0], dict(_gradients_of(value))]


def _gradients_of(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        if value.is_leaf and value.requires_grad and value.grad is not None:
            (summary,) = [record_of(value.grad, MOST_VALUES)]
            assert isinstance(summary, TensorRecord)
            yield path, [summary.summary.dtype, list(summary.summary.shape), summary.summary.value]
    elif isinstance(value, torch.nn.Module):
        for name, parameter in value.named_parameters():
            yield from _gradients_of(parameter, f"{path}.{name}")
    elif isinstance(value, tuple | list):
        for key, part in enumerate(value):
            yield from _gradients_of(part, f"{path}.{key}")


def _without(data: Any) -> Any:
    """Plain data without what two runs need not share: addresses of storage, pictures, states of gradients."""
    if isinstance(data, dict):
        return {key: _without(value) for key, value in data.items() if key not in _PASSING}
    return [_without(item) for item in data] if isinstance(data, list | tuple) else data


def _first_difference(expected: Any, found: Any) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = [key for key in {**expected, **found} if repr(expected.get(key)) != repr(found.get(key))]
        return f"{keys[0]}: {_first_difference(expected.get(keys[0]), found.get(keys[0]))}"
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pair = next((a, b) for a, b in zip(expected, found, strict=True) if repr(a) != repr(b))
        return _first_difference(*pair)
    return f"Python has {str(expected)[:200]}, here is {str(found)[:200]}"
