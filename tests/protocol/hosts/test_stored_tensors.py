"""Stored tensors travel to a host once: compressed, checked, kept there by hash within a bound."""

import hashlib
import os
import random
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from gradstudio.document.file import load
from gradstudio.paths import examples
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import BrokenFrame, HostFailed
from gradstudio.protocol.framing import Decoder
from gradstudio.protocol.hosts import far_engine
from gradstudio.protocol.hosts.far_engine import FarEngine
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.tensor_sending import PIECE_BYTES, TensorSending
from gradstudio.protocol.hosts.tensor_stock import Arrival, TensorStock
from gradstudio.protocol.messages.events import Loaded
from gradstudio.protocol.messages.hosting import Lacking, Needs, Piece, PorterRequest
from gradstudio.protocol.messages.requests import Load
from gradstudio.protocol.runner import run_program
from tests.helpers import ssh_server
from tests.helpers.host_line import HostLine
from tests.helpers.patience import PATIENCE_SECONDS

EXAMPLE = next(iter(sorted(examples().glob("07_*.gsg"))))


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ------------------------------------------------------------------ the stock


def test_what_is_put_is_there_for_its_owner_alone(tmp_path: Path) -> None:
    stock, data = TensorStock(tmp_path / "tensors"), b"numbers"
    assert stock.get(name_of(data)) is None
    assert stock.put(name_of(data), data) == ""
    assert stock.get(name_of(data)) == data
    assert os.stat(tmp_path / "tensors").st_mode & 0o077 == 0
    assert os.stat(tmp_path / "tensors" / name_of(data)).st_mode & 0o077 == 0


def test_a_file_that_was_changed_is_thrown_away(tmp_path: Path) -> None:
    stock, data = TensorStock(tmp_path), b"numbers"
    stock.put(name_of(data), data)
    (tmp_path / name_of(data)).write_bytes(b"numbert")
    assert stock.get(name_of(data)) is None
    assert list(tmp_path.iterdir()) == []


def test_the_ones_that_were_not_used_for_longest_make_room(tmp_path: Path) -> None:
    stock, kept = TensorStock(tmp_path, most_bytes=250), [bytes([k]) * 100 for k in range(3)]
    for place, data in enumerate(kept[:2]):
        stock.put(name_of(data), data)
        os.utime(tmp_path / name_of(data), (place, place))
    assert stock.get(kept_first := name_of(kept[0])) is not None, "it was used now"
    assert stock.put(name_of(kept[2]), kept[2]) == ""
    assert {path.name for path in tmp_path.iterdir()} == {kept_first, name_of(kept[2])}
    assert "too little room" in stock.put(name_of(b"x" * 300), b"x" * 300)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert TensorStock(tmp_path / "file").put(name_of(b"x"), b"x") != ""


@pytest.mark.parametrize(
    "piece",
    [
        Piece(digest="0" * 64, data=b"x" * 11),
        Piece(digest="0" * 64, data=zlib.compress(b"\0" * 100_000_000), is_packed=True),
        Piece(digest="0" * 64, data=b"no stream", is_packed=True),
    ],
)
def test_a_piece_that_is_more_than_was_announced_is_refused(piece: Piece) -> None:
    with pytest.raises(BrokenFrame):
        Arrival("0" * 64, 10).add(piece)


def test_a_tensor_that_came_as_another_is_refused() -> None:
    arrival = Arrival(name_of(b"numbers"), 7)
    arrival.add(Piece(digest=name_of(b"numbers"), data=b"numbert", is_last=True))
    with pytest.raises(BrokenFrame, match="another"):
        arrival.whole()


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, 5 * PIECE_BYTES + 3])
@pytest.mark.parametrize("repeats", [True, False])
def test_what_is_cut_into_pieces_arrives_whole_and_smaller_where_it_can_be(size: int, repeats: bool) -> None:
    data = b"\0" * size if repeats else random.Random(1).randbytes(size)
    sending, digest = TensorSending(), name_of(data)
    frames = list(sending.frames_of(Needs(tensors={}))) + list(sending.frames_of(_load({digest: data})))
    needs = Decoder[PorterRequest](cast(type[PorterRequest], PorterRequest)).feed(frames[1])
    assert needs == [Needs(tensors={digest: size})]
    assert size < 2 or data not in frames[2]
    assert sending.begin(Lacking(digests=(digest, "f" * 64))) == size, "what was not offered is not sent"
    arrival, travelled = Arrival(digest, size), 0
    while frame := sending.next_frame():
        (piece,) = Decoder[PorterRequest](cast(type[PorterRequest], PorterRequest)).feed(frame)
        assert isinstance(piece, Piece)
        travelled += len(piece.data)
        arrival.add(piece)
    assert arrival.whole() == data and piece.is_last and sending.done == size
    assert travelled < size / 50 if repeats and size > 1 else travelled == size


def _load(tensors: dict[str, bytes]) -> Load:
    graph = load(EXAMPLE)
    return Load(document="a", revision=1, program=compile_graph(graph), tensors=tensors)


# ------------------------------------------------------------------ a host


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host("shell", command=f"env XDG_CACHE_HOME={tmp_path}", python=sys.executable)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "gradstudio" / "tensors"


@pytest.fixture
def line(host: Host) -> Iterator[HostLine]:
    made = HostLine(host)
    yield made
    made.close()


def test_a_program_waits_there_for_its_tensors_and_another_engine_has_them_already(
    host: Host, line: HostLine, kept: Path
) -> None:
    graph = load(EXAMPLE)
    tensors = {digest: tensor.data for digest, tensor in graph.tensors.items()}
    request = Load(document="a", revision=1, program=compile_graph(graph))
    needs = Needs(tensors={digest: len(data) for digest, data in tensors.items()})
    line.say(needs, request)
    lacking = line.hear(Lacking, Loaded)
    assert isinstance(lacking, Lacking) and set(lacking.digests) == set(tensors)
    for digest, data in tensors.items():
        line.say(Piece(digest=digest, data=data[:10]), Piece(digest=digest, data=data[10:], is_last=True))
    assert isinstance(line.hear(Lacking, Loaded), Loaded)
    assert {path.name for path in kept.iterdir()} == set(tensors)
    other = HostLine(host)
    other.say(needs, request)
    assert isinstance(other.hear(Lacking, Loaded), Loaded)
    assert other.close() == 0


def test_what_came_as_another_tensor_ends_the_engine_and_is_not_kept(line: HostLine, kept: Path) -> None:
    digest = name_of(b"numbers")
    line.say(Needs(tensors={digest: 7}))
    line.hear(Lacking)
    line.say(Piece(digest=digest, data=b"numbert", is_last=True))
    line.process.wait(PATIENCE_SECONDS)
    assert not kept.exists()


def test_a_tensor_that_cannot_be_kept_is_used_all_the_same(host: Host, tmp_path: Path) -> None:
    (tmp_path / "gradstudio").write_text("no folder")
    graph = load(EXAMPLE)
    with FarEngine(host) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
        outcome = run_program(engine, graph, compile_graph(graph), document="a")
    assert outcome.paused.outcome == "done"
    assert any("not kept on the host" in log.text for log in outcome.logged)


def test_more_than_a_person_agrees_to_is_not_sent(host: Host, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far_engine, "ASK_BYTES", 10)
    graph, asked = load(EXAMPLE), list[str]()

    def refuse(sending: TensorSending) -> bool:
        asked.append(sending.question("shell"))
        return False

    def agree(sending: TensorSending) -> bool:
        asked.append(sending.question("shell"))
        return True

    with FarEngine(host) as engine:
        engine.may_send = refuse
        engine.wait_until_ready(PATIENCE_SECONDS)
        with pytest.raises(HostFailed, match="were not sent to “shell”"):
            run_program(engine, graph, compile_graph(graph), document="a")
    assert not kept.exists()
    with FarEngine(host) as engine:
        engine.may_send = agree
        engine.wait_until_ready(PATIENCE_SECONDS)
        assert run_program(engine, graph, compile_graph(graph), document="a").paused.outcome == "done"
    assert len(asked) == 2 and asked[0].startswith("Send ")


@pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
def test_over_ssh_a_program_with_stored_tensors_says_what_it_says_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ssh_server.SshServer(tmp_path / "ssh")
    monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
    graph = load(EXAMPLE)
    reports = []
    for made in (EngineProcess(), FarEngine(Host("far", server.destination, python=sys.executable))):
        with made as engine:
            engine.wait_until_ready(PATIENCE_SECONDS)
            reports.append(run_program(engine, graph, compile_graph(graph), document="a").report)
    assert reports[0] == reports[1]
    assert list((server.folder / "cache" / "gradstudio" / "tensors").iterdir())
