"""An engine that was asked to stays when its line breaks, goes on, and is taken up again; one that was not ends."""

import os
import signal
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.framing import FrameCutter, encode
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.frame_log import FrameLog
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import start_command
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Event, Hello, Log, Paused, Printed, Started
from gradstudio.protocol.messages.hosting import Beat, Document, Handover, Join, Leave, Needs, Stay, Staying
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.messages.requests import Do, Load, Stop
from tests.helpers import ssh_server
from tests.helpers.host_line import HostLine, is_alive
from tests.helpers.patience import wait_until

needs_ssh = pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
NAME = "0123456789abcdef" * 2
PROGRAM = """
import torch

w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0001)
for step in range(1000000000):
    loss = ((w - 1) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


# ------------------------------------------------------------------ the log


def test_what_was_heard_is_forgotten_and_the_rest_comes_in_order() -> None:
    log = FrameLog()
    for number, kind in enumerate(["Hello", "Traced", "Turned", "Traced", "Paused"]):
        log.add(kind, bytes([number]))
    assert list(log.since(1)) == [b"\1", b"\2", b"\3", b"\4"]
    log.forget(3)
    assert list(log.since(3)) == [b"\3", b"\4"]
    assert log.count == 5


def test_of_a_run_all_but_records_stays_when_it_was_heard_and_records_too_for_others() -> None:
    log, fresh = FrameLog(), encode(Started(verb="run", revision=1, fresh=True, pass_number=1))[4:]
    log.add("Log", b"before")
    log.add("Started", fresh)
    for kind in ("Traced", "Turned"):
        log.add(kind, kind.encode())
    log.forget(4)
    assert list(log.since(0)) == [fresh, b"Turned"]
    log.keep_for_others()
    log.add("Traced", b"newer")
    log.forget(5)
    assert list(log.since(log.run_begins)) == [fresh, b"Turned", b"newer"]
    log.add("Started", fresh)
    assert list(log.since(0)) == [fresh], "another run from nothing"


def test_records_go_before_curves_and_neither_grows_beyond_its_bound() -> None:
    log = FrameLog(most_bytes=100, most_light_bytes=1000)
    log.keep_for_others()
    for _ in range(50):
        log.add("Traced", b"t" * 30)
        log.add("Turned", b"c" * 10)
    kept = list(log.since(0))
    assert kept.count(b"t" * 30) == 3 and kept.count(b"c" * 10) == 50
    for _ in range(500):
        log.add("Turned", b"c" * 10)
    assert sum(map(len, log.since(0))) <= 1100


def test_the_record_of_a_backward_is_a_record_as_it_crosses() -> None:
    log = FrameLog(most_bytes=100, most_light_bytes=1000)
    (body,) = FrameCutter().cut(encode(BackwardTraced(revision=1, rows=())))
    kind = msgspec.msgpack.decode(body)["type"]
    for _ in range(50):
        log.add(kind, b"b" * 30)
    assert len(list(log.since(0))) == 3


# ------------------------------------------------------------------ a host


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host("shell", command=f"env XDG_CACHE_HOME={tmp_path} sh -c {{engine}}", python=sys.executable)


@pytest.fixture(params=["a command", pytest.param("ssh", marks=needs_ssh)])
def place(
    request: pytest.FixtureRequest, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Host]:
    if request.param == "ssh":
        server = ssh_server.SshServer(tmp_path / "ssh")
        monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
        host = Host("far", server.destination, python=sys.executable)
    yield host
    for one in listed(host):
        subprocess.run(start_command(host, bundle_key(), "--kept", "end", one.name), check=True, capture_output=True)
        wait_until("the engine is gone", lambda one=one: not is_alive(one.pid))


def listed(host: Host) -> list[Staying]:
    """What a visitor is told."""
    done = subprocess.run(start_command(host, bundle_key(), "--kept", "list"), check=True, capture_output=True)
    lines = done.stdout.partition(b"\x1e")[2].splitlines()
    return [msgspec.json.decode(line, type=Staying) for line in lines]


def train(line: HostLine) -> Hello:
    """Start a training without an end; who answers."""
    program = compile_graph(read_python(PROGRAM).graph)
    line.say(Load(document="a", revision=1, program=program), Do(verb="run", samples_turns=True))
    hello = line.hear(Hello)
    line.hear(Turned)
    assert isinstance(hello, Hello)
    return hello


def numbers(events: list[Event]) -> list[float]:
    """The losses that were told, in order."""
    curves = [curve for event in events if isinstance(event, Turned) for curve in event.curves]
    return [number for curve in curves for (number,) in struct.iter_unpack("<d", curve.data)]


def test_a_training_goes_on_when_its_line_breaks_and_no_point_of_its_curve_is_lost(place: Host) -> None:
    line = HostLine(place)
    line.say(Stay(name=NAME, title="net"))
    train(line)
    heard = line.decoder.heard
    line.cut()
    wait_until("it is alone", lambda: [one.is_joined for one in listed(place)] == [False])
    (told,) = listed(place)
    assert (told.name, told.title, told.is_busy) == (NAME, "net", True)
    again = HostLine(place, "--kept", "join", NAME)
    again.decoder.heard = heard
    again.process.stdin.write(
        encode(Join(heard=heard)) + encode(Beat(heard=heard)) + encode(Beat())[:3]
    )  # in one piece
    again.write(encode(Beat())[3:])
    joined = again.hear(Staying)
    assert isinstance(joined, Staying)
    assert (joined.is_busy, joined.is_joined, joined.lost) == (True, True, 0)
    again.say(Stop())
    again.hear(Paused)
    turned = [event for event in [*line.said, *again.said] if isinstance(event, Turned)]
    losses = numbers(list(turned))
    assert len(losses) == turned[-1].number > 0, "one for each turn, none twice, none lost"
    assert losses == sorted(losses, reverse=True)
    again.say(Leave())
    wait_until("the engine is gone", lambda: not is_alive(told.pid))
    assert listed(place) == []
    again.process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_the_socket_is_for_its_owner_alone(host: Host, tmp_path: Path) -> None:
    line = HostLine(host)
    line.say(Stay(name=NAME))
    folder = tmp_path / "gradstudio" / "kept" / NAME
    wait_until("it listens", lambda: (folder / "line").exists())
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    wait_until("nobody else may", lambda: stat.S_IMODE(os.stat(folder / "line").st_mode) == 0o600)
    line.say(Leave())
    line.process.communicate()
    assert not folder.exists()


def test_that_it_stays_is_said_also_while_stored_tensors_are_on_their_way_and_it_may_end_with_its_line_again(
    host: Host, tmp_path: Path
) -> None:
    line = HostLine(host)
    folder = tmp_path / "gradstudio" / "kept" / NAME
    line.say(Needs(tensors={"0" * 64: 8}), Stay(name=NAME, title="net"))
    told = line.hear(Staying)
    assert isinstance(told, Staying) and (told.name, told.is_joined) == (NAME, True) and folder.exists()
    line.say(Stay(name=NAME, ends=True))
    wait_until("it stays no more", lambda: not folder.exists())
    line.say(Stay(name=NAME))
    line.hear(Staying)
    line.say(Leave())  # nor does that wait for tensors
    line.process.communicate()
    assert not folder.exists()


def test_what_was_not_asked_to_stay_ends_with_its_line(place: Host) -> None:
    line = HostLine(place)
    hello = train(line)
    line.cut()
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))
    assert listed(place) == []


def test_an_engine_that_was_killed_is_no_longer_listed_and_cannot_be_joined(host: Host) -> None:
    line = HostLine(host)
    line.say(Stay(name=NAME))
    train(line)
    (told,) = listed(host)
    os.kill(told.pid, signal.SIGKILL)
    line.process.communicate()
    assert listed(host) == []
    visitor = HostLine(host, "--kept", "join", NAME)
    visitor.process.communicate()
    assert visitor.process.returncode == 6


def test_one_that_stays_alone_ends_when_a_system_asks_it_to(host: Host) -> None:
    line = HostLine(host)
    line.say(Stay(name=NAME))
    hello = train(line)
    line.cut()
    wait_until("it is alone", lambda: [one.is_joined for one in listed(host)] == [False])
    (told,) = listed(host)
    os.kill(told.pid, signal.SIGTERM)
    wait_until("both are gone", lambda: not is_alive(told.pid) and not is_alive(hello.pid))
    assert listed(host) == []


@pytest.mark.slow
def test_a_line_that_falls_silent_without_an_end_is_left_there(host: Host) -> None:
    """As with a cable that is pulled: nothing is closed, and nobody is heard any more."""
    line = HostLine(host)
    hello = train(line)
    line.say(Beat(heard=line.decoder.heard))
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))
    line.process.communicate()


def test_another_window_takes_it_up_with_every_point_of_its_curve_and_the_first_is_told(place: Host) -> None:
    line = HostLine(place)
    line.say(Stay(name=NAME, title="net"), Document(name="a", revision=1, text=b"{}"))
    train(line)
    for _ in range(3):
        line.hear(Turned)
        line.say(Beat(heard=line.decoder.heard))
    other = HostLine(place, "--kept", "join", NAME)
    other.say(Join(is_new=True))
    joined = other.hear(Staying)
    line.hear(Handover)
    other.say(Stop())
    other.hear(Paused)
    kinds = [type(event).__name__ for event in other.said]
    assert kinds[:2] == ["Document", "Hello"]
    assert other.said[0] == Document(name="a", revision=1, text=b"{}")
    assert isinstance(joined, Staying) and joined.is_busy
    turned = [event for event in other.said if isinstance(event, Turned)]
    losses = numbers(list(turned))
    assert len(losses) == turned[-1].number > 0, "one for each turn, none twice, none lost"
    assert losses == sorted(losses, reverse=True)
    (told,) = listed(place)
    other.say(Leave())
    wait_until("the engine is gone", lambda: not is_alive(told.pid))
    for one in (line, other):
        one.process.communicate()


def train_and_die_alone(host: Host, tmp_path: Path) -> tuple[Staying, int, Path]:
    """What is listed of an engine that stays and was killed alone, what was heard of it, and its folder."""
    line = HostLine(host)
    line.say(Stay(name=NAME, title="net"), Document(name="a", revision=1, text=b"{}"))
    hello = train(line)
    line.cut()
    wait_until("it is alone", lambda: [one.is_joined for one in listed(host)] == [False])
    os.kill(hello.pid, signal.SIGKILL)
    wait_until("its end is known", lambda: [one.has_ended for one in listed(host)] == [True])
    (told,) = listed(host)
    return told, line.decoder.heard, tmp_path / "gradstudio" / "kept" / NAME


def test_an_engine_that_ends_alone_leaves_what_it_said_to_whoever_comes(host: Host, tmp_path: Path) -> None:
    told, _, folder = train_and_die_alone(host, tmp_path)
    wait_until("its porter has ended, too", lambda: not is_alive(told.pid))
    assert [path.name for path in folder.iterdir()] == ["record"]
    assert stat.S_IMODE(os.stat(folder / "record").st_mode) == 0o600
    left = HostLine(host, "--kept", "join", NAME)
    left.say(Join(is_new=True))
    left.hear(Staying)
    left.cut()
    assert listed(host) == [told], "the line broke before it was heard: it is there"
    other = HostLine(host, "--kept", "join", NAME)
    other.say(Join(is_new=True))
    joined = other.hear(Staying)
    assert isinstance(joined, Staying) and not joined.is_busy
    assert [type(event) for event in other.said[:2]] == [Document, Hello]
    assert any(isinstance(event, Log) and "was killed by signal 9" in event.text for event in other.said)
    assert len(numbers(list(other.said))) > 0
    other.say(Beat(heard=other.decoder.heard))
    other.process.communicate()
    assert other.process.returncode == 6
    assert listed(host) == [] and not folder.exists()


def test_the_window_that_began_it_hears_from_the_record_what_it_missed(host: Host, tmp_path: Path) -> None:
    _, heard, _ = train_and_die_alone(host, tmp_path)
    again = HostLine(host, "--kept", "join", NAME)
    again.decoder.heard = heard
    again.say(Join(heard=heard))
    joined = again.hear(Staying)
    assert isinstance(joined, Staying) and joined.lost == 0
    assert joined.said == heard + len(again.said) - 1, "none twice, none lost"
    again.say(Leave())
    again.process.communicate()
    assert listed(host) == []


def test_a_record_is_ended_like_an_engine_and_goes_by_itself_after_days(host: Host, tmp_path: Path) -> None:
    for way in ("end", "days"):
        _, _, folder = train_and_die_alone(host, tmp_path)
        if way == "end":
            command = start_command(host, bundle_key(), "--kept", "end", NAME)
            assert subprocess.run(command, check=False, capture_output=True).returncode == 0
        else:
            os.utime(folder / "record", (0, 0))
        assert listed(host) == [] and not folder.exists()


def test_where_the_disk_takes_no_record_what_was_said_waits_in_the_porter(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "gradstudio" / "kept" / NAME
    (folder / "record.part").mkdir(parents=True)
    folder.rename(aside := tmp_path / "aside")
    line = HostLine(host)
    line.say(Stay(name=NAME, title="net"))
    hello = train(line)
    (aside / "record.part").rename(folder / "record.part")
    line.cut()
    wait_until("it is alone", lambda: [one.is_joined for one in listed(host)] == [False])
    os.kill(hello.pid, signal.SIGKILL)
    wait_until("its end is known", lambda: [one.has_ended for one in listed(host)] == [True])
    other = HostLine(host, "--kept", "join", NAME)
    other.say(Join(is_new=True))
    other.hear(Staying)
    assert len(numbers(list(other.said))) > 0
    other.process.communicate()
    assert other.process.returncode == 6
    wait_until("nothing stays", lambda: listed(host) == [])


def test_the_same_window_hears_nothing_twice_where_records_were_lost() -> None:
    decoder = FarDecoder(str)
    decoder.feed(b"\x1fgradstudio engine\x1e")
    decoder.feed(encode(Printed(node=ItemId("n"), line=1, text="x")))
    staying = Staying(name=NAME, title="", is_busy=True, is_joined=True, since_s=0.0, pid=1, lost=40, said=41)
    decoder.feed(encode(staying) + encode(Printed(node=ItemId("n"), line=1, text="x")))
    assert decoder.heard == 42, "what was lost counts as heard"
