"""A whole window with the real engine, as the program builds it, for benchmarks of what a person does in it."""

import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from gradstudio.ui import theme as themes
from gradstudio.ui.app import library_imports
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings

SIZE = (1400, 900)


@contextmanager
def running_engine() -> Iterator[EngineClient]:
    """The engine's process, which may still be starting."""
    engine = EngineClient(spare=False)
    try:
        engine.start()
        yield engine
    finally:
        engine.close()


@contextmanager
def whole_window(app: QApplication, engine: EngineClient) -> Iterator[MainWindow]:
    """A window around one empty document, shown."""
    library_imports.load()  # as the application does: PySide6 makes each import within a function ten times as dear
    gc.enable()
    theme = themes.theme("dark")
    themes.apply(app, theme)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder))
        frame = Frame(settings, theme)
        frame.resize(*SIZE)
        frame.show()
        yield MainWindow(frame, Session(engine), settings, theme)
        frame.may_close = lambda: True
        frame.close()
        app.processEvents()
