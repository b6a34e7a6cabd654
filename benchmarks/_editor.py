"""One part of `benchmarks.editor`, in a process of its own: prints its figures as JSON."""

import gc
import itertools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from benchmarks import canvas_painting as painting
from benchmarks._graphs import dag_edits, random_dag
from benchmarks._window import wait_until
from gradstudio.document.file import dumps, load, save
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edit, Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.rules import why_not
from gradstudio.operators.catalogue.loader import load as load_catalogue
from gradstudio.scene.camera import Camera
from gradstudio.ui.state.document.graph_store import GraphStore

COUNT, LARGE, BLOCKS, EDITS = 1000, 10_000, 1000, 10_000
REPEATS = 9
EXPOSED_S = 30.0
SIZE = (1400, 900)
Figures = dict[str, float]


def cpu_ms(action: Callable[[], object]) -> float:
    """CPU time of this process for one call, ms."""
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1000


def ours() -> Figures:
    """1,000 nodes and 2,000 wires."""
    app = QApplication.instance() or QApplication([])
    load_catalogue()
    figures = {"build by API, one entry": cpu_ms(_built_at_once)}
    canvas = _shown(Graph(), app)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.gsg"
        save(random_dag(COUNT), path)
        figures["open a file and show it"] = cpu_ms(lambda: canvas.store.load(load(path)))
    canvas.navigation.set_camera(Camera(1.0, *painting.graph_middle(canvas.store.graph)))
    canvas.navigation.zooming = False
    figures["first full paint"] = cpu_ms(lambda: painting._repaint(canvas))
    painting._set_results(canvas, 0)
    for name, camera in (("fit", None), ("100 %", canvas.camera)):
        painting._look(canvas, camera)
        figures[f"full repaint, {name}"] = painting._median(partial(painting._repaint, canvas))
        figures[f"drag step, {name}"] = painting._drag(canvas)
    figures["wheel step, 100 %"] = painting._wheel(canvas)
    values = [painting._new_values(canvas, k + 1) for k in range(REPEATS)]
    return figures | {"new values on all nodes, 100 %": median(values)}


def large() -> Figures:
    """10,000 nodes and 20,000 wires: each frame of a gesture, and the sharp one behind it."""
    app = QApplication.instance() or QApplication([])
    canvas = _shown(random_dag(LARGE), app)
    canvas.navigation.fit_all()
    canvas.navigation.zooming = False
    painting._repaint(canvas)
    sharp = painting._median(partial(painting._repaint, canvas))
    place = canvas.store.graph.places[f"n{LARGE // 2}"]
    painting._look(canvas, Camera(0.5, place.x - 1400, place.y - 900))
    return {
        "10,000 nodes: pan frame": _pans(canvas),
        "10,000 nodes: zoom frame": painting._wheel(canvas),
        "10,000 nodes: drag frame": painting._drag(canvas),
        "10,000 nodes: sharp fit frame": sharp,
    }


def memory() -> Figures:
    """What a canvas of 1,000 nodes, painted once, needs over an empty one; MB."""
    app = QApplication.instance() or QApplication([])
    load_catalogue()
    canvas = _shown(Graph(), app)
    painting._repaint(canvas)
    gc.collect()
    before = _resident_mb()
    graph = random_dag(COUNT)
    canvas.store.load(graph)
    painting._look(canvas, Camera(1.0, *painting.graph_middle(graph)))
    return {"memory over the empty canvas": _resident_mb() - before}


def rules() -> Figures:
    """The slowest of some wires in a network of 1,000 residual blocks."""
    graph, ends = _residual(BLOCKS)
    pairs = [(ends[a], ends[b]) for a, b in itertools.product((1, 500, 998), (2, 501, 999))]
    pairs += [(ends[999], ends[1]), (ends[999], ends[500])]
    return {
        "legality of a wire, 1,000 residual blocks": max(
            cpu_ms(partial(why_not, graph, source, 0, target, "a")) for source, target in pairs
        )
    }


def history() -> Figures:
    """10,000 random edits: all undone, all redone, twice; each document byte by byte, and what memory does."""
    QApplication.instance() or QApplication([])
    store, generator = GraphStore(random_dag(50)), random.Random(11)
    begun, done = dumps(store.graph), 0
    while done < EDITS:
        done += _random_edit(store, generator)
    stack, ended, differ = store.undo_stack, dumps(store.graph), 0
    grown: list[float] = []
    for _ in range(3):
        stack.setIndex(0)
        differ += dumps(store.graph) != begun
        stack.setIndex(stack.count())
        differ += dumps(store.graph) != ended
        gc.collect()
        grown.append(_resident_mb())
    return {
        "10,000 edits: documents that differ after undo and redo": differ,
        "10,000 edits: memory grown by undoing and redoing all again": grown[-1] - grown[0],
    }


def peer() -> Figures:
    """The same graph in NodeGraphQt, its cycle check off."""
    from NodeGraphQt import BaseNode, NodeGraph  # type: ignore[import-not-found]  # only where it is installed

    app = QApplication.instance() or QApplication([])

    class Add(BaseNode):  # type: ignore[misc]  # of a package without types
        """Two inputs and an output."""

        __identifier__ = "bench"
        NODE_NAME = "add"

        def __init__(self) -> None:
            super().__init__()
            self.add_input("a")
            self.add_input("b")
            self.add_output("out")

    graph = NodeGraph()
    graph.set_acyclic(False)
    graph.register_node(Add)
    plan = random_dag(COUNT)

    def build() -> None:
        made = {}
        for item, place in plan.places.items():
            made[item] = graph.create_node("bench.Add", pos=[place.x, place.y], push_undo=False)
        for wire in plan.wires.values():
            made[wire.source].set_output(0, made[wire.target].input(0 if wire.port == "a" else 1))

    figures = {"build by API, one entry": cpu_ms(build)}
    widget = graph.widget
    widget.resize(*SIZE)
    widget.show()
    figures["first full paint"] = cpu_ms(lambda: _painted(app, graph.viewer().viewport()))
    view = graph.viewer().viewport()
    graph.fit_to_selection()
    figures["full repaint, fit"] = median(cpu_ms(view.repaint) for _ in range(3))
    graph.reset_zoom()
    figures["full repaint, 100 %"] = median(cpu_ms(view.repaint) for _ in range(3))
    data = graph.serialize_session()
    graph.clear_session()
    figures["open a file and show it"] = cpu_ms(lambda: graph.deserialize_session(data))
    return figures


def _painted(app: Any, view: Any) -> None:
    app.processEvents()
    view.repaint()


def _shown(graph: Graph, app: Any) -> Any:
    canvas = painting._canvas(graph)
    canvas.resize(*SIZE)
    canvas.show()
    wait_until(app, lambda: canvas.windowHandle() is not None and canvas.windowHandle().isExposed(), EXPOSED_S)
    app.processEvents()
    gc.freeze()  # as the program does when its window stands
    return canvas


def _built_at_once() -> None:
    """Nodes and wires as edits, as one undo entry."""
    GraphStore().submit(dag_edits(COUNT), "Build")


class _Drawing:
    """A graph that grows by recipes, and the edits it grew by."""

    def __init__(self) -> None:
        self.graph, self.items = Graph(), list[ItemId]()
        self.edits: list[Edit] = []

    def add(self, key: str, x: float) -> ItemId:
        edits, item = recipes.add_operator(self.graph, key, x, 0.0)
        self._take(edits)
        self.items.append(item)
        return item

    def wire(self, source: ItemId, target: ItemId, port: str) -> None:
        self._take(recipes.connect(self.graph, source, 0, target, port))

    def _take(self, edits: Edits) -> None:
        apply_all(self.graph, edits)
        self.edits += edits


def gestures() -> Figures:
    """What a person's gesture takes in a program of 1,000 nodes: names, order and the rule-book's answer anew."""
    load_catalogue()
    store, generator = GraphStore(random_dag(COUNT)), random.Random(3)
    times: dict[str, list[float]] = {"add": [], "wire": []}
    for k in range(REPEATS):
        edits, item = recipes.add_operator(store.graph, "operator.add", 260.0 * k, 0.0)
        times["add"].append(cpu_ms(partial(_add, store, 260.0 * k)))
        store.submit(edits, "Add")
        source = list(store.graph.nodes)[generator.randrange(COUNT)]
        times["wire"].append(cpu_ms(partial(store.attempt, recipes.connect, "Wire", source, 0, item, "a")))
    return {f"a gesture that {name}s": median(found) for name, found in times.items()}


def _add(store: GraphStore, x: float) -> None:
    store.submit(recipes.add_operator(store.graph, "operator.add", x, 0.0)[0], "Add")


def _pans(canvas: Any) -> float:
    def step(k: int) -> None:
        canvas.navigation.set_camera(canvas.camera.panned(9 if k % 2 else -7, 5))
        canvas.viewport().repaint()

    step(0)
    return median(cpu_ms(partial(step, k)) for k in range(2 * REPEATS))


def _residual(count: int) -> tuple[Graph, list[ItemId]]:
    """``h = h + relu(h)``, so many times: a walk of all paths would never end."""
    drawing = _Drawing()
    h = drawing.add("torch.randn", 0)
    ends = [h]
    for k in range(count):
        relu, total = drawing.add("torch.relu", 300.0 * k), drawing.add("operator.add", 300.0 * k + 150)
        for source, target, port in ((h, relu, "input"), (h, total, "a"), (relu, total, "b")):
            drawing.wire(source, target, port)
        h = total
        ends.append(h)
    return drawing.graph, ends


def _random_edit(store: GraphStore, generator: random.Random) -> bool:
    """One gesture somebody might make; whether it changed anything."""
    graph, before = store.graph, store.undo_stack.count()
    nodes = list(graph.nodes)
    some = generator.choice(nodes) if nodes else None
    try:
        match generator.randrange(8) if some is not None else 0:
            case 0 | 1:
                key = generator.choice(("torch.randn", "operator.add", "torch.relu", "operator.matmul"))
                store.submit(recipes.add_operator(graph, key, generator.random() * 900, 50.0)[0], "Add")
            case 2 | 3:
                store.submit(recipes.connect(graph, some, 0, generator.choice(nodes), "a"), "Wire")
            case 4:
                store.submit(recipes.delete(graph, [some]), "Delete")
            case 5:
                store.submit(recipes.move(graph, {some: (generator.random() * 900, 10.0)}), "Move")
            case 6:
                store.submit(recipes.rename(graph, some, (f"r{generator.randrange(10**6)}",)), "Rename")
            case _:
                store.submit(recipes.set_literal(graph, some, "b", str(generator.randrange(9))), "Set")
    except Refused:
        return False
    return store.undo_stack.count() > before


def _resident_mb() -> float:
    """Resident memory of this process (Linux, proc(5)), MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()), flush=True)
    os._exit(0)
