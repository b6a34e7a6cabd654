"""Scripts: what `export` writes, executed by a process that knows nothing of GradStudio."""

import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.program.model import Program
from tools.conformance.wire import Answer, Ask, read_frame, write_frame

MEMORY = Path("/dev/shm")
ROOT = Path(__file__).resolve().parents[2]


class Scripts:
    """A worker process; scripts go in with `submit` and their answers come out in the same order with `collect`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Start the worker."""
        self._folder = Path(tempfile.mkdtemp(prefix="conformance-", dir=MEMORY if MEMORY.is_dir() else None))
        self._files: deque[list[Path]] = deque()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.conformance.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environment), cwd=ROOT,
        )  # fmt: skip

    def __enter__(self) -> "Scripts":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(
        self, graph: Graph, program: Program, outputs: list[tuple[str, tuple[int, ...]]], leaves: list[str], plain: bool
    ) -> None:
        """Have the script of a program executed, its stored tensors beside it."""
        folder = self._folder / "program.tensors"
        folder.mkdir(exist_ok=True)
        files = []
        for digest in program.tensors:
            file = folder / f"{digest}.safetensors"
            if not file.exists():  # the worker may have it mapped: writing it again would pull it from under its feet
                file.write_bytes(graph.tensors[digest].data)
            files.append(file)
        self._files.append(files)
        ask = Ask(program.script, str(self._folder), outputs, leaves, plain)
        write_frame(cast(IO[bytes], self._process.stdin), ask)

    def collect(self) -> Answer:
        """The answer to the script that was submitted first."""
        answer = msgspec.msgpack.decode(read_frame(cast(IO[bytes], self._process.stdout)), type=Answer)
        used = {file for files in list(self._files)[1:] for file in files}
        for file in self._files.popleft():
            if file not in used:
                file.unlink(missing_ok=True)
        return answer

    def close(self) -> None:
        """End the worker and remove its folder."""
        cast(IO[bytes], self._process.stdin).close()
        self._process.wait()
        cast(IO[bytes], self._process.stdout).close()
        shutil.rmtree(self._folder, ignore_errors=True)
