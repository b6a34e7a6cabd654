"""The command line: verbs, reports, exit codes. Each starts a real engine; torch is the oracle."""

import io
import json
import struct
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gradstudio.cli import main
from gradstudio.document.file import load, save
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import Graph, Node
from gradstudio.paths import examples
from gradstudio.program.forms.form_table import FORMS, Form
from tests.graph.builder import Drawing
from tests.helpers import engine_forks

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def write(tmp_path: Path):
    def written(drawing: Drawing | Graph, name: str = "one.gsg") -> str:
        path = tmp_path / name
        save(drawing if isinstance(drawing, Graph) else drawing.graph, path)
        return str(path)

    return written


def reports(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_run_reports_values_and_gradients_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(next(iter(sorted(examples().glob("02_*.gsg")))))
    assert main(["run", example, "--json"]) == 0
    (report,) = reports(capsys)
    x, z = report["nodes"]["x"]["outputs"][0], report["nodes"]["z"]["outputs"][0]
    assert (x["value"], x["grad"], x["grad_state"]) == (2.0, 64.0, "value")
    assert (z["value"], z["grad"], z["grad_state"], z["grad_fn"]) == (6.0, None, "not_retained", "MulBackward0")
    assert report["file"] == example
    assert report["ok"] is True
    assert report["error"] is None


def test_trace_adds_gradients_of_non_leaves_and_the_rows_of_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(next(iter(sorted(examples().glob("02_*.gsg")))))
    assert main(["run", example, "--json", "--trace"]) == 0
    (report,) = reports(capsys)
    assert report["nodes"]["z"]["outputs"][0]["grad"] == 16.0
    forward = [row["node"] for row in report["trace"] if "step" in row]
    backward = [row["autograd"] for row in report["trace"] if "autograd" in row]
    assert forward == ["x", "y", "z", "w", "loss", "backward_1"]
    assert backward[0] == "PowBackward0"
    assert "AccumulateGrad" in backward


def test_backward_is_appended_only_where_there_is_none(capsys, write) -> None:
    drawing = Drawing()
    x = drawing.add("torch.tensor", name="x", data="3.0", requires_grad="True")
    drawing.add("operator.pow", x, name="y", b="2")
    path = write(drawing)
    assert main(["run", path, "--json"]) == 0
    assert reports(capsys)[0]["nodes"]["x"]["outputs"][0]["grad_state"] == "not_run"
    assert main(["run", path, "--json", "--backward"]) == 0
    assert reports(capsys)[0]["nodes"]["x"]["outputs"][0]["grad"] == 6.0


def test_backward_without_a_root_says_why(capsys, write) -> None:
    drawing = Drawing()
    drawing.add("torch.tensor")
    assert main(["run", write(drawing), "--json", "--backward"]) == 1
    assert "requires grad" in reports(capsys)[0]["error"]["message"]


def test_a_failure_names_node_line_and_way_out_and_keeps_what_ran(capsys, write) -> None:
    drawing = Drawing()
    a = drawing.add("torch.ones", name="a", size="(2, 3)")
    b = drawing.add("torch.ones", name="b", size="(2, 3)")
    drawing.add("operator.matmul", a, b, name="c")
    assert main(["run", write(drawing), "--json"]) == 1
    (report,) = reports(capsys)
    assert report["error"]["node"] == "c"
    assert report["error"]["type"] == "RuntimeError"
    assert "mat1 and mat2 shapes cannot be multiplied" in report["error"]["message"]
    assert "columns of the left (3)" in report["error"]["explanation"]
    assert report["error"]["fixes"]
    assert set(report["nodes"]) == {"a", "b"}
    script = Path(report["file"])
    assert report["error"]["line"] > 0
    assert script.exists()


def test_a_tensor_larger_than_the_memory_is_refused_with_its_size(capsys, write) -> None:
    drawing = Drawing()
    drawing.add("torch.zeros", name="huge", size="(1000000000000,)")
    assert main(["run", write(drawing), "--json"]) == 1
    (report,) = reports(capsys)
    assert report["error"]["node"] == "huge"
    assert "TiB" in report["error"]["message"]


def test_an_unknown_operator_runs_the_rest_and_ends_with_1(capsys, write) -> None:
    drawing = Drawing()
    drawing.add("torch.tensor", name="x")
    drawing.graph.nodes["u"] = Node(id="u", operator="torch.not_yet_invented", names=("u",))
    drawing.graph.bodies[""] = (*drawing.graph.bodies[""], "u")
    drawing.graph.parents["u"] = ""
    assert main(["run", write(drawing), "--json"]) == 1
    (report,) = reports(capsys)
    assert "x" in report["nodes"]
    assert "not_yet_invented" in report["error"]["message"]


def test_the_highest_code_of_several_files_wins_and_all_are_run(capsys, write, tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.add("torch.tensor", name="x")
    good = write(drawing)
    bad = tmp_path / "bad.gsg"
    bad.write_text("{")
    assert main(["run", good, str(bad), good, "--json"]) == 4
    first, second, third = reports(capsys)
    assert (first["ok"], second["ok"], third["ok"]) == (True, False, True)
    assert second["error"]["line"] == 1
    assert second["nodes"] == {}


def test_large_values_are_null_beyond_max_values(capsys, write) -> None:
    drawing = Drawing()
    drawing.add("torch.ones", name="x", size="(5,)")
    assert main(["run", write(drawing), "--json", "--max-values", "4"]) == 0
    record = reports(capsys)[0]["nodes"]["x"]["outputs"][0]
    assert record["value"] is None
    assert (record["min"], record["max"], record["mean"]) == (1.0, 1.0, 1.0)


def test_a_python_file_runs_with_the_lines_of_the_file(tmp_path: Path, capsys) -> None:
    path = tmp_path / "text.py"
    path.write_text("import torch\n\n\nx = torch.tensor([2.0], requires_grad=True)\n\n(x ** 2).sum().backward()\n")
    assert main(["run", str(path), "--json"]) == 0
    report = reports(capsys)[0]
    x = report["nodes"]["x"]
    assert (x["line"], x["outputs"][0]["grad"]) == (4, [4.0])
    assert report["statements"]["backward_1"]["line"] == 6


def test_a_failing_line_of_a_python_file_is_told(tmp_path: Path, capsys) -> None:
    path = tmp_path / "text.py"
    path.write_text("import torch\n# a remark\nx = torch.ones(2, 3)\n\ny = x @ x\n")
    assert main(["run", str(path), "--json"]) == 1
    error = reports(capsys)[0]["error"]
    assert (error["node"], error["line"]) == ("y", 5)


def test_import_writes_a_document_that_exports_the_same_text(tmp_path: Path, capsys) -> None:
    path, out = tmp_path / "text.py", tmp_path / "text.gsg"
    path.write_text("import torch\n\nx = torch.ones(2)\ny = x * 2\n")
    assert main(["import", str(path)]) == 0
    assert out.is_file()
    capsys.readouterr()
    assert main(["export", str(out)]) == 0
    assert capsys.readouterr().out.startswith(path.read_text())


def test_a_notebook_runs_and_becomes_a_document_and_python(tmp_path: Path, capsys) -> None:
    path, out = tmp_path / "text.ipynb", tmp_path / "text.gsg"
    cells = [{"cell_type": "code", "source": f"{line}\n"} for line in ("%pylab", "import torch", "x = torch.ones(2)")]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert main(["run", str(path), "--json"]) == 0
    assert reports(capsys)[0]["nodes"]["x"]["outputs"][0]["value"] == [1.0, 1.0]
    assert main(["import", str(path)]) == 0
    capsys.readouterr()
    assert main(["export", str(out)]) == 0
    assert "x = torch.ones(2)\n" in capsys.readouterr().out


def test_import_says_where_a_text_cannot_be_drawn(tmp_path: Path, capsys) -> None:
    path = tmp_path / "text.py"
    path.write_text("import torch\n\ny = lambda v:\n")
    assert main(["import", str(path)]) == 4
    assert "line 3, column 1" in capsys.readouterr().err
    assert not (tmp_path / "text.gsg").exists()


@pytest.mark.feature(81)
def test_export_writes_a_script_that_prints_the_same_numbers(tmp_path: Path, capsys) -> None:
    example = next(iter(sorted(examples().glob("07_*.gsg"))))
    out = tmp_path / "digits.py"
    assert main(["export", str(example), "-o", str(out)]) == 0
    assert (tmp_path / "digits.tensors").is_dir()
    done = subprocess.run([sys.executable, str(out)], capture_output=True, text=True, check=True)
    assert main(["run", str(example), "--json"]) == 0
    loss = reports(capsys)[0]["nodes"]["loss"]["outputs"][0]["value"]
    assert f"loss = tensor({loss:.4f}" in done.stdout


def test_check_says_shapes_without_running(capsys, write) -> None:
    drawing = Drawing()
    a = drawing.add("torch.ones", name="a", size="(2, 3)")
    drawing.add("operator.matmul", a, a, name="c")
    assert main(["check", write(drawing), "--json"]) == 1
    (report,) = reports(capsys)
    assert report["problems"][0]["node"] == "c"
    assert report["ports"][0]["shape"] == [2, 3]


def test_render_draws_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "one.png"
    example = next(iter(sorted(examples().glob("01_*.gsg"))))
    command = [sys.executable, "-m", "gradstudio", "render", str(example), "-o", str(out)]
    environment_free = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin"})
    assert environment_free.returncode == 0, environment_free.stderr
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_document_without_places_is_laid_out_before_it_is_drawn(tmp_path: Path) -> None:
    path, out = tmp_path / "row.gsg", tmp_path / "row.png"
    graph = read_python("import torch\na = torch.ones(2)\nb = a.exp()\nc = b.sin()\nd = c.sum()\n").graph
    graph.places = {}
    save(graph, path)
    assert main(["render", str(path), "-o", str(out)]) == 0
    width, height = struct.unpack(">II", out.read_bytes()[16:24])
    assert width > 2 * height


def test_ops_finds_by_everyday_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "dot", "product"]) == 0
    first = capsys.readouterr().out.splitlines()[:6]
    assert {"torch.dot", "torch.matmul"} <= {line.split()[0] for line in first}


def test_ops_lists_every_category_with_its_operators(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("torch.nn.functional.") for line in lines) > 100
    assert [line for line in lines if line.startswith("Creation (")] == lines[:1]


def test_ops_as_json_has_every_row_with_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--json"]) == 0
    rows = {row["key"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(rows) > 1700
    assert [p["name"] for p in rows["torch.std"]["parameters"]] == ["input", "dim", "correction", "keepdim"]


def test_without_a_display_the_window_ends_with_3_and_a_sentence() -> None:
    command = [sys.executable, "-m", "gradstudio"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin"})
    assert done.returncode == 3
    assert "display" in done.stderr


def test_the_command_line_needs_no_qt(write) -> None:
    drawing = Drawing()
    drawing.add("torch.tensor", name="x")
    blocked = (
        "import sys; sys.modules['PySide6'] = None; from gradstudio.cli import main; "
        f"raise SystemExit(main(['run', {write(drawing)!r}]))"
    )
    assert subprocess.run([sys.executable, "-c", blocked], capture_output=True, check=False).returncode == 0


def test_a_graph_survives_the_trip_to_disk(write) -> None:
    drawing = Drawing()
    drawing.add("torch.tensor", name="x")
    assert load(write(drawing)).nodes == drawing.graph.nodes


def test_a_device_that_is_none_is_a_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "x.gsg", "--device", "bla'; import os"])
    assert ended.value.code == 2
    assert "is no device" in capsys.readouterr().err


def test_auto_is_reported_as_the_device_it_means(capsys: pytest.CaptureFixture[str], write) -> None:
    drawing = Drawing()
    drawing.add("torch.ones", name="x")
    assert main(["run", write(drawing), "--device", "auto", "--json"]) == 0
    (report,) = reports(capsys)
    assert report["device"] == report["nodes"]["x"]["outputs"][0]["device"].partition(":")[0]


def test_render_runs_a_program_without_gradients_too(tmp_path: Path, write) -> None:
    drawing = Drawing()
    drawing.add("torch.ones", name="x")
    out = tmp_path / "one.svg"
    command = [sys.executable, "-m", "gradstudio", "render", write(drawing), "-o", str(out), "--run"]
    with engine_forks.everywhere():
        assert subprocess.run(command, check=False).returncode == 0
    assert out.read_text().startswith("<?xml")


def test_what_is_incomplete_is_named_by_its_address(capsys, write) -> None:
    drawing = Drawing()
    drawing.add("torch.Tensor.backward")
    drawing.add("torch.relu", name="y")
    path = write(drawing)
    assert main(["run", path, "--json"]) == 1
    assert reports(capsys)[0]["error"]["node"] == "backward_1"
    assert main(["check", path, "--json"]) == 1
    assert [problem["node"] for problem in reports(capsys)[0]["problems"]] == ["backward_1", "y"]


def test_warnings_of_a_node_that_failed_carry_its_name(capsys, write) -> None:
    drawing = Drawing()
    x = drawing.add("torch.ones", name="x", size="(2,)", requires_grad="True")
    y = drawing.add("operator.mul", x, name="y", b="2")
    grad = drawing.add("torch.Tensor.grad", y, name="g")
    drawing.add("operator.getitem", grad, name="z", index="0")
    assert main(["run", write(drawing), "--json"]) == 1
    (report,) = reports(capsys)
    assert (report["error"]["node"], [warning["node"] for warning in report["warnings"]]) == ("z", ["g"])


def test_export_to_a_dash_is_standard_output(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import torch\nx = torch.ones(2)\n")
    assert main(["export", "a.py", "-o", "-"]) == 0
    assert "x = torch.ones(2)" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.parametrize("words", [["export"], ["render", "-o", "never.png"]])
def test_a_text_that_cannot_be_read_is_refused_at_its_place(
    words: list[str], tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = tmp_path / "refused.py"
    text.write_text("import torch\n\nx = {torch.ones(2) for _ in range(3)\n")
    assert main([words[0], str(text), *words[1:]]) == 4
    assert "refused.py: line 3, column " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["refused.py"]


def test_export_writes_each_form_and_refuses_in_words(tmp_path: Path, capsys) -> None:
    example = examples() / "03_linear_regression.gsg"
    assert main(["export", str(example), "--as", "module"]) == 0
    assert "class LinearRegression(nn.Module):" in capsys.readouterr().out
    out = tmp_path / "digits.ipynb"
    assert main(["export", str(examples() / "07_digits_perceptron.gsg"), "--as", "notebook", "-o", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["nbformat"] == 4
    assert len(list((tmp_path / "digits.tensors").iterdir())) == 2
    text = tmp_path / "numbers.py"
    text.write_text("x = 2\n", encoding="utf-8")
    assert main(["export", str(text), "--as", "module", "-o", str(tmp_path / "never.py")]) == 1
    assert "requires_grad=True" in capsys.readouterr().err
    assert not (tmp_path / "never.py").exists()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_of_the_table_can_be_exported(form: Form, tmp_path: Path) -> None:
    example, out = examples() / "03_linear_regression.gsg", tmp_path / f"linear{form.suffix}"
    assert main(["export", str(example), "--as", form.name, "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == form.write(load(example), "linear")


def test_the_forms_are_known_before_any_writer_is_loaded() -> None:
    ask = "import sys; from gradstudio import cli; cli._parser();"
    ask += "print([name for name in sys.modules if name.startswith('gradstudio.program.')])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['gradstudio.program.forms', 'gradstudio.program.forms.form_table']"


class Endless(io.RawIOBase):
    """A pipe that never ends: one beginning, then the same character again and again."""

    def __init__(self, beginning: bytes) -> None:
        self.waiting, self.given = beginning, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        count = len(buffer)
        buffer[:] = self.waiting[:count].ljust(count, b" ")
        self.waiting = self.waiting[count:]
        self.given += count
        return count


@pytest.mark.parametrize(
    ("beginning", "words", "most"),
    [
        (b"x = 1", "5,000,000 characters", 21_000_000),
        (b"", "5,000,000 characters", 21_000_000),
        (b"{", "64 MiB", 2**26 + 2**20),
    ],
)
def test_what_is_piped_in_has_an_end(monkeypatch, capsys, beginning: bytes, words: str, most: int) -> None:
    pipe = Endless(beginning)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(pipe)))
    assert main(["run", "-", "--json"]) == 4
    assert words in reports(capsys)[0]["error"]["message"]
    assert pipe.given < most


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('device = "cuda" if torch.cuda.is_available() else "cpu"', (3, "str")),
        ('device = torch.device("cpu")', (3, "device")),
        ('if torch.cuda.is_available():\n    device = "cuda"\nelse:\n    device = "cpu"', (3, "str")),
        ('n = 1\ndevice: torch.device = torch.device("cpu")', (4, "device")),
        ('dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")', None),
        ("n = 1", None),
    ],
)
def test_the_device_that_a_text_binds_is_among_its_variables(tmp_path: Path, capsys, text: str, expected) -> None:
    path = tmp_path / "text.py"
    path.write_text(f"import torch\n\n{text}\nx = torch.ones(1)\n")
    assert main(["run", str(path), "--json", "--device", "cpu"]) == 0
    nodes = reports(capsys)[0]["nodes"]
    assert nodes["x"]["outputs"][0]["value"] == [1.0]
    if expected is None:
        assert "device" not in nodes
    else:
        line, class_name = expected
        record = {"kind": "text", "class": class_name, "value": "cpu"}
        assert nodes["device"] == {"id": "", "operator": "torch.device", "line": line, "outputs": [record]}


def test_the_device_of_a_document_is_told_where_its_script_binds_it(write, capsys) -> None:
    graph = Graph()
    for device, line in (("auto", 3), ("cpu", None)):
        graph.header = msgspec.structs.replace(graph.header, device=device, seed=None)
        assert main(["run", write(graph), "--json"]) == 0
        assert reports(capsys)[0]["nodes"].get("device", {}).get("line") == line


def test_export_writes_the_graph_for_other_tools(tmp_path: Path, capsys) -> None:
    example, out = examples() / "02_two_paths.gsg", tmp_path / "paths.graphml"
    assert main(["export", str(example), "--as", "dot"]) == 0
    assert capsys.readouterr().out.startswith('digraph "02_two_paths" {\n')
    assert main(["export", str(example), "--as", "graphml", "-o", str(out)]) == 0
    assert out.read_text().startswith("<graphml ") and [path.name for path in tmp_path.iterdir()] == [out.name]
