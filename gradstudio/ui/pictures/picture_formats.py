"""The formats of pictures, a row each: `render`, *File ▸ Export picture* and their words are made from them. No Qt."""

from pathlib import Path
from typing import Final
from typing import Literal as OneOf

import msgspec

Style = OneOf["window", "paper"]
STYLES: Final[tuple[Style, ...]] = ("window", "paper")


class PictureFormat(msgspec.Struct, frozen=True):
    """One format.

    Attributes:
        suffix: of its files.
        title: what the file dialog calls it.
        styles: that it can be written in; the first is taken when none is asked for.
        is_stepping: it holds every moment of a run, so the program is run.
    """

    suffix: str
    title: str
    styles: tuple[Style, ...] = STYLES
    is_stepping: bool = False


FORMATS: Final = (
    PictureFormat(".png", "PNG picture, opens here again"),
    PictureFormat(".svg", "SVG drawing"),
    PictureFormat(".pdf", "PDF page"),
    PictureFormat(".tex", "TikZ for LaTeX", ("paper",)),
    PictureFormat(".html", "HTML page that steps", ("paper",), is_stepping=True),
    PictureFormat(".gif", "GIF film of every step", ("paper",), is_stepping=True),
    PictureFormat(".mp4", "MP4 film of every step, by ffmpeg", ("paper",), is_stepping=True),
)
SUFFIXES: Final = tuple(one.suffix for one in FORMATS)


def format_of(path: Path) -> PictureFormat | None:
    """The format of a file by its suffix; None: pictures are not written so."""
    return next((one for one in FORMATS if one.suffix == path.suffix.lower()), None)


def suffix_words() -> str:
    """``.png, .svg or .pdf``."""
    return f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def file_filter() -> str:
    """The formats as a file dialog takes them."""
    return ";;".join(f"{one.title} (*{one.suffix})" for one in FORMATS)
