"""Exporting: a script on disk, and beside it the data that it loads."""

import ast
from pathlib import Path

import pytest

from gradstudio.document.python.python_document import load_python
from gradstudio.document.python.python_export import words_beside, write_export
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.program.write import write_script
from tests.graph.builder import Drawing


def test_the_script_is_written_as_the_writer_prints_it(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.add("torch.ones", name="x")
    write_export(drawing.graph, tmp_path / "one.py")
    assert (tmp_path / "one.py").read_text() == write_script(drawing.graph, stem="one")
    assert [path.name for path in tmp_path.iterdir()] == ["one.py"]


def test_stored_tensors_lie_where_the_script_looks_for_them(tmp_path: Path) -> None:
    drawing = Drawing()
    stored = stored_tensor(bytes(8), "float32", (2,))
    drawing.graph.tensors[stored.digest] = stored
    drawing.add("python.stored", digest=f'"{stored.digest}"', name="data")
    write_export(drawing.graph, tmp_path / "one.py")
    literals = [n.value for n in ast.walk(ast.parse((tmp_path / "one.py").read_text())) if isinstance(n, ast.Constant)]
    (relative,) = [text for text in literals if isinstance(text, str) and stored.digest in text]
    assert (tmp_path / relative).read_bytes() == stored.data


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y = helper(1)\nexec('print(y)') if y else None\n", ""),
        ("from os.path import *\ny = [join('a', 'b') for _ in range(2)]\n", ""),
        ("y = [helper(k) for k in range(2)]\n", "It does not run as it is: 'helper' is bound nowhere in it"),
    ],
    ids=["exec", "star", "plain"],
)
def test_names_are_missed_only_where_the_syntax_shows_all_that_are_bound(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "typed.py"
    path.write_text(text)
    graph = load_python(path).graph
    graph.original = ""
    assert words_beside(graph, "script", "typed").partition(".")[0] == said
