"""Asks whether a program that needs more memory than there is shall run all the same."""

from PySide6.QtWidgets import QMessageBox, QWidget

from gradstudio.advice.diagnosis.memory_shortage import in_words
from gradstudio.protocol.messages.inference import Need

Role = QMessageBox.ButtonRole


def may_run(need: Need, name: str, parent: QWidget | None = None) -> bool:
    """Ask, with the name of the node at which memory is expected to run out; without an answer it does not run."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle("More memory than there is")
    box.setText(
        f"This needs about {in_words(need.bytes)} on {need.device}; {in_words(need.free_bytes)} are free. Run anyway?"
    )
    box.setInformativeText(f"Memory is expected to run out at {name}. Its card and the problems panel say more.")
    run = box.addButton("Run anyway", Role.AcceptRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    box.exec()
    return box.clickedButton() is run
