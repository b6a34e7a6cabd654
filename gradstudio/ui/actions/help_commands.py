"""The Help menu: documentation, and about."""

from collections.abc import Callable

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QWidget

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.state.session import Session

Documented = Callable[[], str]
PACKAGES = ("gradstudio", "PySide6-Essentials", "numpy", "pyqtgraph", "networkx", "msgspec", "safetensors")


class HelpCommands:
    """Opens the help dialogs."""

    def __init__(self, session: Session, window: QWidget, documented: Documented) -> None:
        """`documented` tells which operator a person looks at."""
        self._session, self._window = session, window
        self._documented = documented

    def documentation(self) -> None:
        """Show torch's own page of the operator that a person looks at."""
        self._session.pages.request(self._documented())

    def about(self) -> None:
        """Show versions, to copy into a report."""
        from gradstudio.ui.dialogs.about_dialog import AboutDialog

        dialog = AboutDialog(versions(self._session), self._window)
        dialog.exec()
        dialog.deleteLater()


def versions(session: Session) -> str:
    """Versions of everything that matters in a report, one a line."""
    import platform

    hello = session.engine.hello
    lines = [f"{name} {_version(name)}" for name in PACKAGES]
    lines.insert(1, f"torch {hello.torch if hello is not None and hello.torch else '(engine not ready)'}")
    lines.append(f"Qt {qVersion()}, Python {platform.python_version()}, {platform.platform()}")
    lines.extend(f"device {device.name}: {device.title}" for device in session.engine.devices)
    return "\n".join(lines)


def _version(package: str) -> str:
    from importlib import metadata  # it brings the whole of email

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def help_rows(c: HelpCommands) -> tuple[Row, ...]:
    """Documentation, keys and About."""
    words = "torch's own page of the operator that is selected, on the canvas or in the Library"
    return (
        ActionRow(
            "help.documentation",
            "Documentation",
            "Help",
            2,
            c.documentation,
            ("F1",),
            "documentation",
            tooltip=words,
        ),
        ActionRow("help.about", "About GradStudio", "Help", 3, c.about, (), "info"),
    )
