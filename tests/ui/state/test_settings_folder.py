"""Where the settings are: the command line knows it without Qt."""

import pytest
from PySide6.QtWidgets import QApplication

from gradstudio.protocol.hosts.host_book import settings_folder
from gradstudio.ui.state.settings import Settings


@pytest.fixture
def _named(qapp: QApplication):
    before = qapp.applicationName()
    qapp.setApplicationName("gradstudio")  # as `ui.app.application` does
    yield
    qapp.setApplicationName(before)


@pytest.mark.usefixtures("_named")
def test_the_command_line_looks_for_hosts_where_the_window_keeps_its_settings() -> None:
    assert Settings().folder == settings_folder()
