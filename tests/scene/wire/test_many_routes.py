"""Of many wires only those are led anew that are new or whose ends moved; all is as if it had been read at once."""

import random

import numpy as np
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import AddNode, AddWire, Edit, Edits, SetPlaces, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place, Wire
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.routing import MOST_WIRES
from gradstudio.scene.wire.wire_options import WireOptions
from tests.helpers.drawing import Drawing

CARDS, STEPS = 260, 40


def many_cards() -> Graph:
    """So many that their wires are not led around cards."""
    return some_sums(CARDS)


def some_sums(count: int) -> Graph:
    """Sums of two of the ten before each."""
    generator, graph = random.Random(3), Graph()
    edits: list[Edit] = []
    for k in range(count):
        item, operator = ItemId(f"n{k}"), "operator.add" if k > 1 else "torch.randn"
        edits.append(AddNode(Node(id=item, operator=operator, names=(f"v{k}",)), ROOT, k))
        edits.append(SetPlaces({item: Place(260.0 * (k // 20), 190.0 * (k % 20))}))
        sources = [generator.randrange(max(0, k - 10), k) for _ in "ab"] if k > 1 else []
        edits += [
            AddWire(Wire(ItemId(f"n{source}"), 0, item, port)) for source, port in zip(sources, "ab", strict=False)
        ]
    apply_all(graph, tuple(edits))
    return graph


def some_edit(generator: random.Random, graph: Graph) -> Edits:
    """What a person might do next; nothing where it is refused."""
    one, other = generator.sample(sorted(graph.nodes), 2)
    wire = generator.choice(sorted(graph.wires.values()))
    near = (wire.source, generator.random() * 900, 40.0)
    ways = {
        "move": lambda: recipes.move(graph, {one: (generator.random() * 900, 10.0), other: (5.0, 6.0)}),
        "wire": lambda: recipes.connect(graph, one, 0, other, "b"),
        "cut": lambda: recipes.disconnect(graph, wire),
        "delete": lambda: recipes.delete(graph, [one]),
        "add": lambda: recipes.add_operator(graph, "torch.nn.Linear", 40.0, 50.0)[0],
        "rename": lambda: recipes.rename(graph, one, (f"long_name_{generator.randrange(10**9)}",)),
        "dot": lambda: recipes.add_dot(graph, wire, 0, near[1:]),
        "mute": lambda: recipes.set_muted(graph, [one], muted=not graph.nodes[one].muted),
        "mute a wire": lambda: recipes.mute_wires(graph, (wire,)),
        "block": lambda: recipes.wrap(graph, [one], "no_grad"),
    }
    try:
        return ways[generator.choice(sorted(ways))]()
    except Refused:
        return ()


def look_alike(scene: Scene, fresh: Scene) -> None:
    """All that is drawn, in its order."""
    assert scene.stack.ids == fresh.stack.ids
    assert scene.placement.corners == fresh.placement.corners
    assert np.array_equal(scene.placement.bounds, fresh.placement.bounds)
    assert scene.wiring.wires == fresh.wiring.wires
    differ = np.abs(scene.routes.paths - fresh.routes.paths).max((1, 2))
    assert not differ.any(), {scene.wiring.wires[k]: differ[k] for k in differ.nonzero()[0]}
    assert np.array_equal(scene.routes.bounds, fresh.routes.bounds)
    assert [scene.looks.by_code[k] for k in scene.looks.codes] == [fresh.looks.by_code[k] for k in fresh.looks.codes]
    numbers, again = scene.numbers, fresh.numbers
    assert numbers.left_out == again.left_out
    for item in scene.stack.cards:
        assert numbers.order(item) == again.order(item), item
        assert numbers.is_set_up(item) is again.is_set_up(item), item


@pytest.mark.parametrize("seed", range(4))
def test_after_each_edit_all_is_as_if_it_had_been_read_at_once(seed: int) -> None:
    drawing, generator = Drawing(many_cards()), random.Random(seed)
    scene = drawing.scene
    assert len(scene.wiring.wires) > MOST_WIRES
    done = list[Edits]()
    for _ in range(STEPS):
        edits = some_edit(generator, drawing.graph)
        if not edits or generator.random() < 0.2:
            edits = done.pop() if done else ()
            scene.drag.show({next(iter(drawing.graph.nodes)): (7.0, 8.0)})
            scene.drag.let_go()
        inverses = apply_all(drawing.graph, edits)
        scene.apply(edits)
        done.append(inverses)
        look_alike(scene, Scene(drawing.graph, drawing.results, scene.state.shown, scene.state.meter))


def test_wires_follow_cards_that_grow_and_styles_that_change() -> None:
    drawing = Drawing(many_cards())
    scene, item = drawing.scene, ItemId("n100")
    drawing.results.records[item] = (TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2, 3))),)
    scene.results_changed((item,))
    scene.show_wires(WireOptions(style="straight"))
    fresh = Scene(drawing.graph, drawing.results, scene.state.shown, scene.state.meter)
    fresh.show_wires(WireOptions(style="straight"))
    differ = np.abs(scene.routes.paths - fresh.routes.paths).max((1, 2))
    assert not differ.any(), {scene.wiring.wires[k]: differ[k] for k in differ.nonzero()[0]}
