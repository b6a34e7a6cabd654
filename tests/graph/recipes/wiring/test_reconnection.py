"""Nodes go out of their wires: what fed them feeds their users, or it is said why not."""

from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.wiring.reconnection import Reconnection, delete_and_reconnect, shake_off
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code

CHAIN = """import torch

a = torch.ones(3)
b = a * 2
c = b.exp()
d = c + a
"""
LAYER = """import torch
from torch import nn

x = torch.ones(3)
fc = nn.Linear(3, 1)
h = fc(x)
y = h.exp()
"""


def graph_of(text: str = CHAIN) -> Graph:
    return read_script(text).graph


def bound(graph: Graph, *names: str) -> list[ItemId]:
    return [node.id for name in names for node in graph.nodes.values() if name in node.names]


def done(graph: Graph, healed: Reconnection) -> str:
    """The text after the edits; taking them back gives the text before."""
    before = write_code(graph)[0]
    inverse = apply_all(graph, healed.edits)
    after = write_code(graph)[0]
    apply_all(graph, inverse)
    assert write_code(graph)[0] == before
    apply_all(graph, healed.edits)
    return after


def test_the_user_of_a_deleted_node_reads_what_fed_it() -> None:
    graph = graph_of()
    healed = delete_and_reconnect(graph, bound(graph, "b"))
    assert (healed.wired, healed.left) == (1, ())
    assert done(graph, healed) == "import torch\n\na = torch.ones(3)\nc = a.exp()\nd = c + a\n"


def test_a_chain_is_deleted_as_one() -> None:
    graph = graph_of()
    healed = delete_and_reconnect(graph, bound(graph, "c", "b"))
    assert healed.wired == 1
    assert done(graph, healed) == "import torch\n\na = torch.ones(3)\nd = a + a\n"


def test_what_nothing_fed_leaves_its_users_open_with_the_reason() -> None:
    graph = graph_of()
    healed = delete_and_reconnect(graph, bound(graph, "a"))
    assert healed.wired == 0
    assert healed.left == (
        "'a' of b (nothing was wired in front of it)",
        "'b' of d (nothing was wired in front of it)",
    )
    apply_all(graph, healed.edits)
    assert not bound(graph, "a")
    assert {wire.port for wire in graph.wires.values()} == {"self", "a"}


def test_a_layer_is_no_stand_in_for_what_its_call_computes() -> None:
    graph = graph_of(LAYER)
    healed = delete_and_reconnect(graph, bound(graph, "h"))
    assert (healed.wired, healed.left) == (1, ())
    apply_all(graph, healed.edits)
    (wire,) = graph.wires_to(bound(graph, "y")[0])
    assert [wire.source] == bound(graph, "x")


def test_what_does_not_fit_is_left_and_said() -> None:
    graph = graph_of("import torch\nfrom torch import nn\n\nfc = nn.Linear(3, 1)\nw = fc.weight\ny = torch.exp(w)\n")
    healed = delete_and_reconnect(graph, bound(graph, "w"))
    assert healed.wired == 0
    assert healed.left == ("'input' of y ('input' takes a tensor; this is a module)",)
    apply_all(graph, healed.edits)
    assert not graph.wires


def test_what_is_read_twice_is_asked_once_for_what_feeds_it() -> None:
    text = "import torch\nfrom torch import nn\n\nfc = nn.Linear(3, 1)\nw = fc.weight\nv = w + w\ny = torch.exp(v)\n"
    graph = graph_of(text)
    healed = delete_and_reconnect(graph, bound(graph, "w", "v"))
    assert healed.left == ("'input' of y ('input' takes a tensor; this is a module)",)
    apply_all(graph, healed.edits)
    assert list(graph.nodes) == bound(graph, "fc", "y")


def test_nodes_shaken_off_stay_without_wires_to_others() -> None:
    graph = graph_of()
    b, c, d = bound(graph, "b", "c", "d")
    healed = shake_off(graph, [b, c])
    assert (healed.wired, healed.left) == (1, ())
    apply_all(graph, healed.edits)
    assert graph.wires_to(b) == ()
    assert [wire.target for wire in graph.wires_from(b)] == [c]
    assert graph.wires_from(c) == ()
    assert [wire.source for wire in graph.wires_to(d)] == bound(graph, "a", "a")


def test_shaking_off_what_has_no_wires_and_unknown_items_changes_nothing() -> None:
    graph = graph_of("import torch\n\na = torch.ones(3)\n")
    assert shake_off(graph, bound(graph, "a")) == Reconnection((), 0, ())
    assert shake_off(graph, [ItemId("gone")]) == Reconnection((), 0, ())
    assert delete_and_reconnect(graph, [ItemId("gone")]) == Reconnection((), 0, ())


def test_the_last_of_a_chain_goes_without_more_ado() -> None:
    graph = graph_of()
    healed = delete_and_reconnect(graph, bound(graph, "d"))
    assert (healed.wired, healed.left) == (0, ())
    assert done(graph, healed) == CHAIN.removesuffix("d = c + a\n")


NUMBER = """import torch

a = torch.ones(3, 4)
n = a.numel()
b = torch.zeros(n, 2)
c = a[n]
d = b * n
"""


def test_a_tensor_does_not_come_where_a_number_was_read() -> None:
    """A size, an index: torch takes a tensor there only where it holds one number, which nobody knows."""
    graph = graph_of(NUMBER)
    healed = delete_and_reconnect(graph, bound(graph, "n"))
    assert healed.wired == 1
    assert healed.left == (
        "'size.0' of b ('size' takes a whole number; this is a tensor)",
        "'index.0' of c ('index' takes an index; this is a tensor)",
    )
    apply_all(graph, healed.edits)
    assert {wire.target for wire in graph.wires_from(bound(graph, "a")[0])} == set(bound(graph, "c", "d"))
    assert graph.wire_into(bound(graph, "b")[0], "size.0") is None


def test_a_tensor_that_was_an_index_is_replaced_by_a_tensor() -> None:
    graph = graph_of("import torch\n\na = torch.ones(3).long()\nn = a + 1\nc = torch.rand(9)[n]\n")
    healed = delete_and_reconnect(graph, bound(graph, "n"))
    assert (healed.wired, healed.left) == (1, ())
