"""The question before many stored tensors are sent to a host."""

from PySide6.QtWidgets import QMessageBox, QWidget


def may_send(question: str, parent: QWidget | None = None) -> bool:
    """Whether to send; Enter and Escape say no."""
    box = QMessageBox(QMessageBox.Icon.Question, "Stored tensors", question, parent=parent)
    send = box.addButton("Send", QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(no)
    box.exec()
    sends = box.clickedButton() is send
    box.deleteLater()
    return sends
