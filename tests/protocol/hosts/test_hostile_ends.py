"""A far end that floods, lies of its sizes and asks for ever: held within bounds, and refused in words."""

import sys
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from gradstudio.protocol.errors import BrokenFrame, EngineDied, HostFailed
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, Decoder, encode, framed
from gradstudio.protocol.hosts import bounded_decoder, host_check
from gradstudio.protocol.hosts.bounded_decoder import MOST_PARTS
from gradstudio.protocol.hosts.far_engine import MOST_WAITING, FarEngine
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.message_parts import has_more_parts
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.hosting import Beat, Staying
from tests.helpers.patience import wait_until

BEGIN = b"\x1fgradstudio engine\x1e"
MEGABYTE = 1 << 20
VALUES = {
    "nothing": None, "flags": [True, False], "small": [0, 127, -32, -33],
    "sizes": [128, 2**16, 2**32, 2**64 - 1, -(2**40)],
    "float": 1.5, "texts": ["", "x" * 31, "x" * 32, "x" * 300, "x" * 70_000], "bytes": [b"", b"x" * 300, b"x" * 70_000],
    "lists": [[], [0] * 15, [0] * 16, [0] * 70_000], "maps": [{}, {str(n): n for n in range(20)}],
    "extensions": [msgspec.msgpack.Ext(1, b"x" * size) for size in (1, 2, 3, 4, 8, 16, 300, 70_000)],
}  # fmt: skip


def parts(value: object) -> int:
    match value:
        case dict():
            return 1 + sum(1 + parts(one) for one in value.values())
        case list():
            return 1 + sum(map(parts, value))
        case _:
            return 1


def host(folder: Path, text: str) -> Host:
    """A host that says what a text writes to `out`."""
    script = folder / "far.py"
    script.write_text(f"import sys\nout = sys.stdout.buffer\nBEGIN = {BEGIN!r}\n{text}")
    return Host("liar", command=f"{sys.executable} {script}")


@pytest.mark.parametrize("name", VALUES)
def test_the_parts_of_a_message_are_counted_without_making_them(name: str) -> None:
    body, count = msgspec.msgpack.encode(VALUES[name]), parts(VALUES[name])
    assert not has_more_parts(body, count)
    assert has_more_parts(body, count - 1)


def test_a_message_that_would_take_many_times_its_bytes_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In small: what is traced costs a thousand times as much, and it is the ratio of the two bounds that counts."""
    largest, most = LARGEST_FAR_FRAME >> 6, MOST_PARTS >> 6
    monkeypatch.setattr(bounded_decoder, "LARGEST_FAR_FRAME", largest)
    monkeypatch.setattr(bounded_decoder, "MOST_PARTS", most)
    far = FarDecoder(str)
    far.feed(BEGIN)
    record = {"kind": "x", "value": []}
    body = msgspec.msgpack.encode({"type": "Log", "level": "info", "text": "", "more": record})[:-1]
    count = largest - len(body) - 5
    data = framed(body + b"\xdd" + count.to_bytes(4, "big") + b"\x90" * count)
    tracemalloc.start()
    with pytest.raises(BrokenFrame, match=f"more than {most} values"):
        far.feed(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * largest


def test_the_largest_message_of_text_is_read() -> None:
    far = FarDecoder(str)
    far.feed(BEGIN)
    event = Log(level="info", text="x" * (LARGEST_FAR_FRAME - 100))
    assert far.feed(encode(event)) == [event]


@pytest.mark.parametrize("deep", [b"\x91", b"\x81\xa1x"])
def test_what_is_nested_without_end_is_refused_in_words(deep: bytes) -> None:
    body = msgspec.msgpack.encode({"type": "Log", "level": "info", "text": "", "more": None})[:-1]
    with pytest.raises(BrokenFrame, match="no message of ours"):
        Decoder(Log).feed(framed(body + deep * 100_000 + b"\xc0"))


def test_however_much_was_said_there_that_it_was_heard_can_be_told() -> None:
    far = FarDecoder(str)
    far.feed(BEGIN)
    staying = Staying(name="a", title="", is_busy=True, is_joined=True, since_s=0.0, pid=1, said=2**62)
    far.feed(encode(staying) + encode(Log(level="info", text="x")))
    assert encode(Beat(heard=far.heard))
    with pytest.raises(BrokenFrame):
        far.feed(framed(msgspec.msgpack.encode({**msgspec.to_builtins(staying), "said": 2**64 - 1})))


def test_a_host_that_asks_for_ever_for_tensors_is_read_on(tmp_path: Path) -> None:
    frame = framed(msgspec.msgpack.encode({"type": "Lacking", "digests": ["0" * 64]}))
    far = host(tmp_path, f"out.write(BEGIN + {frame!r} * 5000)\n")
    with pytest.raises(HostFailed), FarEngine(far) as engine:
        engine.receive()


@pytest.mark.skipif(sys.platform != "linux", reason="whether a process waits is read from /proc")
def test_of_a_flood_no_more_than_a_bound_is_here_what_follows_waits_there(tmp_path: Path) -> None:
    head, tail = encode(Log(level="info", text="x" * MEGABYTE)).split(b"x" * MEGABYTE)
    count = tmp_path / "count"
    text = (
        f"frame = {head!r} + b'x' * {MEGABYTE} + {tail!r}\nout.write(BEGIN)\nfor number in range(100):\n"
        f"    out.write(frame)\n    out.flush()\n    open({str(count)!r}, 'w').write(str(number + 1))\n"
    )
    engine = FarEngine(host(tmp_path, text))
    seen: list[int] = []

    def written() -> int:
        return int(count.read_text() or 0) if count.exists() else 0

    def stands() -> bool:
        seen.append(written())
        return seen[-1] == 100 or (seen[-1] > 0 and len(set(seen[-6:])) == 1 and len(seen) > 6)

    wait_until("the flood stands", stands)
    most = MOST_WAITING // MEGABYTE + 3
    assert written() <= most
    for taken in range(100):
        assert isinstance(engine.receive(), Log)
        assert written() <= taken + 1 + most
    with pytest.raises(EngineDied):
        engine.receive()
    engine.kill()


@pytest.mark.parametrize("since", [1e12, 1e300, -1.0])
def test_a_list_of_what_runs_there_with_a_time_that_is_none_is_refused_in_words(tmp_path: Path, since: float) -> None:
    staying = {"type": "Staying", "name": "a", "title": "\x1b[2J", "is_busy": True, "is_joined": False, "pid": 1}
    line = msgspec.json.encode({**staying, "since_s": since})
    with pytest.raises(HostFailed, match="answered with something else"):
        host_check.staying(host(tmp_path, f"out.write(BEGIN + {line + bytes([10])!r})\n"))
