"""The command line as a process of the window."""

from pathlib import Path
from typing import Final

_CLI: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from gradstudio.cli import main; "
    "del sys.path[0]; sys.exit(main())"
)
_ROOT: Final = str(Path(__file__).resolve().parents[3])


def cli_arguments(*arguments: str) -> list[str]:
    """What follows Python for ``gradstudio …``, from this very package, and with no other folder on its path."""
    return ["-P", "-u", "-c", _CLI, _ROOT, *arguments]
