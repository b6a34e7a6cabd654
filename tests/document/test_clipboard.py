import ast
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document import file
from gradstudio.document.clipboard import from_text, to_text
from gradstudio.document.errors import NotAFragment
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import AddNode, AddWire, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.graph.recipes import fragments
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.forms.selection import write_selection
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write, write_script
from tests.document.graphs import graphs, put, tables

HEAD = '{"format": "gradstudio-fragment", '
TENSOR = '{"digest": "' + "0" * 64 + '", "dtype": "float32", "shape": [1]'


@given(graphs())
def test_what_was_copied_is_what_is_pasted(graph):
    assert tables(from_text(to_text(graph)).graph) == tables(graph)


def test_stored_tensors_travel_inside_the_text():
    graph = Graph()
    tensor = stored_tensor(b"\x01\x02", "uint8", (2,), "a source")
    graph.tensors[tensor.digest] = tensor
    put(graph, Node(id=ItemId("x"), operator="python.stored", names=("x",), literals={"digest": f'"{tensor.digest}"'}))
    assert from_text(to_text(graph)).graph.tensors == {tensor.digest: tensor}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5", "not a GradStudio graph"),
        ("x torch ones", "not JSON"),
        (file.dumps(Graph()), "not a copied part"),
        (HEAD + '"version": 2}', "update GradStudio"),
        (HEAD + '"version": 1, "wires": [{"from": "a", "to": "b", "port": "c"}]}', "begins at"),
        (HEAD + '"version": 1, "tensors": [' + TENSOR + ', "data": "AAAA"}]}', "was changed"),
        (HEAD + '"version": 1, "tensors": [' + TENSOR + "}]}", "beside"),
        ("\ud800", "not UTF-8"),
    ],
)
def test_anything_else_is_refused_in_words(text, words):
    with pytest.raises(NotAFragment, match=words):
        from_text(text)


@given(st.text())
def test_garbage_is_only_ever_refused(text):
    try:
        from_text(text)
    except NotAFragment:
        return
    ast.parse(text)  # letters at random may be a statement


def test_imports_alone_are_nothing_to_paste() -> None:
    with pytest.raises(NotAFragment, match="nothing but imports"):
        from_text("import torch\n")


def test_lines_of_python_are_a_fragment_without_their_imports() -> None:
    part = from_text("    x = torch.ones(2, requires_grad=True)\n    y = F.relu(x).sum()\n").graph
    assert [node.operator for node in part.nodes.values()] == [
        "torch.ones",
        "torch.nn.functional.relu",
        "torch.Tensor.sum",
    ]
    assert set(part.places) == set(part.nodes)


def test_python_that_cannot_be_drawn_is_kept_as_code_that_reads_the_canvas() -> None:
    canvas = program("x = torch.ones(2)\ny = x * 2\n")
    graph = pasted(canvas, "with open('f') as file:\n    x = y\nz = {**{'x': x}}\n")
    codes = [node for node in graph.nodes.values() if is_code(node)]
    assert "\n".join(code_of(node) for node in codes) == "with open('f') as file:\n    x = y\nz = {**{'x': x}}"
    (wire,) = [wire for node in codes for wire in graph.wires_to(node.id) if wire.port == "in.y"]
    assert graph.nodes[wire.source].names == ("y",)


def test_python_that_is_no_program_says_the_line() -> None:
    with pytest.raises(NotAFragment, match="line 2"):
        from_text("x = torch.ones(2)\nreturn x\n")


@pytest.mark.parametrize("text", ["hello", "just some prose, copied", "x", "3.14"])
def test_prose_is_no_python(text: str) -> None:
    with pytest.raises(NotAFragment, match="no part of a program"):
        from_text(text)


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_clipboard_is_called_so(text: str) -> None:
    with pytest.raises(NotAFragment, match=r"^The clipboard is empty\.$"):
        from_text(text)


def pasted(canvas: Graph, text: str) -> Graph:
    """The canvas with the text pasted onto it."""
    found = from_text(text, canvas)
    edits, _ = fragments.paste(canvas, found.graph, outer=found.outer, as_typed=found.is_text)
    apply_all(canvas, edits)
    assert incomplete(canvas) == {}
    return canvas


def program(text: str) -> Graph:
    return read_script(f"import torch\nfrom torch import nn\n\n{text}").graph


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("x = torch.ones(2)\n", "y = x * 2\nz = y + x\n"),
        ("x = torch.ones(2)\nx = x + 1\n", "y = x * 2\n"),
        ("fc = nn.Linear(2, 3)\nx = torch.ones(2)\n", "loss = fc(x).sum()\nloss.backward()\nfc.weight.grad\n"),
        ("x = torch.ones(2)\ntotal = 0\n", "total += 3\nx += 1\ny = x\n"),
        ("x = torch.ones(2)\nh = torch.zeros(2)\n", "for t in range(3):\n    h = h + x * t\ny = h\n"),
        ("for k in range(2):\n    last = torch.ones(2) * k\n", "y = last + 1\n"),
        ("with torch.no_grad():\n    x = torch.ones(2)\n", "with torch.no_grad():\n    y = x + 1\n"),
        ("x = torch.ones(2)\n", "# a note\ntorch.manual_seed(1)\nx = torch.rand(2)  # x anew\ny = x\n"),
        ("a, b = torch.ones(2).split(1)\n", "a, b = b, a\nc = a - b\n"),
        ("x = torch.ones(2)\n", "x + 1\n"),
    ],
)
def test_python_goes_on_with_the_names_of_the_canvas(before: str, text: str) -> None:
    assert write_script(pasted(program(before), text)) == write_script(program(before + text))


def test_pasting_twice_is_writing_it_twice() -> None:
    text = "x = torch.ones(2)\nfor t in range(2):\n    x = x + t\n"
    assert write_script(pasted(pasted(Graph(), text), text)).count("x = x + t") == 2


def test_a_name_that_neither_the_text_nor_the_canvas_binds_is_refused() -> None:
    with pytest.raises(NotAFragment, match="'z' is not bound"):
        from_text("y = x + z\n", program("x = torch.ones(2)\n"))


def test_the_canvas_keeps_its_settings() -> None:
    canvas = program("torch.manual_seed(3)\nx = torch.ones(2)\n")
    pasted(canvas, "device = 'cuda' if torch.cuda.is_available() else 'cpu'\ny = torch.zeros(2, device=device)\n")
    assert (canvas.header.seed, canvas.header.device) == (3, "cpu")


@pytest.mark.parametrize(
    "text",
    [
        ">>> x = torch.ones(2)\n>>> x\ntensor([1., 1.])\n>>> for i in range(2):\n...     x = x + i\n...\n>>> y = x\n",
        "In [1]: x = torch.ones(2)\nIn [2]: x\nOut[2]: tensor([1., 1.])\n\nIn [3]: for i in range(2):\n"
        "   ...:     x = x + i\n   ...:\nIn [4]: y = x\n",
        "F\n```python\nx = torch.ones(2)\nx\n```\nand then\n\n```\nfor i in range(2):\n    x = x + i\ny = x\n```\nE.",
        "        x = torch.ones(2)\n        x\n        for i in range(2):\n            x = x + i\n        y = x\n",
        "    >>> x = torch.ones(2)\n    >>> x\n    >>> for i in range(2):\n    ...     x = x + i\n    >>> y = x\n",
        "```pycon\n>>> x = torch.ones(2)\n>>> x\n>>> for i in range(2):\n...     x = x + i\n...\n>>> y = x\n```",
        "x = torch.ones(2)\r\nx\r\nfor i in range(2):\r\n    x = x + i\r\ny = x\r\n",
    ],
)
def test_prompts_fences_and_indentation_come_off(text: str) -> None:
    lines = [line for line in write(from_text(text).graph).code.splitlines() if line]
    assert lines[-5:] == ["x = torch.ones(2)", "x", "for i in range(2):", "    x = x + i", "y = x"]


def test_other_languages_between_fences_are_left_out() -> None:
    text = "```bash\npip install torch\n```\n```python\nx = torch.ones(2)\n```\n```text\ntensor\n```\n"
    assert [node.names for node in from_text(text).graph.nodes.values()] == [("x",)]


def test_a_refusal_counts_the_lines_that_were_copied() -> None:
    with pytest.raises(NotAFragment, match="line 3"):
        from_text(">>> x = torch.ones(2)\ntensor([1., 1.])\n>>> return x\n")


LOOPS = """\
h = torch.zeros(2)
n = 0
i = torch.ones(1)
for t in range(3):
    for j in range(2):
        h = torch.tanh(h + t)
        n += 1
print(h, n)
"""


def _copied(graph: Graph, items: list[ItemId]) -> Graph:
    return from_text(to_text(fragments.copy_items(graph, items))).graph


def test_a_copied_loop_carries_its_values_under_their_new_names() -> None:
    graph = read_script("import torch\n\n" + LOOPS).graph
    apply_all(graph, fragments.paste(graph, _copied(graph, list(graph.nodes) + list(graph.blocks)))[0])
    assert incomplete(graph) == {}
    text = write(graph).code
    assert text == "import torch\n\n" + LOOPS + re.sub(r"\b([hni])\b", r"\g<1>2", LOOPS)


def test_a_loop_that_was_copied_without_what_it_begins_with_says_what_is_missing() -> None:
    graph = read_script("import torch\n\n" + LOOPS).graph
    loop = next(item for item in graph.bodies[ROOT] if item in graph.blocks)
    (pasted,) = (edits := fragments.paste(graph, _copied(graph, [loop])))[1]
    apply_all(graph, edits[0])
    assert set(graph.blocks[pasted].carried) == {"h2", "n2"}
    assert "nothing binds it before the loop" in incomplete(graph)[pasted]
    first = {name: next(i for i, node in graph.nodes.items() if node.names == (name,)) for name in "hn"}
    for name, source in first.items():
        again = msgspec.structs.replace(graph.nodes[source], names=(f"{name}2",), id=ItemId(f"again_{name}"))
        at = graph.bodies[ROOT].index(pasted)
        wire = Wire(again.id, 0, pasted, f"first.{name}2")
        apply_all(graph, (AddNode(again, ROOT, at), AddWire(wire)))
    assert incomplete(graph) == {}


def test_the_variable_of_a_pasted_loop_gives_way_to_a_value_of_that_name() -> None:
    graph = read_script("x = 1\nt = x\nprint(t)\n").graph
    part = read_script("for t in range(3):\n    y = t\n").graph
    apply_all(graph, fragments.paste(graph, part)[0])
    assert write(graph).code.endswith("for t2 in range(3):\n    y = t2\n")


def test_copied_python_finds_the_stored_tensors_of_its_program():
    graph = Graph()
    stored = stored_tensor(b"\x01\x02", "uint8", (2,))
    graph.tensors[stored.digest] = stored
    put(graph, Node(id=ItemId("a"), operator="python.stored", names=("x",), literals={"digest": f'"{stored.digest}"'}))
    text = write_selection(graph, [ItemId("a")], stem="digits")
    pasted = from_text(text, graph).graph
    assert list(pasted.tensors.values()) == [stored]
    with pytest.raises(NotAFragment, match="drawn: the text loads a stored tensor that this program does not have"):
        from_text(text, Graph())
