"""Stored data say before any run what they hold and what hurts, in the inspector of each of their cards."""

import numpy as np
from PySide6.QtWidgets import QLabel

from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.digits import digits
from gradstudio.document.data.hazards import hazards
from gradstudio.document.data.model import Prepared, Rows
from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme.model import mono_font


def show(session: Session, inspector: InspectorPanel, name: str) -> None:
    graph = session.graph_store.graph
    session.attention.select([next(ItemId(node.id) for node in graph.nodes.values() if node.names == (name,))])
    inspector.refresh()


def flowers() -> Prepared:
    rng = np.random.default_rng(0)
    inputs = (rng.random((60, 2)) * (1, 5000)).astype(np.float32)
    labels = (np.arange(60) < 3).astype(np.int64)
    train, apart = Rows(inputs[:50], labels[:50]), Rows(inputs[50:], labels[50:])
    return Prepared("flowers.csv", train, apart, ("length", "width"), ("far", "near"), (), ("60 rows",), False)


def test_a_table_shows_counts_figures_rows_and_warnings(inspector: InspectorPanel, session: Session) -> None:
    data = flowers()
    session.graph_store.load(data_graph(data))
    show(session, inspector, "X")
    section = inspector.details.data
    assert section.isVisible() and not section.pictures.isVisible()
    assert section.about.words() == ["rows to learn  50", "rows to validate  10", "columns  2", "classes  2"]
    assert [label.text() for label in section.warnings.findChildren(QLabel) if label.text()] == list(hazards(data))
    assert (
        "Ranges differ by" in section.warnings.words[0] and "“far” has 47 rows, “near” 3" in section.warnings.words[1]
    )
    assert [" ".join(line.split()) for line in section.classes.words()[1:]] == [
        "far 47 + 10 94 %",
        "near 3 6 %",
    ]
    mean, deviation = data.train.inputs[:, 1].mean(dtype=float), data.train.inputs[:, 1].std(dtype=float, ddof=1)
    (width,) = (line for line in section.columns.words() if line.startswith("width"))
    assert width == f"width  {mean:.0f} ± {deviation:.0f}"
    first = section.rows.words()[1:]
    assert len(first) == 5 and all(line.endswith("→\u00a0near") for line in first[:3])
    assert len({len(line.partition("→")[0]) for line in first}) == 1
    rows = [label for label in section.rows.findChildren(QLabel) if "→" in label.text()]
    assert len(rows) == 5 and all(label.font().families() == mono_font().families() for label in rows)


def test_digits_show_a_picture_of_each(inspector: InspectorPanel, session: Session) -> None:
    session.graph_store.load(data_graph(digits()))
    show(session, inspector, "y_val")
    section = inspector.details.data
    pictures = section.pictures
    assert pictures.isVisible() and [pictures.item(k).text() for k in range(pictures.count())] == list("0123456789")
    assert "each  1 × 8 × 8" in section.about.words()
    shown = section.about.lines
    show(session, inspector, "X")
    assert section.about.lines is shown, "the same data are looked at once"


def test_other_cards_have_no_such_section(inspector: InspectorPanel, session: Session) -> None:
    session.graph_store.load(read_script("import torch\n\nw = torch.zeros(3, 2)\n").graph)
    show(session, inspector, "w")
    assert "data" not in vars(inspector.details), "nothing is made where nothing is stored, or called as data are"
    session.graph_store.load(data_graph(flowers()))
    show(session, inspector, "X")
    assert inspector.details.data.isVisible()
    session.graph_store.load(read_script("import torch\n\nX = torch.zeros(3, 2)\n").graph)
    show(session, inspector, "X")
    assert not inspector.details.data.isVisible()


def test_a_long_name_of_a_class_takes_no_more_room_than_its_picture(
    inspector: InspectorPanel, session: Session
) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (40, 3, 8, 8)).astype(np.uint8)
    train = Rows(pixels, np.arange(40, dtype=np.int64) % 2)
    names = ("cats that sleep on a warm stove", "dog")
    session.graph_store.load(data_graph(Prepared("pets", train, None, (), names, (), ("40 pictures",), False)))
    show(session, inspector, "X")
    pictures = inspector.details.data.pictures
    rects = [pictures.visualItemRect(pictures.item(k)) for k in range(pictures.count())]
    assert pictures.item(0).toolTip() == names[0]
    assert max(rect.width() for rect in rects) < 2 * pictures.iconSize().width()
    assert max(rect.bottom() for rect in rects) <= pictures.viewport().height()
