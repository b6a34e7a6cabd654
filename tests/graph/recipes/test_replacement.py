"""Another operator in a node's place, defaults, and a node led into a wire."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId


def add(graph: Graph, key: str, **literals: str) -> ItemId:
    edits, item = recipes.add_operator(graph, key, 0, 0)
    apply_all(graph, edits)
    for path, text in literals.items():
        apply_all(graph, recipes.set_literal(graph, item, path, text))
    return item


def wire(graph: Graph, source: ItemId, target: ItemId, port: str) -> None:
    apply_all(graph, recipes.connect(graph, source, 0, target, port))


def replaced(graph: Graph, item: ItemId, key: str) -> tuple[str, ...]:
    edits, lost = recipes.replace(graph, item, key)
    apply_all(graph, edits)
    return lost


def ports(graph: Graph, item: ItemId) -> dict[str, ItemId]:
    return {wire.port: wire.source for wire in graph.wires_to(item)}


def test_wires_and_literals_stay_by_name() -> None:
    graph = Graph()
    x, total = add(graph, "torch.randn"), add(graph, "torch.sum", dim="1", keepdim="True")
    wire(graph, x, total, "input")
    apply_all(graph, recipes.rename(graph, total, ("rows",)))
    assert replaced(graph, total, "torch.mean") == ()
    node = graph.nodes[total]
    assert (node.operator, node.names) == ("torch.mean", ("rows",))
    assert {key: node.literals[key] for key in ("dim", "keepdim")} == {"dim": "1", "keepdim": "True"}
    assert ports(graph, total) == {"input": x}


def test_wires_find_their_ports_by_kind_and_order() -> None:
    graph = Graph()
    a, b, product = add(graph, "torch.randn"), add(graph, "torch.randn"), add(graph, "torch.matmul")
    user = add(graph, "torch.relu")
    wire(graph, a, product, "input")
    wire(graph, b, product, "other")
    wire(graph, product, user, "input")
    assert replaced(graph, product, "operator.add") == ()
    assert ports(graph, product) == {"a": a, "b": b}
    assert ports(graph, user) == {"input": product}
    assert replaced(graph, product, "torch.cat") == ()
    assert ports(graph, product) == {"tensors.0": a, "tensors.1": b}


def test_what_cannot_stay_is_told() -> None:
    graph = Graph()
    a, b, product = add(graph, "torch.randn"), add(graph, "torch.randn"), add(graph, "torch.matmul")
    wire(graph, a, product, "input")
    wire(graph, b, product, "other")
    (lost,) = replaced(graph, product, "torch.relu")
    assert "other" in lost and ports(graph, product) == {"input": a}
    x = add(graph, "torch.softmax", dim="1")
    assert any("dim" in words for words in replaced(graph, x, "torch.relu"))


def test_a_layer_is_replaced_by_a_layer_and_its_call_stays() -> None:
    graph = Graph()
    x, call = add(graph, "torch.randn"), add(graph, "torch.nn.Linear")
    wire(graph, x, call, "inputs.0")
    module = recipes.replaceable_node(graph, call)
    assert module is not None and module != call
    replaced(graph, call, "torch.nn.Bilinear")
    assert graph.nodes[module].operator == "torch.nn.Bilinear"
    assert x in ports(graph, call).values()


def test_defaults_come_back_for_one_argument_and_for_all() -> None:
    graph = Graph()
    x = add(graph, "torch.randn")
    assert recipes.changed_arguments(graph, x) == ()
    for path, text in (("size", "(7, 7)"), ("requires_grad", "True")):
        apply_all(graph, recipes.set_literal(graph, x, path, text))
    assert {path for _, path in recipes.changed_arguments(graph, x)} == {"size", "requires_grad"}
    apply_all(graph, recipes.reset(graph, ((x, "size"),)))
    assert {path for _, path in recipes.changed_arguments(graph, x)} == {"requires_grad"}
    apply_all(graph, recipes.reset(graph, recipes.changed_arguments(graph, x)))
    fresh = add(graph, "torch.randn")
    assert graph.nodes[x].literals == graph.nodes[fresh].literals


def test_an_idle_node_is_led_into_a_wire() -> None:
    graph = Graph()
    x, y, relu = add(graph, "torch.randn"), add(graph, "torch.sum"), add(graph, "torch.relu")
    wire(graph, x, y, "input")
    assert recipes.is_idle(graph, relu) and not recipes.is_idle(graph, x)
    apply_all(graph, recipes.insert_existing(graph, graph.wires_to(y)[0], relu))
    assert ports(graph, relu) == {"input": x} and ports(graph, y) == {"input": relu}
    assert not recipes.is_idle(graph, relu)


def test_an_idle_layer_is_led_into_a_wire() -> None:
    graph = Graph()
    x, y, call = add(graph, "torch.randn"), add(graph, "torch.sum"), add(graph, "torch.nn.ReLU")
    wire(graph, x, y, "input")
    assert recipes.is_idle(graph, call)
    apply_all(graph, recipes.insert_existing(graph, graph.wires_to(y)[0], call))
    assert ports(graph, y) == {"input": call}
