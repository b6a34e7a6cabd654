"""An engine on a host, as the window holds it, where who is there asks more than an engine does."""

import sys
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.framing import encode
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.tensor_sending import ASK_BYTES
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.hosting import Lacking
from gradstudio.protocol.messages.requests import Load
from gradstudio.ui.state.engines.far_child import FarChild
from tests.helpers.patience import PATIENCE_MS

DIGEST = "0" * 64


def test_a_host_that_asks_again_while_a_question_stands_asks_nobody_twice(qtbot: QtBot, tmp_path: Path) -> None:
    script = tmp_path / "far.py"
    said = b"\x1fgradstudio engine\x1e" + encode(Lacking(digests=(DIGEST,))) * 3 + encode(Log(level="info", text="x"))
    lines = ["import sys", "sys.stdin.buffer.read(4)", f"sys.stdout.buffer.write({said!r})", "sys.stdout.flush()"]
    script.write_text("\n".join([*lines, "sys.stdin.buffer.read()"]))
    heard: list[object] = []
    asked: list[str] = []

    def may_send(question: str) -> bool:
        asked.append(question)
        qtbot.waitUntil(lambda: bool(heard), timeout=PATIENCE_MS)
        QApplication.processEvents()
        return False

    parent = QObject()
    child = FarChild(Host("liar", command=f"{sys.executable} {script}"), (), parent, may_send)
    child.message.connect(heard.append)
    ends: list[str] = []
    child.ended.connect(ends.append)
    child.send(Load(document="d", revision=1, program=compile_graph(Graph()), tensors={DIGEST: bytes(ASK_BYTES + 1)}))
    qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)
    assert len(asked) == 1
    assert "were not sent" in ends[0]
