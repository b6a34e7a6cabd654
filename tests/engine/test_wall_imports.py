"""What torch loads of its own only when an operator needs it, in a process that runs code, behind the walls."""

import subprocess
import sys

from gradstudio.protocol.process_group import RUNS_CODE

PROGRAM = "w = torch.nn.Parameter(torch.ones(2))\noptimizer = torch.optim.Adam([w])\n"
CHILD = """
import sys
import torch
from gradstudio.engine import access
from gradstudio.engine.walls import build_walls

build_walls()
names = {"torch": torch}
access.execute(access.compiled(access.ast.parse(sys.argv[2], access.FILENAME)), names)
print(type(names["optimizer"]).__name__, "torch._dynamo" in sys.modules)
"""


def test_the_first_optimizer_of_a_drawing_loads_the_compiler() -> None:
    """Half loaded, as where no folder for its cache may be looked for, it cannot be loaded again by the run."""
    command = [sys.executable, "-c", CHILD, RUNS_CODE, PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["Adam", "True"], done.stderr[-2000:]
