"""``python -m gradstudio`` is ``gradstudio``."""

import sys
from os import getcwd


def _leave_out_the_working_directory() -> None:
    """Take from the path what ``-m`` has put first: a ``random.py`` beside a document is not to be executed.

    Our own package is found already, wherever it lies; whoever wants the folder all the same sets PYTHONPATH.
    """
    try:
        here = getcwd()
    except OSError:
        return
    if not sys.flags.safe_path and sys.path[:1] == [here]:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_the_working_directory()

    from gradstudio.cli import main

    sys.exit(main())
