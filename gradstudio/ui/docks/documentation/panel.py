"""The Documentation dock: the page of the operator that a person looked at last, in the Library or on the canvas."""

from PySide6.QtCore import QMimeData, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QTextBrowser, QToolButton, QVBoxLayout, QWidget

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from gradstudio.ui.docks.documentation.code_html import without_prompts
from gradstudio.ui.docks.documentation.docstring_html import BREAK
from gradstudio.ui.docks.documentation.operator_page import page, style_sheet
from gradstudio.ui.docks.documentation.operator_source import operator_of_card
from gradstudio.ui.docks.documentation.page_history import History
from gradstudio.ui.docks.documentation.page_links import web_address
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, icon_pixmap, mono_font, ui_font

ICON_PX = 16
COPY_PX = 13
EMPTY_WORDS = (
    "torch's own page of an operator stands here: select a node on the canvas or an operator in the Library, "
    "or press F1 on either."
)


class DocumentationPanel(QWidget):
    """The page, and buttons that go back to what was read before.

    It asks the engine for a page when it is seen, and for that of a node the pointer is on: its tooltip tells of it.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._theme = session, theme
        self._history = History()
        self._codes: tuple[str, ...] = ()
        self._shown = ""
        self._waits = True
        self._places: dict[str, int] = {}
        self.browser = Browser(theme, self)
        self.back, self.forward = self._button("arrow_left", "Back"), self._button("arrow_right", "Forward")
        self.web = self._button("web", "Open on the web")
        self.words = QLabel("", self)
        self.words.setFont(mono_font(11))
        self.words.setProperty("role", "dim")
        self._lay_out()
        self.back.clicked.connect(lambda: self._go(-1))
        self.forward.clicked.connect(lambda: self._go(1))
        self.web.clicked.connect(self._on_web_clicked)
        self.browser.anchorClicked.connect(self._on_browser_anchor_clicked)
        session.attention.selection_changed.connect(self._on_attention_selection_changed)
        session.attention.hover_changed.connect(self._on_attention_hover_changed)
        session.pages.arrived.connect(self._on_pages_arrived)
        session.engine.state_changed.connect(self._on_engine_state_changed)
        self.set_theme(theme)
        self._on_attention_selection_changed()

    @property
    def operator(self) -> Operator | None:
        """The operator whose page is shown."""
        return load().entry(self._history.current)

    def show_operator(self, key: str) -> None:
        """Show the page of an operator, now or as soon as the panel is seen."""
        if load().entry(key) is not None:
            self._places[self._history.current] = self.browser.verticalScrollBar().value()
            self._history.visit(key)
            self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        for button, name in ((self.back, "arrow_left"), (self.forward, "arrow_right"), (self.web, "web")):
            button.setIcon(icon(name, theme, "text_dim"))
        self.browser.set_theme(theme)
        self._shown = ""
        self._refresh()

    @property
    def is_seen(self) -> bool:
        """Whether a person sees it: behind another tab Qt calls it visible, too."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    def paintEvent(self, event: QPaintEvent) -> None:
        """What was looked at while the panel was not seen is shown as soon as it is."""
        super().paintEvent(event)
        if self._waits:
            QTimer.singleShot(0, self, self._refresh)

    def sizeHint(self) -> QSize:
        return QSize(320, 420)

    # ------------------------------------------------------------------ inner workings

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 0, 8, 2)
        bar.setSpacing(2)
        for widget, stretch in ((self.back, 0), (self.forward, 0), (self.words, 1), (self.web, 0)):
            bar.addWidget(widget, stretch)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.browser, 1)

    def _button(self, _name: str, words: str) -> QToolButton:
        made = QToolButton(self)
        made.setObjectName("dock_button")
        made.setIconSize(QSize(ICON_PX, ICON_PX))
        made.setToolTip(words)
        made.setAccessibleName(words)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return made

    def _go(self, steps: int) -> None:
        self._places[self._history.current] = self.browser.verticalScrollBar().value()
        key = self._history.go(steps)
        self._refresh()
        self.browser.verticalScrollBar().setValue(self._places.get(key, 0))

    def _refresh(self) -> None:
        """Write the page if it is seen and not the one that is written."""
        self._waits = not self.is_seen
        if self._waits:
            return
        operator = self.operator
        self.back.setEnabled(self._history.can_go_back)
        self.forward.setEnabled(self._history.can_go_forward)
        self.web.setEnabled(operator is not None and bool(web_address(operator)))
        self.words.setText("")
        if operator is None:
            self._shown = ""
            self.browser.setHtml(f"<p class='dim'>{EMPTY_WORDS}</p>")
        elif operator.key != self._shown:
            self._write(operator)

    def _write(self, operator: Operator) -> None:
        pages = self._session.pages
        described = pages.ask(operator.key)
        made = page(operator, described, pages.docstrings(operator.key), pages.waiting_words, self._theme)
        self._codes, self._shown = made.codes, operator.key
        self.browser.setHtml(made.html)

    def _on_attention_selection_changed(self) -> None:
        """One node that is selected is what a person looks at."""
        graph, attention = self._session.shown_store.graph, self._session.attention
        if len(attention.selection) == 1:
            self.show_operator(operator_of_card(graph, attention.current))

    def _on_attention_hover_changed(self) -> None:
        key = operator_of_card(self._session.shown_store.graph, self._session.attention.hovered)
        if load().entry(key) is not None:
            self._session.pages.ask(key)

    def _on_pages_arrived(self, key: object) -> None:
        if key == self._shown:
            self._rewrite()

    def _on_engine_state_changed(self, _state: object) -> None:
        """Why a page is not here yet may be told otherwise now."""
        if self._shown and self._session.pages.ask(self._shown) is None:
            self._rewrite()

    def _rewrite(self) -> None:
        """Write the page again where it is read now."""
        place, self._shown = self.browser.verticalScrollBar().value(), ""
        self._refresh()
        self.browser.verticalScrollBar().setValue(place)

    def _on_web_clicked(self) -> None:
        if self.operator is not None:
            QDesktopServices.openUrl(QUrl(web_address(self.operator)))

    def _on_browser_anchor_clicked(self, url: QUrl) -> None:
        told = url.toString()
        scheme, _, rest = told.partition(":")
        if scheme == "operator":
            self.show_operator(rest)
        elif scheme == "copy":
            QApplication.clipboard().setText(without_prompts(self._codes[int(rest)]))
        elif scheme in ("http", "https"):
            QDesktopServices.openUrl(url)


class Browser(QTextBrowser):
    """Shows a page in the theme's fonts and colours."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("documentation")
        self.setAccessibleName("Documentation")
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDefaultFont(ui_font())
        self.document().setDocumentMargin(theme.GAP_LARGE)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme; what is shown is written anew by the panel."""
        self._theme = theme
        self.document().setDefaultStyleSheet(style_sheet(theme))

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is selected, as words alone, without the places where lines may be broken."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(BREAK, "").replace("\ufffc", ""))
        return data

    def loadResource(self, kind: int, url: QUrl | str) -> object:
        """Pictures of our own, by name."""
        url = QUrl(url)
        if url.scheme() == "icon":
            return icon_pixmap(url.path(), self._theme.color("text_dim"), COPY_PX, self.devicePixelRatioF())
        return super().loadResource(kind, url)
