"""A file that defines a module is pointed at, and the text an engine wrote of one becomes a document."""

from pathlib import Path

import pytest

from gradstudio.document.errors import BadTensor, UnreadableFile
from gradstudio.document.python import module_import
from gradstudio.document.python.module_import import graph_of, import_options, module_hint
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.analysis.program_analysis import addresses

PART = "import torch.nn as nn\n\n\nclass Part(nn.Module):\n    def forward(self, x):\n        return x\n"
WHOLE = "\n\nclass Net(nn.Module):\n    def __init__(self):\n        self.part = Part()\n"
TENSOR = stored_tensor(b"\0" * 8, "float32", (2,))
LOADING = (
    "from pathlib import Path\n\nfrom safetensors.torch import load_file\n\nHERE = Path(__file__).parent\n\n"
    f'x = load_file(HERE / "net.tensors/{TENSOR.digest}.safetensors")["data"]\ny = x + 1\n'
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "net.py"
    path.write_text(text)
    return path


def test_a_hint_names_the_module_that_is_no_part_of_another(tmp_path: Path) -> None:
    hint = module_hint(written(tmp_path, PART + WHOLE))
    assert "defines the module Net:" in hint
    assert "gradstudio import net.py:Net --run-code" in hint


def test_a_hint_names_the_last_module_where_each_is_a_part(tmp_path: Path) -> None:
    text = PART.replace("return x", "return Other()(x)") + WHOLE.replace("Net", "Other")
    assert all(offer.is_used for offer in import_options(written(tmp_path, text)))
    assert "defines the module Other:" in module_hint(tmp_path / "net.py")


@pytest.mark.parametrize("text", ["x = 1\n", "def make(width):\n    return width\n", "class Net(:\n"])
def test_there_is_no_hint_without_a_module(tmp_path: Path, text: str) -> None:
    assert module_hint(written(tmp_path, text)) == ""


def test_a_file_that_is_not_there_has_no_hint_and_says_why(tmp_path: Path) -> None:
    assert module_hint(tmp_path / "none.py") == ""
    with pytest.raises(UnreadableFile, match="cannot be read: No such file"):
        import_options(tmp_path / "none.py")


def test_text_that_is_no_python_is_told_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="this is not Python") as caught:
        import_options(written(tmp_path, "x = 1\nclass Net(:\n"))
    assert (caught.value.line, caught.value.column) == (2, 11)


def test_a_file_that_is_too_large_is_not_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_import, "LARGEST_FILE", 4)
    with pytest.raises(UnreadableFile, match="larger than 4 bytes"):
        import_options(written(tmp_path, "x = 1\n"))


def test_a_text_is_a_document_with_its_tensors_and_places() -> None:
    graph = graph_of(LOADING, {TENSOR.digest: TENSOR.data})
    assert list(addresses(graph).values()) == ["x", "y"]
    assert graph.tensors[TENSOR.digest].shape == (2,)
    assert set(graph.places) == set(graph.nodes)


def test_a_stored_tensor_that_did_not_come_is_named() -> None:
    with pytest.raises(BadTensor, match=f"{TENSOR.digest[:12]}… did not come with it"):
        graph_of(LOADING, {})


def test_a_stored_tensor_that_was_changed_is_refused() -> None:
    with pytest.raises(BadTensor):
        graph_of(LOADING, {TENSOR.digest: TENSOR.data[:-1] + b"\1"})


def test_a_line_that_no_canvas_draws_is_told_at_its_place() -> None:
    with pytest.raises(UnreadableFile, match="`while` runs") as caught:
        graph_of("import torch\n\nx = torch.ones(2)\nwhile x: pass\n", {})
    assert (caught.value.line, caught.value.column) == (4, 1)


def test_objects_and_functions_are_offered_behind_the_classes(tmp_path: Path) -> None:
    text = PART + (
        "\n\ndef make(width, depth=2):\n    return Part()\n\n\ndef _own():\n    pass\n\n\n"
        "net = Part()\nchain = nn.Sequential(nn.ReLU())\nnumber = int(3)\nother = make[0](1)\n"
    )
    found = import_options(written(tmp_path, text))
    assert [(offer.kind, offer.name, offer.needs, offer.takes) for offer in found] == [
        ("class", "Part", (), ("x",)),
        ("function", "make", ("width",), ()),
        ("object", "net", (), ("x",)),
        ("object", "chain", (), ()),
    ]


def test_an_object_of_a_module_without_a_forward_takes_nothing_that_is_known(tmp_path: Path) -> None:
    text = "import torch.nn as nn\n\n\nclass Net(nn.Sequential):\n    pass\n\n\nnet = Net()\n"
    assert [(offer.kind, offer.takes) for offer in import_options(written(tmp_path, text))] == [
        ("class", ()),
        ("object", ()),
    ]


def test_a_method_is_looked_for_in_the_bases_of_the_file(tmp_path: Path) -> None:
    text = PART + "\n\nclass Net(Part):\n    pass\n"
    found = {offer.name: offer for offer in import_options(written(tmp_path, text))}
    assert found["Net"].takes == ("x",)
    assert (found["Part"].is_used, found["Net"].is_used) == (True, False)


def test_classes_that_are_bases_of_each_other_are_no_modules_and_no_endless_search(tmp_path: Path) -> None:
    assert import_options(written(tmp_path, "class A(B):\n    pass\n\n\nclass B(A):\n    pass\n")) == ()
    text = "class A(B, Module):\n    pass\n\n\nclass B(A):\n    pass\n"
    assert [(offer.name, offer.takes) for offer in import_options(written(tmp_path, text))] == [("A", ()), ("B", ())]
