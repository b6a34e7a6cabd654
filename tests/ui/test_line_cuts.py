"""A line to a host that is cut at any moment, by the end of any process on it: no document harmed, no process left.

Each cut is drawn from a seed. `GRADSTUDIO_CUTS=200` tries as many (docs/remote.md has the figures of such a run).
"""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psutil
import pytest
from pytestqt.qtbot import QtBot

from gradstudio.document.file import dumps
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from tests.helpers import engine_forks, ssh_server
from tests.ui.desk import Desk
from tests.ui.test_lost_hosts import family, is_gone

pytestmark = pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
CUTS = int(os.environ.get("GRADSTUDIO_CUTS", "12"))
SEED = int(os.environ.get("GRADSTUDIO_SEED", "0"))
MOMENTS = ("connecting", "idle", "sending", "running", "editing")
LONGEST_S = 1.0
FLOATS = 1 << 20
"""Of the stored tensor that has to be sent: 4 MB of chance, which nothing compresses."""
TRAINING = """
from pathlib import Path

import torch
from safetensors.torch import load_file

HERE = Path(__file__).parent
data = load_file(HERE / "net.tensors/DIGEST.safetensors")["data"]
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0001)
for step in range(1000000000):
    loss = ((w - 1) ** 2).sum() + data[0]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def far(desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host behind a real server is chosen."""
    desk.sit_down(qtbot)
    server = ssh_server.SshServer(tmp_path / "ssh")
    monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
    book = HostBook(desk.window.settings.folder)
    with engine_forks.everywhere():
        book.add(Host("far", server.destination, python=sys.executable, devices=(Device("cpu", "x"),)))
        (choice,) = (one for one in desk.window.room.hosts.choices() if one.text == "far · cpu")
        open_with_data(desk, Random(SEED))
        desk.window.room.hosts.choose(choice)
        yield
        desk.window.actions["run.here"].trigger()
        desk.until(lambda: desk.session.engine.ready)
    book.remove("far")


def open_with_data(desk: Desk, generator: Random) -> None:
    """Another document, whose data the host does not have."""
    tensor = stored_tensor(generator.randbytes(4 * FLOATS), "float32", (FLOATS,))
    graph = read_script(TRAINING.replace("DIGEST", tensor.digest), lambda _file: tensor).graph
    graph.places = layout_missing(graph)
    desk.session.restore(graph, None)


def bring_to(desk: Desk, moment: str, generator: Random) -> None:
    """The moment begins."""
    if moment != "connecting":
        desk.until(lambda: desk.session.engine.ready)
    if moment == "sending":
        open_with_data(desk, generator)
    if moment in ("sending", "running", "editing"):
        desk.window.actions["run.run"].trigger()
    if moment in ("running", "editing"):
        desk.until(lambda: desk.session.results.loops)


def live_on(desk: Desk, moment: str, seconds: float) -> None:
    """So long passes; somebody may edit meanwhile."""
    due, devices = time.monotonic() + seconds, ("auto", "cpu")
    while time.monotonic() < due:
        if moment == "editing":
            devices = devices[::-1]
            desk.window.room.graph.set_device(devices[0])
        until = time.monotonic() + 0.05
        desk.until(lambda until=until: time.monotonic() > until)


def is_cut(desk: Desk, *, connects: bool) -> bool:
    """Whether the line breaks; one that `connects` may do without the process that was ended."""
    engine = desk.session.engine
    desk.until(lambda: engine.state == "dead" or (connects and engine.ready))
    return engine.state == "dead"


@pytest.mark.slow
@pytest.mark.usefixtures("far")
def test_cuts_at_any_moment_harm_nothing_and_leave_nothing(desk: Desk) -> None:
    generator = Random(SEED)
    tried, slowest_s = Counter[str](), 0.0
    while tried.total() < CUTS:
        moment = MOMENTS[tried.total() % len(MOMENTS)]
        bring_to(desk, moment, generator)
        live_on(desk, moment, generator.random() * LONGEST_S)
        document, processes = dumps(desk.graph), family(desk)
        hello = desk.session.engine.hello
        if moment != "connecting" and hello is not None and psutil.pid_exists(hello.pid):
            processes.append(psutil.Process(hello.pid))
        victim = generator.choice(processes)
        name = "here" if victim == processes[0] else victim.name()
        began, was_ready = time.monotonic(), desk.session.engine.ready
        os.kill(victim.pid, signal.SIGKILL)
        if not is_cut(desk, connects=not was_ready):
            continue  # it only lets others in, and had done so
        desk.until(lambda processes=processes: all(map(is_gone, processes)))
        slowest_s = max(slowest_s, time.monotonic() - began)
        tried[f"{moment}, {name}"] += 1
        print(tried.total(), moment, name, f"{time.monotonic() - began:.1f} s:", desk.said, flush=True)
        assert "“far”" in desk.said, (moment, name)
        assert dumps(desk.graph) == document and not desk.session.run.state.busy, (moment, name)
        desk.window.actions["run.restart"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    print(f"{CUTS} cuts, slowest end {slowest_s:.1f} s, load {os.getloadavg()[0]:.0f}", dict(tried), sep="\n")
