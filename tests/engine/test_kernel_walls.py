"""The walls of the kernel, in engine processes behind whose own walls there is a hole: nothing leaves the process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradstudio.engine.walls import LEFT_OUT
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Failed, Paused
from gradstudio.protocol.messages.requests import Do, Load, Trust
from tests.engine.build import node, program
from tests.helpers import breached_hook
from tests.helpers.breached_hook import ALLOWED, DEEDS, OF_CALLS, OF_FILES

WAIT_S = 120
ROOT = Path(__file__).parents[2]


class Breached(NamedTuple):
    """An engine and the walls that it says stand around it."""

    process: EngineProcess
    walls: tuple[str, ...]


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are of Linux")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("outside")
    (made / "secret").write_text("secret")
    return made


@pytest.fixture(scope="module")
def breached(folder: Path) -> Iterator[Breached]:
    """An engine with a hole in its list and none to hear what goes through it."""
    with started(folder) as engine:
        yield engine


@contextmanager
def started(folder: Path, *arguments: str, **variables: str) -> Iterator[Breached]:
    command = (sys.executable, "-P", breached_hook.__file__, str(folder), *arguments)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    with EngineProcess(command, environment=environment, stderr=subprocess.DEVNULL) as process:
        yield Breached(process, process.wait_until_ready(WAIT_S).walls)


def failure(engine: Breached, deed: str, *, with_code: bool = False) -> Failed | None:
    """What the deed failed with, as the node of it tells; behind it Python that is not drawn, which is trusted."""
    number = [*DEEDS, *ALLOWED].index(deed)
    loaded = program(f"x = torch.tensor({number})\ny = torch.relu(x)")
    trust = None
    if with_code:
        text = f"import torch\nx = torch.tensor({number})\ny = torch.relu(x)\n\nimport time\n"
        loaded = compile_graph(read_script(text, keeps_code=True).graph)
        trust = Trust(code_digest(loaded))
    engine.process.send(Load(document="d", revision=1, program=loaded))
    engine.process.send(Do(verb="run", trace=False, restart=True, trust=trust))
    failed: list[Failed] = []
    engine.process.wait_for(
        Paused, timeout=WAIT_S, on_event=lambda event: failed.append(event) if isinstance(event, Failed) else None
    )
    return failed[0] if failed else None


def offered(engine: Breached, wall: str) -> None:
    if wall not in engine.walls:
        pytest.skip(f"the kernel of this system does not offer {wall}")


@pytest.mark.parametrize("deed", OF_FILES)
def test_no_file_is_written_and_nothing_started(breached: Breached, folder: Path, deed: str) -> None:
    offered(breached, "Landlock")
    refused(breached, folder, deed)


@pytest.mark.parametrize("deed", OF_CALLS)
def test_calls_that_no_computation_needs_are_refused(breached: Breached, folder: Path, deed: str) -> None:
    offered(breached, "seccomp")
    refused(breached, folder, deed)


def refused(engine: Breached, folder: Path, deed: str) -> None:
    before = os.stat(folder / "secret")
    failed = failure(engine, deed)
    assert failed is not None
    assert (failed.node, failed.type_name) in {(node(2), "PermissionError"), (node(2), "FileNotFoundError")}
    after = os.stat(folder / "secret")
    assert (after.st_mode, after.st_mtime, after.st_size) == (before.st_mode, before.st_mtime, 6)
    assert [path.name for path in folder.iterdir()] == ["secret"]


@pytest.mark.parametrize("deed", ALLOWED)
def test_reading_is_left(breached: Breached, deed: str) -> None:
    assert failure(breached, deed) is None


@pytest.mark.parametrize("how", [{"arguments": (RUNS_CODE,)}, {LEFT_OUT: "1"}])
def test_an_engine_for_code_of_its_user_is_refused_nothing_by_the_kernel(how: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    is_for_code = "arguments" in how
    with started(tmp_path, *how.get("arguments", ()), **{k: v for k, v in how.items() if k != "arguments"}) as engine:
        assert engine.walls == ("list by type", "audit hook", "no new privileges")
        for deed in ("write", "start a program", "change rights"):
            assert failure(engine, deed, with_code=is_for_code) is None
    assert len(list(tmp_path.iterdir())) == 2
