"""A stand-in for matplotlib, as small as what is asked of it: written beside a document, which then imports it."""

import struct
import zlib
from pathlib import Path


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, colour: bytes) -> bytes:
    """A picture of one colour."""
    rows = (b"\0" + colour * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


WHITE, BLACK = (_png(64, 48, colour) for colour in (b"\xff\xff\xff", b"\x01\x02\x03"))
FILES = {
    "__init__.py": "",
    "colors.py": """
def to_rgba(colour):
    if not isinstance(colour, str):
        raise ValueError(colour)
    return {"white": (1.0, 1.0, 1.0, 1.0), "black": (0.0, 0.0, 0.0, 1.0)}.get(colour, (0.1, 0.2, 0.3, 1.0))
""",
    "_pylab_helpers.py": """
class Gcf:
    figs = {}

    @classmethod
    def get_all_fig_managers(cls):
        return list(cls.figs.values())
""",
    "pyplot.py": f"""
from types import SimpleNamespace
from matplotlib._pylab_helpers import Gcf

class Axes:
    def get_title(self):
        return "loss"

class Figure:
    def __init__(self):
        self.stale, self.axes, self.ground = True, [], "white"

    def plot(self, values):
        self.axes, self.stale = [Axes()], True

    def get_suptitle(self):
        return ""

    def get_size_inches(self):
        return 6.4, 4.8

    def findobj(self):
        return [self]

    def get_facecolor(self):
        return self.ground

    def set_facecolor(self, colour):
        self.ground, self.stale = colour, True

    def savefig(self, target, **options):
        if self.ground == "broken":
            raise RuntimeError("no picture")
        target.write({WHITE!r} if self.ground == "white" else {BLACK!r})

def figure(number=None):
    if number not in Gcf.figs:
        number = number or len(Gcf.figs) + 1
        made = Figure()
        Gcf.figs[number] = SimpleNamespace(canvas=SimpleNamespace(figure=made))
    return Gcf.figs[number].canvas.figure

def plot(values):
    figure(max(Gcf.figs, default=None)).plot(values)

def get_fignums():
    return sorted(Gcf.figs)

def close(what):
    Gcf.figs.clear()

def show():
    while True:
        pass
""",
}


def write_stand_in(folder: Path) -> None:
    """Put it beside a document."""
    (folder / "matplotlib").mkdir()
    for name, text in FILES.items():
        (folder / "matplotlib" / name).write_text(text)
