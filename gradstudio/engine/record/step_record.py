"""`with gradstudio.record(FILE)`: a step is recorded while it runs, and written down as a document and its record."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from gradstudio.document.atomic_write import write_file
from gradstudio.document.file import dumps
from gradstudio.engine.record.canvas_mapping import CanvasMapping
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles, caller
from gradstudio.engine.record.step_recorder import MOST_CALLS, StepRecorder
from gradstudio.engine.record.step_text import StepText, step_text
from gradstudio.graph.model import Header, ItemId
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import Read, read_script
from gradstudio.protocol.run_record import RecordHead, SourceLine, program_digest, record_beside, write_record


@contextmanager
def record_step(path: Path) -> Iterator[None]:
    """Record what runs inside; the file is written behind it, also when it fails.

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
        _write(path, recorder, names)


def _write(path: Path, recorder: StepRecorder, names: CallerNames) -> None:
    told = recorder.values.told()
    files = ScriptFiles()
    title = next((files.short(call.line.file) for call in recorder.calls if call.line.file), "a script")
    text = step_text(recorder, names, title)
    read = read_script(text.text, keeps_code=True)
    graph = read.graph
    graph.header = Header(seed=None, default_dtype=graph.header.default_dtype)
    mapping = CanvasMapping(graph, read.lines, text)
    events = mapping.events(told)
    head = RecordHead(
        program=program_digest(compile_graph(graph)),
        title=title,
        torch=str(torch.__version__),
        sources=_sources(recorder, mapping, files),
        notes=tuple(_notes(recorder, read, text)),
    )
    write_file(path, dumps(graph).encode(), durable=False)
    write_record(record_beside(path), head, events)


def _sources(recorder: StepRecorder, mapping: CanvasMapping, files: ScriptFiles) -> dict[ItemId, SourceLine]:
    """The line of the script that each node is."""
    found: dict[ItemId, SourceLine] = {}
    for number, call in enumerate(recorder.calls):
        node = mapping.node(ItemId(str(number)))
        if node and call.line.file:
            source = files.source(call.line.file, call.line.number)
            found[node] = SourceLine(files.short(call.line.file), call.line.number, source[:200])
    return found


def _notes(recorder: StepRecorder, read: Read, text: StepText) -> Iterator[str]:
    if recorder.is_full:
        yield f"The step made more than {MOST_CALLS:,} calls; what came later is not recorded."
    if recorder.values.overwritten:
        yield f"{recorder.values.overwritten} values were written into unseen; only their shapes are known."
    if not recorder.calls:
        yield "Nothing of torch was called."
    missing = len(set(text.lines.values()) - {number for number in text.bound}) if not read.graph.nodes else 0
    if missing:
        yield f"{missing} calls could not be drawn."
