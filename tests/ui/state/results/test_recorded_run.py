"""A document with a record beside it opens with its results; nothing runs for them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import torch
import torch.nn.functional as F
from pytestqt.qtbot import QtBot
from torch import nn

import gradstudio
from gradstudio.document.file import tensor_folder
from gradstudio.engine.record.graph_document import write_graph_document
from gradstudio.engine.sketch.sketching import sketch_tensors
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.run.run_state import OF_AUTOGRAD
from gradstudio.ui.state.session import Session


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    path = tmp_path_factory.mktemp("recorded") / "step.gsg"
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, target = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
    before = net[0].weight.detach().clone()
    with gradstudio.record(path):
        out = net(x)
        loss = F.cross_entropy(out, target)
        loss.backward()
        optimizer.step()
    return path, {"x": x, "out": out, "loss": loss, "before": before, "grad": net[0].weight.grad}


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    client = EngineClient(spare=False)  # it is never started: nothing may be asked of it
    made = Session(client)
    yield made
    made.close()
    client.close()


def node(session: Session, name: str) -> ItemId:
    return next(one.id for one in session.graph_store.graph.nodes.values() if name in one.names)


def shown(session: Session, name: str) -> object:
    outputs = session.results.outputs(node(session, name))
    return outputs[0].summary if outputs and isinstance(outputs[0], TensorRecord) else None


def test_it_opens_with_the_values_and_gradients_of_the_script(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    path, script = step
    session.open(path)
    for name in ("x", "out", "loss"):
        assert shown(session, name) == summarise(script[name]), name
    layer = node(session, "x0")
    gradient = session.results.grad(layer, 0, "weight")
    assert gradient is not None
    assert gradient.grad == summarise(script["grad"])
    assert session.record is not None
    assert "Recorded from test_recorded_run.py: nothing was executed" in session.record.words
    assert (session.run.state.live, session.run.state.is_record) == (False, True)
    source = session.record.source(node(session, "loss"))
    assert source is not None
    assert source.text == "loss = F.cross_entropy(out, target)"


def test_it_is_stepped_both_ways(session: Session, step: tuple[Path, dict[str, torch.Tensor]]) -> None:
    session.open(step[0])
    assert len(session.results.timeline.backwards) == 1
    session.run.stepper.step()  # at the end: its first step again
    there: list[int] = []
    while session.results.moment is not None:
        there.append(session.results.moment)
        session.run.stepper.step()
    back: list[int] = []
    while session.run.can("step_back"):
        session.run.stepper.step_back()
        assert session.results.moment is not None
        back.append(session.results.moment)
    assert there == back[::-1]
    assert len(there) > 10
    assert any(session.results.timeline.ticks[tick].backward for tick in there)
    assert not session.run.state.busy


def test_what_autograd_holds_is_looked_at_and_stepped_both_ways_and_run_says_that_it_is_no_program(
    session: Session, tmp_path: Path
) -> None:
    x, w = torch.randn(4), torch.randn(4, requires_grad=True)
    hidden = w * x
    loss = hidden.exp().sum()
    loss.backward(retain_graph=True)
    path = tmp_path / "shown.gsg"
    write_graph_document(sketch_tensors(loss, {"w": w, "x": x, "hidden": hidden}), path, "what autograd holds")
    session.open(path)
    assert not session.results.tables.incomplete
    refused: list[str] = []
    session.run.status.refused.connect(refused.append)
    assert session.run.can("run")
    for press in (session.run.run, session.run.restart, session.run.forward, session.run.backward):
        press()
    assert refused == [OF_AUTOGRAD] * 4
    assert len(session.graph_store.graph.nodes) == 5
    assert (shown(session, "w"), shown(session, "x")) == (summarise(w), summarise(x))
    assert shown(session, "hidden") == summarise(hidden)
    assert shown(session, "exp") == summarise(hidden.exp())
    gradient = session.results.grad(node(session, "w"), 0)
    assert gradient is not None
    assert gradient.grad == summarise(w.grad)
    session.run.stepper.step()
    there = 0
    while session.results.moment is not None:
        session.run.stepper.step()
        there += 1
    assert there == 4  # the last is now
    session.run.stepper.step_back()
    assert session.results.moment == there - 1
    assert session.graph_store.attempt(recipes.rename, "Rename", node(session, "hidden"), ("inner",))
    assert session.run.program
    assert not session.results.tables.is_stale


def test_an_edit_makes_it_old_and_undo_makes_it_current(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    session.open(step[0])
    assert session.graph_store.attempt(recipes.set_literal, "Set", node(session, "x0"), "out_features", "4")
    assert session.run.program
    assert session.results.tables.is_stale
    session.graph_store.undo()
    assert session.run.program
    assert not session.results.tables.is_stale


def test_it_goes_with_the_document_under_another_name_and_stays_when_cards_were_moved(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    session.open(step[0])
    session.save(tmp_path / "copy.gsg")
    assert (tmp_path / "copy.record").read_bytes() == step[0].with_suffix(".record").read_bytes()
    session.new()
    assert session.record is None
    session.open(tmp_path / "copy.gsg")
    assert shown(session, "loss") == summarise(step[1]["loss"])


@pytest.mark.parametrize("damage", ["cut", "other", "noise", "head", "twice"])
def test_a_record_that_is_none_or_of_another_program_is_not_shown_and_the_words_say_why(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path, damage: str
) -> None:
    path, record = tmp_path / "step.gsg", tmp_path / "step.record"
    path.write_bytes(step[0].read_bytes())
    shutil.copytree(tensor_folder(step[0]), tensor_folder(path))
    data = step[0].with_suffix(".record").read_bytes()
    mark = data.index(b"program") + len(b"program") + 2  # the digest's first letter
    begin, head = data.index(b"\n") + 1, int.from_bytes(data[20:24], "big") + 4
    damaged = {
        "cut": data[:-9],
        "other": data[:mark] + bytes([data[mark] ^ 1]) + data[mark + 1 :],
        "noise": data[:begin] + b"\xff" * 200,
        "head": data[:begin] + data[begin + head :],
        "twice": data + data[begin : begin + head],
    }[damage]
    record.write_bytes(damaged)
    session.open(path)
    assert session.record is not None
    assert session.record.words.startswith("The record step.record ")
    assert shown(session, "loss") is None


def test_a_record_of_an_edited_document_is_not_shown(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    path = tmp_path / "step.gsg"
    path.write_text(step[0].read_text().replace('"0.1"', '"0.2"'))
    path.with_suffix(".record").write_bytes(step[0].with_suffix(".record").read_bytes())
    shutil.copytree(tensor_folder(step[0]), tensor_folder(path))
    session.open(path)
    assert session.record is not None
    assert session.record.words == "The record step.record is of another program, so it is not shown."
    assert shown(session, "loss") is None


def test_a_record_whose_bytes_were_changed_is_shown_or_refused_in_words(
    session: Session, step: tuple[Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    path, record = tmp_path / "step.gsg", tmp_path / "step.record"
    path.write_bytes(step[0].read_bytes())
    shutil.copytree(tensor_folder(step[0]), tensor_folder(path))
    data = step[0].with_suffix(".record").read_bytes()
    chance, begin = Random(7), data.index(b"\n") + 5
    for _ in range(40):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 5))):
            changed[chance.randrange(begin, len(changed))] = chance.randrange(256)
        record.write_bytes(bytes(changed))
        session.open(path)
        assert session.record is not None
        assert session.record.words.startswith(("Recorded from", "The record step.record"))
        session.run.stepper.to_start()
        for one in session.graph_store.graph.nodes:
            session.results.outputs(one)
            session.results.gradients_of(one)
