"""What a rank says as bytes, and where the statement that it told of last stands."""

import sys
from types import FrameType
from typing import Any, NamedTuple

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, LENGTH_BYTES, decoded, encode, framed
from gradstudio.protocol.hosts.bounded_decoder import MOST_PARTS
from gradstudio.protocol.messages.events import Log, Paused
from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.messages.requests import Load
from gradstudio.protocol.ranks.last_line import line_of
from gradstudio.protocol.ranks.rank_reader import RankReader
from gradstudio.protocol.ranks.waiting_words import waiting_words

SAID = Log(level="info", text="x")
PAUSED = Paused(revision=1, verb="run", outcome="done", next_node=ItemId(""), at_end=True, pass_number=1)


def test_messages_come_out_with_their_tag_in_whatever_pieces_they_came() -> None:
    reader, data = RankReader(is_alone=False), encode(SAID) + encode(PAUSED)
    heard = [one for at in range(len(data)) for one in reader.hear(data[at : at + 1])]
    assert [(one.kind, one.message) for one in heard] == [("Log", SAID), ("Paused", PAUSED)]


def test_of_one_that_is_alone_only_what_has_to_be_is_understood() -> None:
    heard = list(RankReader(is_alone=True).hear(encode(SAID) + encode(PAUSED)))
    assert [one.message for one in heard] == [None, PAUSED]
    assert framed(heard[0].body) == encode(SAID)


@pytest.mark.parametrize(
    "body",
    [b"\xc1", b"\x80", b"\x81\xa4type\xa3Log", b"\x81\xa4type\xa6Nobody", b"\x91" * 3000, b"\xdd\xff\xff\xff\xff"],
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(BrokenFrame):
        list(RankReader(is_alone=False).hear(framed(body)))


def test_a_frame_has_a_bound_and_so_has_what_it_holds() -> None:
    with pytest.raises(BrokenFrame, match="announced"):
        list(RankReader(is_alone=False).hear((LARGEST_FAR_FRAME + 1).to_bytes(LENGTH_BYTES, "big")))
    many: Any = {"type": "Log", "level": "info", "text": "x", "more": [None] * MOST_PARTS}
    with pytest.raises(BrokenFrame, match="values"):
        list(RankReader(is_alone=False).hear(framed(msgspec.msgpack.encode(many))))


def test_a_node_stands_in_its_line_and_what_is_inside_a_call_in_that_of_the_call() -> None:
    graph = read_script("import torch\n\nx = torch.ones(2)\ny = x * 2\n").graph
    sent = encode(Load(document="d", revision=1, program=compile_graph(graph)))[LENGTH_BYTES:]
    first, second = graph.nodes
    assert line_of(sent, second) == line_of(sent, first) + 1 > 1
    assert line_of(sent, ItemId(f"{second}/inside")) == line_of(sent, second)
    assert line_of(sent, ItemId("nobody")) == 0 and line_of(b"", first) == 0


class _Waits(NamedTuple):
    """A rank that is at a line since second 0."""

    number: int
    running: Running
    is_busy: bool = True
    since_s: float = 0.0


def test_the_program_is_taken_apart_once_for_words_about_all_ranks() -> None:
    text = "import torch\n\nx = torch.ones(2)\n" + "".join(f"y{k} = x * {k}\n" for k in range(8))
    sent = encode(Load(document="d", revision=1, program=compile_graph(read_script(text).graph)))[LENGTH_BYTES:]
    ranks = [_Waits(number, Running(line=3 + number, seconds=9.0)) for number in range(8)]
    times = 0

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal times
        times += event == "call" and frame.f_code is decoded.__code__

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        said = waiting_words(ranks, 9.0, 5.0, sent)
    finally:
        sys.setprofile(before)
    assert said.count("line ") == 8 and "(y0 = " in said
    assert times == 1
