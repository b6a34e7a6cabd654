"""`with gradstudio.record(FILE)`: a step is recorded while it runs, and written down as a document and its record."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
from torch import nn

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import dumps, tensor_folder, write_tensors
from gradstudio.engine.record.canvas_mapping import CanvasMapping
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles, caller
from gradstudio.engine.record.step_recorder import MOST_CALLS, StepRecorder
from gradstudio.engine.record.step_text import StepText, step_text
from gradstudio.engine.sketch.module_trace import same_random_numbers
from gradstudio.graph.model import Graph, Header, ItemId, StoredTensor
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.record_file import RecordHead, SourceLine, code_digest, record_beside, write_record

_DIGEST = re.compile("[0-9a-f]{64}")
MOST_DRAWINGS = 4
"""So many texts are not read again."""


class Drawing(NamedTuple):
    """A step's text as a document; nobody changes its graph.

    Attributes:
        lines: by item, its line of the text.
        code: of its program.
        data: of its file.
    """

    graph: Graph
    lines: Mapping[ItemId, int]
    code: str
    data: str


@contextmanager
def record_step(path: Path, level: int | None = None) -> Iterator[None]:
    """Record what runs inside; the file is written behind it, also when it fails.

    Args:
        path: of the document.
        level: calls of modules that are deeper are one statement each; None: where the step is large.

    Raises:
        CannotSave: the system refused to write it.
    """
    load()
    names = CallerNames(caller())
    recorder = StepRecorder(names)
    try:
        with recorder.watching():
            yield
    finally:
        names.look()
        names.let_go()
        _write(path, recorder, names, level)


def record_forward(path: Path, model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Record one call of a module or function; its buffers and the states of random numbers are as they were.

    Raises:
        CannotSave: the system refused to write it.
    """
    with same_random_numbers(), torch.enable_grad():
        if not isinstance(model, nn.Module):
            with record_step(path):
                model(*args, **kwargs)
            return
        buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
        with record_step(path):
            torch.func.functional_call(model, buffers, args, kwargs)


def _write(path: Path, recorder: StepRecorder, names: CallerNames, level: int | None) -> None:
    told = recorder.values.told()
    files = ScriptFiles()
    title = next((files.short(call.line.file) for call in recorder.calls if call.line.file), "a script")
    text = step_text(recorder, names, title, path.stem, level)
    beginning = text.beginning
    stored = beginning.tensors if beginning is not None else {}
    drawing = _drawing_with(text.text, list(stored.values()))
    mapping = CanvasMapping(drawing.graph, drawing.lines, text)
    events = mapping.events([*(beginning.rows() if beginning is not None else ()), *told])
    head = RecordHead(
        program=code_digest(drawing.code),
        title=title,
        torch=str(torch.__version__),
        sources=_sources(recorder, text, mapping, files),
        notes=tuple(_notes(recorder)),
        repeats=beginning is not None,
    )
    _replace_tensors(path, stored)
    write_file(path, drawing.data.encode(), durable=False)
    write_record(record_beside(path), head, events)


def _drawing_with(text: str, tensors: Sequence[StoredTensor]) -> Drawing:
    """The drawing of a text that loads tensors; that of others of the same sizes is read once."""
    places = [f"{number:064x}" for number in range(len(tensors))]
    for place, tensor in zip(places, tensors, strict=True):
        text = text.replace(tensor.digest, place)
    forms = [msgspec.structs.replace(one, digest=place, data=b"") for place, one in zip(places, tensors, strict=True)]
    drawing = _drawing(text, tuple(forms))
    code, data = drawing.code, drawing.data
    for place, tensor in zip(places, tensors, strict=True):
        code, data = code.replace(place, tensor.digest), data.replace(place, tensor.digest)
    return drawing._replace(code=code, data=data)


@lru_cache(maxsize=MOST_DRAWINGS)
def _drawing(text: str, tensors: tuple[StoredTensor, ...]) -> Drawing:
    """What a text is as a document; a step that is recorded again mostly has the text of the one before."""
    by_digest = {tensor.digest: tensor for tensor in tensors}
    read = read_script(text, lambda file: by_digest[Path(file).stem], keeps_code=True)
    graph = read.graph
    graph.header = Header(seed=None, default_dtype=graph.header.default_dtype)
    return Drawing(graph, read.lines, compile_graph(graph).code, dumps(graph))


def _replace_tensors(path: Path, tensors: Mapping[str, StoredTensor]) -> None:
    """Those that the document which is written over names go, but for those of a script of its name."""
    folder = tensor_folder(path)
    if folder.is_dir():
        for digest in _digests(path) - _digests(path.with_suffix(".py")) - tensors.keys():
            (folder / f"{digest}.safetensors").unlink(missing_ok=True)
    write_tensors(tensors.values(), folder, durable=False)


def _digests(path: Path) -> set[str]:
    """Of the stored tensors that a file names; of one that cannot be read none."""
    try:
        return set(_DIGEST.findall(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return set()


def _sources(
    recorder: StepRecorder, text: StepText, mapping: CanvasMapping, files: ScriptFiles
) -> dict[ItemId, SourceLine]:
    """The line of the script that each node is."""
    found: dict[ItemId, SourceLine] = {}
    for number, call in enumerate(recorder.calls):
        node, visit = mapping.node(ItemId(str(number))), text.folding.visits.get(number)
        line = call.line if visit is None else recorder.visits[visit].line
        if node and line.file:
            source = files.source(line.file, line.number)
            found[node] = SourceLine(files.short(line.file), line.number, source[:200])
    return found


def _notes(recorder: StepRecorder) -> Iterator[str]:
    if recorder.is_full:
        yield f"The step made more than {MOST_CALLS:,} calls; what came later is not recorded."
    if recorder.values.overwritten:
        yield f"{recorder.values.overwritten} values were written into unseen; only their shapes are known."
    if not recorder.calls:
        yield "Nothing of torch was called."
