"""Faults of disk, memory, process and clock: whatever is out of order, the old document or the new one is whole.

Each fault is set up in a process of its own, which then does something; it must be done, or refused in words of ours.
Behind a refusal the document must be saveable elsewhere.
"""

import contextlib
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import dumps, load, save
from gradstudio.errors import GradStudioError
from gradstudio.graph.model import Graph, Header
from tools.campaign import fault_kinds
from tools.campaign.sources import graphs
from tools.campaign.tally import Failure, Tally

NAME = "faults"
KEPT = "kept.gsg"
"""The document that lies there before."""
DONE, REFUSED = "done", "refused"


class Answer(NamedTuple):
    """How the process answered: with what, and in which words."""

    kind: str
    words: str


def try_faults(*, seed: int, cases: range, until: float) -> Tally:
    """Each case is one fault, of each kind in turn; where it strikes by chance the seed decides."""
    tally, seen = Tally(NAME), dict[str, str]()
    kinds = list(fault_kinds.FAULTS.items())
    for case in cases:
        if tally.cases and time.monotonic() > until:
            break
        began = time.process_time()
        name, kind = kinds[case % len(kinds)]
        with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
            answer, reason = tried(Path(place), kind, case // len(kinds) + seed)
        tally.count(case, time.process_time() - began)
        seen[name] = answer.kind
        if reason:
            tally.failures.append(Failure(NAME, seed, case, f"{name}: {reason}", details=answer.words))
    refused = sum(kind == REFUSED for kind in seen.values())
    tally.remarks.append(f"{len(seen)} kinds of faults, {refused} refused in words")
    return tally


def tried(folder: Path, kind: fault_kinds.Kind, number: int) -> tuple[Answer, str]:
    """Set a fault up, do what it is about, and look at what is left; what is wrong with it, or ""."""
    before, after = document(1), document(2)
    save(before, folder / KEPT)
    os.chmod(folder, 0o755)
    answer = _in_a_process(lambda: _act(folder, kind, after, number))
    return answer, _wrong(folder, kind, answer, (dumps(before), dumps(after)))


def document(number: int) -> Graph:
    """A document with stored tensors; another number makes another one."""
    graph = next(graph for graph in graphs() if graph.tensors).copy()
    graph.header = Header(seed=number)
    return graph


def _act(folder: Path, kind: fault_kinds.Kind, graph: Graph, number: int) -> None:
    """Do what the kind says under its fault; behind a refusal, save elsewhere without the fault.

    Raises:
        GradStudioError: it was refused.
    """
    fault: AbstractContextManager[object] = kind.fault(folder, number) if kind.fault else contextlib.nullcontext()
    try:
        with fault:
            kind.does(folder, graph)
    except GradStudioError:
        elsewhere = folder.parent / f"{folder.name}-elsewhere.gsg"
        try:
            save(graph, elsewhere)
        finally:
            elsewhere.unlink(missing_ok=True)
            fault_kinds.remove(elsewhere.with_suffix(".tensors"))
        raise


def _in_a_process(act: Callable[[], None]) -> Answer:
    """What becomes of it in a process of its own."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        os.write(writing, _answered(act).encode(errors="replace")[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as stream:
        said = stream.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status == -signal.SIGKILL:
        return Answer("killed", "")
    kind, _, words = said.partition("\n")
    return Answer(kind, words) if kind else Answer("error", f"the process ended with {status}")


def _answered(act: Callable[[], None]) -> str:
    try:
        act()
    except GradStudioError as error:
        return f"{REFUSED}\n{error}"
    except BaseException:  # noqa: BLE001 - whatever comes is what is looked for
        return f"error\n{traceback.format_exc(limit=-6)}"
    return DONE


def _wrong(folder: Path, kind: fault_kinds.Kind, answer: Answer, states: tuple[str, str]) -> str:
    if answer.kind not in kind.answers:
        return f"{answer.kind}, where {' or '.join(kind.answers)} was due"
    if answer.kind == REFUSED and len(answer.words.strip()) < 10:
        return "refused without words"
    path = kind.where(folder)
    try:
        left = dumps(load(path)) if path is not None else states[0]
    except UnreadableFile as error:
        return f"the document is unreadable afterwards: {error}"
    due = {DONE: states[1:] if kind.writes else states, REFUSED: states[:1], "killed": states}[answer.kind]
    if left not in due:
        return "the document is neither as it was nor as it was to be"
    litter = [one.name for one in folder.rglob(".*.tmp")] if answer.kind != "killed" and not kind.litters else []
    return f"left behind: {litter}" if litter else ""
