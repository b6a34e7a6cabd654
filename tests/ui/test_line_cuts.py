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
from pytestqt.exceptions import TimeoutError as WaitedInVain
from pytestqt.qtbot import QtBot

from gradstudio.document.file import dumps
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.hosts import host_check
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from tests.helpers import engine_forks, slow_line, ssh_server
from tests.ui.desk import Desk
from tests.ui.test_lost_hosts import family, is_gone

pytestmark = pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
CUTS = int(os.environ.get("GRADSTUDIO_CUTS", "12"))
SEED = int(os.environ.get("GRADSTUDIO_SEED", "0"))
MOMENTS = ("connecting", "idle", "sending", "running", "editing")
LONGEST_S = 1.0
DELAY_MS = 5
"""One way: a relay stands between, which may be ended, too."""
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
    server = ssh_server.SshServer(tmp_path / "ssh", f"{sys.executable} {slow_line.__file__} {DELAY_MS} {{server}}")
    monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
    book = HostBook(desk.window.settings.folder)
    with engine_forks.everywhere():
        book.add(Host("far", server.destination, python=sys.executable, devices=(Device("cpu", "x"),)))
        (choice,) = (one for one in desk.window.room.hosts.choices() if one.text == "far · cpu")
        open_with_data(desk, Random(SEED))
        desk.window.room.hosts.choose(choice)
        yield
        desk.session.engine.client.move_to("", None)
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
        reach(desk)
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


def reach(desk: Desk) -> None:
    """An engine is there; a line on which a busy machine said nothing for four seconds is connected again."""
    engine = desk.session.engine
    desk.until(lambda: engine.ready or engine.state == "dead")
    while not engine.ready:
        print("   again:", desk.said, flush=True)
        desk.window.actions["run.restart"].trigger()
        desk.until(lambda: engine.ready or engine.state == "dead")


def wait_for_end(desk: Desk, processes: list[psutil.Process]) -> None:
    """Each has ended, or is named."""
    try:
        desk.until(lambda: all(map(is_gone, processes)))
    except WaitedInVain:
        left = [" ".join(one.cmdline())[-200:] for one in processes if not is_gone(one)]
        raise AssertionError(left) from None


def is_cut(desk: Desk, *, connects: bool) -> bool:
    """Whether the line breaks; one that `connects` may do without the process that was ended."""
    engine = desk.session.engine
    desk.until(lambda: engine.state == "dead" or (connects and engine.ready))
    return engine.state == "dead"


def name_of(victim: psutil.Process, processes: list[psutil.Process]) -> str:
    """What a person calls a process between window and engine."""
    if victim == processes[0]:
        return "here"
    if any("slow_line" in word for word in victim.cmdline()):
        return "relay"
    return victim.name()


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
        name = name_of(victim, processes)
        began, was_ready = time.monotonic(), desk.session.engine.ready
        os.kill(victim.pid, signal.SIGKILL)
        if not is_cut(desk, connects=not was_ready):
            continue  # it only lets others in, and had done so
        wait_for_end(desk, processes)
        slowest_s = max(slowest_s, time.monotonic() - began)
        tried[f"{moment}, {name}"] += 1
        print(tried.total(), moment, name, f"{time.monotonic() - began:.1f} s:", desk.said, flush=True)
        assert "“far”" in desk.said, (moment, name)
        assert dumps(desk.graph) == document and not desk.session.run.state.busy, (moment, name)
        desk.window.actions["run.restart"].trigger()
    reach(desk)
    print(f"{CUTS} cuts, slowest end {slowest_s:.1f} s, load {os.getloadavg()[0]:.0f}", dict(tried), sep="\n")


class Kept:
    """A training without an end that is kept running: what of it is there, and its curve here.

    Attributes:
        names: of its processes there, by number: the porter, then the engine.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        (self._host,) = HostBook(desk.window.settings.folder).hosts()
        self.names: dict[int, str] = {}

    def begin(self) -> list[psutil.Process]:
        """It runs, and said that it goes on; its processes."""
        desk, client = self._desk, self._desk.session.engine.client
        reach(desk)
        if not client.title_there:
            desk.window.actions["run.keep"].trigger()
        desk.until(lambda: client.keeps_running)
        desk.window.actions["run.run"].trigger()
        desk.until(lambda: desk.session.results.loops)
        hello, (told,) = desk.session.engine.hello, self.there()
        assert hello is not None
        self.names = {told.pid: "porter", hello.pid: "engine"}
        return list(dict.fromkeys([*family(desk), psutil.Process(told.pid), psutil.Process(hello.pid)]))

    def there(self):
        """What a list of the host has."""
        return host_check.staying(self._host)

    def die_alone(self) -> None:
        """Its engine is killed while nobody is on the line; nobody stays with its record."""
        porter, engine = self.names
        os.kill(engine, signal.SIGKILL)
        self._desk.until(lambda: [one.has_ended for one in self.there()] == [True])
        self._desk.until(lambda: not psutil.pid_exists(porter))

    def take_up(self) -> None:
        """It is taken up again, and told to the end, or stopped."""
        desk, engine, run = self._desk, self._desk.session.engine, self._desk.session.run
        desk.window.actions["run.take_up"].trigger()
        desk.until(lambda: engine.state in ("busy", "dead"))
        if engine.state == "busy":
            desk.window.actions["run.stop"].trigger()
        desk.until(lambda: not run.state.busy)

    def turns(self) -> list[int]:
        """Those that its curve has."""
        curves = self._desk.session.results.tables.curves
        return list(curves.points(curves.names[0])[0]) if curves.names else []


@pytest.mark.slow
@pytest.mark.usefixtures("far")
def test_cuts_of_what_is_kept_running_lose_no_point_of_its_curve_and_leave_nothing(desk: Desk) -> None:
    generator, kept, tried = Random(SEED), Kept(desk), Counter[str]()
    menus = desk.window.room.status_menus
    while tried.total() < CUTS:
        processes = kept.begin()
        live_on(desk, "running", generator.random() * LONGEST_S)
        document, before = dumps(desk.graph), kept.turns()
        victim = generator.choice(processes)
        name = kept.names.get(victim.pid) or name_of(victim, processes)
        dies = name != "porter" and generator.random() < 0.5
        os.kill(victim.pid, signal.SIGKILL)
        desk.until(lambda: desk.session.engine.state == "dead")
        client = desk.session.engine.client
        words = menus.offer.toolTip() if menus.offer is not None and client.goes_on else desk.said
        case = f"{name}, {'ends' if not client.goes_on else 'goes on, dies alone' if dies else 'goes on'}"
        tried[case] += 1
        print(tried.total(), case, len(before), words, flush=True)
        assert "“far”" in words and dumps(desk.graph) == document
        if client.goes_on:
            live_on(desk, "running", generator.random() * LONGEST_S)
            if dies:
                kept.die_alone()
            kept.take_up()
            turns = kept.turns()
            print("   taken up:", len(turns), desk.session.run.state.outcome, desk.said, flush=True)
            assert turns == list(range(len(turns))) and len(turns) >= len(before)
        assert dumps(desk.graph) == document and not desk.session.run.state.busy
        desk.window.actions["run.restart"].trigger()
        wait_for_end(desk, processes)
        reach(desk)
        assert [one.has_ended for one in kept.there()] in ([], [False]), "of the next engine"
    print(f"{CUTS} cuts, load {os.getloadavg()[0]:.0f}", dict(tried), sep="\n")
