"""``python -m gradstudio`` is ``gradstudio``."""

import sys

from gradstudio.cli import main

if __name__ == "__main__":
    sys.exit(main())
