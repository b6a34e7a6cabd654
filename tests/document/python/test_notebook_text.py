"""A Jupyter notebook as a document: nothing of it is executed."""

import json
from pathlib import Path

import pytest

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.python.notebook_text import notebook_text, ran_in_another_order
from gradstudio.document.python.python_document import load_python, read_python
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.write import write_script


def notebook(*cells: tuple[str, str], **more: object) -> bytes:
    rows = [{"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": {}} for kind, text in cells]
    return json.dumps({"cells": rows, "nbformat": 4, "nbformat_minor": 5, "metadata": {}} | more).encode()


def test_each_cell_is_a_frame_with_its_markdown_as_note(tmp_path: Path) -> None:
    path = tmp_path / "lesson.ipynb"
    path.write_bytes(
        notebook(
            ("markdown", "# Two tensors\nThey are *small*."),
            ("code", "import torch\nx = torch.ones(3)"),
            ("code", "y = x * 2"),
        )
    )
    graph = load_python(path).graph
    frames = list(graph.blocks.values())
    assert [(frame.title, frame.note) for frame in frames] == [
        ("Two tensors", "# Two tensors\nThey are *small*."),
        ("Cell 2", ""),
    ]
    x, y = (next(node for node in graph.nodes.values() if node.names == (name,)) for name in "xy")
    assert graph.parents[x.id] == frames[0].id
    assert graph.parents[y.id] == frames[1].id
    assert set(graph.nodes) <= set(graph.places)


@pytest.mark.parametrize(
    "line", ["%matplotlib inline", "!pip install torch", "?torch.ones", "torch.ones?", "files = !ls", "%timeit y = x"]
)
def test_a_line_of_jupyters_own_is_a_comment_that_says_so(line: str) -> None:
    text = notebook_text(notebook(("code", f"x = 1\n{line}\nz = x")))
    assert f"# not Python, left out: {line}" in text.splitlines()
    names = {name for node in read_python(text, keeps_code=True).graph.nodes.values() for name in node.names}
    assert names == {"x", "z"}


def test_a_line_of_jupyters_own_in_a_block_leaves_the_block_a_statement() -> None:
    text = notebook_text(notebook(("code", "if True:\n    !ls \\\n      -l\nx = 1")))
    assert "    pass  # not Python, left out: !ls \\" in text
    compile(text, "notebook", "exec")


def test_a_percent_sign_in_a_text_is_not_touched() -> None:
    code = 's = """\n%matplotlib inline\n!ls\n"""\nt = (s\n% 3)'
    assert code in notebook_text(notebook(("code", code)))


@pytest.mark.parametrize(("magic", "kept"), [("%%time", True), ("%%bash", False), ("%%html", False)])
def test_a_cell_in_another_language_is_a_comment_whole(magic: str, kept: bool) -> None:
    lines = notebook_text(notebook(("code", f"{magic}\necho = 1"))).splitlines()
    assert ("echo = 1" in lines, "# echo = 1" in lines) == (kept, not kept)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("%time y = f(2)", "y = f(2)  # not Python, left out: %time"),
        ("for k in 'ab':\n    %time y = k", "for k in 'ab':\n    y = k  # not Python, left out: %time"),
        ("%time", "# not Python, left out: %time"),
        ("%time !ls", "# not Python, left out: %time !ls"),
        ("%timeit y = f(2)", "# not Python, left out: %timeit y = f(2)"),
    ],
)
def test_a_statement_whose_time_is_taken_is_run_and_binds_its_name(line: str, kept: str) -> None:
    assert f"\n{kept}\n" in notebook_text(notebook(("code", f"x = 1\n{line}\nz = 2")))


def test_a_cell_that_is_no_python_is_a_comment_whole() -> None:
    text = notebook_text(notebook(("code", "this is (no python"), ("code", "x = 1")))
    assert "# not Python, left out: this cell\n# this is (no python" in text
    assert "\nx = 1\n" in text


def counted(*counts: int | None) -> bytes:
    """A notebook whose cells ran as the so manyeth."""
    cells = [
        {"cell_type": "code", "source": f"x{place} = {place}", "execution_count": count}
        for place, count in enumerate(counts)
    ]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def test_cells_that_ran_in_another_order_keep_their_places_and_a_note_says_so() -> None:
    text = notebook_text(counted(1, 4, None, 2))
    assert ran_in_another_order(text)
    assert text.splitlines()[1] == "# [1] [4] [2]"
    assert [line for line in text.splitlines() if line.startswith("x")] == ["x0 = 0", "x1 = 1", "x2 = 2", "x3 = 3"]


@pytest.mark.parametrize("counts", [(1, 2, 7), (None, None), (3, None, 4), ()])
def test_cells_that_ran_from_top_to_bottom_have_no_such_note(counts: tuple[int | None, ...]) -> None:
    text = notebook_text(counted(*counts))
    assert not ran_in_another_order(text) and "order" not in text


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("display(x[:3])  # three", "print(x[:3])  # three"),
        ("ä = 'ö'; display(ä)", "ä = 'ö'; print(ä)"),
        ("display(x, y)", 'print(x, y, sep="\\n")'),
        ("for k in x:\n    display(\n        k,\n    )", "for k in x:\n    print(\n        k,\n    )"),
        ("display(x, display_id=1)", "display(x, display_id=1)"),
        ("h = display(x)", "h = display(x)"),
    ],
)
def test_what_is_displayed_is_printed(line: str, printed: str) -> None:
    assert f"\n{printed}\n" in notebook_text(notebook(("code", f"x = y = [1]\n{line}\nz = 2")))


@pytest.mark.parametrize(
    "line",
    ["from IPython.display import display", "def display(v): pass", "display = 3", "from IPython.display import *"],
)
def test_a_display_of_the_notebooks_own_is_called(line: str) -> None:
    assert "\ndisplay(2)\n" in notebook_text(notebook(("code", line), ("code", "x = 2\ndisplay(2)\ny = 3")))


def test_a_module_of_that_name_leaves_what_notebooks_have() -> None:
    text = notebook_text(notebook(("code", "import IPython.display as ipd\ndisplay(2)\ny = 3")))
    assert "\nprint(2)\n" in text


def test_what_cells_have_put_out_is_not_read_and_nothing_is_executed(tmp_path: Path) -> None:
    cell = {
        "cell_type": "code",
        "source": f"open({str(tmp_path / 'ran')!r}, 'w')",
        "outputs": [{"data": {"text/plain": "gone"}, "output_type": "execute_result"}],
    }
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [cell], "nbformat": 4}))
    graph = load_python(path).graph
    assert [node.operator for node in graph.nodes.values()] == [CODE]
    assert "gone" not in write_script(graph)
    assert not (tmp_path / "ran").exists()


def test_an_old_notebook_has_worksheets() -> None:
    data = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}]}
    assert "\nx = 1\n" in notebook_text(json.dumps(data).encode())


def test_markdown_and_code_that_speak_of_regions_open_no_frame() -> None:
    text = notebook_text(notebook(("markdown", "region: mine"), ("code", "# region: theirs\nx = 1\n# endregion")))
    frames = read_python(text, keeps_code=True).graph.blocks.values()
    assert [frame.title for frame in frames] == ["theirs"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"cells": 3}',
        b'{"cells": [{"source": {}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"cells": [1]}',
    ],
)
def test_what_is_no_notebook_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match="no notebook"):
        notebook_text(data)


@pytest.mark.parametrize("source", ["\0", "\\ud800", "(" * 500, "\f\x0b\x1c", "x = '\u2028'", "#" * 10_000, "%" * 99])
def test_an_odd_cell_is_read_or_refused_in_words(source: str) -> None:
    data = notebook(("code", source.encode("utf-8", "replace").decode()), ("markdown", source))
    read_python(notebook_text(data), keeps_code=True)


def test_a_heading_alone_is_the_title_of_its_frame_and_no_note() -> None:
    text = notebook_text(notebook(("markdown", "## Data"), ("code", "x = 1")))
    assert text == "# region: Data\nx = 1\n# endregion\n"


def test_what_is_written_above_imports_is_the_note_of_the_first_frame() -> None:
    imports = "import torch\nfrom torch import nn"
    cells = (("markdown", "# Linear regression\nby hand"), ("code", imports), ("code", "x = torch.ones(2)"))
    graph = read_python(notebook_text(notebook(*cells, ("markdown", "## Train"), ("code", "y = x * 2")))).graph
    frames = [(frame.title, frame.note) for frame in graph.blocks.values()]
    assert frames == [("Linear regression", "# Linear regression\nby hand"), ("Train", "")]
    assert not any(node.note for node in graph.nodes.values())


def test_a_note_above_imports_alone_is_kept() -> None:
    text = notebook_text(notebook(("markdown", "Hello"), ("code", "import torch")))
    assert "# Hello" in text.splitlines()
