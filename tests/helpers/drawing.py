"""A graph and the scene that follows it, without a window: texts are measured by their letters."""

import itertools
from collections.abc import Mapping

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import GradState, Record, Summary, TensorRecord
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene

LETTER = 7.0
"""Scene pixels of every letter in every font."""


class EvenMeasure:
    """Every letter is as wide as any other."""

    def width(self, text: str, role: str) -> float:
        return LETTER * len(text)

    def elided(self, text: str, role: str, width: float) -> str:
        if self.width(text, role) <= width:
            return text
        return text[: max(0, int(width / LETTER) - 1)] + "…"


class GivenResults(NoResults):
    """Results put in by hand; each node ran once, now."""

    def __init__(self) -> None:
        self.records: dict[ItemId, tuple[Record, ...]] = {}
        self.expected: dict[ItemId, PortInference] = {}
        self.sent: dict[Wire, WireGrad] = {}
        self.grads: dict[ItemId, GradRow] = {}
        self.asked_rows: list[ItemId] = []

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        return self.grads.get(node) if output == 0 and not path else None

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        return self.records.get(node)

    def row(self, node: ItemId) -> Row | None:
        self.asked_rows.append(node)
        return Row(step=0, node=node, outputs=self.records[node]) if node in self.records else None

    def wire_grad(self, wire: Wire) -> WireGrad | None:
        return self.sent.get(wire)

    def wire_record(self, wire: Wire) -> Record | None:
        records = self.records.get(wire.source, ())
        return records[wire.output] if wire.output < len(records) else None

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        return self.expected.get(node) if output == 0 else None


class Drawing:
    """What a person builds, and the scene that is told of each edit."""

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph, self.results = graph if graph is not None else Graph(), GivenResults()
        self.scene = Scene(self.graph, self.results, Shown(), EvenMeasure())

    def do(self, edits: Edits) -> None:
        apply_all(self.graph, edits)
        self.scene.apply(edits)

    def add(self, key: str, x: float = 0.0, y: float = 0.0) -> ItemId:
        edits, item = recipes.add_operator(self.graph, key, x, y)
        self.do(edits)
        return item

    def connect(self, source: ItemId, target: ItemId, port: str) -> Wire:
        self.do(recipes.connect(self.graph, source, 0, target, port))
        wire = self.graph.wire_into(target, port)
        assert wire is not None
        return wire

    def chain(self, *keys: str) -> list[ItemId]:
        """Nodes beside each other, each the input of the next."""
        items = [self.add(key, 300.0 * k, 0.0) for k, key in enumerate(keys)]
        for source, target in itertools.pairwise(items):
            self.connect(source, target, "input")
        return items

    def move(self, places: Mapping[str, tuple[float, float]]) -> None:
        self.do(recipes.move(self.graph, places))

    def send_back(self, wire: Wire, value: float) -> None:
        """A backward sent a number along a wire."""
        grad = Summary(dtype="float32", shape=(), minimum=value, maximum=value, value=value)
        source, target = wire.source, wire.target
        self.results.sent[wire] = WireGrad(source=source, target=target, port=wire.port, place=0, grad=grad)
        self.scene.results_changed((source, target))

    def tell_gradient(self, item: ItemId, state: GradState, value: float) -> None:
        """What stands on a card of its gradient."""
        grad = Summary(dtype="float32", shape=(), minimum=value, maximum=value, value=value)
        self.results.grads[item] = GradRow(node=item, state=state, grad=grad)
        self.scene.results_changed((item,))

    def box(self, item: ItemId) -> Box:
        box = self.scene.placement.box(item)
        assert box is not None
        return box

    def room(self, item: ItemId) -> Box:
        room = self.scene.placement.room(item)
        assert room is not None
        return room

    def output(self, item: ItemId) -> tuple[float, float]:
        return self.scene.placement.anchor(PortRef(item, "output"))

    def input(self, item: ItemId, path: str = "input") -> tuple[float, float]:
        return self.scene.placement.anchor(PortRef(item, "input", path))


def scalar(value: float = 3.0) -> TensorRecord:
    """What a run says of a number."""
    return TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(), value=value))


def matrix() -> TensorRecord:
    """What a run says of a matrix: it needs more room than a result is expected to."""
    value = [[float(4 * i + j) for j in range(4)] for i in range(4)]
    summary = Summary(dtype="float32", shape=(4, 4), minimum=0.0, maximum=15.0, value=value)
    return TensorRecord(device="cpu", summary=summary, requires_grad=True, grad_fn="ReluBackward0")


def leaf_ports(scene: Scene) -> set[str]:
    """The paths of all leaves that have a port."""
    extent = scene.placement.extent()
    assert extent is not None
    return {port.path for port, _ in scene.ports.near(extent, 0.0) if port.side == "output" and port.path}
