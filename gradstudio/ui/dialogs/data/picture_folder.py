"""A folder of pictures as rows: decoded by Qt in the window's process, brought to one size, gray or in colour."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

from gradstudio.document.data.class_folders import PictureFile, PictureFiles, picture_files
from gradstudio.document.data.model import Choice, Field, Progress, Rows, Samples, Work
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

FORMATS = frozenset((b"png", b"jpeg", b"bmp", b"gif", b"webp", b"ppm", b"pgm", b"pbm"))
"""By what a file holds, whatever it is called: a drawing in SVG could name other files."""
MOST_PIXELS = 50_000_000
"""Of one picture."""
MOST_PIXELS_TOGETHER = 5_000_000_000
"""Decoded anew whenever the size changes: a minute or so."""
FIRST_CLASSES, FIRST_OF_CLASS = 10, 4
"""So many are shown before the rest is read."""
LARGEST_ROWS = 200_000_000
"""Bytes of X."""
LARGEST_SIDE = 4_096
MOST_NAMED = 20
GRAY = (QImage.Format.Format_Grayscale8, QImage.Format.Format_Mono, QImage.Format.Format_MonoLSB)


class _Head(NamedTuple):
    file: PictureFile
    size: tuple[int, int]
    is_gray: bool


class PictureFolder:
    """The pictures of a folder; each folder in it is a class.

    Attributes:
        size: width and height of most, halved until all have room.
    """

    def __init__(self, found: PictureFiles, heads: "Sequence[_Head]", left_out: Sequence[str]) -> None:
        """What was read (`pictures_reading`).

        Raises:
            BadData: none is a picture, or they are too many or too large.
        """
        self.name = found.name
        self.fields: tuple[Field, ...] = (Field("pictures", "uint8", can_be_target=False),)
        self._classes, self._left_out, self._heads = found.classes, list(left_out), heads
        if not self._heads:
            raise BadData(f"'{self.name}' holds no picture that can be read: {_listed(self._left_out)}.")
        sizes = Counter(one.size for one in self._heads)
        if sum(width * height * count for (width, height), count in sizes.items()) > MOST_PIXELS_TOGETHER:
            raise BadData(
                f"The pictures have more than {MOST_PIXELS_TOGETHER // 10**6} million pixels together. "
                "Make them smaller, or keep fewer."
            )
        self.is_gray = all(one.is_gray for one in self._heads)
        self.size = self._with_room(*sizes.most_common(1)[0][0])
        self._kept: tuple[tuple[tuple[int, int], bool], Samples] | None = None
        count, kinds = len(self._heads), len(self._classes)
        widths = ", ".join(f"{n:,} of {width} × {height}" for (width, height), n in sizes.most_common(3))
        more = f", {len(sizes) - 3} other sizes" if len(sizes) > 3 else ""
        self.description = f"{count:,} pictures, {kinds} class{'' if kinds == 1 else 'es'}: {widths}{more}"

    def proposal(self) -> Choice:
        """The size that most have; gray where all are."""
        return Choice(("pictures",), "", size=self.size, is_gray=self.is_gray)

    def samples(self, choice: Choice) -> Work[Samples]:
        """Rows ``(count, 1 or 3, height, width)`` of uint8, and the class of each.

        Raises:
            BadData: they would be too large, or none can be decoded.
        """
        key = (choice.size, choice.is_gray)
        if self._kept is None or self._kept[0] != key:
            self._kept = key, (yield from self._decoded(choice.size, choice.is_gray))
        return self._kept[1]

    def preview(self, count: int) -> tuple[tuple[str, ...], ...]:
        """The names of the first files."""
        return tuple((one.file.name,) for one in self._heads[:count])

    # ------------------------------------------------------------------ inner workings

    def _with_room(self, width: int, height: int) -> tuple[int, int]:
        each = len(self._heads) * (1 if self.is_gray else 3)
        while max(width, height) > 1 and (
            each * width * height > LARGEST_ROWS or max(width, height) > LARGEST_SIDE
        ):  # fmt: skip
            width, height = max(1, width // 2), max(1, height // 2)
        return width, height

    def _decoded(self, size: tuple[int, int], is_gray: bool) -> Work[Samples]:
        width, height = size
        channels = 1 if is_gray else 3
        if not (1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE):
            raise BadData(f"Pictures of {width} × {height} cannot be; choose 1 to {LARGEST_SIDE:,}.")
        if len(self._heads) * channels * width * height > LARGEST_ROWS:
            raise BadData(
                f"{len(self._heads):,} pictures of {width} × {height} have more than {LARGEST_ROWS // 10**6} MB. "
                "Choose a smaller size, or gray."
            )
        rows = np.empty((len(self._heads), channels, height, width), np.uint8)
        labels = np.zeros(len(self._heads), np.int64)
        count, scaled = 0, 0
        left_out = list(self._left_out)
        for number, head in enumerate(self._heads):
            yield Progress("pictures", number, len(self._heads))
            reader, _buffer = _reader(head.file)
            image = reader.read()
            if image.isNull():
                left_out.append(f"{head.file.name} (damaged)")
                continue
            scaled += (image.width(), image.height()) != size
            rows[count], labels[count] = _pixels(image, QSize(width, height), is_gray), head.file.label
            count += 1
        if not count:
            raise BadData(f"'{self.name}' holds no picture that can be read: {_listed(left_out)}.")
        colour = "gray" if is_gray else "red, green, blue"
        notes = [f"pictures of {width} × {height}, {colour}, 0 … 255, which the program divides by 255"]
        if scaled:
            notes.append(f"{scaled:,} of another size {'is' if scaled == 1 else 'are'} scaled to it")
        if left_out:
            files = f"{len(left_out):,} file{' is' if len(left_out) == 1 else 's are'}"
            notes.append(f"{files} left out: {_listed(left_out)}")
        return Samples(Rows(rows[:count], labels[:count]), classes=self._classes, notes=tuple(notes))


def pictures_reading(path: Path) -> Work[PictureFolder]:
    """Read the files of a folder, and the head of each; the first ones can be shown before the rest is read.

    Raises:
        BadData: none is a picture, or they are too many or too large.
    """
    try:
        yield Progress("files", first=work_through(_reading(path, FIRST_CLASSES, FIRST_OF_CLASS)))
    except BadData:
        pass  # more of them may be none, or say better why
    return (yield from _reading(path))


def _reading(path: Path, *most: int) -> Work[PictureFolder]:
    found = yield from picture_files(path, *most)
    heads: list[_Head] = []
    left_out = list(found.left_out)
    for number, file in enumerate(found.files):
        yield Progress("pictures", number, len(found.files))
        try:
            heads.append(_head(file))
        except BadData as error:
            left_out.append(f"{file.name} ({error})")
    return PictureFolder(found, heads, left_out)


def _reader(file: PictureFile) -> tuple[QImageReader, QBuffer]:
    """A reader of a file's bytes, and the buffer, which has to live as long."""
    buffer = QBuffer()
    buffer.setData(QByteArray(file.data))
    buffer.open(QBuffer.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    return reader, buffer


def _head(file: PictureFile) -> _Head:
    """What a picture says of itself.

    Raises:
        BadData: it is none that is read here, in a few words.
    """
    reader, _buffer = _reader(file)
    if not reader.canRead() or reader.format().data() not in FORMATS:
        raise BadData("not a picture")
    size = reader.size()
    if not size.isValid() or size.isEmpty():
        raise BadData("damaged")
    if size.width() * size.height() > MOST_PIXELS:
        raise BadData(f"{size.width():,} × {size.height():,}, more than {MOST_PIXELS // 10**6} million pixels")
    turned = reader.transformation().value & QImageIOHandler.Transformation.TransformationRotate90.value
    width, height = (size.height(), size.width()) if turned else (size.width(), size.height())
    return _Head(file, (width, height), reader.imageFormat() in GRAY)


def _pixels(image: QImage, size: QSize, is_gray: bool) -> NDArray[np.uint8]:
    """``(channels, height, width)``."""
    if image.size() != size:
        smooth = Qt.TransformationMode.SmoothTransformation
        image = image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    image = image.convertToFormat(QImage.Format.Format_Grayscale8 if is_gray else QImage.Format.Format_RGB888)
    channels, width, height = 1 if is_gray else 3, size.width(), size.height()
    lines = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    return (
        lines[:, : width * channels].reshape(height, width, channels).transpose(2, 0, 1).copy()
    )  # the image ends here


def _listed(left_out: list[str]) -> str:
    more = len(left_out) - MOST_NAMED
    return f"{', '.join(left_out[:MOST_NAMED])}{f' and {more:,} more' if more > 0 else ''}"
