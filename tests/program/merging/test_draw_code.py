"""A card of code is read anew: what can be drawn becomes nodes, all else stays as it is."""

from pathlib import Path

import msgspec
import pytest

from gradstudio.document.python.card_edits import draw
from gradstudio.graph.edits import AddWire, ReplaceNode, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.recipes.nodes import add_operator
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import CODE, code_of, is_code
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.code_cards import merge_with_next
from gradstudio.program.compile import compile_graph
from gradstudio.program.merging.whole_merge import draw_code
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write, write_script
from tests.helpers.program_runs import ProgramRuns

HEAD = "import torch\n\nx = torch.ones(2)\n"


def cards(graph: Graph) -> list[str]:
    return [code_of(graph.nodes[item]) for item in graph.order() if item in graph.nodes and is_code(graph.nodes[item])]


def with_card(text: str, code: str) -> tuple[Graph, ItemId]:
    """A program with a card behind it, as an older version, which drew less, has kept it."""
    graph = read_script(text, keeps_code=True).graph
    edits, item = add_operator(graph, CODE, 0.0, 0.0)
    apply_all(graph, edits)
    bound = {
        name: (one, k) for one in graph.order() if one in graph.nodes for k, name in enumerate(graph.nodes[one].names)
    }
    names = names_of_code(code)
    node = msgspec.structs.replace(
        graph.nodes[item], literals={"code": quote(code)}, names=names.binds, blank_before=True
    )
    apply_all(graph, (ReplaceNode(node),))
    for name in names.reads:
        if name in bound:
            apply_all(graph, (AddWire(Wire(*bound[name], item, f"in.{name}")),))
    return graph, item


def test_what_can_be_drawn_is_and_the_rest_stays_code() -> None:
    graph, item = with_card(HEAD, "y = torch.relu(x)\nd = dict((k, y) for k in 'ab')  # odd\nz = y * 2")
    before, state = write(graph).code, (dict(graph.nodes), dict(graph.wires), dict(graph.bodies))
    back = apply_all(graph, draw(graph, item))
    assert cards(graph) == ["d = dict((k, y) for k in 'ab')  # odd"]
    assert {"torch.relu", "operator.mul"} <= {node.operator for node in graph.nodes.values()}
    assert write(graph).code.split() == before.split()
    assert not compile_graph(graph).incomplete
    assert [code.text for code in compile_graph(graph).codes] == cards(graph)
    apply_all(graph, back)
    assert (dict(graph.nodes), dict(graph.wires), dict(graph.bodies)) == state


def test_the_program_does_what_it_did(tmp_path: Path, python: ProgramRuns) -> None:
    graph, item = with_card(
        HEAD, "y = torch.relu(x)\nd = dict((k, y) for k in 'ab')  # odd\nz = d['a'] * 2\nprint(z, d)"
    )
    outputs = []
    for _ in range(2):
        outputs.append(python.printed(write(graph).code, tmp_path))
        if item in graph and is_code(graph.nodes[item]):
            apply_all(graph, draw(graph, item))
    assert outputs[0] == outputs[1] != ""
    assert "torch.relu" in {node.operator for node in graph.nodes.values()}


def test_the_last_card_of_a_program_is_drawn_as_a_whole() -> None:
    graph, item = with_card(HEAD, "y = torch.relu(x)")
    apply_all(graph, draw(graph, item))
    assert cards(graph) == []
    assert "y = torch.relu(x)" in write_script(graph)


def test_other_cards_stay_as_they_are_also_where_they_could_be_drawn() -> None:
    graph, first = with_card(HEAD, "import json\n\nw = x * 3")
    edits, second = add_operator(graph, CODE, 0.0, 0.0)
    apply_all(graph, edits)
    apply_all(
        graph,
        (
            ReplaceNode(
                msgspec.structs.replace(
                    graph.nodes[second], literals={"code": quote("v = torch.zeros(3)")}, names=("v",)
                )
            ),
        ),
    )
    apply_all(graph, draw(graph, second))
    assert cards(graph) == ["import json\n\nw = x * 3"]
    assert first in graph
    assert "torch.zeros" in {node.operator for node in graph.nodes.values()}


@pytest.mark.parametrize(
    "code", ["d = dict((k, x) for k in 'ab')", "while x.sum() < 0:\n    x = x + 1\nelse:\n    x = x + 2"]
)
def test_what_cannot_be_drawn_is_not_offered(code: str) -> None:
    graph, item = with_card(HEAD, code)
    assert draw_code(graph, item) is None
    with pytest.raises(Refused, match="Nothing of this card"):
        draw(graph, item)


def test_a_while_is_drawn_as_a_loop_with_its_condition_as_its_head() -> None:
    code = "while x.sum() < 9:\n    x = x + 1"
    graph, item = with_card(HEAD, code)
    apply_all(graph, draw(graph, item))
    assert [block.endless for block in graph.blocks.values()] == [True]
    assert code in write_script(graph)


def test_what_other_code_puts_in_doubt_stays_code() -> None:
    graph, item = with_card(HEAD + "\ndef g():\n    global n\n    n += 1\n\ng()\n", "n = 1")
    assert cards(graph)[0].startswith("def g")
    assert draw_code(graph, item) is None


def test_cards_that_were_read_are_drawn_no_further() -> None:
    graph = read_script(HEAD + "import json\n\nd = dict((k, x) for k in 'ab')\n", keeps_code=True).graph
    codes = [item for item, node in graph.nodes.items() if is_code(node)]
    assert [draw_code(graph, item) for item in codes] == [None, None]
    apply_all(graph, merge_with_next(graph, codes[0]))
    assert draw_code(graph, codes[0]) is None
