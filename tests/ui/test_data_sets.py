"""Data sets that come with the program: found, added as groups, and what they give is what their text gives."""

import ast
import gzip
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gradstudio.cli import main
from gradstudio.document.file import save
from gradstudio.graph import recipes
from gradstudio.graph.edits import SetHeader
from gradstudio.graph.model import Header
from gradstudio.graph.text.code_records import CODE
from gradstudio.paths import resources
from gradstudio.program.compile import compile_graph
from gradstudio.scene.value_format import number
from gradstudio.ui.canvas.popups.filter_list import Entry, FilterList
from gradstudio.ui.docks.inspector.values.data_section import ONE_DRAW
from gradstudio.ui.state.library import user_groups
from gradstudio.ui.theme import Theme
from tests.ui.desk import Desk

TEXT = (resources() / "groups" / "data_sets.py").read_text("utf-8")
MADE = [row for row in user_groups.DATA_SET_ROWS if row.key != user_groups.DIGITS]
NAMES = [row.title for row in MADE]


class Hides(QObject):
    """Notes whenever a widget goes."""

    def __init__(self, noted: list[None]) -> None:
        super().__init__()
        self.noted = noted

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self.noted.append(None)
        return False


def in_python(name: str, seed: int = 0, **given: object) -> tuple[torch.Tensor, ...]:
    names: dict[str, Any] = {}
    exec(TEXT, names)
    torch.manual_seed(seed)
    made: tuple[torch.Tensor, ...] = names[name](**given)
    return made


def test_the_rows_say_what_the_text_says() -> None:
    functions = {one.name: one for one in ast.parse(TEXT).body if isinstance(one, ast.FunctionDef)}
    assert list(functions) == NAMES
    for row in MADE:
        assert ast.get_docstring(functions[row.title]) == row.summary
        returned = functions[row.title].body[-1]
        assert isinstance(returned, ast.Return) and isinstance(returned.value, ast.Tuple)
        assert [ast.unparse(one) for one in returned.value.elts] == [one.name for one in row.results]


def test_all_of_them_are_drawn() -> None:
    definitions = user_groups.shipped_document().definitions
    assert list(definitions) == NAMES
    assert not [node for one in definitions.values() for node in one.graph.nodes.values() if node.operator == CODE]


@pytest.mark.parametrize("name", NAMES)
def test_what_they_give_is_balanced_and_of_the_sizes_they_say(name: str) -> None:
    points, labels = in_python(name, count=300)
    assert points.shape == ((300, 1) if name == "sine" else (300, 2)) and points.dtype == torch.float32
    if name == "sine":
        assert labels.shape == (300, 1)
        return
    assert labels.dtype == torch.int64 and labels.shape == (300,)
    assert labels.bincount().min() > 90


def test_one_is_found_by_what_it_is_added_and_run(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    model = desk.window.library.model
    model.search("dataset")
    found = [model.operator(model.index(row, 0)) for row in range(model.rowCount())]
    assert [row.title for row in found if row is not None][: len(NAMES)] == NAMES
    model.search("")
    desk.window.canvas.operator_commands.add_operator("shipped:spirals")
    graph = desk.session.graph_store.graph
    (node,) = graph.nodes.values()
    assert node.operator == "group:spirals" and len(node.names) == 2
    names: dict[str, Any] = {}
    torch.manual_seed(5)
    exec(compile_graph(graph).code, names)
    for name, expected in zip(node.names, in_python("spirals", 5), strict=True):
        assert torch.equal(names[name], expected)
    desk.session.graph_store.undo_stack.undo()
    assert not graph.nodes and not desk.session.graph_store.graph.definitions


def test_a_card_says_what_it_makes_before_any_run(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(TEXT + "\ntorch.manual_seed(3)\nw = torch.rand(5)\npoints, labels = two_moons(count=41)\n")
    desk.until(lambda: desk.session.results.tables.inference)
    details = desk.window.inspector.details
    desk.session.attention.select([desk.node("w")])
    assert "data" not in vars(desk.window.inspector.details), "only a card that may make data asks"
    desk.session.attention.select([desk.node("points")])
    desk.until(lambda: desk.window.inspector.details.data.isVisible())
    section = details.data
    torch.manual_seed(3)
    torch.rand(5)
    names: dict[str, Any] = {}
    exec(TEXT, names)
    points, labels = names["two_moons"](count=41)
    assert section.about.words() == ["rows  41", "columns  2", "classes  2"]
    assert [" ".join(line.split()) for line in section.classes.words()] == [
        "Classes",
        *(f"{k} {count} {100 * count / 41:.0f} %" for k, count in enumerate(labels.bincount().tolist())),
    ]
    means, deviations = points.double().mean(0).tolist(), points.double().std(0).tolist()
    assert section.columns.words()[1:] == [
        f"[:,\u00a0{k}]  {number(mean)} ± {number(deviation, 3)}"
        for k, (mean, deviation) in enumerate(zip(means, deviations, strict=True))
    ]
    assert [line.split() for line in section.rows.words()[1:]] == [
        [number(x), number(y), "→", str(label)]
        for (x, y), label in zip(points[:5].tolist(), labels[:5].tolist(), strict=True)
    ]
    assert section.warnings.words == () and not desk.session.run.state.live
    store = desk.session.graph_store
    store.attempt(recipes.set_literal, "Set count", desk.node("points"), "count", "3")
    hides: list[None] = []
    section.installEventFilter(hidden := Hides(hides))
    desk.until(lambda: section.about.words()[0] == "rows  3")
    assert not hides, "what was there stands until the engine has told"
    section.removeEventFilter(hidden)
    assert list(section.warnings.words) == ["There are 3 rows to learn from: all will be known by heart."]
    store.submit((SetHeader(Header(seed=None)),), "No seed")
    desk.until(lambda: section.about.words()[-1] == ONE_DRAW)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end)
    x = desk.value("points")
    assert isinstance(x, list)
    desk.until(lambda: section.rows.words()[1].split()[:2] == [number(one) for one in x[0]])


def test_x_and_y_of_a_program_say_what_hurts(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(
        "import torch\n\ntorch.manual_seed(0)\nX = torch.rand(60, 2) * torch.tensor([1.0, 1000.0])\n"
        "y = (X[:, 0] > 0.95).long()\nX_train = X[:50]\ny_train = y[:50]\nX_test = X[40:]\ny_test = y[40:]\n"
    )
    desk.until(lambda: desk.session.results.tables.inference)
    desk.session.attention.select([desk.node("y_test")])
    desk.until(lambda: desk.window.inspector.details.data.isVisible())
    section = desk.window.inspector.details.data
    torch.manual_seed(0)
    X = torch.rand(60, 2) * torch.tensor([1.0, 1000.0])
    y = (X[:, 0] > 0.95).long()
    assert section.about.words() == ["rows to learn  50", "rows to validate  20", "columns  2", "classes  2"]
    assert [line.split()[1:4] for line in section.classes.words()[1:]] == [
        [str(learn), "+", str(later)]
        for learn, later in zip(y[:50].bincount().tolist(), y[40:].bincount().tolist(), strict=True)
    ]
    leak, ranges, unbalanced = section.warnings.words
    assert leak.startswith("10 rows to validate stand among the rows to learn from")
    assert ranges.startswith("Ranges differ") and unbalanced.startswith("Classes are unbalanced")
    desk.session.attention.select([desk.node("X")])
    desk.until(lambda: section.about.words()[0] == "rows  60")


def test_a_training_is_added_at_once_and_learns(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(
        TEXT.split("def circles")[0]
        + "import torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
        + "points, labels = two_moons()\nnet = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))\n"
        + "logits = net(points)\nloss = F.cross_entropy(logits, labels)\n"
    )
    desk.rest()
    desk.window.actions["graph.training"].trigger()
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    graph = desk.session.graph_store.graph
    names = {name: node.id for node in graph.nodes.values() for name in node.names}
    row = desk.session.results.timeline.row(names["accuracy"])
    assert row is not None and row.turns == (19,)
    accuracy = desk.value("accuracy")
    assert isinstance(accuracy, float) and accuracy > 0.8
    curves = desk.session.results.tables.curves
    (of_batches,) = [
        name for name in curves.names if name[1].node == names["loss"] and len(curves.points(name)[0]) == 100
    ]
    assert curves.points(of_batches)[1][0] > curves.points(of_batches)[1][-1]
    desk.window.actions["edit.undo"].trigger()
    assert "accuracy" not in {name for node in desk.session.graph_store.graph.nodes.values() for name in node.names}


def test_digits_are_found_by_what_people_call_them(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    model = desk.window.library.model
    for words in ("digits", "mnist", "handwritten digits"):
        model.search(words)
        first = model.operator(model.index(0, 0))
        assert first is not None and first.key == user_groups.DIGITS and "8×8" in first.summary
    model.search("")


def test_digits_are_stored_tensors_of_the_published_numbers(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open("X = 1\n")
    desk.window.canvas.operator_commands.add_operator(user_groups.DIGITS)
    store = desk.session.graph_store
    assert store.undo_stack.count() == 1 and store.undo_stack.undoText() == "Import digits"
    names = [name for node in desk.graph.nodes.values() for name in node.names]
    assert names == ["X", "X_2", "X_2_val", "y_2", "y_2_val"] and desk.graph.nodes[desk.current].names == ("X_2",)
    save(desk.graph, tmp_path / "digits.gsg")
    assert main(["export", str(tmp_path / "digits.gsg"), "-o", str(tmp_path / "learn.py")]) == 0
    assert "CC BY 4.0" in (tmp_path / "learn.py").read_text()
    found = runpy.run_path(str(tmp_path / "learn.py"))
    text = gzip.decompress((resources() / "data" / "digits.csv.gz").read_bytes()).decode()
    rows = [[int(float(cell)) for cell in line.split(",")] for line in text.splitlines()]
    assert found["X_2"].shape == (1438, 64) and found["X_2_val"].shape == (359, 64)
    inputs, digits = (torch.cat([found[f"{root}_2"], found[f"{root}_2_val"]]) for root in "Xy")
    together = torch.cat([inputs * 16, digits[:, None]], dim=1).long().tolist()
    assert sorted(together) == sorted(rows) and digits.dtype == torch.int64
    store.undo_stack.undo()
    assert len(desk.graph.nodes) == 1 and not desk.graph.tensors


def test_what_takes_stored_data_is_a_layer(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    canvas = desk.window.canvas
    canvas.operator_commands.add_operator(user_groups.DIGITS)
    canvas.searching.open_behind()
    popup = canvas.searching.popup
    assert popup is not None
    popup.field.setText("linear")
    assert popup.current is not None and popup.current.operator.key == "torch.nn.Linear"
    popup.close_now()


def test_an_entry_that_is_called_as_typed_is_first(qtbot: QtBot, dark: Theme) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    chooser = FilterList(room, "Wire", [Entry(name, str, True, name) for name in ("y3", "y_val", "y")], dark)
    assert [entry.words for entry in chooser.matches("y")] == ["y", "y3", "y_val"]
    assert [entry.words for entry in chooser.matches("")] == ["y3", "y_val", "y"]
