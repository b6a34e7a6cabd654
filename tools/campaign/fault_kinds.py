"""The kinds of faults: what is out of order, what is done meanwhile, and which answers are right."""

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import NamedTuple

from gradstudio.document.file import load, save
from gradstudio.document.journal import Journal, recoverable
from gradstudio.document.python.python_document import load_python
from gradstudio.document.python.python_export import write_export
from gradstudio.errors import GradStudioError
from gradstudio.graph.model import Graph

Fault = Callable[[Path, int], AbstractContextManager[object]]
NOBODY = 65534
FEW_FILES = 64
EVENTS = ("open", "os.chmod", "os.rename", "os.remove", "os.mkdir", "tempfile.mkstemp", "os.listdir", "os.scandir")


class Kind(NamedTuple):
    """One kind.

    Attributes:
        does: what is done with the folder and the document while the fault lasts.
        fault: what is out of order, by a number that varies it; None: `does` has it in itself.
        answers: those that are right.
        writes: the document that lies there is written: done, it is the new one.
        litters: what is left behind cannot be taken away.
        where: the document to look at afterwards; None: it is gone with its folder.
    """

    does: Callable[[Path, Graph], object]
    fault: Fault | None = None
    answers: tuple[str, ...] = ("refused",)
    writes: bool = False
    litters: bool = False
    where: Callable[[Path], Path | None] = lambda folder: folder / "kept.gsg"


def remove(folder: Path) -> None:
    """Take a folder away, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)


# ------------------------------------------------------------------ what is done


def _save(folder: Path, graph: Graph) -> None:
    save(graph, folder / "kept.gsg")


def _journal(folder: Path, graph: Graph) -> None:
    Journal(folder / "recovery").write(graph, folder / "kept.gsg")


def _export(folder: Path, graph: Graph) -> None:
    write_export(graph, folder / "exported.py")


def _load(folder: Path, _graph: Graph) -> None:
    load(folder / "kept.gsg")


def _at(name: str | bytes) -> Callable[[Path, Graph], None]:
    """Save under another name."""

    def act(folder: Path, graph: Graph) -> None:
        save(graph, folder / os.fsdecode(name))

    return act


def _recover(folder: Path, graph: Graph) -> None:
    """Leave a journal behind and take it up again."""
    journal = Journal(folder / "recovery")
    journal.write(graph, folder / "kept.gsg")
    journal.close()
    for left in recoverable(folder / "recovery"):
        left.load()
        left.discard()
        return
    raise AssertionError("nothing was offered for recovery")


# ------------------------------------------------------------------ what is out of order


@contextlib.contextmanager
def _limit(which: int, value: int) -> Iterator[None]:
    before = resource.getrlimit(which)
    resource.setrlimit(which, (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(which, before)


def _full(folder: Path, number: int) -> AbstractContextManager[object]:
    """No file may be longer than some bytes."""
    return _limit(resource.RLIMIT_FSIZE, Random(number).choice((0, 1, 100, 2000)))


@contextlib.contextmanager
def _files_used_up(folder: Path, number: int) -> Iterator[None]:
    opened: list[int] = []
    with _limit(resource.RLIMIT_NOFILE, FEW_FILES):
        with contextlib.suppress(OSError):
            while True:
                opened.append(os.open(os.devnull, os.O_RDONLY))
        for one in opened[: number % 3]:
            os.close(one)
        try:
            yield
        finally:
            for one in opened[number % 3 :]:
                os.close(one)


@contextlib.contextmanager
def _read_only(folder: Path, number: int) -> Iterator[None]:
    """The folder may not be written into; the superuser may, and is somebody else meanwhile."""
    for one in (folder, *folder.rglob("*")):
        os.chmod(one, 0o555 if one.is_dir() else 0o444)
    is_superuser = os.geteuid() == 0
    if is_superuser:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_superuser:
            os.seteuid(0)
        os.chmod(folder, 0o755)


@contextlib.contextmanager
def _tiny_disk(folder: Path, number: int) -> Iterator[None]:
    """The folder is a disk that is full; where none can be mounted, files are short."""
    old = (folder / "kept.gsg").read_bytes(), list((folder / "kept.tensors").iterdir())
    size = sum(one.stat().st_size for one in old[1]) + len(old[0]) + 16_000
    target = folder / "disk"
    target.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(target)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        with _full(folder, number):
            yield
        return
    try:
        (target / "fill").write_bytes(b"")
        with contextlib.suppress(OSError), (target / "fill").open("wb") as fill:
            while fill.write(b"x" * 4096):
                fill.flush()
        yield
    finally:
        subprocess.run(["umount", str(target)], capture_output=True, check=False)
        target.rmdir()


def _on_disk(folder: Path, graph: Graph) -> None:
    target = folder / "disk"
    save(graph, (target if target.exists() else folder) / "kept.gsg")


def _at_event(strike: Callable[[Path], None]) -> Fault:
    """Something happens at one of the moments at which a file is touched; which, the number says."""

    @contextlib.contextmanager
    def fault(folder: Path, number: int) -> Iterator[None]:
        left = [number % 14]

        def on_event(event: str, _arguments: tuple[object, ...]) -> None:
            if left[0] >= 0 and event in EVENTS:
                left[0] -= 1
                if left[0] == -1:
                    strike(folder)

        sys.addaudithook(on_event)
        yield
        left[0] = -1

    return fault


def _kill(_folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _vanish(folder: Path) -> None:
    remove(folder)


def _interrupt(_folder: Path) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def _beforehand(change: Callable[[Path], object]) -> Fault:
    @contextlib.contextmanager
    def fault(folder: Path, _number: int) -> Iterator[None]:
        change(folder)
        yield

    return fault


def _into(name: str, change: Callable[[Path], object]) -> Fault:
    """Something else lies where a file or folder should be."""

    def put(folder: Path) -> None:
        target = folder / name
        if target.is_dir() and not target.is_symlink():
            remove(target)
        else:
            target.unlink(missing_ok=True)
        change(target)

    return _beforehand(put)


@contextlib.contextmanager
def _another_writes(folder: Path, number: int) -> Iterator[None]:
    """Another program writes the same document again and again."""
    process = os.fork()
    if not process:
        with contextlib.suppress(BaseException):
            graph = load(folder / "kept.gsg")
            end = time.monotonic() + 20
            while time.monotonic() < end:
                save(graph, folder / "kept.gsg")
        os._exit(0)
    try:
        yield
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        for one in folder.rglob(".*.tmp"):
            one.unlink()


def _clock(seconds: float) -> Fault:
    """Files are from then, as after a clock that jumped."""

    def set_times(folder: Path) -> None:
        for one in (*folder.rglob("*"), folder):
            os.utime(one, (seconds, seconds))

    return _beforehand(set_times)


def _written_at(text: str) -> Callable[[Path, Graph], None]:
    """A journal that says it was written at another time is offered all the same."""

    def act(folder: Path, graph: Graph) -> None:
        journal = Journal(folder / "recovery")
        journal.write(graph, folder / "kept.gsg")
        journal.close()
        head, _, body = journal.path.read_text().partition("\n")
        before, _, after = head.partition('"written": ')
        journal.path.write_text(f'{before}"written": {text}{after[after.index(",") :]}\n{body}')
        Journal(folder / "recovery").write(graph, None)
        _recover(folder, graph)

    return act


def _two_windows(folder: Path, graph: Graph) -> None:
    """Two programs keep the same document; each may be recovered by itself, while the other lives."""
    one, other = Journal(folder / "recovery"), Journal(folder / "recovery")
    one.write(graph, folder / "kept.gsg")
    other.write(graph, folder / "kept.gsg")
    assert not recoverable(folder / "recovery")
    one.close()
    assert [left.path for left in recoverable(folder / "recovery")] == [one.path]
    other.write(graph, folder / "kept.gsg")


def _environment() -> dict[str, str]:
    """That of a command of ours, wherever it is started."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def _command(*words: str, limit_bytes: int = 0) -> Callable[[Path, Graph], None]:
    """A command of ours, in the folder; what it says when it fails must be words.

    Raises:
        GradStudioError: it failed in words.
    """

    def act(folder: Path, _graph: Graph) -> None:
        def limit() -> None:
            if limit_bytes:
                resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))

        command = [sys.executable, "-m", "gradstudio", *words]
        done = subprocess.run(
            command, cwd=folder, env=_environment(), capture_output=True, text=True, timeout=300, check=False,
            preexec_fn=limit,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        if done.returncode:
            raise GradStudioError(said)

    return act


def _load_python_of(folder: Path, graph: Graph) -> None:
    write_export(graph, folder / "exported.py")
    (folder / "exported.py").write_bytes((folder / "exported.py").read_bytes()[:100] + b"\xff\x00")
    load_python(folder / "exported.py")


def _full_device(folder: Path, _graph: Graph) -> None:
    """Standard output is a disk that is full."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gradstudio", "export", "kept.gsg"]
        done = subprocess.run(
            command, cwd=folder, env=_environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "Traceback" not in done.stderr, done.stderr
    if done.returncode:
        raise GradStudioError(done.stderr)


def _no_folder(_folder: Path) -> Path | None:
    return None


BOTH = ("done", "refused")
FAULTS: dict[str, Kind] = {
    "a full disk, saving": Kind(_save, _full),
    "a full disk, journal": Kind(_journal, _full),
    "a full disk, export": Kind(_export, _full),
    "a tiny disk": Kind(_on_disk, _tiny_disk),
    "a full device": Kind(_full_device),
    "files used up, saving": Kind(_save, _files_used_up, BOTH, writes=True),
    "files used up, opening": Kind(_load, _files_used_up, BOTH),
    "a read-only folder, saving": Kind(_save, _read_only),
    "a read-only folder, journal": Kind(_journal, _read_only),
    "a read-only folder, export": Kind(_export, _read_only),
    "killed in the middle, saving": Kind(_save, _at_event(_kill), ("done", "killed"), writes=True, litters=True),
    "killed in the middle, journal": Kind(_journal, _at_event(_kill), ("done", "killed"), litters=True),
    "killed in the middle, export": Kind(_export, _at_event(_kill), ("done", "killed"), litters=True),
    "a bad disk, saving": Kind(_save, _at_event(_interrupt), BOTH, writes=True, litters=True),
    "a bad disk, journal": Kind(_journal, _at_event(_interrupt), BOTH, litters=True),
    "a folder that vanishes, saving": Kind(_save, _at_event(_vanish), BOTH, where=_no_folder),
    "a folder that vanishes, opening": Kind(_load, _at_event(_vanish), BOTH, where=_no_folder),
    "a folder that vanishes, recovering": Kind(_recover, _beforehand(_vanish), BOTH, where=_no_folder),
    "another program writes": Kind(_save, _another_writes, ("done",), litters=True),
    "two windows": Kind(_two_windows, None, ("done",)),
    "the clock at 1970": Kind(_recover, _clock(0), ("done",)),
    "the clock in 2200": Kind(_recover, _clock(7.3e9), ("done",)),
    "a journal from the future": Kind(_written_at("1e300"), None, ("done",)),
    "a journal from nowhere": Kind(_written_at("-1e18"), None, ("done",)),
    "a folder for tensors that is a file": Kind(_save, _into("kept.tensors", Path.touch), where=_no_folder),
    "a folder for tensors that leads nowhere": Kind(
        _save, _into("kept.tensors", lambda path: path.symlink_to("nowhere")), where=_no_folder
    ),
    "a recovery folder that is a file": Kind(_journal, _into("recovery", Path.touch)),
    "a recovery folder that is a ring": Kind(_journal, _into("recovery", lambda path: path.symlink_to("recovery"))),
    "a document that is a folder": Kind(_save, _into("kept.gsg", Path.mkdir), where=_no_folder),
    "a document that is a ring": Kind(_save, _into("kept.gsg", lambda path: path.symlink_to("kept.gsg")), BOTH, True),
    "a document that is a pipe": Kind(_load, _into("kept.gsg", os.mkfifo), where=_no_folder),
    "a document that is half": Kind(
        _load, _beforehand(lambda folder: os.truncate(folder / "kept.gsg", 300)), where=_no_folder
    ),
    "a document that is endless": Kind(
        _load, _into("kept.gsg", lambda path: path.symlink_to("/dev/zero")), where=_no_folder
    ),
    "a name that is too long": Kind(_at("n" * 300 + ".gsg")),
    "a name with a null": Kind(_at("a\0b.gsg")),
    "a name of bytes": Kind(_at(b"a\xff\n.gsg"), None, BOTH),
    "a text that is half": Kind(_load_python_of),
    "little memory, check": Kind(_command("check", "kept.gsg", limit_bytes=700 << 20), None, BOTH),
    "little memory, run": Kind(_command("run", "kept.gsg", limit_bytes=2500 << 20), None, BOTH),
}
"""By name."""
