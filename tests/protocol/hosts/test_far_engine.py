"""Engines behind a command with two pipes, and behind a real OpenSSH server; torch runs in them."""

import importlib.util
import io
import os
import signal
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.protocol.errors import EngineDied, HostFailed
from gradstudio.protocol.hosts import host_check
from gradstudio.protocol.hosts.engine_bundle import ROOMS, bundle, bundle_key
from gradstudio.protocol.hosts.far_engine import FarEngine
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import python_command, start_command
from gradstudio.protocol.hosts.host_failures import loss, start_failure
from gradstudio.protocol.messages.events import Hello
from gradstudio.protocol.messages.requests import SampleMemory
from tests.helpers import ssh_server
from tests.helpers.host_line import is_alive
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

needs_ssh = pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
SHELL = Host("shell", command="sh -c {engine}", python=sys.executable)

LIE = """
import sys; sys.path.insert(0, {root!r})
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Hello
sys.stdout.buffer.write(b"\\x1fgradstudio engine\\x1e")
sys.stdout.buffer.write(encode(Hello(protocol=PROTOCOL_VERSION, ready=True, pid={process})))
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssh_server.SshServer]:
    made = ssh_server.SshServer(tmp_path / "ssh")
    monkeypatch.setenv("PATH", f"{made.programs}{os.pathsep}{os.environ['PATH']}")
    return made


def far(server: ssh_server.SshServer, python: str = sys.executable) -> Host:
    return Host("far", server.destination, python=python)


# ------------------------------------------------------------------ commands


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("sh -c {engine}", sys.executable),
        ("sh -c 'exec {engine}'", sys.executable),
        ("env A=1", sys.executable),
        ("env A=1", f"env B=2 {sys.executable}"),
    ],
)
def test_whatever_leads_to_a_python_is_a_host(command: str, python: str) -> None:
    reason = host_check._ask(
        Host("a", command=command, python=python), "say(chr(39) + sys.argv[1])", ("it's $HOME",), b"", 60
    )
    assert reason == "'it's $HOME"


def test_the_destination_of_ssh_is_one_word_behind_the_end_of_its_options() -> None:
    command = python_command(Host("a", "me@far", python="~/v/python"), "say(1)", "key", "it's")
    assert command[0] == "ssh" and command[-3:-1] == ["--", "me@far"]
    assert command[-1].startswith("~/v/python -c 'exec(")
    assert "BatchMode=yes" in command and "ForwardAgent=no" in command


def test_nothing_beside_the_working_directory_is_imported(tmp_path: Path) -> None:
    for name in ("json", "torch", "gradstudio"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    command = start_command(Host("a", command="env", python=sys.executable), bundle_key())
    subprocess.run(command, input=b"", capture_output=True, cwd=tmp_path, timeout=PATIENCE_SECONDS, check=False)
    assert not (tmp_path / "ran").exists()


# ------------------------------------------------------------------ an engine there


def test_an_engine_behind_a_shell_says_what_it_is_and_ends_with_its_input() -> None:
    with FarEngine(SHELL) as engine:
        hello = engine.wait_until_ready(PATIENCE_SECONDS)
        assert hello.devices[0].name == "cpu"
        assert engine.close() == 0
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))


def test_the_process_that_leads_there_takes_the_engine_with_it_when_it_is_killed() -> None:
    engine = FarEngine(SHELL)
    with engine:
        hello = engine.wait_until_ready(PATIENCE_SECONDS)
        engine.process.kill()
        with pytest.raises(HostFailed, match="The engine on “shell” was ended"):
            engine.wait_for(Hello, timeout=PATIENCE_SECONDS)
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))


def test_what_the_far_engine_says_its_process_is_ends_nothing_here(tmp_path: Path) -> None:
    """A number from there means nothing here: no group of processes is killed by it."""
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        lie = tmp_path / "liar.py"
        lie.write_text(LIE.format(root=str(Path.cwd()), process=bystander.pid))
        host = Host("liar", command=f"{sys.executable} {lie}")
        engine = FarEngine(host, "--runs-code")
        engine.wait_until_ready(PATIENCE_SECONDS)
        engine.kill()
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"\n")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (Host("a", command="sh -c 'echo no >&2; exit 9'"), "ended with code 9.\nno"),
        (Host("a", command="sh -c {engine}", python="/nope/python"), "“/nope/python” is not found there"),
        (Host("a", command="/nope/docker exec -i box"), "cannot be reached: /nope/docker"),
        (Host("a", command=f"{sys.executable} -S -E", python="-I"), "The Python on “a” lacks torch"),
    ],
)
def test_a_host_without_an_engine_says_why(host: Host, words: str) -> None:
    with pytest.raises(HostFailed) as caught, FarEngine(host) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("host", "code", "words"),
    [
        (Host("far", "me@far"), 255, "The line to “far” is broken.\nlast words"),
        (Host("far", "me@far"), -9, "The line to “far” is broken: ssh was ended here."),
        (Host("far", "me@far"), 137, "was killed there by signal 9, as a system does that runs out of memory."),
        (Host("far", "me@far"), 139, "The engine on “far” was killed there by signal 11."),
        (Host("box", command="docker exec"), -9, "The engine on “box” was ended."),
        (Host("box", command="docker exec"), 3, "The engine on “box” ended with code 3."),
    ],
)
def test_each_way_of_losing_an_engine_is_said(host: Host, code: int, words: str) -> None:
    assert words in loss(host, code, "first words\nlast words")


@pytest.mark.parametrize("named", ["torch", "gradstudio"])
def test_what_is_named_by_metadata_alone_is_not_there(named: str, tmp_path: Path) -> None:
    (tmp_path / f"{named}-9.9.dist-info").mkdir()
    (tmp_path / f"{named}-9.9.dist-info" / "METADATA").write_text(f"Name: {named}\nVersion: 9.9\n")
    (tmp_path / named).mkdir()
    for name in {"torch", "numpy", "msgspec", "psutil", "safetensors"} - {named}:
        (tmp_path / f"{name}.py").touch()
    host = Host("bare", command="sh -c {engine}", python=f"PYTHONPATH={tmp_path} {sys.executable} -S")
    facts = host_check.look(host)
    assert not facts.gradstudio and not facts.packages["torch"]
    with pytest.raises(HostFailed) as caught, FarEngine(host) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
    assert str(caught.value).startswith(
        "The Python on “bare” lacks torch" if named == "torch" else "This version's engine is not on “bare”"
    )


# ------------------------------------------------------------------ sending


def test_what_is_sent_holds_neither_window_nor_advice_and_has_one_key() -> None:
    names = zipfile.ZipFile(io.BytesIO(bundle())).namelist()
    assert {name.split("/")[1] for name in names if name.count("/") > 1} == {*ROOMS, "resources"}
    assert len(bundle()) < 4_000_000
    assert bundle_key() == bundle_key.__wrapped__()


def bare_python(folder: Path) -> str:
    """A Python that has torch and what an engine needs, and neither GradStudio nor Qt."""
    torch = importlib.util.find_spec("torch")
    assert torch is not None and torch.origin is not None
    packages = Path(torch.origin).parents[1]
    library = folder / "library"
    library.mkdir()
    for path in packages.iterdir():
        if not path.name.lower().startswith(("gradstudio", "_editable", "pyside6", "shiboken6")):
            (library / path.name).symlink_to(path)
    python = folder / "python"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={library} exec {base} "$@"\n')
    python.chmod(0o700)
    return str(python)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a Python of symbolic links")
def test_an_engine_that_is_sent_runs_where_gradstudio_and_qt_are_not_and_is_kept(tmp_path: Path) -> None:
    python = bare_python(tmp_path)
    host = Host("bare", command=f"env XDG_CACHE_HOME={tmp_path / 'cache'}", python=python)
    before = host_check.look(host)
    assert (before.is_sent, before.gradstudio, before.missing) == (False, "", ())
    with pytest.raises(HostFailed, match="gradstudio hosts check bare --send"), FarEngine(host) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
    folder = host_check.send(host)
    assert folder == str(tmp_path / "cache" / "gradstudio" / bundle_key())
    assert host_check.look(host).is_sent
    assert host_check.ask_engine(host).devices[0].name == "cpu"
    assert host_check.send(host) == folder
    assert os.listdir(tmp_path / "cache" / "gradstudio") == [bundle_key()]


def test_an_engine_that_came_in_pieces_is_not_kept(tmp_path: Path) -> None:
    host = Host("bare", command=f"env XDG_CACHE_HOME={tmp_path}", python=sys.executable)
    reason = host_check._ask(host, host_check._RECEIVE, ("100", "0" * 64), b"half", 60)
    assert reason.startswith("it came in pieces: 4 of 100")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ by ssh


@needs_ssh
def test_an_engine_by_ssh_is_ready_and_leaves_no_process(server: ssh_server.SshServer) -> None:
    with FarEngine(far(server)) as engine:
        hello = engine.wait_until_ready(PATIENCE_SECONDS)
        engine.process.kill()
        with pytest.raises(HostFailed):
            engine.wait_for(Hello, timeout=PATIENCE_SECONDS)
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))


@needs_ssh
def test_a_line_that_falls_silent_is_said_to_be_broken(server: ssh_server.SshServer) -> None:
    with FarEngine(far(server)) as engine:
        hello = engine.wait_until_ready(PATIENCE_SECONDS)
        engine.send(SampleMemory(every_ms=0))
        servers = ssh_server.servers_of(engine.process.pid)
        assert servers
        for process in servers:
            os.kill(process, signal.SIGSTOP)
        try:
            with pytest.raises(HostFailed, match="The line to “far” is broken"):
                engine.wait_for(Hello, timeout=PATIENCE_SECONDS)
        finally:
            for process in servers:
                os.kill(process, signal.SIGCONT)
    wait_until("the engine is gone", lambda: not is_alive(hello.pid))


@needs_ssh
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("known", "ssh does not know its key yet"),
        ("authorized", "it lets nobody in with the keys that are here"),
        ("key", "its key is another than the one ssh knows"),
        ("nowhere", "no machine has that name"),
        ("closed", "no ssh server answers there"),
        ("python", "“/nope/python” is not found there"),
    ],
)
def test_each_way_of_not_getting_there_is_said_with_what_to_do(
    server: ssh_server.SshServer, change: str, words: str
) -> None:
    host = far(server, "/nope/python" if change == "python" else sys.executable)
    if change in ("nowhere", "closed"):
        host = Host("far", change)
    if change == "known":
        server.known.write_text("")
    if change == "authorized":
        server.authorized.write_text("")
    if change == "key":
        server.known.write_text(f"far {(server.folder / 'person.pub').read_text()}")
    with pytest.raises(EngineDied) as caught, FarEngine(host) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
    assert words in str(caught.value)
    with pytest.raises(HostFailed) as looked:
        host_check.look(host)
    assert words in str(looked.value)


def test_an_install_that_does_not_start_is_said_in_a_sentence_without_its_traceback() -> None:
    try:
        raise ImportError("libtorch.so is cut off")
    except ImportError:
        errors = traceback.format_exc()
    said = start_failure(SHELL, 1, errors, "")
    assert "Traceback" not in said and 'File "' not in said
    assert "does not start, it ended with code 1.\nImportError: libtorch.so is cut off\nSend the engine" in said
