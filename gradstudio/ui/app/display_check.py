"""Whether a window can be opened at all; looked at before Qt is loaded, which would abort. No Qt here."""

import os
import sys
from pathlib import Path

XCB_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
INSTEAD = "'gradstudio run FILE' and 'gradstudio render FILE' work without a window."


def why_no_window() -> str:
    """The reason in one sentence why no window can be opened here; "" when one can."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return ""
    display = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY"):
        return ""
    if not display:
        return f"There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. {INSTEAD}"
    if not _answers(display):
        return f"No display answers at DISPLAY={display}. {INSTEAD}"
    missing = [package for library, package in XCB_LIBRARIES.items() if not _is_there(library)]
    if missing:
        return f"System libraries are missing for a window: apt-get install {' '.join(missing)}. {INSTEAD}"
    return ""


def _answers(display: str) -> bool:
    """Whether a local X server listens; displays of other machines are left to Qt."""
    host, _, number = display.rpartition(":")
    if host not in ("", "unix"):
        return True
    name = f"/tmp/.X11-unix/X{number.partition('.')[0]}"
    return any(_connects(address) for address in (f"\0{name}", name) if address[0] == "\0" or Path(name).exists())


def _connects(address: str) -> bool:
    import socket

    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(address)
        except OSError:
            return False
        return True


def _is_there(library: str) -> bool:
    import ctypes

    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
