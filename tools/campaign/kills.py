"""Kill drivers: a process is killed at a moment of chance, and what it was writing or computing is looked at again."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import load, save
from gradstudio.document.journal import recoverable
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.requests import Do, Load
from gradstudio.protocol.runner import run_program
from tools.campaign.engine_forks import EngineForks
from tools.campaign.tally import Failure, Tally, generator_of

LONGEST_S = 0.3
"""After its first word a process lives up to so long."""
PROGRAM = "x = torch.ones(64, 64)\nfor step in range(40):\n    x = x @ x / 64.0\ny = x.sum()\n"
WRITER = """
import sys
from pathlib import Path
from gradstudio.document.file import save
from gradstudio.document.journal import Journal
from gradstudio.graph.model import Graph, Header
folder, first = Path(sys.argv[1]), int(sys.argv[2])
journal, graph = Journal(folder / "recovery"), Graph()
for number in range(first, 10**9):
    graph.header = Header(seed=number)
    journal.write(graph, folder / "killed.gsg")
    print(number, "journal", flush=True)
    save(graph, folder / "killed.gsg")
    print(number, "document", flush=True)
"""
"""Writes journal and document in turn, and says so after each."""


def kill_journals(*, seed: int, cases: range, until: float) -> Tally:
    """Kill a process that writes; its document and journal must hold the last state it told, or one newer."""
    tally = Tally("journal-kills")
    for case in cases:
        if tally.cases and time.monotonic() > until:
            break
        delay_s = generator_of("journal-kills", seed, case).random() * LONGEST_S
        began = time.process_time()
        with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
            told = _write_and_die(Path(place), delay_s)
            reason = _wrong_on_disk(Path(place), told)
        tally.count(case, time.process_time() - began)
        if reason:
            tally.failures.append(Failure("journal-kills", seed, case, reason))
    return tally


def _write_and_die(folder: Path, delay_s: float) -> dict[str, int]:
    """The newest number that was told of journal and document."""
    save(read_script("x = 1\n").graph, folder / "killed.gsg")
    command = [sys.executable, "-c", WRITER, str(folder), "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        time.sleep(delay_s)
        child.kill()
        lines += child.stdout.readlines()
    said = (line.split() for line in lines if line.endswith("\n"))
    return {what: int(number) for number, what in said}


def _wrong_on_disk(folder: Path, told: dict[str, int]) -> str:
    try:
        document = load(folder / "killed.gsg").header.seed or 0
        left = [one.load()[0].header.seed or 0 for one in recoverable(folder / "recovery")]
    except UnreadableFile as error:
        return f"unreadable after the kill: {error}"
    if len(left) != 1:
        return f"{len(left)} journals were left behind"
    found = {"document": document, "journal": left[0]}
    lost = {name: number - found[name] for name, number in told.items() if found[name] < number}
    return f"lost what was told to be written: {json.dumps(lost)}" if lost else ""


def kill_engines(*, seed: int, cases: range, until: float) -> Tally:
    """Kill an engine while it runs; that is said, the program is as it was, and the next engine gives its values."""
    tally = Tally("engine-kills")
    graph = read_script("import torch\n" + PROGRAM).graph
    program = compile_graph(graph)
    with EngineForks() as engines:
        engine = _started(engines)
        expected = run_program(engine, graph, program, document="0").report.entries
        for case in cases:
            if tally.cases and time.monotonic() > until:
                break
            began = time.process_time()
            delay_s = generator_of("engine-kills", seed, case).random() * LONGEST_S
            reason = _run_and_die(engine, Load(document="k", revision=1, program=program), delay_s)
            engine = _started(engines)  # the next to be killed, too
            if run_program(engine, graph, compile_graph(graph), document="a").report.entries != expected:
                reason = "the run after the kill has other values"
            tally.count(case, time.process_time() - began)
            if reason:
                tally.failures.append(Failure("engine-kills", seed, case, reason))
        engine.close()
    return tally


def _started(engines: EngineForks) -> EngineProcess:
    engine = EngineProcess(engines.command, stderr=subprocess.DEVNULL)
    engine.wait_until_ready()
    return engine


def _run_and_die(engine: EngineProcess, load_request: Load, delay_s: float) -> str:
    engine.send(load_request)
    engine.send(Do(verb="run"))
    time.sleep(delay_s)
    engine.kill()
    try:
        while True:
            engine.receive(timeout=0)
    except EngineDied:
        return ""
