"""Programs run as Python runs a file, each in a fork of one process that has loaded torch: to load it takes seconds."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType

FILE, PRINTED = "program.py", "printed.txt"
_SERVE = f"""
import os, runpy, sys, traceback
import torch

def run(folder):
    os.chdir(folder)
    for number in (1, 2):
        os.dup2(os.open("{PRINTED}", os.O_CREAT | os.O_WRONLY | os.O_APPEND), number)
    sys.argv, sys.path[0], code = ["{FILE}"], folder, 1
    try:
        runpy.run_path("{FILE}", run_name="__main__")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

for line in sys.stdin:
    child = os.fork()
    if not child:
        run(line[:-1])
    print(os.waitpid(child, 0)[1], flush=True)
"""


class ProgramRuns:
    """The process that forks; it ends with its block."""

    def __enter__(self) -> "ProgramRuns":
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", _SERVE], stdin=pipe, stdout=pipe, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def printed(self, text: str, folder: Path) -> str:
        """What the program prints, in a folder of its own choice.

        Raises:
            AssertionError: it fails; with what it has printed.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        (folder / FILE).write_text(text)
        (folder / PRINTED).write_text("")
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        status = self._process.stdout.readline()
        found = (folder / PRINTED).read_text()
        assert status == "0\n", found
        return found
