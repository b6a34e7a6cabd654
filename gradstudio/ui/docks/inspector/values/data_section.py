"""What is known of data before a run: rows, classes with their counts, first rows or pictures, warnings."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFormLayout, QLabel, QWidget

from gradstudio.document.data.model import Numbers, Rows
from gradstudio.document.data.stored_data import DataSummary, StoredData, look_at, stored_data
from gradstudio.graph.model import ItemId
from gradstudio.scene.value_format import number
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.docks.inspector.values.generated_data import GeneratedData
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, scale_px
from gradstudio.ui.widgets.form_layout import Section, label
from gradstudio.ui.widgets.picture_preview import PicturePreview

MOST_CLASSES_SHOWN = 12
MOST_PICTURES, PICTURE_PX, CELL_PX, SIGN_PX = 10, 32, 44, 14
LINE_LETTERS = 30
"""So many stand in a line where the dock is narrowest."""
MOST_KNOWN = 8
"""Data sets whose summaries are kept."""
ONE_DRAW = "The program sets no seed: these are one draw, and each run makes others."
GAP = "\u00a0"
"""A space at which no line is broken."""


class DataSection(Section):
    """The data that a card stands for; hidden where it stands for none."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__("Data", parent)
        self._session = session
        self._known: dict[tuple[object, ...], DataSummary | None] = {}
        self._item: ItemId | None = None
        self._shown: DataSummary | None = None
        self._words = ""
        self.generated = GeneratedData(session, self)
        self.generated.changed.connect(self._on_generated_changed)
        self.about, self.rows, self.classes, self.columns = (Ledger(session.attention, theme) for _ in range(4))
        self.warnings = _Warnings(theme)
        self.first = label("First pictures", "dim")
        self.pictures = _Pictures(MOST_PICTURES, PICTURE_PX)
        self.add(self.about, self.warnings, self.first, self.pictures, self.rows, self.classes, self.columns)
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show what is known of an item's data as the document stores it, or makes it, now."""
        self._item = item
        data, words = stored_data(self._session.shown_store.graph, item), ""
        if data is None and (made := self.generated.data_of(item)) is not None:
            data, words = made.data, ONE_DRAW if made.is_one_draw else ""
        summary = self._summary(data) if data is not None else None
        self.setVisible(summary is not None)
        if summary is None or (summary is self._shown and words == self._words):
            return
        self._shown, self._words = summary, words
        self.about.show_lines(_about(summary, words))
        self.warnings.show_words(summary.warnings)
        self.rows.show_lines(_first_rows(summary))
        self.classes.show_lines(_of_classes(summary))
        self.columns.show_lines(_of_columns(summary))
        has_pictures = summary.pictures is not None
        self.first.setVisible(has_pictures)
        self.pictures.setVisible(has_pictures)
        if summary.pictures is not None:
            self.pictures.show_rows(summary.pictures, summary.picture_classes)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.warnings.set_theme(theme)

    def _on_generated_changed(self) -> None:
        if self._item is not None:
            self.show_item(self._item)

    def _summary(self, data: StoredData) -> DataSummary | None:
        """Looked for once for the same contents."""
        key = data.key
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.pop(next(iter(self._known)))
            self._known[key] = look_at(data)
        return self._known[key]


class _Warnings(QWidget):
    """Sentences under one another, each with a sign."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.words: tuple[str, ...] = ()
        self._lines = QFormLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setHorizontalSpacing(theme.GAP_SMALL)
        self._lines.setVerticalSpacing(theme.GAP_SMALL)

    def show_words(self, words: tuple[str, ...]) -> None:
        """Show exactly these; hidden when there are none."""
        self.words = words
        while self._lines.rowCount():
            self._lines.removeRow(0)
        for sentence in words:
            sign, text = QLabel(), label(sentence, "warning", wrap=True)
            sign.setPixmap(icon("warning", self._theme, "warning").pixmap(SIGN_PX, SIGN_PX))
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._lines.addRow(sign, text)
        self.setVisible(bool(words))

    def set_theme(self, theme: Theme) -> None:
        """Colour the signs anew."""
        self._theme = theme
        self.show_words(self.words)


class _Pictures(PicturePreview):
    """As high as its pictures need at its width; the wheel scrolls the inspector."""

    def __init__(self, shown: int, side_px: int) -> None:
        super().__init__(shown, side_px)
        self.setSpacing(0)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_rows(self, rows: Rows, classes: tuple[str, ...]) -> None:
        super().show_rows(rows, classes)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _fit(self) -> None:
        name_px = self.fontMetrics().height() + 4
        self.setGridSize(
            QSize(scale_px(CELL_PX), self.iconSize().height() + name_px)
        )  # a long name ends in an ellipsis
        self.doItemsLayout()
        self.setFixedHeight(max(1, self.contentsSize().height()) + 2 * self.frameWidth())


def _about(data: DataSummary, more: str) -> tuple[Line, ...]:
    """How many rows of which size, how many of them were looked at, and more in words."""
    unit = "characters" if data.is_text else "rows"
    lines = [Line(f"{unit} to learn" if data.apart else unit, f"{data.rows:,}")]
    if data.apart:
        lines.append(Line(f"{unit} to validate", f"{data.apart:,}"))
    if len(data.sizes) == 1 and data.pictures is None:
        lines.append(Line("columns", f"{data.sizes[0]:,}"))
    elif data.sizes:
        sizes = data.pictures.inputs.shape[1:] if data.pictures is not None else data.sizes
        lines.append(Line("each", " × ".join(f"{size:,}" for size in sizes)))
    if data.classes:
        lines.append(Line("classes", f"{len(data.classes):,}"))
    if data.looked_at < data.rows:
        words = f"Looked at: {data.looked_at:,} rows of {data.rows:,}, spread evenly"
        where = f"; classes are counted in {data.counted:,}" if data.classes else ""
        lines.append(Line(kind="words", role="dim", text=f"{words}{where}."))
    if more:
        lines.append(Line(kind="words", role="dim", text=more))
    return tuple(lines)


def _of_classes(data: DataSummary) -> tuple[Line, ...]:
    """The largest classes; which part of the rows to learn from they are."""
    if not data.classes:
        return ()
    ordered = data.classes
    if len(ordered) > MOST_CLASSES_SHOWN:
        ordered = tuple(sorted(ordered, key=lambda one: -one[1]))
    total = max(1, sum(count for _, count, _ in ordered))
    shown = ordered[:MOST_CLASSES_SHOWN]
    counts = [_both(learn, apart if data.apart else 0) for _, learn, apart in shown]
    shares = [f"{100 * learn / total:.0f}{GAP}%".rjust(6, GAP) for _, learn, _ in shown]
    lines = [Line(kind="heading", text="Classes: to learn + validate" if data.apart else "Classes")]
    lines += [
        Line(name or "(no name)", f"{count}{share}")
        for (name, _, _), count, share in zip(shown, counts, shares, strict=True)
    ]
    if len(ordered) > len(shown):
        rare, learn, _ = ordered[-1]
        lines.append(Line(kind="words", role="dim", text=f"and {len(ordered) - len(shown):,} more, “{rare}” {learn:,}"))
    return tuple(lines)


def _of_columns(data: DataSummary) -> tuple[Line, ...]:
    if not data.columns:
        return ()
    lines = [Line(kind="heading", text="Columns: mean ± deviation")]
    for k, one in enumerate(data.columns):
        lines.append(Line(one.name or f"[:,{GAP}{k}]", f"{number(one.mean)} ± {number(one.deviation, 3)}"))
    return tuple(lines)


def _first_rows(data: DataSummary) -> tuple[Line, ...]:
    """The first rows in columns that are equally wide, as many as have room; behind an arrow what is to be told."""
    if data.first is None or not len(data.first.inputs):
        return ()
    inputs, target = _table(data.first.inputs), _targets(data.first, data.picture_classes)
    heading = Line(kind="heading", text="First rows")
    if not data.sizes and target and not any(inputs):
        return (heading, Line(kind="formula", text=", ".join(target)))
    room = LINE_LETTERS - (3 + max(map(len, target)) if target else 0)
    shown: list[list[str]] = []
    for column in zip(*inputs, strict=True):
        width = max(map(len, column))
        if room < width and shown:
            shown.append(["…"] * len(inputs))
            break
        shown.append([text.rjust(width, GAP) for text in column])
        room -= width + 2
    rows = [(GAP * 2).join(row) for row in zip(*shown, strict=True)]
    if target:
        rows = [f"{row}{GAP}→{GAP}{word}" for row, word in zip(rows, target, strict=True)]
    return (heading, *(Line(kind="formula", text=row) for row in rows))


def _table(inputs: Numbers) -> list[list[str]]:
    """Texts of as many numbers of each row as could ever have room."""
    flat = inputs.reshape(len(inputs), -1)[:, :LINE_LETTERS]
    return [[number(value) for value in row] for row in flat.tolist()]


def _targets(rows: Rows, classes: tuple[str, ...]) -> list[str]:
    if rows.target is None:
        return []
    values = rows.target.reshape(len(rows.target), -1)
    if classes:
        return [_short(classes[k]) if k < len(classes) else str(k) for k in values[:, 0].tolist()]
    return [number(row[0]) if len(row) == 1 else "…" for row in values.tolist()]


def _short(name: str) -> str:
    return name if len(name) <= LINE_LETTERS // 2 else f"{name[: LINE_LETTERS // 2 - 1]}…"


def _both(learn: int, apart: int) -> str:
    return f"{learn:,} + {apart:,}" if apart else f"{learn:,}"
