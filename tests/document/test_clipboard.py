import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document import file
from gradstudio.document.clipboard import from_text, to_text
from gradstudio.document.errors import NotAFragment
from gradstudio.document.tensors import stored_tensor
from gradstudio.graph.model import Graph, ItemId, Node
from tests.document.graphs import graphs, put, tables

HEAD = '{"format": "gradstudio-fragment", '
TENSOR = '{"digest": "' + "0" * 64 + '", "dtype": "float32", "shape": [1]'


@given(graphs())
def test_what_was_copied_is_what_is_pasted(graph):
    assert tables(from_text(to_text(graph))) == tables(graph)


def test_stored_tensors_travel_inside_the_text():
    graph = Graph()
    tensor = stored_tensor(b"\x01\x02", "uint8", (2,), "a source")
    graph.tensors[tensor.digest] = tensor
    put(graph, Node(id=ItemId("x"), operator="python.stored", names=("x",), literals={"digest": f'"{tensor.digest}"'}))
    assert from_text(to_text(graph)).tensors == {tensor.digest: tensor}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
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
    with pytest.raises(NotAFragment):
        from_text(text)


def test_lines_of_python_are_a_fragment_without_their_imports() -> None:
    part = from_text("    x = torch.ones(2, requires_grad=True)\n    y = F.relu(x).sum()\n")
    assert [node.operator for node in part.nodes.values()] == [
        "torch.ones",
        "torch.nn.functional.relu",
        "torch.Tensor.sum",
    ]
    assert set(part.places) == set(part.nodes)


def test_python_that_cannot_be_drawn_says_the_line() -> None:
    with pytest.raises(NotAFragment, match="line 2"):
        from_text("x = torch.ones(2)\ny = [v for v in x]\n")


@pytest.mark.parametrize("text", ["hello", "just some prose, copied", "x", "3.14", ""])
def test_prose_is_no_python(text: str) -> None:
    with pytest.raises(NotAFragment, match="no part of a program"):
        from_text(text)
