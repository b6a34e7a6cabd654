"""Changed messages that are messages all the same, to an engine and to a window at work.

Neither may fall, hang or grow. A program that is none, which no window sends, the engine may call its own fault, and
goes on.
"""

import contextlib
import subprocess
import tempfile
import time
from pathlib import Path
from random import Random
from typing import cast

import msgspec
import psutil

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied, EngineSilent
from gradstudio.protocol.framing import Decoder
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.module_import import BringModule
from gradstudio.protocol.messages.requests import Request, Stop
from gradstudio.protocol.messages.torch_docs import Describe, Described
from tools.campaign import babbler, frames
from tools.campaign.babbler import changed
from tools.campaign.tally import Failure, Tally, generator_of
from tools.campaign.window_kills import Windows, lost_gestures, rss_of

ENGINES, WINDOWS = "live-engines", "live-windows"
MESSAGES = 4
ANSWER_S = 120.0
"""An engine that says nothing for so long, told to stop, hangs."""
MOST_BYTES = 2 << 30
WORK_S = 3.0
"""For so long a window works before an engine that babbles."""


def to_engines(*, seed: int, cases: range, until: float) -> Tally:
    """Each case sends some changed requests, tells the engine to stop, and asks it something sound."""
    tally, engine = Tally(ENGINES), None
    for case in cases:
        if tally.cases and time.monotonic() > until:
            break
        began, generator = time.process_time(), generator_of(ENGINES, seed, case)
        if engine is None:
            engine = EngineProcess(stderr=subprocess.DEVNULL)
            engine.wait_until_ready()
        requests = [one for _ in range(MESSAGES) if (one := _request(generator)) is not None]
        reason = _answered(engine, requests, case)
        tally.count(case, time.process_time() - began)
        if reason:
            data = msgspec.msgpack.encode(requests)
            tally.failures.append(Failure(ENGINES, seed, case, reason, data))
            engine.kill()
            engine = None
    if engine is not None:
        engine.kill()
    return tally


def _request(generator: Random) -> Message | None:
    sound = Decoder(cast(type[Request], Request)).feed(generator.choice(frames.requests()))[0]
    other = changed(generator, cast(Message, sound), cast(type[Request], Request))
    return None if other is None or isinstance(other, BringModule) else cast(Message, other)


def _answered(engine: EngineProcess, requests: list[Message], number: int) -> str:
    """What is wrong with how an engine takes these requests; "" when it goes on as before."""
    try:
        for request in (*requests, Stop(), Describe(request=number, operator="torch.relu")):
            engine.send(cast(Request, request))
        while True:
            found = engine.wait_for(Described, timeout=ANSWER_S)
            if isinstance(found, Described) and (found.request, found.operator) == (number, "torch.relu"):
                break
    except EngineDied as death:
        return f"the engine ended: {death}"
    except EngineSilent:
        return f"no answer in {ANSWER_S:g} s, though it was told to stop"
    held = psutil.Process(engine.process.pid).memory_info().rss
    return f"the engine holds {held:,} bytes" if held > MOST_BYTES else ""


def to_windows(*, seed: int, cases: range, until: float) -> Tally:
    """Each case has somebody work in a window whose engine answers with changed messages, and with none at all."""
    tally = Tally(WINDOWS)
    with Windows() as windows:
        for case in cases:
            if tally.cases and time.monotonic() > until:
                break
            began = time.process_time()
            with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
                reason = _worked(windows, Path(place), f"{WINDOWS} {seed} {case}")
            tally.count(case, time.process_time() - began)
            if reason:
                tally.failures.append(Failure(WINDOWS, seed, case, reason[-600:]))
    return tally


def _worked(windows: Windows, folder: Path, seed: str) -> str:
    process = windows.open(folder, seed, babbler.command(seed))
    windows.wait_until_ready(folder, process)
    time.sleep(WORK_S)
    held = 0
    with contextlib.suppress(psutil.Error):
        held = rss_of(process)
    reason = windows.kill(folder, process)
    words = (folder / "words").read_text(errors="replace")
    if "Traceback" in words:
        return words[words.rindex("Traceback") :]
    if held > MOST_BYTES:
        return f"the window holds {held:,} bytes"
    return reason or lost_gestures(folder)[1]
