"""The line that installs a package that an import does not find."""

import re
import sys
from pathlib import Path
from typing import Final

INSTALLED_AS: Final = {
    "sklearn": "scikit-learn", "PIL": "pillow", "cv2": "opencv-python", "skimage": "scikit-image", "yaml": "pyyaml",
    "dotenv": "python-dotenv", "pytorch_lightning": "pytorch-lightning", "hydra": "hydra-core", "wx": "wxPython",
}  # fmt: skip
"""Packages that are installed by another name than they are imported by."""
_MISSING = re.compile(r"No module named '(\w+)'")
"""Of a package as a whole: where a part of one is missing, as 'torch.there', the package is there."""


def install_line(package: str) -> str:
    """What to type to have a package."""
    return f"{Path(sys.executable).name} -m pip install {INSTALLED_AS.get(package, package)}"


def install_advice(type_name: str, message: str) -> tuple[str, ...]:
    """Ways out of an import that finds no such package; none of any other error."""
    found = _MISSING.search(message) if type_name == "ModuleNotFoundError" else None
    if found is None or found[1] in sys.stdlib_module_names:
        return ()
    return (
        f"If it is a package, install it: {install_line(found[1])}",
        "Correct its name, or put its file beside the program",
    )
