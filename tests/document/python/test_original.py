"""A Python file that is opened is exported byte for byte as it was typed, also by way of a document."""

import ast
import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document.file import load, save
from gradstudio.document.python.python_document import decode_python, load_python
from gradstudio.document.python.python_export import export_bytes, write_export
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.edits import apply_all
from gradstudio.graph.recipes.nodes import set_literal
from gradstudio.program.forms.form_table import form_named
from gradstudio.program.reading.reader import read_script
from tests.graph.builder import Drawing

TESTS = Path(__file__).parents[2]
CORPUS = sorted([*(TESTS / "corpus" / "accepted").glob("*.py"), *(TESTS / "corpus" / "code").glob("*.py")])
TYPED = """#!/usr/bin/env python
# -*- coding: latin-1 -*-
'''Says \xe9.'''

import torch as th            # under a name of its own


if __name__ == '__main__':
    x = th.ones( 2,3 )     # caf\xe9
    if x.sum() > 1 :
        x = x*2


    print( x )
"""
SPELLINGS = {
    "latin": TYPED.encode("latin-1"),
    "carriage returns": TYPED.replace("latin-1", "utf-8").replace("\n", "\r\n").encode(),
    "mark": b"\xef\xbb\xbf" + TYPED.replace("latin-1", "utf-8").encode(),
    "no end": TYPED.replace("latin-1", "utf-8").rstrip("\n").encode(),
    "two ends": b"import torch\r\nx = torch.ones(2)\ny = x + 1\r\n\n\n",
    "tabs": b"import torch\nfor k in range(2):\n\tx = torch.ones(k)  # a\n\n\t# b\n\tprint(x)\n",
}


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_file_is_exported_as_it_was_typed(path: Path, tmp_path: Path) -> None:
    graph = load_python(path).graph
    assert export_bytes(graph, "script", path.stem) == path.read_bytes()
    save(graph, tmp_path / "saved.gsg")
    assert export_bytes(load(tmp_path / "saved.gsg"), "script", path.stem) == path.read_bytes()


@pytest.mark.parametrize("name", SPELLINGS)
def test_bytes_stay_however_a_file_is_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_bytes(SPELLINGS[name])
    write_export(load_python(path).graph, tmp_path / "again.py")
    assert (tmp_path / "again.py").read_bytes() == SPELLINGS[name]


@pytest.mark.parametrize("name", SPELLINGS)
def test_one_literal_is_one_line_however_a_file_is_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_bytes(SPELLINGS[name])
    graph = load_python(path).graph
    node = next(node for node in graph.nodes.values() if node.operator.startswith("torch.ones"))
    path = next((path for path in ("size.0", "size") if node.literals.get(path) in ("2", "(2,)")), None)
    if path is None:
        return  # what the loop counts
    apply_all(graph, set_literal(graph, node.id, path, "7"))
    before = SPELLINGS[name].split(b"\n")
    after = export_bytes(graph, "script", "typed").split(b"\n")
    assert len(before) == len(after)
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert len(changed) == 1
    assert changed[0][0].replace(b"2", b"7", 1) == changed[0][1]


def test_the_report_is_a_choice(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "typed.py"
    path.write_text("import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\nprint(y)\n")

    def exported(*words: str) -> str:
        assert main(["export", str(path), *words]) == 0
        return capfdbinary.readouterr().out.decode()

    assert exported() == exported("--no-report") == path.read_text()
    assert exported("--report").startswith(path.read_text() + "\n\nif __name__")
    assert 'print("y =", y)' in exported("--report")
    for form in ("module", "notebook"):
        assert '"y ="' not in exported("--as", form).replace('\\"', '"')
        assert '"y ="' in exported("--as", form, "--report").replace('\\"', '"')


def test_a_report_in_the_text_goes_with_what_it_reports(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("import torch\nx = torch.ones(2)\n\n\nif __name__ == '__main__':\n    print('x =', x)\n")
    graph = load_python(path).graph
    write = form_named("script").write
    assert write(graph, "typed") == path.read_text()
    assert write(graph, "typed", False) == "import torch\nx = torch.ones(2)\n"
    node = next(iter(graph.nodes.values()))
    apply_all(graph, set_literal(graph, node.id, "size", "3"))
    assert write(graph, "typed") == (
        'import torch\nx = torch.ones(3)\n\n\nif __name__ == "__main__":\n    print("x =", x)\n'
    )


def test_a_text_that_means_another_program_is_not_exported(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("import torch\nx = torch.ones(2)\n")
    graph = load_python(path).graph
    save(graph, tmp_path / "forged.gsg")
    text = (tmp_path / "forged.gsg").read_text()
    forged = text.replace('"x = torch.ones(2)"', '"import os; os.remove(__file__)"')
    assert forged != text
    (tmp_path / "forged.gsg").write_text(forged)
    assert "os.remove" not in export_bytes(load(tmp_path / "forged.gsg"), "script", "forged").decode()


def test_a_text_that_is_no_python_is_left_aside(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("import torch\nx = torch.ones(2)\n")
    graph = load_python(path).graph
    graph.original = "x = ("
    assert export_bytes(graph, "script", "typed") == b"import torch\n\nx = torch.ones(2)\n"


def test_a_report_has_the_lines_of_the_text_by_way_of_a_document_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "typed.py"
    path.write_text("#!/usr/bin/env python\nimport torch as th\n\n\n# a\nx = th.ones( 2 )\n\n\n\ny = x @ th.ones(3)\n")
    save(load_python(path).graph, tmp_path / "typed.gsg")
    for name in ("typed.py", "typed.gsg"):
        assert main(["run", "--json", str(tmp_path / name)]) == 1
        told = json.loads(capsys.readouterr().out)
        assert (told["nodes"]["x"]["line"], told["error"]["line"]) == (6, 10)


@pytest.mark.parametrize("name", ["_prepare", "apply", "parameters"])
def test_methods_of_any_name_are_saved_and_opened(name: str, tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    text = "import torch\nfrom trainers import Trainer\n\ntrainer = Trainer()\nx = trainer.NAME(torch.ones(2))\n"
    path.write_text(text.replace("NAME", name))
    save(load_python(path).graph, tmp_path / "saved.gsg")
    assert export_bytes(load(tmp_path / "saved.gsg"), "script", "typed") == path.read_bytes()


@pytest.mark.parametrize("word", ["rot13", "utf-7", "unicode_escape", "undefined", "base64", "utf-16", "no-such"])
def test_a_document_whose_text_names_an_encoding_that_is_not_read_is_exported_in_utf_8(word: str) -> None:
    text = f"# coding: {word}\nimport torch\nx = torch.ones(2)  # \xe9\n"
    graph = read_script(text).graph
    graph.original = text
    data = export_bytes(graph, "script", "typed")
    assert decode_python(data).split("\n")[1:] == graph.original.split("\n")[1:]
    compile(data, "typed.py", "exec")


@pytest.mark.parametrize("stem", ["other", "a\\1b", "it's", 'quo"te'])
def test_what_lies_beside_a_text_is_loaded_under_the_name_of_the_copy(stem: str, tmp_path: Path) -> None:
    drawing = Drawing()
    stored = stored_tensor(bytes(8), "float32", (2,))
    drawing.graph.tensors[stored.digest] = stored
    drawing.add("python.stored", digest=f'"{stored.digest}"', name="data")
    write_export(drawing.graph, tmp_path / "typed.py", report=True)
    typed = (tmp_path / "typed.py").read_text().replace("data = load_file(", "data = load_file( ")
    (tmp_path / "typed.py").write_text(typed)
    copy = tmp_path / f"{stem}.py"
    write_export(load_python(tmp_path / "typed.py").graph, copy)
    texts = [one.value for one in ast.walk(ast.parse(copy.read_text())) if isinstance(one, ast.Constant)]
    assert f"{stem}.tensors/{stored.digest}.safetensors" in texts
    lines = zip(typed.split("\n"), copy.read_text().split("\n"), strict=True)
    changed = [before for before, after in lines if before != after and ".tensors/" not in before]
    assert changed == ["data = load_file( "] * ("\\" in stem)  # under which nothing is looked for: printed anew
