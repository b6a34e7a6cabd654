"""``gradstudio integrate``: the desktop's entry and file type, for this person alone. No Qt, no torch."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from gradstudio import paths
from gradstudio.document.atomic_write import write_file
from gradstudio.errors import GradStudioError

MIME = "application/x-gradstudio-graph"
PICTURE = "image/png"
"""A picture may hold its document: offered under "Open With"; what opens pictures by default stays what it is."""
ENTRY, TYPE, ICON = (
    "applications/gradstudio.desktop",
    "mime/packages/gradstudio.xml",
    "icons/hicolor/scalable/apps/gradstudio.svg",
)
TYPE_ICON = f"icons/hicolor/scalable/mimetypes/{MIME.replace('/', '-')}.svg"
UPDATES = (("update-desktop-database", "applications"), ("update-mime-database", "mime"))
"""What tells a running desktop of it; a desktop without these programs finds the files by itself."""


class NoIntegration(GradStudioError):
    """This system has no such entries, or they cannot be written."""


def integrate() -> tuple[str, ...]:
    """Write the entry, the file type and their icons; what was done, a line each.

    Raises:
        NoIntegration: with the reason and what to do instead.
    """
    folder = _folder()
    for name, text in _files():
        target = folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, text.encode())
        except (OSError, GradStudioError) as error:
            raise NoIntegration(f"{target} cannot be written: {error}") from error
    _tell(folder)
    return (
        f"GradStudio is among the programs of the desktop: {folder / ENTRY}",
        "A double-click on a .gsg file opens it here.",
        "gradstudio integrate --remove takes both away.",
    )


def remove() -> tuple[str, ...]:
    """Take away what `integrate` wrote; what was done, a line each.

    Raises:
        NoIntegration: a file cannot be removed.
    """
    folder = _folder()
    found = [folder / name for name, _ in _files() if (folder / name).exists()]
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            raise NoIntegration(f"{path} cannot be removed: {error.strerror or error}") from error
    _tell(folder)
    return tuple(f"Removed {path}" for path in found) or ("There was nothing to remove.",)


def _folder() -> Path:
    """Where this person's desktop looks for entries (XDG Base Directory Specification 0.8).

    Raises:
        NoIntegration: there is no such folder on this system.
    """
    if not sys.platform.startswith("linux"):
        raise NoIntegration(
            "integrate writes the entries of a Linux desktop. Here, choose “Open with” on a .gsg file once, "
            f"and name this program: {_command()}"
        )
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".local" / "share"


def _files() -> Iterator[tuple[str, str]]:
    icon = (paths.resources() / "icons" / "gradstudio.svg").read_text(encoding="utf-8")
    yield ENTRY, _entry()
    yield TYPE, _type()
    yield ICON, icon
    yield TYPE_ICON, icon


def _command() -> str:
    """The program as a desktop can start it: the installed script, else this Python."""
    beside = Path(sys.executable).with_name("gradstudio")
    if beside.exists():
        return _quoted(str(beside))
    return f"{_quoted(sys.executable)} -m gradstudio"


def _quoted(word: str) -> str:
    """A word of an Exec line (Desktop Entry Specification 1.5, "The Exec key")."""
    for sign in ("\\", '"', "`", "$"):
        word = word.replace(sign, f"\\{sign}")
    quoted = word.replace("\\", "\\\\").replace("%", "%%")
    return f'"{quoted}"'


def _entry() -> str:
    return (
        "[Desktop Entry]\n"
        "Type=Application\n"
        "Name=GradStudio\n"
        "GenericName=PyTorch node editor\n"
        "Comment=Draw a PyTorch computation, run it, and watch values and gradients flow\n"
        f"Exec={_command()} %F\n"
        "Icon=gradstudio\n"
        "Terminal=false\n"
        "StartupWMClass=gradstudio\n"
        "Categories=Development;\n"
        "Keywords=torch;tensor;autograd;gradient;graph;\n"
        f"MimeType={MIME};{PICTURE};\n"
    )


def _type() -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">\n'
        f'  <mime-type type="{escape(MIME)}">\n'
        "    <comment>GradStudio graph</comment>\n"
        '    <sub-class-of type="application/json"/>\n'
        '    <glob pattern="*.gsg"/>\n'
        "  </mime-type>\n"
        "</mime-info>\n"
    )


def _tell(folder: Path) -> None:
    """Let a running desktop know; where it cannot be told it sees the files at the next start."""
    for program, part in UPDATES:
        found = shutil.which(program)
        if found and (folder / part).is_dir():
            subprocess.run([found, str(folder / part)], capture_output=True, check=False)
