"""The wires of a record are the drawing's: each begins where the canvas says."""

import pytest

from gradstudio import paths
from gradstudio.document import file
from gradstudio.engine.live.live_state import Loaded
from gradstudio.program.compile import compile_graph
from tests.engine.conftest import Bench

EXAMPLES = ["01_square_polynomial", "02_two_paths", "05_detach_and_no_grad", "06_broadcast_bias", "08_attention_head"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_wire_of_the_record_is_drawn_and_every_autograd_node_has_its_card(bench: Bench, name: str) -> None:
    graph = file.load(next(paths.examples().glob(f"{name}*")))
    program = compile_graph(graph)
    bench.engine.load(Loaded("document", 1, program))
    assert bench.do("run").outcome == "done"
    (traced,) = bench.traced()
    assert traced.wires
    for wire in traced.wires:
        drawn = graph.wires[wire.target, wire.port]
        assert (drawn.source, drawn.output) == (wire.source, wire.output)
        assert wire.grad is not None
    assert all(row.node in graph for row in traced.rows)
