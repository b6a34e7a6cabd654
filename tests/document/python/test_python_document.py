"""A Python file as a document."""

from pathlib import Path

import pytest

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import load
from gradstudio.document.python.python_document import load_python
from gradstudio.document.python.python_export import write_export
from gradstudio.graph.text.code_records import CODE
from gradstudio.paths import examples
from gradstudio.program.write import write_script


def test_an_export_with_stored_tensors_comes_back_whole(tmp_path: Path) -> None:
    graph = load(next(iter(sorted(examples().glob("07_*.gsg")))))
    write_export(graph, tmp_path / "digits.py")
    read = load_python(tmp_path / "digits.py").graph
    assert read.tensors.keys() == graph.tensors.keys()
    assert write_script(read, stem="digits") == (tmp_path / "digits.py").read_text()
    assert set(read.nodes) <= set(read.places)


def test_a_stored_tensor_that_was_changed_is_refused(tmp_path: Path) -> None:
    graph = load(next(iter(sorted(examples().glob("07_*.gsg")))))
    write_export(graph, tmp_path / "digits.py")
    for file in (tmp_path / "digits.tensors").iterdir():
        file.write_bytes(file.read_bytes()[:-4] + b"\0\0\0\1")
    with pytest.raises(UnreadableFile, match="changed"):
        load_python(tmp_path / "digits.py")


@pytest.mark.parametrize("name", ["../x.tensors/a.safetensors", "x.tensors/../../etc/passwd", "/etc/passwd"])
def test_no_other_file_is_ever_opened(tmp_path: Path, name: str) -> None:
    text = "from pathlib import Path\nfrom safetensors.torch import load_file\nHERE = Path(__file__).parent\n"
    path = tmp_path / "x.py"
    path.write_text(f'{text}x = load_file(HERE / "{name}")["data"]\n')
    graph = load_python(path).graph  # nothing is opened: it stays code, which needs the yes of a person
    assert any(node.operator == CODE for node in graph.nodes.values())
    assert not graph.tensors


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"x = '\xff\xfe'")
    with pytest.raises(UnreadableFile, match="UTF-8"):
        load_python(path)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        load_python(tmp_path / "missing.py")
