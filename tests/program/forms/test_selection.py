"""A selection as text: its statements whole, in program order, with the imports they need and no more."""

from pathlib import Path

import pytest

from gradstudio.document.clipboard import from_text
from gradstudio.document.file import load
from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.graph.model import Graph, ItemId
from gradstudio.paths import examples
from gradstudio.program.forms.selection import write_selection
from gradstudio.program.reading.reader import read_script
from tests.program.sketch import Sketch

TEXT = """\
import torch
from torch import nn

torch.manual_seed(0)

# What goes in.
x = torch.randn(4, 3)
fc = nn.Linear(3, 2)

with torch.no_grad():
    # twice
    y = fc(x * 2) + 1
    z = y.sum()
# region: End
print(z)
# endregion
"""


def chosen(*names: str) -> str:
    graph = read_script(TEXT).graph
    known = {name: item for item, name in addresses(graph).items()}
    return write_selection(graph, [known[name] for name in names])


def test_statements_come_in_program_order_with_their_notes_and_imports() -> None:
    assert chosen("fc", "x") == (
        "import torch\nfrom torch import nn\n\n# What goes in.\nx = torch.randn(4, 3)\nfc = nn.Linear(3, 2)\n"
    )


def test_nothing_is_imported_that_the_text_does_not_use() -> None:
    assert chosen("fc") == "from torch import nn\n\nfc = nn.Linear(3, 2)\n"
    assert chosen("z") == "z = y.sum()\n"


def test_a_block_is_whole_and_what_stands_in_one_may_stand_alone() -> None:
    inner = "# twice\ny = fc(x * 2) + 1\n"
    assert chosen("y") == inner
    assert chosen("no_grad_1", "y") == (
        "import torch\n\nwith torch.no_grad():\n    # twice\n    y = fc(x * 2) + 1\n    z = y.sum()\n"
    )


def test_a_part_brings_its_statement() -> None:
    assert chosen("mul_1") == chosen("y")


def test_a_region_comes_with_its_title() -> None:
    assert chosen("group_1") == "# region: End\nprint(z)\n# endregion\n"


def test_the_device_is_said_when_the_text_uses_it() -> None:
    sketch = Sketch(device="cuda:0")
    x = sketch.tensor("x")
    y = sketch.node("operator.neg", "y", {"a": x})
    head = 'import torch\n\ndevice = torch.device("cuda:0")\n\n'
    assert write_selection(sketch.graph, [x]) == f"{head}x = torch.tensor(1.0, device=device)\n"
    assert write_selection(sketch.graph, [y]) == "y = -x\n"


def test_nothing_chosen_is_the_whole_program_without_its_report() -> None:
    assert write_selection(read_script(TEXT).graph, []) == TEXT


@pytest.mark.parametrize(
    "path", [p for p in sorted(examples().glob("*.gsg")) if not p.stem.startswith("07")], ids=lambda path: path.stem
)
def test_pasting_it_back_gives_the_same_cards(path: Path) -> None:
    graph = load(path)
    text = write_selection(graph, list(graph.order()))
    assert cards(from_text(text).graph) == cards(graph)


def cards(graph: Graph) -> list[object]:
    """Every item without its id, in program order."""
    number = {item: k for k, item in enumerate(graph.order())}

    def card(item: ItemId) -> object:
        node = graph.nodes.get(item)
        own = (node.operator, node.names, node.nested, node.note) if node is not None else graph.blocks[item].kind
        return own, sorted((number[w.source], w.output, w.port) for w in graph.wires_to(item))

    return [card(item) for item in graph.order()]
