"""The whole canvas as a picture, without a window: for *Export picture* and ``gradstudio render``."""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from gradstudio.document.atomic_write import write_file
from gradstudio.document.errors import CannotSave, TooLargeToEmbed
from gradstudio.document.file import View
from gradstudio.document.png_embedding import embed_graph
from gradstudio.graph.model import Graph
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults, Results
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card_picture import paint_cards
from gradstudio.ui.canvas.paint.moment_painter import Stage, paint_moment
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle, Meter, WholeWords
from gradstudio.ui.canvas.paint.scene_painter import ScenePainter
from gradstudio.ui.theme import Theme

MARGIN: Final = 32.0
EMPTY: Final = Box(0, 0, 320, 120)
THUMBNAIL_MARGIN: Final = 12.0
THUMBNAIL_ZOOM: Final = 0.5
"""A small program is drawn no larger: it would look unlike the others."""
POINTS_PER_INCH: Final = 72
MAXIMUM_SIDE: Final = 8_000
"""Device pixels that every viewer opens; larger graphs are scaled down to fit."""
SMALLER: Final = (
    "Its cards are drawn at {percent} %, for a picture is {side:,} pixels wide and high at most: "
    "draw a part of it, or an .svg or .pdf."
)
WITHOUT_DOCUMENT: Final = "Its document is left out: {reason}. Keep the document itself, too."


def render_picture(
    graph: Graph, results: Results | None, theme: Theme, scale: float = 1.0, shown: Shown | None = None,
    *, ground: bool = True,
) -> QImage:  # fmt: skip
    """Everything on the canvas at a scale, on the theme's ground or on none. Needs a QGuiApplication."""
    return _rendered(graph, results, theme, scale, shown, ground)[0]


def _rendered(
    graph: Graph, results: Results | None, theme: Theme, scale: float, shown: Shown | None, ground: bool
) -> tuple[QImage, float]:
    """The picture, and the scale that it has room for."""
    scene, style, box = _scene(graph, results, theme, shown)
    size, scale = _size(box, scale)
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    _paint(painter, scene, style, Camera(scale, box.x, box.y), box, ground)
    painter.end()
    return image, scale


def render_thumbnail(graph: Graph, theme: Theme, size: QSize, ratio: float = 1.0) -> QImage:
    """Everything in a picture of that size, drawn for it: plates with the words that have room. Not run, no ground.

    `ratio` is the device pixels of a pixel; `size` is in device pixels.
    """
    scene, style, box = _scene(graph, None, theme, None, WholeWords())
    for card in scene.stack.cards.values():
        card.drawn = card.result_height  # plates of which more is seen
    width, height = size.width() / ratio, size.height() / ratio
    box = box.grown(THUMBNAIL_MARGIN - MARGIN)
    zoom = min(width / box.width, height / box.height, THUMBNAIL_ZOOM)
    x, y = box.center
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    layer, camera = ScenePainter(scene, style), Camera(zoom, x - width / zoom / 2, y - height / zoom / 2)
    area = Box(0, 0, width, height)
    layer.paint_ground(painter, camera, area, False)
    layer.paint_cards(painter, camera, ratio, camera.box_to_scene(area), scene.stack.ids)
    painter.end()
    return image


def picture_size(
    graph: Graph, results: Results | None, theme: Theme, scale: float = 1.0, shown: Shown | None = None
) -> QSize:
    """How large `render_picture` makes it, in pixels."""
    return _size(_scene(graph, results, theme, shown)[2], scale)[0]


def write_svg(
    graph: Graph, results: Results | None, theme: Theme, path: Path, shown: Shown | None = None, *, ground: bool = True
) -> None:
    """The same as an SVG file, its text as text.

    Raises:
        OSError: the file cannot be written.
    """
    scene, style, box = _scene(graph, results, theme, shown)
    data = QBuffer()
    data.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(data)
    generator.setSize(QSize(round(box.width), round(box.height)))
    generator.setViewBox(QRectF(0, 0, box.width, box.height))
    generator.setTitle("GradStudio")
    painter = QPainter(generator)
    _paint(painter, scene, style, Camera(1.0, box.x, box.y), box, ground)
    painter.end()
    replace_file(path, bytes(data.data().data()))


def write_pdf(
    graph: Graph, results: Results | None, theme: Theme, path: Path, shown: Shown | None = None, *, ground: bool = True
) -> None:
    """The same as a PDF of one page, as large as the canvas: a scene pixel is a point.

    Raises:
        OSError: the file cannot be written.
    """
    scene, style, box = _scene(graph, results, theme, shown)
    data = QBuffer()
    data.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(data)
    writer.setTitle("GradStudio")
    writer.setResolution(POINTS_PER_INCH)
    writer.setPageMargins(QMarginsF())
    writer.setPageSize(QPageSize(QSizeF(box.width, box.height), QPageSize.Unit.Point))
    painter = QPainter(writer)
    _paint(painter, scene, style, Camera(1.0, box.x, box.y), box, ground)
    painter.end()
    replace_file(path, bytes(data.data().data()))


def replace_file(path: Path, data: bytes) -> None:
    """Put a picture in the place of what is there, which stays whole where that fails.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        write_file(path, data, durable=False)
    except CannotSave as error:
        raise OSError(str(error)) from error


def png_of(image: QImage) -> bytes:
    """A picture as the bytes of a PNG."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # a device and a format, which the stubs lack
    return bytes(data.data())


def save_picture(
    graph: Graph,
    results: Results | None,
    theme: Theme,
    path: Path,
    scale: float = 1.0,
    shown: Shown | None = None,
    view: View | None = None,
    *,
    drawn: Graph | None = None,
    ground: bool = True,
) -> str:
    """Write a PNG that holds the document itself, too; an SVG or a PDF where the path ends so.

    `drawn` is the part of the document that is seen, None: all; `ground`: on the theme's ground, else on none.

    Returns:
        What a person has to know of the picture, such as that the document had no room in it; else "".

    Raises:
        OSError: the file cannot be written.
    """
    seen = graph if drawn is None else drawn
    match path.suffix.lower():
        case ".svg":
            write_svg(seen, results, theme, path, shown, ground=ground)
        case ".pdf":
            write_pdf(seen, results, theme, path, shown, ground=ground)
        case ".png":
            image, drawn_scale = _rendered(seen, results, theme, scale, shown, ground)
            data, note = with_document(png_of(image), graph, view)
            replace_file(path, data)
            small = SMALLER.format(percent=int(drawn_scale * 100), side=MAXIMUM_SIDE) if drawn_scale < 1 else ""
            return " ".join(words for words in (small, note) if words)
        case _:
            raise OSError(f"'{path}' cannot be written as a picture; use a name that ends in .png, .svg or .pdf")
    return ""


def with_document(png: bytes, graph: Graph, view: View | None) -> tuple[bytes, str]:
    """The picture with the document in it, where it has room; and in words that it has none."""
    try:
        return embed_graph(png, graph, view), ""
    except TooLargeToEmbed as refusal:
        return png, WITHOUT_DOCUMENT.format(reason=refusal)


def _scene(
    graph: Graph, results: Results | None, theme: Theme, shown: Shown | None, meter: Meter | None = None
) -> tuple[Scene, CanvasStyle, Box]:
    """What is drawn, how it looks, and the part of the scene that it fills."""
    style = CanvasStyle(theme, meter)
    scene = Scene(graph, results if results is not None else NoResults(), shown or Shown(), style.meter)
    extent = scene.placement.extent()
    return scene, style, (extent if extent is not None else EMPTY).grown(MARGIN)


def _size(box: Box, scale: float) -> tuple[QSize, float]:
    """Pixels of a picture, and the scale that it has room for."""
    scale = min(scale, MAXIMUM_SIDE / max(box.width, box.height))
    return QSize(round(box.width * scale), round(box.height * scale)), scale


def _paint(painter: QPainter, scene: Scene, style: CanvasStyle, camera: Camera, box: Box, ground: bool) -> None:
    """Ground, wires and their numbers by the layer, cards one by one as vectors."""
    layer = ScenePainter(scene, style)
    area = Box(0, 0, box.width * camera.zoom, box.height * camera.zoom)
    layer.paint_ground(painter, camera, area, ground)
    layer.paint_overlays(painter, camera, box)
    paint_cards(painter, scene, style, camera)
    if scene.results.active is not None:
        # Its outlines and plates are as wide as on a screen at any zoom; in a picture they are enlarged with the cards.
        painter.scale(camera.zoom, camera.zoom)
        step = scene.results.backward_step()
        tab = "{}/{}".format(*step.place) if step is not None and step.place[1] else ""
        paint_moment(Stage(painter, style, scene, Camera(1.0, camera.x, camera.y), box, layer.labels, tab))
