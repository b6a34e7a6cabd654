"""What is there, on a host: its Python and packages, an engine or none, devices; and sending the engine there."""

import hashlib
import subprocess
import time
from typing import Final

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import HostFailed
from gradstudio.protocol.hosts.engine_bundle import bundle, bundle_key
from gradstudio.protocol.hosts.far_engine import FarEngine
from gradstudio.protocol.hosts.far_frames import Greeting
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import STARTS, python_command, refusal, start_command
from gradstudio.protocol.hosts.host_failures import start_failure, unreachable
from gradstudio.protocol.hosts.porter import KEPT
from gradstudio.protocol.messages.events import Device, Fetched, Hello
from gradstudio.protocol.messages.hosting import Staying
from gradstudio.protocol.messages.requests import Fetch

ANSWER_S: Final = 60
READY_S: Final = 180
SEND_S: Final = 600
ROUND_TRIPS: Final = 5
IS_THERE: Final = "this version's engine is there"
WAS_SENT: Final = "this version's engine was sent to"
MOST_STAYING: Final = 1000

_LOOK: Final = """
import json, platform
from importlib.metadata import PackageNotFoundError, version as version_of
def found(name):
    try:
        return version_of(name) if is_there(name) else ""
    except PackageNotFoundError:
        return ""
if sys.version_info < (3, 8):
    raise SystemExit(say("python " + version))
facts = {"python": version, "executable": sys.executable, "machine": platform.system() + " " + platform.machine(),
         "is_sent": os.path.isdir(folder), "gradstudio": found("gradstudio"),
         "packages": {name: found(name) for name in ("torch", "numpy", "msgspec", "psutil", "safetensors")}}
if not facts["is_sent"] and is_there("gradstudio.engine") and not facts["gradstudio"]:
    facts["gradstudio"] = "a checkout"
say("facts " + json.dumps(facts))
"""
_RECEIVE: Final = """
import compileall, hashlib, io, shutil, tempfile, zipfile
size, digest = int(sys.argv[1]), sys.argv[2]
data = sys.stdin.buffer.read(size)
if len(data) != size or hashlib.sha256(data).hexdigest() != digest:
    say("it came in pieces: " + str(len(data)) + " of " + str(size) + " bytes")
    sys.exit(1)
try:
    os.makedirs(kept, 0o700, exist_ok=True)
    making = tempfile.mkdtemp(dir=kept)
    try:
        zipfile.ZipFile(io.BytesIO(data)).extractall(making)
        compileall.compile_dir(making, quiet=2)
        if not os.path.isdir(folder):
            os.rename(making, folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
except OSError as error:
    say("it could not be written to " + kept + ": " + str(error.strerror))
    sys.exit(1)
say("kept " + folder)
"""


class Facts(msgspec.Struct, frozen=True):
    """What a host's Python says of itself.

    Attributes:
        is_sent: an engine of this very version was sent there.
        gradstudio: the version that is installed; "" where none is.
        packages: versions of what an engine needs; "" of one that is missing.
    """

    python: str
    executable: str
    machine: str
    is_sent: bool
    gradstudio: str
    packages: dict[str, str]

    @property
    def is_old(self) -> bool:
        """Whether its Python is older than GradStudio's."""
        numbers = [int(part) for part in self.python.split(".")[:2] if part.isdigit()]
        return tuple(numbers) < (3, 11)

    @property
    def missing(self) -> tuple[str, ...]:
        """What has to be installed there."""
        return tuple(name for name, version in self.packages.items() if not version)


class Answer(msgspec.Struct, frozen=True):
    """What an engine there says, and how fast.

    Attributes:
        ready_s: from the command to the engine with torch.
        round_trip_ms: of the shortest question, the best of a few.
    """

    torch: str
    python: str
    devices: tuple[Device, ...]
    absent: tuple[str, ...]
    walls: tuple[str, ...]
    ready_s: float
    round_trip_ms: float


def look(host: Host) -> Facts:
    """Ask the host's Python what is there; nothing is written.

    Raises:
        HostFailed: it is not reached, or has no such Python.
    """
    reason = _ask(host, _LOOK, (), b"", ANSWER_S)
    kind, _, rest = reason.partition(" ")
    if kind == "python":
        raise HostFailed(refusal(host, reason))
    try:
        return msgspec.json.decode(rest, type=Facts)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HostFailed(f"The host “{host.name}” answered with something else: {reason[:200]!r}") from error


def send(host: Host) -> str:
    """Send the engine there, where it is kept under its key; the folder.

    Raises:
        HostFailed: it could not be sent or written; why.
    """
    data = bundle()
    arguments = (str(len(data)), hashlib.sha256(data).hexdigest())
    reason = _ask(host, _RECEIVE, arguments, data, SEND_S)
    kind, _, folder = reason.partition(" ")
    if kind != "kept":
        raise HostFailed(f"The engine could not be sent to “{host.name}”: {reason[:500]}.")
    return folder


def ask_engine(host: Host) -> Answer:
    """Start the engine there, ask it a few things, and end it.

    Raises:
        EngineDied, EngineSilent, BrokenFrame: it does not start, or is of another version; why.
    """
    began = time.perf_counter()
    engine = FarEngine(host)
    with engine:
        hello = engine.wait_until_ready(READY_S)
        ready_s = time.perf_counter() - began
        return _answer(hello, ready_s, min(_round_trip_ms(engine) for _ in range(ROUND_TRIPS)))


def _answer(hello: Hello, ready_s: float, round_trip_ms: float) -> Answer:
    return Answer(hello.torch, hello.python, hello.devices, hello.absent, hello.walls, ready_s, round_trip_ms)


def _round_trip_ms(engine: FarEngine) -> float:
    began = time.perf_counter()
    engine.send(Fetch(request=1, node=ItemId("")))  # of no node: the answer is at once that there is none
    engine.wait_for(Fetched, timeout=ANSWER_S)
    return (time.perf_counter() - began) * 1000


def staying(host: Host) -> tuple[Staying, ...]:
    """The engines that were asked to stay there, and do.

    Raises:
        HostFailed: it is not reached, or answers with something else.
    """
    lines = _start(host, KEPT, "list").splitlines()[:MOST_STAYING]
    try:
        return tuple(msgspec.json.decode(line, type=Staying) for line in lines)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HostFailed(f"The host “{host.name}” answered with something else: {error}") from error


def end_staying(host: Host, name: str) -> None:
    """End one of them.

    Raises:
        HostFailed: it is not reached, or has no such engine any more.
    """
    _start(host, KEPT, "end", name)


def _start(host: Host, *options: str) -> bytes:
    """What a visitor says there, behind its greeting."""
    rest, reason = _said_of(host, start_command(host, bundle_key(), *options), b"", ANSWER_S)
    if reason != STARTS:
        raise HostFailed(refusal(host, reason))
    return rest


def _ask(host: Host, text: str, arguments: tuple[str, ...], data: bytes, timeout_s: float) -> str:
    """What the host's Python says behind the mark, when it runs a text of ours."""
    return _said_of(host, python_command(host, text, bundle_key(), *arguments), data, timeout_s)[1]


def _said_of(host: Host, command: list[str], data: bytes, timeout_s: float) -> tuple[bytes, str]:
    """What comes behind the mark, and what stood in it."""
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise HostFailed(f"The host “{host.name}” ({host.where}) did not answer within {timeout_s:g} s.") from error
    except OSError as error:
        raise unreachable(host, command[0], error) from error
    greeting = Greeting()
    rest = greeting.feed(done.stdout)
    if rest is None or (done.returncode and greeting.reason == STARTS):
        errors, noise = done.stderr.decode("utf-8", "replace"), greeting.noise.decode("utf-8", "replace")
        raise HostFailed(start_failure(host, done.returncode, errors, noise), done.returncode)
    return rest, greeting.reason
