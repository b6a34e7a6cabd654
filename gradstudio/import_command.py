"""`gradstudio import` of a module (path.py:Name --run-code) or of data (data.csv): a document. No Qt, no torch here."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradstudio.document.data.sources import open_data
from gradstudio.document.errors import BadData, CannotSave, UnreadableFile
from gradstudio.document.file import SUFFIX, save
from gradstudio.document.python.module_import import graph_of
from gradstudio.protocol import client
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied, EngineSilent
from gradstudio.protocol.messages.events import Event
from gradstudio.protocol.messages.module_import import BringModule, Brought, NotBrought, in_words
from gradstudio.protocol.runner import PATIENCE_S

if TYPE_CHECKING:
    from gradstudio.document.data.model import Choice, Source

FINE = 0
FAILED = 1
USAGE = 2
UNREADABLE = 4
CODES = {"usage": USAGE, "code": FAILED, "inexpressible": UNREADABLE}


def import_module(options: argparse.Namespace, path: Path, name: str) -> int:
    """Bring the module and save its document; the exit code."""
    if not options.run_code:
        _say(
            f"Importing {name} would execute {path} on this computer, in a process of its own, to see what it "
            "computes; if you trust that file, say so with --run-code."
        )
        return USAGE
    if not path.is_file():
        _say(f"{path}: there is no such file.")
        return USAGE
    target = Path(options.output or path.with_name(name + SUFFIX))
    request = BringModule(
        path=str(path.resolve()), name=name, arguments=options.arguments, inputs=tuple(options.inputs),
        evaluate=options.evaluate, seed=options.seed, stem=target.stem,
    )  # fmt: skip
    try:
        answer = bring(request)
    except EngineDied as death:
        _say(f"{path}: the code ended the process that ran it: {death}")
        return FAILED
    if isinstance(answer, NotBrought):
        place = "" if answer.line and answer.file == path.name else f"{path}: "  # its own place begins with the file
        _say(f"{place}{in_words(answer)}")
        return CODES[answer.fault]
    return _saved(answer, target, path)


def import_data(options: argparse.Namespace, path: Path) -> int:
    """Read a table, arrays or a text, and save a document with X and y; the exit code."""
    from gradstudio.document.data.data_graph import data_graph
    from gradstudio.document.data.hazards import class_counts, hazards
    from gradstudio.document.data.split import prepare

    target = Path(options.output or path.with_suffix(SUFFIX))
    try:
        source = open_data(path)
        data = prepare(source, _choice(options, source))
        save(data_graph(data), target)
    except BadData as error:
        _say(str(error))
        return UNREADABLE
    except CannotSave as error:
        _say(str(error))
        return FAILED
    shapes = [f"X {list(data.train.inputs.shape)}"]
    if data.train.target is not None:
        shapes.append(f"y {list(data.train.target.shape)}")
    counts = [f"{name}: {train} to learn from, {apart} to validate" for name, train, apart in class_counts(data)]
    lines = [f"{target}: {', '.join(shapes)}", source.description, *data.notes, *counts]
    sys.stdout.write("\n  ".join([*lines, *(f"Note: {one}" for one in hazards(data))]) + "\n")
    return FINE


def _choice(options: argparse.Namespace, source: "Source") -> "Choice":
    """What the options say; what they leave open is as most would choose."""
    proposal = source.proposal()
    target = proposal.target if options.target is None else options.target
    field = next((one for one in source.fields if one.name == target), None)
    names = options.columns.split(",") if options.columns is not None else proposal.inputs
    changed = options.target is not None and options.columns is None and proposal.target not in ("", target)
    if changed:
        names = [*names, proposal.target]
    return msgspec.structs.replace(
        proposal,
        inputs=tuple(name.strip() for name in names if name.strip() != target),
        target=target,
        is_class=not options.number and (field is None or field.is_class),
        fills_missing=options.fill,
        normalises=options.normalise,
        validation=options.validation,
        seed=options.seed,
        window=proposal.window if options.window is None else options.window,
    )


def bring(request: BringModule) -> Brought | NotBrought:
    """Ask a fresh engine, which is killed when the person interrupts.

    Raises:
        EngineDied: the code ended it.
    """
    engine = EngineProcess((*client.COMMAND, client.RUNS_CODE))
    try:
        engine.wait_until_ready()
        engine.send(request)
        answer = _patiently(engine, Path(request.path).name)
        assert isinstance(answer, Brought | NotBrought)
        return answer
    finally:
        engine.kill()


def _patiently(engine: EngineProcess, name: str) -> Event:
    try:
        return engine.wait_for(Brought, NotBrought, timeout=PATIENCE_S)
    except EngineSilent:
        _say(f"still running {name}'s code (Ctrl+C stops it)")
        sys.stderr.flush()
    return engine.wait_for(Brought, NotBrought)


def _saved(answer: Brought, target: Path, path: Path) -> int:
    try:
        graph = graph_of(answer.text, answer.tensors)
        save(graph, target)
    except UnreadableFile as error:
        _say(f"{path}: what it computes cannot be drawn: {error}")
        return UNREADABLE
    except CannotSave as error:
        _say(str(error))
        return FAILED
    sys.stdout.write("\n  ".join([f"{target}: {answer.outcome}", *answer.notes]) + "\n")
    return FINE


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
