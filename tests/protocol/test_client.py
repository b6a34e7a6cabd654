"""The client against a fake engine that speaks the real codec: a few lines of Python."""

import sys
import textwrap

import pytest

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import BrokenFrame, EngineDied, EngineSilent, OtherProtocol
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Hello, Log
from gradstudio.protocol.messages.requests import SampleMemory, Stop
from tests.helpers.patience import PATIENCE_SECONDS

FAKE = """
import os, sys
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.events import *; from gradstudio.protocol.messages.requests import *
def say(message):
    os.write(1, encode(message))
say(Hello(protocol={protocol}, ready=False, pid=os.getpid()))
say(Hello(protocol={protocol}, ready=True, pid=os.getpid()))
requests = Decoder(Request)
while data := os.read(0, 65536):
    for request in requests.feed(data):
        {answer}
"""


def fake(answer: str, protocol: int = PROTOCOL_VERSION) -> EngineProcess:
    code = textwrap.dedent(FAKE).replace("{answer}", answer).replace("{protocol}", str(protocol))
    return EngineProcess([sys.executable, "-c", code])


def test_events_that_come_before_the_awaited_one_are_handed_over() -> None:
    with fake("say(Log(level='info', text='one')); say(Log(level='info', text='two'))") as engine:
        seen: list[object] = []
        assert engine.wait_until_ready(30).ready
        engine.send(Stop())
        engine.wait_for(Log, timeout=PATIENCE_SECONDS, on_event=seen.append)
        engine.wait_for(Log, timeout=PATIENCE_SECONDS, on_event=seen.append)
        assert seen == []
        assert engine.close() == 0


def test_an_engine_of_another_version_is_refused_before_anything_is_sent() -> None:
    other = PROTOCOL_VERSION + 1
    with fake("pass", other) as engine, pytest.raises(OtherProtocol, match=f"version {other} .* version {other - 1}"):
        engine.wait_until_ready(30)


def test_nothing_within_the_time_is_none_and_waiting_for_it_says_silent() -> None:
    with fake("pass") as engine:
        engine.wait_until_ready(30)
        assert engine.receive(timeout=0) is None
        with pytest.raises(EngineSilent):
            engine.wait_for(Log, timeout=0)


def test_an_engine_that_dies_is_said_to_have_died_with_its_code() -> None:
    with fake("os._exit(7)") as engine:
        engine.wait_until_ready(30)
        engine.send(Stop())
        with pytest.raises(EngineDied) as caught:
            engine.receive(timeout=PATIENCE_SECONDS)
        assert caught.value.code == 7
        with pytest.raises(EngineDied):
            engine.receive(timeout=PATIENCE_SECONDS)


def test_a_killed_engine_is_gone_at_once() -> None:
    engine = fake("while True: pass")
    engine.wait_until_ready(30)
    engine.send(SampleMemory())
    assert engine.kill() != 0
    with pytest.raises(EngineDied):
        engine.wait_for(Hello, timeout=PATIENCE_SECONDS)
    with pytest.raises(EngineDied):
        engine.send(Stop())


def test_noise_on_the_pipe_is_a_broken_frame() -> None:
    with fake(r"os.write(1, b'\0\0\0\1x')") as engine:
        engine.wait_until_ready(30)
        engine.send(Stop())
        with pytest.raises(BrokenFrame):
            engine.receive(timeout=PATIENCE_SECONDS)


def test_after_an_error_the_engine_is_ended_at_once_and_not_waited_for() -> None:
    engine = fake("pass")
    engine.wait_until_ready(30)
    with pytest.raises(KeyboardInterrupt), engine:
        raise KeyboardInterrupt
    assert engine.process.returncode != 0  # asked by the end of its input, it would have ended with 0
