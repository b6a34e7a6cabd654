"""Steps as a film: each figure with its sentence below; GIF by ourselves, MP4 by ffmpeg where it is installed."""

import math
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QPainter, qBlue, qGreen, qRed

from gradstudio.scene.figure.drawing import Drawing, Frame, Words, upright
from gradstudio.scene.figure.figure_style import SMALL, FigureStyle
from gradstudio.scene.figure.font_widths import text_width
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.picture_export import png_of
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.pictures.figure_painter import paint_figure
from gradstudio.ui.pictures.figures import Stepping
from gradstudio.ui.pictures.gif_writer import Indices, gif_bytes

STEP_MS: Final = 900
LAST_MS: Final = 2_500
CAPTION: Final = 18.0
"""Height of the line with the sentence, points."""
WIDEST_PX: Final = 1_600
MOST_COLORS: Final = 256
SAMPLED: Final = 24
"""Frames whose colours are counted."""
MOST_WAIT_S: Final = 600


def gif_film(stepping: Stepping, style: FigureStyle, scale: float) -> bytes:
    """The steps as a GIF that begins anew at its end."""
    frames = [_image(frame, style, scale) for frame in _frames(stepping)]
    palette = _palette(frames)
    indexed = (_indices(frame, palette) for frame in frames)
    times = [STEP_MS] * (len(frames) - 1) + [LAST_MS]
    return gif_bytes(zip(indexed, times, strict=True), [(qRed(one), qGreen(one), qBlue(one)) for one in palette])


def mp4_film(stepping: Stepping, style: FigureStyle, scale: float) -> bytes:
    """The steps as an MP4.

    Raises:
        PictureRefused: ffmpeg is not installed, or refuses; with its words.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise PictureRefused("an MP4 is made by ffmpeg, which is not installed here: install it, or write a .gif")
    frames = [png_of(_image(frame, style, scale)) for frame in _frames(stepping)]
    frames += frames[-1:] * (LAST_MS // STEP_MS)
    rate = f"1000/{STEP_MS}"
    command = [program, "-loglevel", "error", "-f", "image2pipe", "-framerate", rate, "-c:v", "png", "-i", "-"]
    command += ["-pix_fmt", "yuv420p", "-r", "30"]
    # A fragmented file is one that can be written into a pipe.
    command += ["-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "-"]
    try:
        made = subprocess.run(command, input=b"".join(frames), capture_output=True, timeout=MOST_WAIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PictureRefused(f"ffmpeg did not make the film: {error}") from error
    if made.returncode:
        raise PictureRefused(f"ffmpeg did not make the film: {made.stderr.decode(errors='replace').strip()}")
    return made.stdout


def _frames(stepping: Stepping) -> Iterator[Drawing]:
    """Each figure with its sentence below, on a ground."""
    widest = max(text_width(words, SMALL) for words in stepping.captions) + 12.0
    for drawing, words in zip(stepping.drawings, stepping.captions, strict=True):
        width, height = max(drawing.width, min(widest, drawing.width * 1.5)), drawing.height + CAPTION
        ground = Frame(Box(0.0, 0.0, width, height), 0.0, "", "ground", 0.0)
        sentence = Words(6.0, height - 6.0, upright(words), SMALL, "soft", "start")
        yield Drawing(width, height, (ground, *drawing.marks, sentence))


def _image(drawing: Drawing, style: FigureStyle, scale: float) -> QImage:
    """A frame as pixels; its sides are even, as H.264 has them."""
    scale = min(scale, WIDEST_PX / drawing.width)
    size = QSize(2 * math.ceil(drawing.width * scale / 2), 2 * math.ceil(drawing.height * scale / 2))
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(style.ink("ground"))
    painter = QPainter(image)
    painter.scale(scale, scale)
    paint_figure(painter, drawing, style)
    painter.end()
    return image


def _palette(frames: list[QImage]) -> list[int]:
    """The colours that are seen most, over the film."""
    counts: Counter[int] = Counter()
    for frame in frames[:: max(1, len(frames) // SAMPLED)]:
        colors, numbers = np.unique(_pixels(frame), return_counts=True)
        counts.update(dict(zip(colors.tolist(), numbers.tolist(), strict=True)))
    return [color for color, _ in counts.most_common(MOST_COLORS)]


def _pixels(image: QImage) -> "np.ndarray[tuple[int, int], np.dtype[np.uint32]]":
    data = np.frombuffer(image.constBits(), np.uint32)
    return data.reshape(image.height(), image.bytesPerLine() // 4)[:, : image.width()]


def _indices(image: QImage, palette: list[int]) -> Indices:
    """The nearest colour of the palette for each pixel."""
    pixels = _pixels(image)
    colors, inverse = np.unique(pixels, return_inverse=True)
    channels = np.stack([(colors >> shift) & 0xFF for shift in (16, 8, 0)], 1).astype(np.int32)
    known = np.array([[(one >> shift) & 0xFF for shift in (16, 8, 0)] for one in palette], np.int32)
    nearest = ((channels[:, None, :] - known[None, :, :]) ** 2).sum(2).argmin(1).astype(np.uint8)
    found: Indices = nearest[inverse].reshape(pixels.shape)
    return found
