"""What a person's own script asks for: `import gradstudio` is cheap, `draw` gives what a notebook shows."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from torch import nn

import gradstudio
from gradstudio.document.errors import CannotSave

ASK = """
import sys, gradstudio
print(*sorted({"torch", "PySide6", "msgspec", "numpy"} & set(sys.modules)))
gradstudio.draw
print(*sorted({"torch", "PySide6"} & set(sys.modules)))
"""


def test_the_import_loads_nothing_and_draw_itself_no_torch() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout == "\n\n"


def test_a_name_that_is_none_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'gradstudio' has no attribute 'drow'"):
        gradstudio.drow  # noqa: B018


def test_a_notebook_shows_the_picture_and_a_file_holds_it(tmp_path: Path) -> None:
    picture = gradstudio.draw(nn.Linear(3, 2), torch.ones(1, 3))
    assert picture._repr_svg_() in picture._repr_html_()
    picture.save(tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert "AddmmBackward0  →  result" in [
        "".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert repr(picture) == "<autograd's graph: 5 nodes.>"


def test_a_picture_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    picture = gradstudio.draw(torch.ones(1, requires_grad=True) * 2)
    with pytest.raises(ValueError, match=r"must end in \.svg"):
        picture.save(tmp_path / "a.png")
    with pytest.raises(CannotSave):
        picture.save(tmp_path / "none" / "a.svg")


def test_names_of_leaves_may_be_given() -> None:
    w = torch.ones(1, requires_grad=True)
    for params in ({"w": w}, [("w", w)]):
        assert next(node.title for node in gradstudio.draw(w * 2, params=params).sketch.nodes) == "w"


@pytest.mark.parametrize(
    ("what", "inputs", "options", "words"),
    [
        (torch.ones(1), (), {"theme": "blue"}, "theme='blue'"),
        (torch.ones(1), (), {"limit": 0}, "limit=0"),
        (torch.ones(1), (torch.ones(1),), {}, "takes inputs"),
    ],
)
def test_wrong_arguments_are_told(what, inputs, options, words) -> None:
    with pytest.raises(ValueError, match=words):
        gradstudio.draw(what, *inputs, **options)
